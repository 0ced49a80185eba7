//! The workspaces of this repository share one folder of what is compiled. That pays only while they agree on versions and on how
//! dependencies are compiled.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// The folders of the other workspaces.
const OTHERS: [&str; 1] = ["tools"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> Table {
    let text = fs::read_to_string(path).expect("a file");
    text.parse().expect("TOML")
}

/// The versions of each package of a lock file.
fn locked(path: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut locked: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    let lock = read(path);
    for package in lock["package"].as_array().expect("packages") {
        let text = |key: &str| package[key].as_str().expect("text").to_owned();
        locked
            .entry(text("name"))
            .or_default()
            .insert(text("version"));
    }
    locked
}

#[test]
fn every_workspace_locks_the_versions_that_the_server_has() {
    let server = locked(&root().join("Cargo.lock"));
    for other in OTHERS {
        for (name, versions) in locked(&root().join(other).join("Cargo.lock")) {
            let Some(own) = server.get(&name) else {
                continue;
            };
            assert!(
                versions.is_subset(own),
                "{other}/Cargo.lock has {name} {versions:?}, and Cargo.lock {own:?}: cargo update --manifest-path \
                 {other}/Cargo.toml -p {name} --precise VERSION"
            );
        }
    }
}

#[test]
fn every_workspace_compiles_dependencies_as_the_server_does() {
    let server = read(&root().join("Cargo.toml"));
    for other in OTHERS {
        let manifest = read(&root().join(other).join("Cargo.toml"));
        let packages = locked(&root().join(other).join("Cargo.lock"));
        let known = |name: &str| name == "*" || packages.contains_key(name);
        let profiles = |table: &Table| -> Table {
            let mut profiles = table["profile"].as_table().expect("profiles").clone();
            for profile in profiles.iter_mut().map(|(_, profile)| profile) {
                if let Some(Value::Table(each)) = profile.get_mut("package") {
                    // Cargo warns of packages that are not there.
                    each.retain(|name, _| known(name));
                }
            }
            profiles
        };
        assert_eq!(profiles(&manifest), profiles(&server), "{other}/Cargo.toml");
        for table in ["package", "lints", "resolver"] {
            let own = &server["workspace"][table];
            assert_eq!(&manifest["workspace"][table], own, "{other}: {table}");
        }
        let own = server["workspace"]["dependencies"]
            .as_table()
            .expect("a table");
        let dependencies = manifest["workspace"]["dependencies"].as_table();
        for (name, wanted) in dependencies.expect("a table") {
            let mut wanted = wanted.clone();
            if let Some(Value::String(path)) = wanted.get_mut("path") {
                *path = path.trim_start_matches("../").to_owned();
            }
            if let Some(own) = own.get(name) {
                assert_eq!(&wanted, own, "{other}: {name}");
            }
        }
    }
}
