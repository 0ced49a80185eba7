//! Animations, through the whole engine: read frame by frame, written frame by frame, and the results compared with
//! those of an independent decoder (Pillow), if that is installed.

use crate::support;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use andon_codecs::ALL;
use andon_pixels::{
    Alone, Bound, Codec, Decode, Delay, Engine, Error, Frame, Info, Limits, Never, Plane, Result,
    Run, Scales,
};
use andon_recipe::Recipe;

use crate::support::rgba;

/// Creates a GIF whose frames are small squares that move over a background, with delays of 0, 10, 20… ms.
fn moving(frames: u32, width: u16, height: u16) -> Vec<u8> {
    let palette = [240, 240, 200, 200, 30, 30, 30, 30, 200, 0, 0, 0];
    let mut file = Vec::new();
    let mut encoder = gif::Encoder::new(&mut file, width, height, &palette).expect("a size");
    encoder
        .set_repeat(gif::Repeat::Finite(4))
        .expect("in memory");
    let ground: Vec<u8> = (0..u32::from(width) * u32::from(height))
        .map(|at| u8::from(at / 16 % 2 == 0))
        .collect();
    for number in 0..frames {
        let mut frame = gif::Frame {
            delay: (number % 5) as u16,
            ..gif::Frame::default()
        };
        if number == 0 {
            (frame.width, frame.height) = (width, height);
            frame.buffer = ground.clone().into();
        } else {
            let side = 12;
            frame.left = ((number * 7) % u32::from(width - side)) as u16;
            frame.top = ((number * 5) % u32::from(height - side)) as u16;
            (frame.width, frame.height) = (side, side);
            // A blue disc; the corners are transparent.
            frame.transparent = Some(3);
            let pixel = |at: i32| {
                let (x, y) = (at % 12 - 6, at / 12 - 6);
                if x * x + y * y < 30 { 2u8 } else { 3 }
            };
            frame.buffer = (0..144).map(pixel).collect::<Vec<u8>>().into();
            frame.dispose = if number % 3 == 0 {
                gif::DisposalMethod::Previous
            } else {
                gif::DisposalMethod::Keep
            };
        }
        encoder.write_frame(&frame).expect("in memory");
    }
    drop(encoder);
    file
}

fn codec(name: &str) -> &'static dyn Codec {
    *ALL.iter()
        .find(|codec| codec.name() == name || codec.format().aliases.contains(&name))
        .expect("a codec")
}

fn engine() -> Engine {
    Engine::new(ALL, Limits::default())
}

fn made(file: &[u8], recipe: &str) -> Result<Vec<u8>> {
    let recipe: Recipe = recipe.parse().expect("a recipe");
    let engine = engine();
    let plan = engine.plan(&recipe, file)?;
    let rendered = engine.run(&plan, Run::of(file))?;
    Ok(rendered.body.unwrap_or_else(|| file.to_vec()))
}

fn probe(file: &[u8]) -> Info {
    engine().probe(file).expect("a header")
}

/// Decodes all frames of a file, composed.
fn frames(file: &[u8]) -> Vec<(Frame, Delay)> {
    let info = probe(file);
    let limits = Limits::default();
    let how = Decode {
        scales: Scales::FULL,
        limits: &limits,
        interrupt: &Never,
        cores: &Alone,
        keep_metadata: true,
    };
    let mut reader = codec(info.format)
        .animation()
        .expect("the capability")
        .open(file, &info, &how)
        .expect("frames");
    let mut frames = Vec::new();
    while let Some(timed) = reader.next().expect("a frame") {
        frames.push((timed.frame, timed.delay));
    }
    frames
}

/// Returns the maximum and the mean difference of two rows of pixels.
fn difference(a: &[u8], b: &[u8]) -> (u8, f64) {
    assert_eq!(a.len(), b.len());
    let pairs = || a.iter().zip(b).map(|(a, b)| a.abs_diff(*b));
    let sum: f64 = pairs().map(f64::from).sum();
    (pairs().max().unwrap_or(0), sum / a.len() as f64)
}

