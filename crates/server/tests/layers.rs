//! The server's folders stand in layers, and a folder uses only those below its own.

#[path = "../../pixels/tests/layering/mod.rs"]
mod layering;

use std::path::Path;

/// From the ground up.
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
