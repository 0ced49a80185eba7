//! Tests that the scenarios of the repository parse and expand, and that every file they name exists.

use std::fs;
use std::path::{Path, PathBuf};

use andon_lab::scenario::Scenario;
use andon_lab::variant::expand;

#[test]
fn every_scenario_parses_and_expands() {
    for (file, scenario) in scenarios() {
        let variants = expand(&scenario).unwrap_or_else(|error| panic!("{error}"));
        assert!(variants.len() > 1, "{}: nothing to compare", file.display());
        for variant in variants {
            let urls = scenario.urls(&variant);
            let urls = urls.unwrap_or_else(|error| panic!("{}: {error}", variant.name));
            assert!(!urls.is_empty());
        }
    }
}

#[test]
fn every_file_that_a_scenario_names_is_in_the_repository() {
    let repository = root().canonicalize().expect("the repository");
    for (file, scenario) in scenarios() {
        for from in scenario.server.files.values() {
            let path = scenario.path(from).canonicalize();
            assert!(
                path.is_ok_and(|path| path.starts_with(&repository)),
                "{}: {from} is not a file of this repository",
                file.display()
            );
        }
    }
}

#[test]
fn every_program_in_a_work_directory_is_copied_there() {
    for (file, scenario) in scenarios() {
        let names: Vec<&String> = scenario.server.files.keys().collect();
        let variants = expand(&scenario).expect("expands");
        let words = variants.iter().flat_map(|variant| &variant.cmd);
        for name in words.filter_map(|word| word.strip_prefix("{work}/")) {
            let there =
                |copied: &&String| **copied == name || copied.starts_with(&format!("{name}/"));
            assert!(
                names.iter().any(there),
                "{}: nothing is copied to {{work}}/{name}",
                file.display()
            );
        }
    }
}

#[test]
fn every_name_of_a_scenario_is_its_own() {
    let mut names: Vec<String> = (scenarios().into_iter())
        .map(|(_, scenario)| scenario.name)
        .collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all);
}

/// Returns every scenario of the repository. Other TOML files there are Andon's configurations.
fn scenarios() -> Vec<(PathBuf, Scenario)> {
    let mut found = Vec::new();
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        entries.map(|entry| entry.expect("entry").path()).collect()
    };
    for folder in entries(&root().join("lab/scenarios")) {
        if !folder.is_dir() {
            continue;
        }
        for file in entries(&folder) {
            let toml = file
                .extension()
                .is_some_and(|extension| extension == "toml");
            if toml && file.file_name().is_some_and(|name| name != "andon.toml") {
                let scenario = Scenario::read(&file).unwrap_or_else(|error| panic!("{error}"));
                found.push((file, scenario));
            }
        }
    }
    assert!(found.len() >= 5, "only {} scenarios", found.len());
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