/// A frame as shown: its delay in ms, and its pixels as RGBA rows.
type Shown = (f64, Vec<u8>);

/// Decodes a file with Pillow: for every frame its delay in ms and its RGBA rows, with transparent pixels set to 0.
/// Returns `None` if Pillow is not installed.
fn seen_by_pillow(file: &[u8]) -> Option<Vec<Shown>> {
    const SCRIPT: &str = r"
import io, struct, sys
from PIL import Image, ImageSequence
image = Image.open(io.BytesIO(sys.stdin.buffer.read()))
out = sys.stdout.buffer
for frame in ImageSequence.Iterator(image):
    pixels = frame.convert('RGBA')
    data = bytearray(pixels.tobytes())
    for at in range(0, len(data), 4):
        if data[at + 3] == 0:
            data[at:at + 3] = b'\0\0\0'
    out.write(struct.pack('<dI', float(frame.info.get('duration', 0)), len(data)))
    out.write(data)
";
    // Debian's Pillow cannot read AVIF; the variable may name another one.
    let python = std::env::var("ANDON_PYTHON");
    let mut child = Command::new(python.as_deref().unwrap_or("/usr/bin/python3"))
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take().expect("a pipe");
    let bytes = file.to_vec();
    let feeding = std::thread::spawn(move || input.write_all(&bytes));
    let output = child.wait_with_output().expect("python ended");
    feeding.join().expect("fed").ok();
    if !output.status.success() {
        eprintln!("skipped: there is no Pillow that reads it");
        return None;
    }
    let mut rest = &output.stdout[..];
    let mut frames = Vec::new();
    while let Some((head, after)) = rest.split_first_chunk::<12>() {
        let delay = f64::from_le_bytes(head[..8].try_into().expect("8"));
        let length = u32::from_le_bytes(head[8..].try_into().expect("4")) as usize;
        frames.push((delay, after[..length].to_vec()));
        rest = &after[length..];
    }
    Some(frames)
}

#[test]
fn a_header_counts_frames_without_unpacking_any() {
    let info = probe(&moving(7, 64, 48));
    let animation = info.animation.expect("it moves");
    assert_eq!(info.frames, 7);
    assert_eq!(animation.plays, 5, "once, and four times more");
    // The duration in browsers: delays of 0 and 1 (two of each) count as 10.
    assert_eq!(animation.duration_ms, 10 * (4 * 10 + 2 + 3 + 4));
    assert!(!animation.alpha, "nothing is ever cleared");
}

#[test]
fn frames_are_composed_as_pillow_composes_them() {
    let file = moving(9, 64, 48);
    let Some(expected) = seen_by_pillow(&file) else {
        return;
    };
    let own = frames(&file);
    assert_eq!(own.len(), expected.len());
    for (number, ((frame, delay), (pillow_delay, pixels))) in own.iter().zip(&expected).enumerate()
    {
        assert_eq!(&rgba(frame), pixels, "frame {number}");
        let played = if *pillow_delay <= 10.0 {
            100.0
        } else {
            *pillow_delay
        };
        assert_eq!(delay.seconds() * 1000.0, played, "frame {number}");
    }
}

/// Recipes that change only the format, with the tolerated mean and maximum difference.
const KEPT: &[(&str, &str, f64, u8)] = &[
    ("gif", "as:gif", 0.0, 0),
    ("apng", "as:apng", 0.0, 0),
    ("webp", "as:webp,lossless", 0.0, 0),
    ("webp", "as:webp,q:90", 10.0, 200),
    ("avif", "as:avif,lossless", 0.0, 0),
    ("avif", "as:avif,q:90", 6.0, 200),
];

