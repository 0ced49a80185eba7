//! SVG documents that would cause much work are rejected, or drawn, on the stack of a worker thread.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};

use andon_pixels::{
    Alone, Decode, Error, Info, Limits, Never, RegionF, Result, STACK, Scale, Scales, Window,
};

use crate::support::{codec, decode, decode_at};

#[path = "support/bombs.rs"]
mod bombs;

use bombs::{KINDS, Kind, Spelling};

/// Runs a closure on a thread with this stack size in bytes. A panic is passed on; a stack that is too small ends the
/// program.
fn on_a_stack_of(bytes: usize, run: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(bytes);
        let thread = thread.spawn_scoped(scope, run).expect("a thread");
        thread.join().expect("no panic");
    });
}

fn draw(file: &[u8], info: &Info, scale: Scale) -> Result<()> {
    let image = decode_at(codec("svg"), file, info, scale, &Limits::default(), &Never)?;
    let frame = &image.frame;
    assert_eq!((frame.width, frame.height), info.scaled(scale));
    Ok(())
}

/// Draws a few px of a file at a high magnification.
fn magnify(file: &[u8], info: &Info) -> Result<()> {
    let from = RegionF {
        x: 1.0,
        y: 1.0,
        w: 2.5,
        h: 2.5,
    };
    let window = Window {
        from,
        to: (100, 100),
    };
    let how = Decode {
        scales: Scales::FULL,
        limits: &Limits::default(),
        interrupt: &Never,
        cores: &Alone,
        keep_metadata: false,
    };
    let image = codec("svg")
        .vector()
        .expect("the capability")
        .draw(file, info, &how, &window)?;
    assert_eq!((image.frame.width, image.frame.height), window.to);
    Ok(())
}

/// Whether an error blames the file and names the limit.
fn is_clear(error: &Error) -> bool {
    match error {
        Error::Unsupported { what, .. } => !what.contains("renderer"),
        Error::Limit { .. } | Error::Broken { .. } => true,
        _ => false,
    }
}

/// Maximum area in px of an image that is also drawn at 1/8 and at three times its size.
const TINY: u64 = 64 * 64;

/// Maximum area in px of an image that is drawn.
const SMALL: u64 = 100 * 100;

#[test]
fn every_bomb_is_refused_or_drawn() {
    on_a_stack_of(STACK, || {
        for bomb in bombs::svg() {
            let name = &bomb.name;
            let info = match codec("svg").probe(&bomb.file) {
                Ok(info) => info,
                Err(error) => {
                    assert!(is_clear(&error), "{name}: {error:?}");
                    continue;
                }
            };
            let scales: &[_] = match info.pixels() {
                pixels if pixels <= TINY => &[Scale(1), Scale::FULL, Scale(24)],
                pixels if pixels <= SMALL => &[Scale::FULL],
                _ => &[Scale(1)],
            };
            for &scale in scales {
                if let Err(error) = draw(&bomb.file, &info, scale) {
                    assert!(is_clear(&error), "{name} at {scale:?}: {error:?}");
                    // Such a document is not drawn at any size.
                    if error.to_string().contains("too long to read") {
                        break;
                    }
                }
            }
            if info.pixels() <= TINY
                && let Err(error) = magnify(&bomb.file, &info)
            {
                assert!(is_clear(&error), "{name} magnified: {error:?}");
            }
        }
    });
}

#[test]
fn the_deepest_drawings_need_a_fraction_of_a_worker_s_stack() {
    let mut all: Vec<Vec<Kind>> = KINDS.iter().map(|kind| vec![*kind]).collect();
    for kind in KINDS {
        all.extend(KINDS.iter().map(|other| vec![kind, *other]));
    }
    all.push(KINDS.to_vec());
    on_a_stack_of(STACK / 4, || {
        for kinds in all {
            let mut deepest = 0;
            for length in [100, 70, 50, 43, 40, 33, 30, 27, 20, 13, 10, 5, 3] {
                let drawing = bombs::chain(&kinds, length, 1, Spelling::Attribute);
                if decode(codec("svg"), drawing.as_bytes()).is_ok() {
                    deepest = length;
                    break;
                }
            }
            assert!(deepest > 0, "{kinds:?} were refused");
        }
        for (open, close) in [
            ("<g>", "</g>"),
            ("<g opacity='.5'>", "</g>"),
            ("<g clip-path='url(#c)'>", "</g>"),
            ("<g mask='url(#m)'>", "</g>"),
            ("<g filter='url(#f)'>", "</g>"),
            ("<svg width='9' height='9'>", "</svg>"),
            ("<switch>", "</switch>"),
        ] {
            let defined = "<clipPath id='c'><path d='M0 0h9v9z'/></clipPath><mask id='m'><path d='M0 0h9v9z'/></mask>\
                           <filter id='f'><feFlood/></filter>";
            let inside = open.repeat(190) + "<path d='M0 0h9v9z'/>" + &close.repeat(190);
            let drawing = bombs::document(&(defined.to_owned() + &inside));
            decode(codec("svg"), drawing.as_bytes()).expect(open);
        }
    });
}

