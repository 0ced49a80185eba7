//! The crate's modules stand in layers, and a module uses only those below its own: what dialects share knows no
//! dialect.

#[path = "../../pixels/tests/layering/mod.rs"]
mod layering;

use std::path::Path;

/// The crate's modules, from the lowest layer to the highest: first what dialects share, then the dialects.
const LAYERS: &[&str] = &[
    "accept",
    "colours",
    "disposition",
    "document",
    "dots",
    "effects",
    "errors",
    "forms",
    "geometry",
    "hosts",
    "options",
    "rules",
    "spelling",
    "signature",
    "swatches",
    "refusal",
    "remote_pattern",
    "percent",
    "request",
    "rewrite",
    "dialect",
    "vectors",
    "hints",
    "permitted",
    "config",
    "likeness",
    "rewrite_warnings",
    "signing",
    "access",
    "translate",
    "sharp",
    "astro",
    "cloudflare",
    "iiif",
    "image_filter",
    "imgix",
    "imgproxy",
    "ipx",
    "native",
    "small_light",
    "thumbor",
    "next",
    "photon",
    "weserv",
    "tests",
];

#[test]
fn no_folder_uses_one_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    layering::check(&src, LAYERS, 100);
}