#[test]
fn gifs_of_3_and_300_frames_move_on_in_every_format_that_can() {
    for count in [3, 300] {
        let file = moving(count, 64, 48);
        let source = frames(&file);
        for &(format, recipe, mean, most) in KEPT {
            let result = made(&file, recipe).expect(recipe);
            let info = probe(&result);
            assert_eq!(info.format, codec(format).name(), "{recipe}");
            assert_eq!(info.frames, count, "{recipe}");
            assert_eq!(info.animation.expect("it moves").plays, 5, "{recipe}");
            let back = frames(&result);
            assert_eq!(back.len(), source.len());
            for (number, ((before, delay), (after, now))) in source.iter().zip(&back).enumerate() {
                let off = difference(&rgba(before), &rgba(after));
                assert!(
                    off.0 <= most && off.1 <= mean,
                    "{recipe}, frame {number}: {off:?}"
                );
                assert_eq!(delay.seconds(), now.seconds(), "{recipe}, frame {number}");
            }
            let Some(pillow) = seen_by_pillow(&result) else {
                continue;
            };
            // Pillow merges frames with equal pixels; our files never contain such frames.
            assert_eq!(pillow.len(), back.len(), "{recipe}");
            for (number, ((frame, _), (_, pixels))) in back.iter().zip(&pillow).enumerate() {
                let off = difference(&rgba(frame), pixels);
                // Pillow's WebP decoder smooths chroma.
                let same = if recipe.contains("q:90") {
                    off.1 <= 3.0
                } else {
                    off.0 == 0
                };
                assert!(same, "{recipe}, frame {number}: {off:?} from Pillow");
            }
        }
    }
}

#[test]
fn every_frame_goes_through_the_same_stages() {
    let file = moving(6, 64, 48);
    let small = made(&file, "fit:32x24,as:apng").expect("an animation");
    for (number, (frame, _)) in frames(&small).iter().enumerate() {
        assert_eq!((frame.width, frame.height), (32, 24));
        let still =
            made(&file, &format!("fit:32x24,as:png,frame:{}", number + 1)).expect("a still");
        let image = codec("png")
            .decode(
                &still,
                &probe(&still),
                &Decode {
                    scales: Scales::FULL,
                    limits: &Limits::default(),
                    interrupt: &Never,
                    cores: &Alone,
                    keep_metadata: false,
                },
            )
            .expect("an image");
        assert_eq!(rgba(frame), rgba(&image.frame), "frame {number}");
    }
}

#[test]
fn a_format_that_holds_no_frames_shows_the_first_and_so_does_a_png_that_was_not_asked_to_move() {
    let file = moving(4, 64, 48);
    for recipe in ["as:jpeg", "as:png", "as:webp,frame:1", "frame:1"] {
        assert_eq!(
            probe(&made(&file, recipe).expect(recipe)).frames,
            1,
            "{recipe}"
        );
    }
    let apng = made(&file, "as:apng").expect("an animation");
    let smaller = made(&apng, "fit:20x20").expect("an animation");
    assert_eq!(probe(&smaller).frames, 4, "an animated PNG goes on moving");
    assert_eq!(
        made(&file, "same").expect("a copy"),
        file,
        "nothing changes, nothing is written anew"
    );
}

#[test]
fn a_frame_that_is_not_there_is_refused_by_its_number() {
    let error = made(&moving(4, 64, 48), "frame:5").expect_err("only four");
    assert_eq!(
        error.to_string(),
        "`frame:5` cannot be done: this image has 4 frames to choose from"
    );
}

#[test]
fn more_frames_or_pixels_than_the_limits_allow_are_refused_and_never_cut_short() {
    let file = moving(12, 64, 48);
    let recipe: Recipe = "fit:30x30".parse().expect("a recipe");
    let still: Recipe = "fit:30x30,frame:1".parse().expect("a recipe");
    for (limits, name) in [
        (
            Limits {
                frames: 11,
                ..Limits::default()
            },
            "frames",
        ),
        (
            Limits {
                animation_pixels: 12 * 64 * 48 - 1,
                ..Limits::default()
            },
            "animation_pixels",
        ),
    ] {
        let engine = Engine::new(ALL, limits);
        match engine.plan(&recipe, &file) {
            Err(Error::Limit { bound, .. }) => assert_eq!(bound.name, name),
            other => panic!("{other:?}"),
        }
        engine
            .plan(&still, &file)
            .expect("one frame is within every limit");
    }
}

