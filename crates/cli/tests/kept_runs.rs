//! The runs of the laboratory that the repository keeps, small: they can be read, and say what they said.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::lab::lab;
use serde_json::Value;

/// Every folder of a run under `runs/`.
fn kept() -> Vec<PathBuf> {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runs");
    let entries = fs::read_dir(&runs).expect("runs/ is there");
    let folders = entries.map(|entry| entry.expect("reads").path());
    let mut folders: Vec<PathBuf> = folders
        .filter(|folder| folder.join("run.json").exists())
        .collect();
    folders.sort();
    folders
}

/// What a report in JSON concludes: each comparison's verdict, and what was judged of the replies.
fn conclusions(report: &Value) -> (Vec<[String; 5]>, &Value) {
    let comparisons = report["analysis"]["comparisons"].as_array();
    let comparisons = comparisons.expect("comparisons").iter().map(|it| {
        ["name", "arm", "metric", "role", "verdict"].map(|key| match &it[key] {
            Value::Object(verdict) => verdict["word"].to_string(),
            other => other.to_string(),
        })
    });
    (comparisons.collect(), &report["judged"])
}

#[test]
fn every_kept_run_can_be_reported_again_and_says_what_its_report_says() {
    let here = tempfile::tempdir().expect("a folder");
    let folders = kept();
    assert!(folders.len() >= 12, "{folders:?}");
    for folder in folders {
        let shown = folder.display();
        let said = lab(here.path(), &format!("report {shown} --as json")).ending(0);
        let now: Value = serde_json::from_str(&said.out).expect("JSON");
        let then = fs::read(folder.join("report.json")).expect("its report");
        let then: Value = serde_json::from_slice(&then).expect("JSON");
        assert_eq!(conclusions(&now), conclusions(&then), "{shown}");
    }
}

#[test]
fn a_kept_run_without_anything_to_judge_its_replies_by_is_an_error_that_says_so() {
    let here = tempfile::tempdir().expect("a folder");
    let folder = kept()
        .into_iter()
        .find(|it| it.to_string_lossy().contains("-3a-"));
    let folder = folder.expect("the engines");
    let copy = here.path().join("run");
    fs::create_dir(&copy).expect("a folder");
    for name in ["run.json", "blocks.jsonl.gz"] {
        fs::copy(folder.join(name), copy.join(name)).expect("copies");
    }
    let said = lab(here.path(), "report run").ending(3);
    assert!(said.out.is_empty(), "{}", said.out);
    assert!(
        said.err.contains("its replies were not kept") && said.err.contains("report.html"),
        "{}",
        said.err
    );
    // Nor is it a regression.
    lab(here.path(), "gate run").ending(3);
}
