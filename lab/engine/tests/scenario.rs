//! Tests that the example scenario of the documentation parses into the values that it gives.

use std::path::Path;

use andon_lab::scenario::{Address, Metric, Mode, Scenario, SizeCheck};
use andon_lab::variant::expand;

/// Reads the example scenario, without the checks that depend on the machine: it may not have the CPUs that the example
/// names.
fn example(file: &Path) -> Scenario {
    let text = std::fs::read_to_string(file).expect("example");
    let folder = file.parent().expect("a folder");
    Scenario::parse(&text, folder).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_example_parses_and_expands() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/example.toml");
    let scenario = example(&file);
    assert_eq!(scenario.server.addr, Address::Unix);
    assert_eq!(scenario.load.mode, Mode::Open);
    assert_eq!(scenario.check.size, SizeCheck::Url);
    assert_eq!(scenario.design.primary, Metric::P50);
    let variants = expand(&scenario).expect("expands");
    let names: Vec<_> = variants.iter().map(|variant| &variant.name).collect();
    assert_eq!(names, ["no-cache", "cache"]);
    assert_eq!(variants[1].assert.len(), 2);
    assert_eq!(
        scenario.urls(&variants[1]).expect("urls")[1].path,
        "/small_light(dw=99,of=auto)/a.jpg"
    );
}

#[test]
fn a_scenario_survives_being_written_down() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/example.toml");
    let mut scenario = example(&file);
    let text = serde_json::to_string(&scenario).expect("writes");
    let back: Scenario = serde_json::from_str(&text).expect("reads");
    scenario.dir = std::path::PathBuf::new();
    assert_eq!(back, scenario);
}

#[test]
fn the_handbook_shows_the_example_as_it_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let handbook = std::fs::read_to_string(root.join("../docs/scenario.md")).expect("handbook");
    let example = std::fs::read_to_string(root.join("tests/data/example.toml")).expect("example");
    let tables = example
        .split_once("\n\n[server]")
        .map_or("", |(_, rest)| rest);
    assert!(
        handbook.contains(tables.trim()),
        "docs/scenario.md has another example"
    );
}