#[test]
fn a_plan_tells_what_all_frames_take_and_holds_no_more_for_more_of_them() {
    let plan = |frames| {
        let recipe: Recipe = "fit:400x300,as:webp".parse().expect("a recipe");
        engine()
            .plan(&recipe, &moving(frames, 800, 600))
            .expect("a plan")
    };
    let (ten, hundred) = (plan(10), plan(100));
    assert!(
        ten.to_string()
            .starts_with("decode gif rgb 10 frames | resize"),
        "{ten}"
    );
    assert!(hundred.cost().nanos > 7 * ten.cost().nanos);
    let canvas = 800 * 600 * 4;
    let grew = hundred.peak_bytes() - ten.peak_bytes();
    // Only the file and the result grow, not the working memory.
    assert!(grew < 20 * canvas / 2, "{grew}");
    assert_eq!(
        ten.holding().scales,
        None,
        "nobody else begins with its frames"
    );
}

#[test]
fn an_interrupt_ends_an_animation_between_frames() {
    struct After(std::sync::atomic::AtomicU32);
    impl andon_pixels::Interrupt for After {
        fn interrupted(&self) -> bool {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 200
        }
    }
    let file = moving(200, 64, 48);
    let recipe: Recipe = "fit:30x30,as:webp".parse().expect("a recipe");
    let engine = engine();
    let plan = engine.plan(&recipe, &file).expect("a plan");
    let result = engine.run(
        &plan,
        Run {
            interrupt: &After(0.into()),
            ..Run::of(&file)
        },
    );
    assert!(matches!(result, Err(Error::Interrupted)), "{result:?}");
}

fn sample(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    std::fs::read(folder.join(name)).expect("a sample")
}

#[test]
fn an_avif_that_moves_is_read_frame_by_frame() {
    let (file, exact) = (
        sample("avif/moving-alpha.avif"),
        sample("png/moving-alpha.png"),
    );
    let info = probe(&file);
    let animation = info.animation.expect("it moves");
    assert_eq!((info.frames, info.width, info.height), (5, 70, 50));
    assert_eq!((animation.plays, animation.duration_ms), (0, 700));
    assert!(animation.alpha);
    let (own, wanted) = (frames(&file), frames(&exact));
    assert_eq!(own.len(), wanted.len());
    for (number, ((frame, delay), (exact, stays))) in own.iter().zip(&wanted).enumerate() {
        assert_eq!(delay.seconds(), stays.seconds(), "frame {number}");
        let off = difference(&rgba(frame), &rgba(exact));
        assert!(off.1 < 2.0, "frame {number}: {off:?}");
    }
    for (recipe, number) in [("as:png,frame:1", 0), ("as:png,frame:4", 3)] {
        let one = made(&file, recipe).expect(recipe);
        let image = support::decode(codec("png"), &one).expect("an image");
        assert_eq!(rgba(&image.frame), rgba(&own[number].0), "{recipe}");
    }
    let moving = made(&file, "fit:35x25,as:webp").expect("an animation");
    assert_eq!(probe(&moving).frames, 5);
}

#[test]
fn an_avif_that_moves_and_is_cut_or_damaged_is_never_taken_for_a_whole_one() {
    let file = sample("avif/moving-alpha.avif");
    for end in (12..file.len()).step_by(11) {
        for recipe in ["as:apng", "as:png,frame:1"] {
            assert!(
                made(&file[..end], recipe).is_err(),
                "{recipe}, cut at {end}"
            );
        }
    }
    for at in (12..file.len()).step_by(7) {
        let mut bent = file.clone();
        bent[at] ^= 0x55;
        // The damaged file may be an image or not, but processing must end.
        let _ = made(&bent, "fit:20x20,as:webp,effort:0");
    }
}

