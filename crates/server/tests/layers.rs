//! The server's folders stand in layers, and a folder uses only those below its own.

#[path = "../../pixels/tests/layering/mod.rs"]
mod layering;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The layers, from the lowest to the highest.
const LAYERS: &[&str] = &[
    "net",
    "error",
    "config",
    "permits",
    "prometheus",
    "sandbox",
    "trace",
    "origins",
    "admission",
    "request",
    "sources",
    "response",
    "operations",
    "results",
    "http",
    "handler",
    "server",
];

#[test]
fn no_folder_uses_one_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    layering::check(&src, LAYERS, 200);
}

/// Folders whose files use each other in one direction only.
const WITHOUT_CIRCLES: &[&str] = &[
    "admission",
    "config",
    "error",
    "http",
    "operations",
    "origins",
    "request",
    "response",
    "sandbox",
    "server",
    "sources",
];

#[test]
fn no_file_uses_one_that_uses_it() {
    for folder in WITHOUT_CIRCLES {
        let mut left = uses_in(folder);
        assert!(left.len() > 2, "{folder}: {left:?}");
        // Takes the files away that use none of those that are left.
        while let Some(file) = left
            .iter()
            .find_map(|(file, uses)| uses.is_empty().then(|| file.clone()))
        {
            left.remove(&file);
            for uses in left.values_mut() {
                uses.remove(&file);
            }
        }
        assert!(
            left.is_empty(),
            "{folder}: in circles, or above one: {left:?}"
        );
    }
}

/// Returns each file of a folder, with the other files there that it uses. A folder inside counts as one file, and what
/// is named without its file counts as a use of `mod`, which re-exports it.
fn uses_in(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src")
        .join(folder);
    let module = |file: &Path| {
        let first = file
            .strip_prefix(&src)
            .expect("below it")
            .components()
            .next();
        let name = first.expect("a name").as_os_str().to_string_lossy();
        name.trim_end_matches(".rs").to_owned()
    };
    let files = layering::rust_files(&src);
    let modules: BTreeSet<String> = files.iter().map(|file| module(file)).collect();
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
        let text = fs::read_to_string(file).expect("a source file");
        let own = module(file);
        let code = text
            .split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default();
        let inside = file.parent() != Some(&src);
        let roots = [
            format!("crate::{folder}::"),
            "self::".to_owned(),
            "super::".to_owned(),
        ];
        // In a folder inside, `super` and `self` are that folder's.
        let roots = if inside { &roots[..1] } else { &roots[..] };
        let mut uses = BTreeSet::new();
        for line in code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
        {
            for rest in roots
                .iter()
                .flat_map(|root| line.split(root.as_str()).skip(1))
            {
                let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_');
                let name = &rest[..end.unwrap_or(rest.len())];
                uses.insert(match modules.contains(name) {
                    true => name.to_owned(),
                    false => "mod".to_owned(),
                });
            }
        }
        uses.remove(&own);
        all.entry(own).or_default().extend(uses);
    }
    all
}
