//! The server through its sockets.
//!
//! One program, because each takes seconds to link. What looks at its own process (memory, threads, open files) or needs the
//! processor to itself, or a feature that is off by default, is a program of its own, in Cargo.toml.

mod access;
mod alpha;
mod answers;
mod board;
mod buckets;
mod cache;
mod cache_rules;
mod colours;
mod common;
mod conditional;
mod connections;
mod cpu;
mod dialect_pixels;
mod drawings;
mod ends;
mod equal;
mod error_labels;
mod errors;
mod exposed;
mod express;
mod fallback;
mod files;
mod formats;
mod frames;
mod hints;
mod http_origin;
mod https_origin;
mod idle;
mod iiif;
mod imagor;
mod imgproxy;
mod kept_sources;
mod late;
mod layers;
mod lifetimes;
mod load;
mod local;
mod marks;
mod metadata_addresses;
mod metrics;
mod mistakes;
mod native;
mod next;
mod options;
mod orientation;
mod overlay_modes;
mod overlay_sources;
mod overlay_uploads;
mod overlays;
mod patience;
mod permitted;
mod play;
mod proxy;
mod query_dialects;
mod recorded;
mod reload;
mod root;
mod s3_origin;
mod signed;
mod smuggling;
mod stale;
mod store;
mod stuck;
mod thumbor;
mod tiles;
mod tls;
mod together;
mod trace;
mod translate;
mod trim;
mod upload;
mod urls;
mod whole;
mod wire;
mod words;
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
