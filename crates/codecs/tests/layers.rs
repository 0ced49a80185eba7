//! The crate's folders stand in layers, and a folder uses only those below its own: no format knows one that is above
//! it.

#[path = "../../pixels/tests/layering/mod.rs"]
mod layering;

use std::path::Path;

/// From the ground up: what formats share, and then the formats.
const LAYERS: &[&str] = &[
    "allocator",
    "bytes",
    "drawn",
    "exif",
    "guard",
    "heif",
    "pack_bits",
    "animation",
    "gain_map",
    "indexed",
    "bmp",
    "gif",
    "heic",
    "pdf",
    "placeholder",
    "psd",
    "webp",
    "avif",
    "jpeg",
    "jxl",
    "png",
    "ico",
    "svg",
    "tiff",
    "raw",
];

#[test]
fn no_folder_uses_one_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    layering::check(&src, LAYERS, 60);
}
