//! `andon lab` and `andon tune`: the laboratory is a program from another package.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::common::program;
use crate::common::said::{Said, command};

/// Returns a folder that has only `andon`, as if the laboratory were not installed.
fn alone() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("andon");
    // The folder of the program matters, so a symbolic link to another folder would not do.
    if fs::hard_link(program(), &own).is_err() {
        fs::copy(program(), &own).expect("copies");
    }
    (folder, own)
}

/// Writes a program that prints its arguments and exits with 3.
fn write_laboratory(folder: &Path) {
    let file = folder.join("andon-lab");
    fs::write(&file, "#!/bin/sh\necho \"$0 $*\"\nexit 3\n").expect("writes");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a mode");
}

fn run(program: &Path, folder: &Path, path: &Path, words: &str) -> Said {
    let mut command = command(program, folder, words);
    command.env("PATH", path).output().expect("runs").into()
}

#[test]
fn without_the_laboratory_both_commands_say_which_package_has_it() {
    let (folder, own) = alone();
    let here = folder.path();
    for (words, code) in [
        ("lab run s.toml", 4),
        ("lab --help", 4),
        ("tune --quick", 1),
    ] {
        let said = run(&own, here, &here.join("nowhere"), words).ending(code);
        for part in ["`andon-lab`", "Install the package andon-lab"] {
            assert!(said.err.contains(part), "{}", said.err);
        }
    }
}

#[test]
fn the_laboratory_beside_the_server_is_started_with_the_same_words_and_its_code_counts() {
    let (folder, own) = alone();
    let here = folder.path();
    write_laboratory(here);
    let lab = here.join("andon-lab");
    let said = run(
        &own,
        here,
        Path::new("/usr/bin:/bin"),
        "lab run s.toml --strict",
    )
    .ending(3);
    assert_eq!(said.out, format!("{} run s.toml --strict\n", lab.display()));
    let said = run(&own, here, Path::new("/usr/bin:/bin"), "lab gate --help").ending(3);
    assert_eq!(said.out, format!("{} gate --help\n", lab.display()));
    let said = run(
        &own,
        here,
        Path::new("/usr/bin:/bin"),
        "tune --quick photos",
    )
    .ending(3);
    let told = format!(
        "{} tune --server {} --quick photos\n",
        lab.display(),
        own.display()
    );
    assert_eq!(said.out, told);
}

#[test]
fn a_laboratory_in_path_is_started_where_none_is_beside_the_server() {
    let (folder, own) = alone();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    write_laboratory(&elsewhere);
    let said = run(&own, folder.path(), &elsewhere, "lab null").ending(3);
    assert!(
        said.out.ends_with("elsewhere/andon-lab null\n"),
        "{}",
        said.out
    );
}
