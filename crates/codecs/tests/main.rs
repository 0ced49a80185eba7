//! The codecs through their trait.
//!
//! All tests are in one program, because linking takes seconds. Tests that measure their own process (memory, threads,
//! open files) or need the whole processor are separate programs, listed in Cargo.toml.

mod animation;
mod conformance;
mod extent;
mod gain_map;
mod gif;
mod heic;
mod hostile;
mod inputs;
mod jpeg;
mod jpeg_at_once;
mod jpeg_levels;
mod jpeg_parts;
mod jxl;
mod layers;
mod linear;
mod options;
mod pdf;
mod placeholder;
mod png;
mod png_palette;
mod raw;
mod screenshots;
mod smart;
mod support;
mod svg_bombs;
mod text;
mod text_styles;
mod webp;
mod written;

#[test]
fn every_file_of_tests_belongs_to_a_program() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    for entry in folder.join("tests").read_dir().expect("a folder") {
        let name = entry.expect("an entry").file_name();
        let Some(module) = name.to_str().and_then(|name| name.strip_suffix(".rs")) else {
            continue;
        };
        let here = include_str!("main.rs").contains(&format!("\nmod {module};\n"));
        let alone = manifest.contains(&format!("path = \"tests/{module}.rs\""));
        assert!(here || alone, "nobody runs tests/{module}.rs");
    }
}
