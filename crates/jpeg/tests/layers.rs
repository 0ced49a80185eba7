//! The crate's modules form layers, and so do those of each folder: a file uses only modules below its own, and none of
//! the folder that contains it.

#[path = "../../pixels/tests/layering/mod.rs"]
mod layering;

use std::fs;
use std::path::Path;

/// The crate's modules, the lowest layer first.
const LAYERS: &[&str] = &[
    "codes", "error", "image", "tables", "segments", "header", "extent", "decode", "encode",
];

/// The folders below `src` and their modules, each with the lowest layer first, and the minimum number of uses among
/// the modules.
const FOLDERS: [(&str, &[&str], usize); 8] = [
    (
        "header",
        &["walk", "mpf", "quality", "markers", "layout"],
        3,
    ),
    (
        "decode",
        &[
            "bits",
            "entropy",
            "huffman",
            "segments",
            "request",
            "lock",
            "selection",
            "plane",
            "scan",
            "coder",
            "row",
            "output",
            "split",
            "streams",
            "strips",
            "route",
            "sequential",
            "index",
            "progressive",
        ],
        80,
    ),
    (
        "decode/huffman",
        &["codes", "table", "pairs", "refinement", "skip"],
        4,
    ),
    ("decode/index", &["format", "source", "make", "part"], 3),
    (
        "decode/progressive",
        &["rows", "scans", "ac", "dc", "job", "wave"],
        8,
    ),
    ("decode/split", &["decoded", "samples"], 1),
    ("decode/streams", &["flat", "reader", "rows"], 2),
    (
        "encode",
        &[
            "options", "bits", "huffman", "activity", "steps", "blocks", "scan", "bands", "file",
        ],
        8,
    ),
];

#[test]
fn no_module_uses_one_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    layering::check(&src, LAYERS, 80);
    for (folder, layers, least) in FOLDERS {
        layering::check_folder(&src, folder, layers, least);
    }
}

/// Uses of modules are found by their paths from the crate's root, so a path that begins with `super` would not be
/// found.
#[test]
fn no_use_begins_in_the_folder_above() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in layering::rust_files(&src) {
        let text = fs::read_to_string(&file).expect("a source file");
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let up = code.lines().find(|line| line.contains("use super::"));
        let is_test = file
            .components()
            .any(|part| part.as_os_str().to_string_lossy().starts_with("tests"));
        assert!(is_test || up.is_none(), "{}: {up:?}", file.display());
    }
}
