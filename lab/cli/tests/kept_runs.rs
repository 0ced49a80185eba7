//! Tests the saved runs in `runs/`: only the newest of those with the same name behind the date is there, all together
//! are small, and those of the laboratory with raw data give the same report again.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::lab;
use serde_json::Value;

/// Returns everything in a folder, sorted by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("reads").path()).collect();
    paths.sort();
    paths
}

fn runs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runs")
}

/// Returns every folder of a run that has its raw data.
fn kept() -> Vec<PathBuf> {
    let mut folders = entries(&runs());
    folders.retain(|folder| folder.join("blocks.jsonl.gz").exists());
    folders
}

fn bytes(path: &Path) -> u64 {
    if path.is_dir() {
        entries(path).iter().map(|path| bytes(path)).sum()
    } else {
        path.metadata().expect("a file").len()
    }
}

#[test]
fn only_the_newest_run_of_each_kind_is_kept() {
    let mut kinds = Vec::new();
    for path in entries(&runs()) {
        let name = path.file_name().expect("a name").to_string_lossy();
        if name == "README.md" {
            continue;
        }
        // 2026-11-22-0643-bench.json.gz
        let kind = name
            .splitn(5, '-')
            .nth(4)
            .unwrap_or_else(|| panic!("{name}"));
        let kind = kind.split('.').next().unwrap_or_default().to_owned();
        assert!(!kinds.contains(&kind), "{name}: more than one {kind}");
        kinds.push(kind);
    }
    assert!(kinds.len() > 20, "{kinds:?}");
}

#[test]
fn the_kept_runs_have_at_most_six_megabytes() {
    let all = bytes(&runs());
    assert!(all <= 6_000_000, "{all} bytes");
}

/// Returns the current word for a verdict: reports older than 22 November 2026, 12:00 UTC, use other words.
fn word(verdict: &Value) -> String {
    let word = verdict.as_str().unwrap_or_default();
    let now = match word {
        "cheaper" => "less",
        "dearer" => "more",
        "not-exercised" => "switch-inactive",
        other => other,
    };
    now.to_owned()
}

/// Returns the conclusions of a JSON report: each comparison's verdict, and the judgement of the replies.
fn conclusions(report: &Value) -> (Vec<[String; 5]>, Value) {
    let comparisons = report["analysis"]["comparisons"].as_array();
    let comparisons = comparisons.expect("comparisons").iter().map(|it| {
        ["name", "arm", "metric", "role", "verdict"].map(|key| match &it[key] {
            Value::Object(verdict) => word(&verdict["word"]),
            other => other.to_string(),
        })
    });
    let mut judged = report["judged"].clone();
    // Older reports do not contain the number of replies.
    for work in judged["work"].as_array_mut().into_iter().flatten() {
        let work = work.as_object_mut().expect("a judgement");
        work.retain(|key, _| key != "replies" && key != "baseline");
    }
    (comparisons.collect(), judged)
}

#[test]
fn every_kept_run_can_be_reported_again_and_says_what_its_report_says() {
    let here = tempfile::tempdir().expect("a folder");
    let folders = kept();
    assert!(folders.len() >= 8, "{folders:?}");
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
        .find(|it| it.to_string_lossy().contains("-1b-"));
    let folder = folder.expect("the photo under a frame");
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
    // A run that cannot be judged is no regression.
    lab(here.path(), "gate run").ending(3);
    // The message must not say that the run was too short, but that its blocks are missing.
    fs::remove_file(copy.join("blocks.jsonl.gz")).expect("removes");
    for words in ["report run", "gate run"] {
        let said = lab(here.path(), words).ending(3);
        assert!(
            said.out.is_empty() && said.err.contains("its blocks were not saved"),
            "{}",
            said.err
        );
    }
}
