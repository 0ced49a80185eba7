//! `andon tune` as its users meet it. Little time is given, so little is found out: what is tested is that every
//! experiment runs, and that what is written is a configuration.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn andon(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_andon"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn tune_tries_what_matters_and_writes_a_configuration_only_when_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/jpeg/420.jpg");
    fs::create_dir(here.join("photos")).expect("a folder");
    fs::copy(sample, here.join("photos/a.jpg")).expect("copies");
    fs::write(
        here.join("andon.toml"),
        "queue = 99\n[[origin]]\nfs.root = \"photos\"\n[log]\nformat = \"off\"\n",
    )
    .expect("writes");
    let args = [
        "tune",
        "--config",
        "andon.toml",
        "--quick",
        "--budget",
        "4s",
        "-o",
        "runs",
        "--write",
        "tuned.toml",
    ];
    let output = andon(here, &args);
    let (said, told) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}{told}");
    assert!(said.contains("lend_idle = false"), "{said}");
    assert!(said.contains("cache.memory = \"0\""), "{said}");
    assert!(said.contains("andon.toml"), "{said}");
    // A busy machine may disturb every pair, but no reply may fail.
    assert!(!said.contains("requests failed"), "{said}");
    for run in ["workers", "cache"] {
        assert!(here.join("runs").join(run).join("report.html").exists());
    }
    let checked = andon(here, &["config", "check", "tuned.toml"]);
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    assert!(text(&checked.stdout).contains("queue = 99"));

    let again = andon(here, &["tune", "--quick", "--write", "tuned.toml"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("there already"));
    let empty = andon(here, &["tune", "runs", "--quick"]);
    assert!(
        text(&empty.stderr).contains("-L"),
        "{}",
        text(&empty.stderr)
    );
}
