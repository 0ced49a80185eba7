//! Tests `andon-lab tune` from its users' view. It gets too little time to find out much, so the tests check that every
//! experiment runs and that the output is a configuration.

mod common;

use std::fs;
use std::path::Path;

use common::{Said, lab, program, said};

/// Runs `andon-lab tune` for the server that was built next to it.
fn tune(folder: &Path, words: &str) -> Said {
    let server = program();
    lab(
        folder,
        &format!("tune --server {} {words}", server.display()),
    )
}

#[test]
fn tune_tries_what_matters_and_writes_a_configuration_only_when_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    fs::create_dir(here.join("photos")).expect("a folder");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/jpeg/420.jpg");
    fs::copy(sample, here.join("photos/a.jpg")).expect("copies");
    fs::write(
        here.join("andon.toml"),
        "queue = 99\nlisten = [\"127.0.0.1:9\"]\n[[origin]]\nfs.root = \"photos\"\n[log]\nformat = \"off\"\n\
         [cache.disk]\npath = \"tier\"\nsize = \"1GiB\"\n",
    )
    .expect("writes");
    let words = "--config andon.toml --quick --budget 4s -o runs --write tuned.toml";
    let said = tune(here, words);
    assert!(!said.out.contains("requests failed"), "{}", said.out);
    // If other programs keep the machine busy, no candidate can be compared. That is a valid result, too.
    let busy =
        said.out.contains("no candidate could be compared") && said.out.contains("disturbed");
    let said = said.ending(i32::from(busy)).out;
    assert!(said.contains("steal_work = false"), "{said}");
    assert!(said.contains("cache.memory = \"0\""), "{said}");
    assert!(said.contains("andon.toml"), "{said}");
    for run in ["workers", "cache"] {
        assert!(here.join("runs").join(run).join("report.html").exists());
    }
    let checked = said::said(program(), here, "config show tuned.toml").ending(0);
    assert!(checked.out.contains("queue = 99"));
    // Settings that the experiments remove (such as `listen`) stay in the user's configuration.
    let tuned = fs::read_to_string(here.join("tuned.toml")).expect("reads");
    for kept in ["127.0.0.1:9", "photos", "/tier", "1GiB"] {
        assert!(tuned.contains(kept), "{kept}: {tuned}");
    }

    let again = tune(here, "--quick --write tuned.toml").ending(1);
    assert!(again.err.contains("there already"));
    let empty = tune(here, "runs --quick");
    assert!(empty.err.contains("-L"), "{}", empty.err);
}