#[test]
fn an_avif_that_claims_billions_of_frames_is_refused_by_its_header() {
    let mut file = sample("avif/moving-alpha.avif");
    let at = file.windows(4).position(|kind| kind == b"stsz");
    let at = at.expect("a table of sizes") + 8;
    // All bytes are equal, so that no table has to follow.
    file[at..at + 8].copy_from_slice(&[0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff]);
    assert!(matches!(
        engine().probe(&file),
        Err(Error::Limit {
            bound: Bound::FRAMES,
            ..
        })
    ));
}

#[test]
fn what_becomes_clear_is_clear_in_every_format() {
    // A red square, then a blue one elsewhere on a transparent background.
    let mut file = Vec::new();
    let palette = [200, 30, 30, 30, 30, 200];
    let mut encoder = gif::Encoder::new(&mut file, 32, 32, &palette).expect("a size");
    for number in 0..4u16 {
        let frame = gif::Frame {
            left: number * 8,
            top: 4,
            width: 8,
            height: 8,
            delay: 5,
            dispose: gif::DisposalMethod::Background,
            buffer: vec![(number % 2) as u8; 64].into(),
            ..gif::Frame::default()
        };
        encoder.write_frame(&frame).expect("in memory");
    }
    drop(encoder);
    let source = frames(&file);
    assert_eq!(
        source[1]
            .0
            .alpha
            .as_ref()
            .and_then(Plane::as_u8)
            .map(|a| a.row(5)[2]),
        Some(0)
    );
    for recipe in [
        "as:gif",
        "as:apng",
        "as:webp,lossless",
        "as:webp,q:95",
        "as:avif,lossless",
    ] {
        let result = made(&file, recipe).expect(recipe);
        for (number, ((before, _), (after, _))) in source.iter().zip(frames(&result)).enumerate() {
            let alpha = |frame: &Frame| frame.alpha.clone().expect("it has opacity");
            assert_eq!(alpha(before), alpha(&after), "{recipe}, frame {number}");
        }
    }
}

#[test]
fn frames_of_a_webp_are_written_quickly_unless_an_effort_is_asked_for() {
    let gif = moving(5, 48, 40);
    let nanos = |recipe: &str| {
        let recipe: Recipe = recipe.parse().expect("a recipe");
        let plan = engine().plan(&recipe, &gif).expect("a plan");
        plan.cost().nanos
    };
    let [usual, quick, slow] = ["as:webp", "as:webp,effort:3", "as:webp,effort:6"];
    assert_eq!(
        made(&gif, usual).expect(usual),
        made(&gif, quick).expect(quick)
    );
    assert_ne!(
        made(&gif, usual).expect(usual),
        made(&gif, slow).expect(slow)
    );
    assert_eq!(nanos(usual), nanos(quick));
    assert!(nanos(usual) < nanos(slow));
}

#[test]
fn no_cut_or_damaged_animation_is_taken_for_a_whole_one() {
    let gif = moving(5, 48, 40);
    for recipe in [
        "as:gif,fit:40x40",
        "as:apng",
        "as:webp,q:80",
        "as:avif,q:50",
    ] {
        let file = made(&gif, recipe).expect(recipe);
        for end in (20..file.len() - 2).step_by(37) {
            let cut = &file[..end];
            if let Ok(result) = made(cut, "fit:20x20,as:webp") {
                // A GIF may end between frames, and a PNG may lack its last chunk.
                let ended = probe(&file).format == "png" && end + 12 >= file.len();
                assert!(ended || probe(&file).format == "gif", "cut at {end}");
                assert!(ended || probe(&result).frames < 5, "cut at {end}");
            }
        }
        for at in (12..file.len()).step_by(7) {
            let mut bent = file.clone();
            bent[at] ^= 0x55;
            // The damaged file may be an image or not, but processing must end.
            let _ = made(&bent, "fit:20x20,as:webp,effort:0");
        }
    }
}
