//! Tests that a program without HEIC support can read HEIC if its worker processes run `andon-worker`.

use std::process::Command;
use std::time::Duration;

use andon_codecs::ALL;
use andon_isolation::{AT_REST, Prepared, Program, Settings, Which, isolated};
use andon_pixels::{Engine, Limits};

fn worker() -> Program {
    Program {
        path: env!("CARGO_BIN_EXE_andon-worker").into(),
        arguments: Vec::new(),
    }
}

#[test]
fn heic_is_read_by_workers_that_were_built_for_it() {
    let limits = Limits::default();
    let prepared = Prepared::new(Settings {
        program: worker(),
        ready: 1,
        memory: limits.memory,
        kept: AT_REST,
        shared: None,
        suspect: Duration::from_secs(60),
    });
    let pool = Box::leak(Box::new(prepared.unwrap().start()));
    let engine = Engine::new(isolated(ALL, pool, Which::ThirdParty), limits);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/heic/420.heic");
    let file = std::fs::read(file).unwrap();
    match engine.probe(&file) {
        Ok(info) => assert_eq!((info.format, info.width > 0), ("heic", true)),
        // A build without the feature names the package that has it.
        Err(error) => assert!(error.to_string().contains("andon-heic"), "{error}"),
    }
}

#[test]
fn programs_of_one_version_know_each_other() {
    assert!(worker().is_of_this_version());
    for other in ["/bin/false", "/nowhere"] {
        let other = Program {
            path: other.into(),
            arguments: Vec::new(),
        };
        assert!(!other.is_of_this_version());
    }
    let mut other = Command::new(worker().path);
    other.args(["--andon-process", "worker", "0.0.0-other", "1", "1"]);
    assert!(!other.status().unwrap().success());
}

#[test]
fn whoever_starts_the_program_by_hand_learns_what_it_is_for() {
    let output = Command::new(worker().path).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("`andon serve`"), "{said}");
}
