//! Checks that a crate's modules form layers, each of which uses only lower ones.

use std::fs;
use std::path::{Path, PathBuf};

/// Checks the files below `src` against `layers`, from the lowest to the highest.
///
/// # Panics
/// At a module without a layer, at one that uses a module above it, and when fewer than `least` uses are found, because
/// the check then fails to recognise them.
pub(crate) fn check(src: &Path, layers: &[&str], least: usize) {
    check_folder(src, "", layers, least);
}

/// Checks the files of a folder below `src` against the layers of its modules, none of which may use the folder's own
/// module.
///
/// # Panics
/// As `check`.
pub(crate) fn check_folder(src: &Path, folder: &str, layers: &[&str], least: usize) {
    let layer = |module: &str| layers.iter().position(|layer| *layer == module);
    let root = format!("crate::{}", folder.replace('/', "::"));
    let root = format!("{}::", root.trim_end_matches("::"));
    let folder = src.join(folder);
    let mut uses = 0;
    for file in rust_files(&folder) {
        let module = module_of(&folder, &file);
        if matches!(&module[..], "lib" | "mod" | "tests") {
            continue;
        }
        let own =
            layer(&module).unwrap_or_else(|| panic!("{module} has no place among the layers"));
        let text = fs::read_to_string(&file).expect("a source file");
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            for other in used(line, &root) {
                uses += 1;
                let below = layer(&other);
                assert!(
                    below.is_some_and(|below| below <= own),
                    "{}:{}: {module} uses {other}, which is not below it",
                    file.display(),
                    number + 1
                );
            }
        }
    }
    assert!(
        uses >= least,
        "only {uses} uses were found: is the test still reading them?"
    );
}

/// Returns the modules that a line names after `root`. Re-exports of the crate's root are not resolved.
fn used(line: &str, root: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or_default();
    let names = code.split(root).skip(1).flat_map(|rest| {
        let group = rest.strip_prefix('{').map(|group| group.split('}').next());
        let names: Vec<_> = match group.flatten() {
            Some(group) => group.split(", ").collect(),
            None => vec![rest],
        };
        names.into_iter().map(|name| {
            let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            name[..end.unwrap_or(name.len())].to_owned()
        })
    });
    let is_module = |name: &String| name.starts_with(|c: char| c.is_ascii_lowercase());
    names
        .filter(|name| root != "crate::" || is_module(name))
        .collect()
}

fn module_of(src: &Path, file: &Path) -> String {
    let inside = file.strip_prefix(src).expect("below src");
    let first = inside.components().next().expect("a name");
    let name = first.as_os_str().to_string_lossy();
    name.trim_end_matches(".rs").to_owned()
}

/// Returns every source file below a folder.
pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}