#[test]
fn references_that_lead_back_are_refused_unless_the_library_cuts_them() {
    for kind in KINDS {
        let own = bombs::circle(&[kind], Spelling::Attribute);
        let drawn = decode(codec("svg"), own.as_bytes());
        let cut = !matches!(kind, Kind::FeImage | Kind::Filters);
        assert_eq!(drawn.is_ok(), cut, "{kind:?} in itself: {drawn:?}");
    }
    for kind in [
        Kind::Fill,
        Kind::ClipPath,
        Kind::Mask,
        Kind::Marker,
        Kind::FeImage,
    ] {
        let three = bombs::circle(&[kind; 3], Spelling::Style);
        let error = decode(codec("svg"), three.as_bytes()).expect_err("around three");
        let said = error.to_string();
        assert!(said.contains("lead back to"), "{kind:?}: {said}");
    }
}

#[test]
fn what_was_once_dear_is_refused_in_words() {
    for file in findings() {
        let bytes = fs::read(&file).expect("a file");
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        on_a_stack_of(STACK, || {
            let info = codec("svg").probe(&bytes).expect("a size");
            let error = draw(&bytes, &info, Scale::FULL).expect_err(&name);
            assert!(is_clear(&error), "{name}: {error:?}");
        });
    }
}

fn findings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/svg/findings");
    let entries = fs::read_dir(folder).expect("a folder");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

#[test]
fn what_is_hidden_is_refused_soon() {
    let hidden = [
        "scaled-beyond",
        "scaled-beyond-at-once",
        "scaled-by-style",
        "scaled-by-strokes",
        "transforms-repeated",
        "transforms-of-all",
        "uses-with-attributes",
        "outlines-repeated",
    ];
    let mut found = 0;
    for bomb in bombs::svg() {
        if !hidden.contains(&&*bomb.name) {
            continue;
        }
        let start = Instant::now();
        let drawn = decode(codec("svg"), &bomb.file).map(drop);
        let error = drawn.expect_err(&bomb.name);
        let said = error.to_string();
        assert!(said.contains("too long to read"), "{}: {said}", bomb.name);
        // Actual times are a fraction of this.
        assert!(start.elapsed() < Duration::from_secs(9), "{}", bomb.name);
        found += 1;
    }
    assert_eq!(found, hidden.len());
}

