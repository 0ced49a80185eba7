//! The centres of smart crops, for photos whose subject was marked by hand. The table in docs/smart.md
//! lists the results.

use std::fs;
use std::path::Path;

use andon_codecs::ALL;
use andon_pixels::{Alone, Engine, Limits, Never};
use andon_recipe::{Area, Measure, Recipe};

/// Photos, and the centre of their subject in per cent of width and of height.
const MARKS: &[(&str, (u32, u32))] = &[
    ("beacon-street-sunset", (88, 45)),
    ("canyon-wren", (40, 33)),
    ("casa-mila", (55, 45)),
    ("extreme-desert-hike", (35, 80)),
    ("high-trestle-trail", (50, 68)),
    ("lake-sherburne", (30, 30)),
    ("oakland-zoo-otters", (55, 50)),
    ("ocean-waves", (78, 35)),
    ("perched-osprey", (39, 35)),
    ("piazza-gae-aulenti", (38, 55)),
    ("roman-colosseum", (35, 55)),
    ("saturnian-profile", (50, 40)),
    ("singaporean-cityscape", (50, 50)),
];

/// The width and height of the crop, in per cent of those of the photo.
const KEPT: u32 = 50;

/// Whether a crop around `found` contains the marked centre of the subject, `mark`. Both are in per cent of width and
/// of height.
fn keeps(found: (u32, u32), mark: (u32, u32)) -> bool {
    let along = |found: u32, mark: u32| {
        let start = found.saturating_sub(KEPT / 2).min(100 - KEPT);
        (start..=start + KEPT).contains(&mark)
    };
    along(found.0, mark.0) && along(found.1, mark.1)
}

/// Returns the point of attention in per cent of width and height.
fn found(bytes: &[u8]) -> (u32, u32) {
    let engine = Engine::new(ALL, Limits::default());
    let rules: Recipe = "focus:smart,crop:1x1".parse().expect("a recipe");
    let measurement = engine.measurement(&rules, bytes).expect("an image");
    let measurement = measurement.expect("a question");
    let measured = engine.measure(&measurement, bytes, &Alone, &Never);
    let area = measured.expect("an answer").area(Measure::Salient);
    let Area { x, y, w, h } = area.expect("an area");
    let plan = engine.plan(&Recipe::default(), bytes).expect("a plan");
    let share = |start: u32, length: u32, side: u32| (100 * start + 50 * length).div_ceil(side);
    let info = plan.info();
    (share(x, w, info.width), share(y, h, info.height))
}

#[test]
fn the_table_of_smart_crops_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let table = fs::read_to_string(root.join("docs/smart.md")).unwrap_or_default();
    let folders = [root.join("samples/large"), root.join("../shared/photos")];
    let mut missing = Vec::new();
    for (name, mark) in MARKS {
        let files = folders
            .iter()
            .map(|folder| folder.join(format!("{name}.jpg")));
        let Some(bytes) = files.filter_map(|file| fs::read(file).ok()).next() else {
            eprintln!("{name}: not in this clone, skipped");
            continue;
        };
        let found = found(&bytes);
        let said = |yes: bool| if yes { "yes" } else { "no" };
        let row = format!(
            "| {name} | {} {} | {} {} | {} | {} |",
            mark.0,
            mark.1,
            found.0,
            found.1,
            said(keeps(found, *mark)),
            said(keeps((50, 50), *mark)),
        );
        if !table.lines().any(|line| line == row) {
            missing.push(row);
        }
    }
    assert!(
        missing.is_empty(),
        "docs/smart.md should say:\n{}",
        missing.join("\n")
    );
}
