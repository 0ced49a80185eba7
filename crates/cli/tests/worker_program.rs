//! The program of the worker processes: the server's own, or one that another package has installed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::common::{Served, program, sample};

/// Creates a folder with `bin/andon`, `lib/andon/andon-worker` as `install` makes it, and a folder of images.
fn installed(install: impl FnOnce(&Path)) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for folder in ["bin", "lib/andon", "photos"] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    fs::copy(program(), root.path().join("bin/andon")).unwrap();
    install(&root.path().join("lib/andon/andon-worker"));
    let photo = root.path().join("photos/a.jpg");
    fs::copy(sample("jpeg/420.jpg"), photo).unwrap();
    let photo = root.path().join("photos/a.avif");
    fs::copy(sample("avif/420.avif"), photo).unwrap();
    root
}

fn serve(root: &TempDir) -> Served {
    let command = Command::new(root.path().join("bin/andon"));
    Served::start_by(command, root.path(), "[[origin]]\nfs.root = \"photos\"\n")
}

/// Returns the programs of all processes that descend from `server`.
fn programs(server: u32) -> Vec<PathBuf> {
    let mut found = vec![server];
    let mut programs = Vec::new();
    while let Some(parent) = found.pop() {
        for task in fs::read_dir(format!("/proc/{parent}/task")).unwrap() {
            let children = task.unwrap().path().join("children");
            for child in fs::read_to_string(children).unwrap_or_default().split(' ') {
                let Ok(child) = child.trim().parse() else {
                    continue;
                };
                programs.extend(fs::read_link(format!("/proc/{child}/exe")));
                found.push(child);
            }
        }
    }
    programs
}

#[test]
fn an_installed_program_of_this_version_does_the_workers_work() {
    let root = installed(|worker| {
        fs::copy(program(), worker).unwrap();
    });
    let served = serve(&root);
    let reply = served.get("/small_light(dw=20,of=jpeg)/a.avif");
    assert_eq!(reply.status, 200, "{}", reply.text());
    let programs = programs(served.id());
    let worker = root.path().join("lib/andon/andon-worker");
    let worker = worker.canonicalize().unwrap();
    assert!(
        !programs.is_empty() && programs.iter().all(|it| *it == worker),
        "{programs:?}"
    );
}

#[test]
fn a_program_of_another_version_is_named_and_not_used() {
    let root = installed(|worker| {
        fs::write(worker, "#!/bin/sh\nexit 1\n").unwrap();
        fs::set_permissions(worker, fs::Permissions::from_mode(0o755)).unwrap();
    });
    let served = serve(&root);
    let reply = served.get("/small_light(dw=20,of=jpeg)/a.avif");
    assert_eq!(reply.status, 200, "{}", reply.text());
    let said = served.stop();
    assert!(said.contains("andon-worker is not of version"), "{said}");
}
