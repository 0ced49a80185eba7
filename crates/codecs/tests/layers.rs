//! The crate's folders form layers, and a folder uses only those below its own: no format depends on one above it, nor
//! on the list of all formats.

#[path = "../../pixels/tests/layering/mod.rs"]
mod layering;

use std::path::Path;

/// The layers from bottom to top: shared code, and then the formats.
const LAYERS: &[&str] = &[
    "allocator",
    "bytes",
    "drawn",
    "exif",
    "fonts",
    "text",
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
    "tiff",
    "raw",
    "svg",
];

#[test]
fn no_folder_uses_one_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    layering::check(&src, LAYERS, 60);
    for file in layering::rust_files(&src) {
        let text = std::fs::read_to_string(&file).expect("a source file");
        let lists = text.lines().filter(|line| line.contains("crate::ALL"));
        assert_eq!(lists.count(), 0, "{}", file.display());
    }
}
