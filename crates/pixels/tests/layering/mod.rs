//! A crate's modules stand in layers, and each uses only those below its own.

use std::fs;
use std::path::{Path, PathBuf};

/// Checks the files below `src` against `layers`, from the ground up.
///
/// # Panics
/// At a module without a layer, at one that uses a module above it, and when fewer than `least` uses are
/// found: then the check no longer reads them.
pub(crate) fn check(src: &Path, layers: &[&str], least: usize) {
    let layer = |module: &str| layers.iter().position(|layer| *layer == module);
    let mut uses = 0;
    for file in rust_files(src) {
        let module = module_of(src, &file);
        if module == "lib" {
            continue;
        }
        let own =
            layer(&module).unwrap_or_else(|| panic!("{module} has no place among the layers"));
        let text = fs::read_to_string(&file).expect("a source file");
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            for other in used(line) {
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

/// The modules that a line names after `crate::`; what the crate's root re-exports is not looked through.
fn used(line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or_default();
    let names = code.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_');
        rest[..end.unwrap_or(rest.len())].to_owned()
    });
    names.filter(|name| !name.is_empty()).collect()
}

fn module_of(src: &Path, file: &Path) -> String {
    let inside = file.strip_prefix(src).expect("below src");
    let first = inside.components().next().expect("a name");
    let name = first.as_os_str().to_string_lossy();
    name.trim_end_matches(".rs").to_owned()
}

/// Every source file below a folder.
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
