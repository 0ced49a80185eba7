//! What a plan says it holds is what it holds: each in a process of its own, whose peak the kernel tells.

use std::path::Path;
use std::process::Command;

use andon_codecs::ALL;
use andon_pixels::{Engine, Limits, Never, NoMaterials, Plan};
use andon_recipe::Recipe;

/// Pages of code and of the stack that are touched for the first time, and what the allocator rounds up.
const SLACK: u64 = 5 << 20;

const PLANNED: &str = "ANDON_PLANNED_FILE";
const RECIPE: &str = "ANDON_PLANNED_RECIPE";

/// Pictures of 12 megapixels, as Pillow writes them.
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
        image.save(os.path.join(folder, name), **options)\n";

/// Turned into something small, into something as large, and passed on.
const RECIPES: [&str; 3] = [
    "fit:300x300,as:jpeg",
    "exact:3999x2999,as:jpeg,q:80",
    "original",
];

fn plan(file: &[u8], recipe: &str) -> Plan {
    let recipe: Recipe = recipe.parse().expect("a recipe");
    let plan = Engine::new(ALL, Limits::default()).plan(&recipe, file);
    plan.expect("a plan")
}

/// In bytes: the most that was ever resident.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.expect("a number") << 10
}

/// Run as a child of the test below: tells how much the peak grew.
#[test]
fn one_plan_is_run() {
    let (Ok(path), Ok(recipe)) = (std::env::var(PLANNED), std::env::var(RECIPE)) else {
        return;
    };
    let file = std::fs::read(path).expect("the file");
    let plan = plan(&file, &recipe);
    let before = peak();
    let engine = Engine::new(ALL, Limits::default());
    let made = engine.run(&plan, &file, &NoMaterials, &Never);
    let after = peak();
    assert!(made.is_ok(), "{made:?}");
    println!("grew {}", after - before);
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
    let mut faults = Vec::new();
    let mut seen = 0;
    for entry in std::fs::read_dir(folder.path()).expect("the folder") {
        let path = entry.expect("an entry").path();
        let file = std::fs::read(&path).expect("a file");
        for recipe in RECIPES {
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
    assert_eq!(seen, 39);
    assert!(faults.is_empty(), "{faults:#?}");
}
