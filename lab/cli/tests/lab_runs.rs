//! Tests comparisons of saved runs with each other, and with baselines.

mod common;

use std::fs;
use std::path::Path;

use common::{lab, write_server};

/// Runs one server with this much work per reply, and saves the run in the folder `name`.
fn ran(folder: &Path, name: &str, work: u32, connections: u32) {
    write_server(folder);
    let scenario = format!(
        r#"
name = "hashing"
[server]
cmd = ["python3", "{{dir}}/server.py", "{{host}}", "{{port}}"]
env = {{ WORK = "{work}" }}
ready = {{ timeout = "60s" }}
[load]
connections = {connections}
[design]
block = "200ms"
warmup = {{ min = "50ms", max = "50ms" }}
pairs = {{ min = 3, max = 3 }}
discard = {{ steal = "> 100%", foreign_cpu = "> 100%", probe = "> 10000%" }}
"#
    );
    fs::write(folder.join("s.toml"), scenario).expect("writes");
    lab(folder, &format!("run s.toml -q -o {name}")).ending(0);
}

#[test]
fn a_later_run_is_compared_with_a_saved_baseline_and_a_great_loss_is_a_regression() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    ran(here, "monday", 100, 2);
    // The difference is thirtyfold, so that no noise of the machine can hide it or cause it.
    ran(here, "today", 3000, 2);

    let said = lab(here, "diff monday today").ending(0).out;
    for part in [
        "not interleaved",
        "CPU calibration",
        "variant.env.WORK",
        "100",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(
        said.contains("SLOWER") || said.contains("UNDECIDED"),
        "{said}"
    );
    let json = lab(here, "diff monday today --as json");
    assert!(json.out.contains("\"differences\""));

    // The run has one variant and no baseline.
    let alone = lab(here, "gate today").ending(3);
    assert!(alone.err.contains("--baseline"));
    lab(here, "baseline save monday").ending(0);
    let twice = lab(here, "baseline save monday");
    assert!(twice.err.contains("--force"));
    let list = lab(here, "baseline list").out;
    assert!(
        list.starts_with("hashing  ") && list.contains("this machine"),
        "{list}"
    );
    let shown = lab(here, "baseline show hashing").out;
    assert!(shown.starts_with("hashing\n"), "{shown}");

    for words in [
        "gate today",
        "gate today --baseline hashing",
        "gate today --baseline monday",
    ] {
        let judged = lab(here, words);
        let is_sure = judged.out.contains("REGRESSION");
        let expected = if is_sure { 1 } else { 2 };
        let judged = judged.ending(expected).out;
        assert!(judged.contains("compared with hashing, "), "{judged}");
    }
    let itself = lab(here, "gate monday");
    assert!(itself.err.contains("nothing was compared"));
    let unknown = lab(here, "gate today --baseline friday");
    assert!(unknown.err.contains("there are hashing ("));
}

#[test]
fn an_undecided_run_passes_no_gate_unless_that_is_allowed() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    write_server(here);
    // One pair gives no verdict, however much slower the second server is.
    let scenario = r#"
[server]
cmd = ["python3", "{dir}/server.py", "{host}", "{port}"]
ready = { timeout = "60s" }
[[variant]]
name = "WORK=100"
env = { WORK = "100" }
[[variant]]
name = "WORK=9000"
env = { WORK = "9000" }
[load]
connections = 2
requests = 20
[design]
warmup = { min = "50ms", max = "50ms" }
pairs = { min = 1, max = 1 }
aa = false
discard = { steal = "> 100%", foreign_cpu = "> 100%", probe = "> 10000%" }
"#;
    fs::write(here.join("s.toml"), scenario).expect("writes");
    let said = lab(here, "run s.toml -o run").ending(0);
    assert!(said.out.contains("UNDECIDED"), "{}{}", said.out, said.err);
    let judged = lab(here, "gate run --no-baseline").ending(2).out;
    assert!(
        judged.starts_with("UNDECIDED  WORK=9000 / WORK=100 by throughput: "),
        "{judged}"
    );
    let allowed = lab(here, "gate run --no-baseline --allow-undecided").ending(0);
    assert!(
        allowed.out.starts_with("allowed ") && !allowed.out.contains("passed"),
        "{}",
        allowed.out
    );
}

#[test]
fn runs_that_asked_for_something_else_are_not_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    ran(here, "two", 100, 2);
    ran(here, "four", 100, 4);
    let said = lab(here, "diff two four").ending(3).out;
    assert!(said.contains("load.connections: 2 and 4"), "{said}");
    lab(here, "gate four --baseline two").ending(3);
}

#[test]
fn what_cannot_be_judged_is_no_regression() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    ran(here, "monday", 100, 2);
    fs::create_dir(here.join("empty")).expect("a folder");
    fs::create_dir(here.join("torn")).expect("a folder");
    fs::write(here.join("torn/run.json"), "{ half").expect("writes");
    let not_understood = [
        "gate nowhere",
        "gate empty",
        "gate torn",
        "gate monday --fail slower",
        "gate monday --fail 'any",
        "gate monday --baseline friday",
        "gate monday --baseline ../monday",
        "gate monday --baseline empty",
        "gate monday --fial slower",
        "gate",
        "diff monday nowhere",
        "diff nowhere monday",
        "diff monday monday --as xml",
        "diff monday monday --same-within x",
        "report nowhere",
        "report monday --as xml",
        "baseline show friday",
        "baseline save nowhere",
        "baseline save monday .hidden",
        "run nowhere.toml",
        "run s.toml -o monday",
        "run s.toml --only nobody",
        "replay monday http://127.0.0.1:1 --speed 0",
    ];
    for words in not_understood {
        let said = lab(here, words).ending(4);
        assert!(!said.err.is_empty() && said.out.is_empty(), "{words}");
    }
    let once = lab(here, "gate nowhere").err;
    assert_eq!(once.matches("No such file").count(), 1, "{once}");
    let nothing = lab(here, "gate monday").ending(3);
    assert!(nothing.err.contains("nothing was compared"));
    lab(here, "gate monday --no-baseline").ending(3);
    lab(here, "baseline save monday").ending(0);
    lab(here, "baseline save monday").ending(4);
}
