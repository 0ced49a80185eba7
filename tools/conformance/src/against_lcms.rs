//! Compares the converted colours of charts with those of Little CMS, the colour engine that most programs for print
//! and photography use. It is called through Pillow. Without Pillow the test reports that it was skipped.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use andon_codecs::ALL;
use andon_pixels::{Engine, Limits, Run};
use andon_recipe::Recipe;

use crate::delta::delta_e2000;
use crate::rgba::Rgba;

/// The Python script that generates the charts and converts them with Little CMS.
const CHARTS: &str = include_str!("against_lcms.py");

/// Width and height of a chart's patches in px.
const PATCH: usize = 8;

#[test]
fn no_colour_looks_different_from_little_cms() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().expect("a folder");
    let python = Path::new("/usr/bin/python3");
    let asked = Command::new(python)
        .args(["-c", "from PIL import ImageCms"])
        .output();
    if !asked.is_ok_and(|asked| asked.status.success()) {
        eprintln!("skipped: /usr/bin/python3 has no Pillow with Little CMS (python3-pil)");
        return;
    }
    let made = Command::new(python)
        .args(["-c", CHARTS])
        .args([root.join("samples"), root.join("../shared/conformance")])
        .arg(folder.path())
        .output()
        .expect("Python");
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let mut seen = BTreeMap::new();
    for entry in std::fs::read_dir(folder.path()).expect("charts").flatten() {
        let path = entry.path();
        let expected = path.with_extension("expected.png");
        if !expected.exists() {
            continue;
        }
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let file = std::fs::read(&path).expect("a chart");
        let own = in_srgb(&file);
        let expected = Rgba::read(&expected).expect("what Little CMS says");
        assert_eq!(
            (own.width, own.height),
            (expected.width, expected.height),
            "{name}"
        );
        let mut off = Vec::new();
        for y in (PATCH / 2..own.height).step_by(PATCH) {
            for x in (PATCH / 2..own.width).step_by(PATCH) {
                let pixel = |image: &Rgba| {
                    let [r, g, b, _] = image.pixels[y * image.width + x];
                    [r, g, b]
                };
                let (one, other) = (pixel(&own), pixel(&expected));
                off.push(delta_e2000(one, other));
            }
        }
        off.sort_by(f64::total_cmp);
        seen.insert(name, (off[off.len() / 2], off[off.len() - 1]));
    }
    println!("the middle and the most by CIEDE2000: {seen:.2?}");
    assert!(seen.len() >= 5, "{seen:?}");
    for (name, (_, most)) in seen {
        // Both engines interpolate tables of inks through coarser tables of their own. The difference is visible near
        // black.
        let allowed = if name.starts_with("cmyk") { 1.25 } else { 1.0 };
        assert!(most <= allowed, "{name}: {most}");
    }
}

fn in_srgb(file: &[u8]) -> Rgba {
    let engine = Engine::new(ALL, Limits::default());
    let recipe: Recipe = "orient,profile:srgb,as:png".parse().expect("a recipe");
    let plan = engine.plan(&recipe, file).expect("a plan");
    let made = engine.run(&plan, Run::of(file)).expect("an image");
    Rgba::png(made.bytes(file)).expect("a PNG")
}
