//! The workspaces of this repository share one target folder. That saves time only if they agree on the versions and
//! features of their dependencies.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// The folders of the other workspaces. If two workspaces depend on the same package, they must have the same version
/// of it locked.
const OTHERS: [&str; 2] = ["lab", "tools"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> Table {
    let text = fs::read_to_string(path).expect("a file");
    text.parse().expect("TOML")
}

/// Returns the versions of the packages in a lock file. The key is a package's name with the part of its version that
/// Cargo keeps compatible (up to the first number that is not 0), because a lock file may have one version for each.
fn locked(path: &Path) -> BTreeMap<(String, String), String> {
    let lock = read(path);
    let packages = lock["package"].as_array().expect("packages").iter();
    let packages = packages.map(|package| {
        let text = |key: &str| package[key].as_str().expect("text").to_owned();
        let version = text("version");
        let zeros = version
            .split('.')
            .take_while(|number| *number == "0")
            .count();
        let compatible: Vec<&str> = version.split('.').take(zeros + 1).collect();
        ((text("name"), compatible.join(".")), version.clone())
    });
    packages.collect()
}

#[test]
fn every_workspace_locks_the_versions_that_those_before_it_have() {
    let mut all = locked(&root().join("Cargo.lock"));
    for other in OTHERS {
        for (package, version) in locked(&root().join(other).join("Cargo.lock")) {
            let before = all
                .entry(package.clone())
                .or_insert_with(|| version.clone());
            let (name, compatible) = package;
            assert_eq!(
                &version, before,
                "cargo update --manifest-path {other}/Cargo.toml -p {name}@{compatible} --precise {before}"
            );
        }
    }
}

#[test]
fn every_workspace_compiles_by_the_profiles_and_lints_that_all_have() {
    let server = read(&root().join("Cargo.toml"));
    let own = |table: &str| server["workspace"][table].clone();
    assert!(
        !server.contains_key("profile"),
        "they are in .cargo/config.toml"
    );
    for other in OTHERS {
        let manifest = read(&root().join(other).join("Cargo.toml"));
        let profiles = manifest.get("profile");
        assert!(
            profiles.is_none(),
            "{other}: profiles are in .cargo/config.toml"
        );
        for table in ["package", "lints", "resolver"] {
            assert_eq!(manifest["workspace"][table], own(table), "{other}: {table}");
        }
        let dependencies = manifest["workspace"]["dependencies"].as_table();
        for (name, wanted) in dependencies.expect("a table") {
            let mut wanted = wanted.clone();
            if let Some(Value::String(path)) = wanted.get_mut("path") {
                *path = path.trim_start_matches("../").to_owned();
            }
            if let Some(own) = own("dependencies").get(name) {
                assert_eq!(&wanted, own, "{other}: {name}");
            }
        }
    }
}
