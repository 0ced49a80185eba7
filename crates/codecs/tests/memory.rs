//! Plans state the memory that they need. Each is run in a separate process, whose peak the kernel reports.

use std::path::Path;
use std::process::Command;

use andon_codecs::ALL;
use andon_pixels::{Engine, Limits, Plan, Run};
use andon_recipe::Recipe;

/// Tolerance in bytes for the growth of the process's memory: for pages of code and stack that are touched for the
/// first time, and for rounding by the allocator.
const SLACK: u64 = 5 << 20;

const PLANNED: &str = "ANDON_PLANNED_FILE";
const RECIPE: &str = "ANDON_PLANNED_RECIPE";

/// A program that writes images of 12 megapixels with Pillow.
const WRITTEN: &str = "import os, sys\n\
    from PIL import Image\n\
    folder, sample = sys.argv[1:]\n\
    rgb = Image.open(sample).convert('RGB').resize((4000, 3000))\n\
    cmyk, gray, palette = rgb.convert('CMYK'), rgb.convert('L'), rgb.quantize(64)\n\
    rgba = rgb.convert('RGBA'); rgba.putalpha(gray)\n\
    for image, name, options in [\n    \
        (rgb, '420.jpg', {}), (rgb, '444.jpg', {'subsampling': 0}), (gray, 'gray.jpg', {}),\n    \
        (rgb, 'progressive.jpg', {'progressive': True}), (cmyk, 'cmyk.jpg', {}),\n    \
        (cmyk, 'progressive-cmyk.jpg', {'progressive': True}),\n    \
        (rgb, 'rgb.png', {'compress_level': 1}), (rgba, 'rgba.png', {'compress_level': 1}),\n    \
        (palette, 'palette.png', {'compress_level': 1}), (palette, 'palette.gif', {}),\n    \
        (rgb, 'lossy.webp', {'method': 0}), (rgba, 'alpha.webp', {'method': 0}),\n    \
        (rgb, 'lossless.webp', {'lossless': True, 'method': 0, 'quality': 0})]:\n        \
        image.save(os.path.join(folder, name), **options)\n\
    path = lambda name: os.path.join(folder, name)\n\
    whole = open(path('progressive.jpg'), 'rb').read()\n\
    fifth = whole.split(b'\\xff\\xda')[:5]\n\
    open(path('missing-scans.jpg'), 'wb').write(b'\\xff\\xda'.join(fifth) + b'\\xff\\xd9')\n\
    one = open(path('gray.jpg'), 'rb').read()\n\
    sof, sos = one.index(b'\\xff\\xc0'), one.index(b'\\xff\\xda')\n\
    frame = b'\\xff\\xc0\\0\\x11' + one[sof + 4:sof + 9] + b'\\x03' + bytes([1, 17, 0, 2, 17, 0, 3, 17, 0])\n\
    scan = lambda id: one[sos:sos + 5] + bytes([id]) + one[sos + 6:-2]\n\
    scans = b''.join(scan(id) for id in [1, 2, 3, 1])\n\
    open(path('again.jpg'), 'wb').write(one[:sof] + frame + one[sof + 13:sos] + scans + b'\\xff\\xd9')\n";

/// Recipes with a small result, with a result of the same size, and without a change.
const RECIPES: [&str; 4] = [
    "fit:300x300,as:jpeg",
    "exact:3999x2999,as:jpeg,q:80",
    "exact:3999x2999,as:jpeg,q:95,progressive",
    "original",
];

/// Recipes that write an AVIF. Our allocation counters do not include libaom's memory. libaom is slow in tests, so the
/// results are small, and the recipes are run only for the files in `ENCODED`.
const AVIF: [&str; 3] = [
    "exact:1999x1499,as:avif,q:90",
    "exact:500x499,as:avif,effort:7",
    "exact:1000x999,as:avif,lossless,depth:10",
];
const ENCODED: [&str; 2] = ["444.jpg", "rgba.png"];

fn plan(file: &[u8], recipe: &str) -> Plan {
    let recipe: Recipe = recipe.parse().expect("a recipe");
    let plan = Engine::new(ALL, Limits::default()).plan(&recipe, file);
    plan.expect("a plan")
}

/// Returns the maximum resident memory of the process in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.expect("a number") << 10
}

