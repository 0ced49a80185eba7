//! The crate's modules stand in layers, and a module uses only those below its own.

mod layering;

use std::path::Path;

/// From the ground up.
const LAYERS: &[&str] = &[
    "cost", "limits", "error", "cores", "space", "frame", "sequence", "samples", "codec",
    "revision", "formats", "profiles", "stage", "resize", "color", "ops", "plan", "engine",
];

#[test]
fn no_module_uses_one_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    layering::check(&src, LAYERS, 50);
}
