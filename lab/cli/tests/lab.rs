//! Tests the program from its users' view: real servers, exit codes, files.

mod common;

use std::fs;
use std::path::Path;

use common::{lab, write_server};
use tempfile::TempDir;

/// The end of a command line that starts `server.py`.
const SERVER: &str = "-- python3 server.py {host} {port}";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write_server(folder.path());
    folder
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn quick_says_which_is_slower_and_report_and_gate_read_the_same_run() {
    let folder = folder();
    let here = folder.path();
    let quick = "quick -e WORK=800,2400 -c 2 --block 250ms --pairs 6 --no-aa --budget 20s -o run";
    let compared = lab(here, &format!("{quick} {SERVER}"));
    let said = &compared.out;
    // On a busy machine so many pairs may be discarded that the run is INVALID.
    let known = said.contains("SLOWER") || said.contains("INVALID") || said.contains("UNDECIDED");
    assert!(known, "{said}{}", compared.err);
    assert!(said.contains("WORK=2400 / WORK=800"), "{said}");
    assert_eq!(
        files(&here.join("run")),
        [
            "blocks.jsonl",
            "bodies",
            "judged.jsonl",
            "report.html",
            "report.json",
            "report.md",
            "report.txt",
            "run.json"
        ]
    );
    let csv = lab(here, "report run --as csv").out;
    let blocks = fs::read_to_string(here.join("run/blocks.jsonl")).expect("reads");
    assert_eq!(
        csv.lines().count(),
        1 + blocks.lines().count(),
        "a head, and a line per block"
    );
    let gate = lab(here, "gate run");
    if said.contains("SLOWER") {
        assert_eq!(compared.code, Some(0));
        gate.ending(1);
    }
    let again = lab(here, &format!("quick -o run {SERVER}"));
    assert!(
        again.err.contains("another folder"),
        "nothing is overwritten"
    );
}

#[test]
fn a_server_that_does_not_start_is_exit_5_with_its_last_words() {
    let folder = folder();
    let words = "quick -o run -- python3 server.py {host} {port}th";
    let failed = lab(folder.path(), words).ending(5);
    assert!(failed.err.contains("invalid literal"), "{}", failed.err);
}

#[test]
fn a_server_sees_of_the_environment_only_what_is_passed_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "import os, sys\nsys.exit('saw ' + os.environ.get('XDG_STATE_HOME', 'nothing'))\n";
    fs::write(folder.path().join("tell.py"), script).expect("writes");
    let said = |words: &str| {
        let words = format!("quick {words} -- python3 tell.py {{port}}");
        lab(folder.path(), &words).ending(5).err
    };
    assert!(said("-o alone").contains("saw nothing"));
    assert!(said("--inherit LANG,XDG_STATE_HOME -o more").contains("state"));
    let wrong = lab(folder.path(), "quick --inherit A=1 -- true").ending(4);
    assert!(wrong.err.contains("names only"), "{}", wrong.err);
}

#[test]
fn what_is_not_understood_is_exit_4_and_names_the_nearest_key() {
    let folder = tempfile::tempdir().expect("a folder");
    lab(folder.path(), "quick --conections 3").ending(4);
    let deaf = lab(folder.path(), "quick -- python3 -m http.server 8000").ending(4);
    assert!(deaf.err.contains("has no {port}"), "{}", deaf.err);
    fs::write(
        folder.path().join("s.toml"),
        "[server]\ncmd = [\"true\", \"{port}\"]\n[load]\nconections = 3\n",
    )
    .expect("writes");
    let said = lab(folder.path(), "run s.toml").ending(4).err;
    assert!(
        said.contains("line 4") && said.contains("`connections`"),
        "{said}"
    );
}

#[test]
fn bench_asks_a_server_that_already_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let null = andon_lab::load::null::NullResponder::start(1000).expect("starts");
    let words = format!("bench http://{}/ -n 500 -c 4 -k", null.endpoint());
    let said = lab(folder.path(), &words).ending(0).out;
    assert!(said.contains("Requests per second"), "{said}");
    let gone = lab(folder.path(), "bench ftp://127.0.0.1/ -n 1");
    assert!(gone.err.contains("http://HOST:PORT/PATH"));
}

#[test]
fn check_measures_nothing_and_says_what_differs() {
    let folder = folder();
    let scenario = r#"
[server]
cmd = ["python3", "{dir}/server.py", "{host}", "{port}"]
[[variant]]
name = "a"
[[variant]]
name = "b"
assert = [{ threads_peak = ">= 1" }]
"#;
    fs::write(folder.path().join("s.toml"), scenario).expect("writes");
    let said = lab(folder.path(), "check s.toml").ending(0).out;
    assert!(
        said.contains("assertion threads_peak >= 1: holds"),
        "{said}"
    );
    assert!(said.contains("same bytes"), "{said}");
}

#[test]
fn the_handbooks_example_runs_as_it_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let handbook = fs::read_to_string(root.join("lab/docs/scenario.md")).expect("the handbook");
    let example = handbook
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("an example");
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["lab", "samples"] {
        std::os::unix::fs::symlink(root.join(name), folder.path().join(name)).expect("a link");
    }
    fs::write(folder.path().join("example.toml"), example).expect("writes");
    let said = lab(folder.path(), "check example.toml").ending(0).out;
    for part in ["cache: 20 replies", "threads_peak > 1: holds", "> 0: holds"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