/// Runs as a child of the test below, and prints the growth of the process's peak memory.
#[test]
fn one_plan_is_run() {
    let (Ok(path), Ok(recipe)) = (std::env::var(PLANNED), std::env::var(RECIPE)) else {
        return;
    };
    let file = std::fs::read(path).expect("the file");
    let plan = plan(&file, &recipe);
    let before = peak();
    let engine = Engine::new(ALL, Limits::default());
    let made = engine.run(&plan, Run::of(&file));
    let after = peak();
    assert!(made.is_ok(), "{made:?}");
    println!("grew {}", after - before);
}

/// A progressive file without its last scans is decoded by libjpeg-turbo, which stores all coefficients. Planning
/// checks large files for missing scans.
#[test]
fn only_a_large_progressive_file_with_all_its_scans_is_planned_without_its_coefficients() {
    let sample =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/jpeg/progressive-420.jpg");
    let mut whole = std::fs::read(sample).expect("a sample");
    // A comment that makes the file as long as a file of this size is at least.
    let comment = [&[0xff, 0xfe, 0x80, 0x02][..], &[b' '; 0x8000]].concat();
    whole.splice(2..2, comment);
    let at = |marker: u8| move |pair: &[u8]| pair == [0xff, marker];
    let frame = whole.windows(2).position(at(0xc2)).expect("a frame header");
    let (width, height) = (6000_u16, 4000_u16);
    whole[frame + 5..frame + 7].copy_from_slice(&height.to_be_bytes());
    whole[frame + 7..frame + 9].copy_from_slice(&width.to_be_bytes());
    let last = whole.windows(2).rposition(at(0xda)).expect("a scan");
    let cut = [&whole[..last], &[0xff, 0xd9]].concat();

    let coefficients = u64::from(width) * u64::from(height) * 3;
    let peak = |file: &[u8]| plan(file, "fit:300x300,as:jpeg").peak_bytes();
    assert!(peak(&whole) < coefficients / 2, "{}", peak(&whole));
    assert!(peak(&cut) > coefficients, "{}", peak(&cut));
}

#[test]
fn no_plan_holds_more_than_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/photos/otter.jpg");
    let written = Command::new("/usr/bin/python3")
        .args(["-c", WRITTEN])
        .args([folder.path(), &sample])
        .status();
    assert!(written.expect("python3 with Pillow").success());
    let png = std::fs::read(folder.path().join("rgba.png")).expect("a file");
    for (recipe, name) in [
        ("exact:3000x2000,as:avif", "rgba.avif"),
        ("exact:3000x2000,as:avif,depth:10,chroma:444", "deep.avif"),
    ] {
        let plan = plan(&png, recipe);
        let made = Engine::new(ALL, Limits::default()).run(&plan, Run::of(&png));
        let body = made.expect("an image").body.expect("a new file");
        std::fs::write(folder.path().join(name), body).expect("a file");
    }
    let mut faults = Vec::new();
    let mut seen = 0;
    for entry in std::fs::read_dir(folder.path()).expect("the folder") {
        let path = entry.expect("an entry").path();
        let file = std::fs::read(&path).expect("a file");
        let name = path.file_name().and_then(|name| name.to_str());
        let avif = AVIF
            .iter()
            .filter(|_| ENCODED.contains(&name.unwrap_or("")));
        for recipe in RECIPES.iter().chain(avif) {
            let plan = plan(&file, recipe);
            let planned = plan.peak_bytes() - file.len() as u64;
            let child = Command::new(std::env::current_exe().expect("this test"))
                .args(["--exact", "one_plan_is_run", "--nocapture"])
                .env(PLANNED, &path)
                .env(RECIPE, recipe)
                .output()
                .expect("a child");
            let told = String::from_utf8_lossy(&child.stdout);
            let grew = told.lines().find_map(|line| line.strip_prefix("grew "));
            let grew: u64 = grew.and_then(|grew| grew.parse().ok()).expect(&told);
            seen += 1;
            println!(
                "{} {recipe}: {grew} of {planned} bytes: {plan}",
                path.display()
            );
            if grew > planned + SLACK {
                faults.push(format!(
                    "{} {recipe}: {grew} of {planned}: {plan}",
                    path.display()
                ));
            }
        }
    }
    assert_eq!(seen, 74);
    assert!(faults.is_empty(), "{faults:#?}");
}