#[test]
fn what_ordinary_drawings_hold_is_drawn() {
    let rules: String = (0..400)
        .map(|index| format!(".cls-{index},.st{index}{{fill:#123456;stroke-width:{index}px}}"))
        .collect();
    let classes: String = (0..3000)
        .map(|index| {
            format!(
                "<path class='cls-{}' d='M0 0c1.5 2 3.25 4 5 6z'/>",
                index % 400
            )
        })
        .collect();
    let marker = "<marker id='m' markerWidth='9' markerHeight='9'><path d='M0 0h9v9z' fill='context-stroke'/></marker>";
    let arrows =
        "<path d='M0 0l9 9 9 0 0 9' stroke='red' marker-end='url(#m)' marker-mid='url(#m)'/>"
            .repeat(500);
    let pattern =
        "<pattern id='p' width='.1' height='.1'><path d='M0 0h9'/><circle r='3'/></pattern>";
    let tiles = "<rect width='50' height='50' fill='url(#p)'/>".repeat(500);
    let shadow = "<filter id='f'><feGaussianBlur in='SourceAlpha' stdDeviation='3'/><feOffset dx='2' dy='2'/>\
                  <feComponentTransfer><feFuncA type='linear' slope='.5'/></feComponentTransfer>\
                  <feMerge><feMergeNode/><feMergeNode in='SourceGraphic'/></feMerge></filter>";
    let cards = "<rect width='60' height='60' filter='url(#f)'/>".repeat(20);
    let labels = "<text x='3' y='9' font-size='12' font-family='Arial, sans-serif'>A label</text>"
        .repeat(300);
    let map = (0..125)
        .map(|index| format!(".r{index}{{fill:#123456}}"))
        .collect::<String>();
    let roads = "<path class='r1' d='M0 0h1'/>".repeat(20_000);
    // Illustrator's form: the common declarations first.
    let common = (0..1000)
        .map(|index| format!(".cls-{index}"))
        .collect::<Vec<_>>()
        .join(",");
    let rules_of_one: String = (0..1000)
        .map(|index| format!(".cls-{index}{{fill:#123456;font-family:'A b';}}"))
        .collect();
    let illustrated = format!("<style>{common}{{stroke:#000;}}{rules_of_one}</style>");
    let font = "d09GMgABAAAAADk+AA4AAAAAdIgAADjmAAEAAAAAOAAAAAAAAAAAAAAAAAAAAAAAAB/4".repeat(4500);
    let lettered = format!(
        "<style>@font-face{{font-family:a;src:url(data:font/woff2;base64,{font}==)}}</style><path d='M0 0h9v9z'/>"
    );
    let hatch = format!(
        "<path fill='none' stroke='red' stroke-width='.2' d='M0 0{}'/>",
        "c3 1 6-1 10 0m-7 1".repeat(1000)
    );
    let engraving = format!(
        "<g transform='translate(3 4) scale(.5)'>{}</g>",
        hatch.repeat(35)
    );
    let arrowhead = "<marker id='h' viewBox='0 0 10 10' markerWidth='6' markerHeight='6' orient='auto'>\
                     <path fill='none' stroke='red' d='M0 0C3 2 6 3 10 5 6 7 3 8 0 10'/></marker>";
    let edges = "<path d='M0 0C900 0 300 1500 2000 1500' fill='none' stroke='red' stroke-width='4' marker-end='url(#h)'/>"
        .repeat(500);
    let graph = format!("<svg width='64' viewBox='0 0 2000 1500'>{arrowhead}{edges}</svg>");
    let recording = "<text y='9' class='a'>twenty letters here</text>".repeat(1000);
    let filters =
        "<filter id='f' x='-9%' y='-9%' width='119.4%' height='124.2%'><feOffset dy='2'/></filter>"
            .repeat(90);
    let icons = "<svg viewBox='0 0 24 24'><path stroke='red' stroke-width='5%' d='M0 0c1.5 2 3.25 4 5 6z'/></svg>"
        .repeat(90);
    let layers = "<g opacity='.9' clip-path='url(#c)'>".repeat(12)
        + "<path d='M0 0h9v9z'/>"
        + &"</g>".repeat(12);
    for (name, inside) in [
        ("sheets", format!("<style>{rules}</style>{classes}")),
        ("markers", marker.to_owned() + &arrows),
        ("patterns", pattern.to_owned() + &tiles),
        ("shadows", shadow.to_owned() + &cards),
        ("labels", labels),
        ("map", format!("<style>{map}</style>{roads}")),
        ("illustrated", illustrated),
        ("lettered", lettered),
        ("engraving", engraving),
        ("graph", graph),
        ("recording", recording),
        ("percentages", filters + &icons),
        (
            "layers",
            "<clipPath id='c'><path d='M0 0h9v9z'/></clipPath>".to_owned() + &layers,
        ),
    ] {
        let drawing = bombs::document(&inside);
        let drawn = decode(codec("svg"), drawing.as_bytes());
        assert!(drawn.is_ok(), "{name}: {drawn:?}");
    }
}

#[test]
#[ignore = "writes every bomb into the folder in ANDON_BOMBS"]
fn write_the_bombs() {
    let folder = PathBuf::from(std::env::var_os("ANDON_BOMBS").expect("a folder"));
    for bomb in bombs::svg() {
        fs::write(folder.join(format!("{}.svg", bomb.name)), bomb.file).expect("a file");
    }
}
