//! Integration tests of the commands.
//!
//! They are one program, because each program takes seconds to link. Tests that measure their own process (memory,
//! threads, open files), need all processor cores, or need a feature that is off by default are programs of their own,
//! listed in Cargo.toml.

mod adopt;
mod adopt_files;
mod adopt_sites;
mod bucket_errors;
mod clients;
mod commands;
mod common;
mod config;
mod container;
mod convert_again;
mod convert_buckets;
mod convert_ends;
mod convert_folders;
mod credentials;
mod docs;
mod engine_samples;
mod environment;
mod every_format;
mod examples;
mod explain;
mod first_hour;
mod fonts;
mod free_buffers;
mod illustrations;
mod import;
mod import_charts;
mod import_passes;
mod import_servers;
mod import_sites;
mod into_store;
mod kill;
mod laboratory;
mod lb_config;
mod log_page;
mod logs;
mod mistakes;
mod purge;
mod remote;
mod restart;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the server's tests use the rest of it"
)]
#[path = "../../server/tests/common/s3.rs"]
mod s3;
mod sandbox;
mod shadow;
mod signing;
mod signing_clients;
mod translate;
mod trim;
mod warm;
mod whole_bodies;
mod worker_program;

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
