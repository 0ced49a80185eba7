//! `[fonts]`: text in scripts that the bundled font lacks, in `text:` and in SVG, drawn by worker processes that can open
//! no font.

use std::fs;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use crate::common::{Reply, Served};

/// Creates a folder with a photo, a drawing with Japanese text, a folder with a Japanese font, and a folder with an
/// emoji font.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for name in ["photos", "japanese", "none"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let sample = root.join("samples/jpeg/420.jpg");
    fs::copy(sample, folder.path().join("photos/a.jpg")).unwrap();
    fs::write(folder.path().join("photos/a.svg"), DRAWING).unwrap();
    let font = root.join("crates/codecs/tests/fonts/NotoSansCJK-Regular.ttf");
    fs::copy(font, folder.path().join("japanese/cjk.ttf")).unwrap();
    let emoji = root.join("crates/codecs/tests/fonts/NotoColorEmoji.ttf");
    fs::copy(emoji, folder.path().join("japanese/emoji.ttf")).unwrap();
    folder
}

const DRAWING: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='80' height='40'>\
                       <text x='4' y='30' font-size='24'>\u{4eba}\u{9593}</text></svg>";

/// `人間` on a white canvas.
const TEXT: &str = "/r/exact:80x40,brightness:255,text:%E4%BA%BA%E9%96%93:24,as:png/a.jpg";
const SVG: &str = "/r/flatten:ffffff,as:png/a.svg";
const PHOTO: &str = "/r/fit:40x40,as:png/a.jpg";

const PLAIN: &str = "metrics.allow = \"all\"\n[[origin]]\nfs.root = \"photos\"\n";
const JAPANESE: &str = "metrics.allow = \"all\"\n[[origin]]\nfs.root = \"photos\"\n[fonts]\nfolders = [\"japanese\"]\n";

fn header<'a>(reply: &'a Reply, name: &str) -> &'a str {
    reply.headers.get(name).map_or("", String::as_str)
}

#[test]
fn letters_that_no_font_has_are_named_in_a_note_and_counted() {
    let folder = folder();
    let served = Served::start(folder.path(), PLAIN);
    for (target, whose) in [(TEXT, "text"), (SVG, "text in an image")] {
        // The first is made, the second comes from the cache.
        for _ in 0..2 {
            let reply = served.get(target);
            assert_eq!(reply.status, 200, "{target}");
            let note = header(&reply, "andon-note");
            let said = note.starts_with(&format!("{whose}: no font here has U+4EBA, U+9593"));
            assert!(said, "{target}: {note}");
        }
    }
    assert_eq!(header(&served.get(PHOTO), "andon-note"), "");
    let page = String::from_utf8(served.get("/metrics").body).unwrap();
    let counted = "andon_results_lacking_letters_total 2";
    assert!(page.lines().any(|line| line == counted), "{page}");
}

#[test]
fn a_folder_of_fonts_serves_text_and_drawings_and_changes_only_their_keys() {
    let folder = folder();
    let get = |config: &str| {
        let served = Served::start(folder.path(), config);
        [TEXT, SVG, PHOTO].map(|target| served.get(target))
    };
    let none = JAPANESE.replace("japanese", "none");
    let (plain, empty, japanese) = (get(PLAIN), get(&none), get(JAPANESE));
    for (with, without) in japanese.iter().zip(&plain).take(2) {
        assert_eq!(with.status, 200);
        assert_eq!(header(with, "andon-note"), "");
        assert_ne!(with.body, without.body);
        assert_ne!(header(with, "etag"), header(without, "etag"));
    }
    assert_eq!(header(&japanese[2], "etag"), header(&plain[2], "etag"));
    assert_eq!(japanese[2].body, plain[2].body);
    // A configuration without further fonts draws like the bundled font.
    for (one, other) in empty.iter().zip(&plain) {
        assert_eq!(one.body, other.body);
    }
}

#[test]
fn every_process_draws_with_the_same_fonts() {
    let folder = folder();
    let get = |processes: &str| {
        let config = format!("{JAPANESE}[sandbox]\nprocesses = \"{processes}\"\n");
        let served = Served::start(folder.path(), &config);
        [TEXT, SVG].map(|target| served.get(target).body)
    };
    assert_eq!(get("third-party"), get("none"));
}

#[test]
fn fonts_that_are_not_there_end_the_start_and_a_reload_keeps_the_old_ones() {
    let folder = folder();
    let served = Served::start(folder.path(), JAPANESE);
    let family = "[fonts]\nsans_serif = \"Deja Vu Sans\"\n";
    for (keys, said) in [
        ("[fonts]\nfolders = [\"elsewhere\"]\n", "fonts.folders"),
        (family, "did you mean \"DejaVu Sans\"?"),
        ("[fonts.fallback]\nHann = []\n", "fonts.fallback.Hann"),
    ] {
        fs::write(folder.path().join("wrong.toml"), keys).unwrap();
        let done = std::process::Command::new(crate::common::program())
            .args(["serve", "--listen", "127.0.0.1:0", "--config"])
            .arg(folder.path().join("wrong.toml"))
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && error.contains(said), "{error}");
    }
    fs::write(folder.path().join("andon.toml"), PLAIN).unwrap();
    served.signal("-HUP");
    let refused = "andon_reloads_total{outcome=\"refused\"} 1";
    let is_refused = |_| {
        let page = String::from_utf8(served.get("/metrics").body).unwrap();
        std::thread::sleep(Duration::from_millis(10));
        page.lines().any(|line| line == refused)
    };
    assert!((0..3000).any(is_refused));
    assert_eq!(header(&served.get(TEXT), "andon-note"), "");
    let said = served.stop();
    assert!(said.contains("restart the server"), "{said}");
}

#[test]
fn emoji_are_drawn_in_their_own_colours_in_text_and_in_svg() {
    let folder = folder();
    let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='80' height='40'>\
                   <text x='4' y='30' font-size='24'>\u{1f600}</text></svg>";
    fs::write(folder.path().join("photos/emoji.svg"), drawing).unwrap();
    let served = Served::start(folder.path(), JAPANESE);
    // An emoji between letters, and a family emoji that is one glyph, both of which this font draws in gray.
    for (target, apart) in [
        (
            "/r/exact:80x40,brightness:255,text:A%F0%9F%98%80A:24,as:png/a.jpg",
            60,
        ),
        (
            "/r/exact:80x40,brightness:255,text:%F0%9F%91%A8%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7:24,as:png/a.jpg",
            0,
        ),
        ("/r/flatten:ffffff,as:png/emoji.svg", 60),
    ] {
        let reply = served.get(target);
        assert_eq!(header(&reply, "andon-note"), "", "{target}");
        let image = andon_client::DecodedImage::decode(&reply.body).unwrap();
        let is_drawn = |pixel: &&[u8]| pixel[0].abs_diff(pixel[2]) >= apart && pixel[2] < 190;
        let drawn = image.rgb.chunks(3).filter(is_drawn).count();
        assert!(drawn > 50, "{target}: {drawn}");
    }
}
