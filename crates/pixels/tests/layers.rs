//! The crate's modules stand in layers, and a module uses only those below its own.

mod layering;

use std::path::Path;

/// From the ground up.
const LAYERS: &[&str] = &[
    "cost", "limits", "error", "cores", "buffers", "space", "frame", "sequence", "samples",
    "window", "codec", "revision", "profiles", "stage", "formats", "resize", "color", "score",
    "ops", "plan", "measure", "engine",
];

#[test]
fn no_module_uses_one_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    layering::check(&src, LAYERS, 50);
}

/// Formats, by their names and others that mean them. TIFF is missing: EXIF is stored as one.
const FORMATS: &[&str] = &[
    "jpeg", "jpg", "png", "webp", "gif", "avif", "jxl", "heic", "heif", "bmp", "svg",
];

#[test]
fn no_format_is_named_in_code() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut literals = 0;
    for file in layering::rust_files(&src) {
        let text = std::fs::read_to_string(&file).expect("a source file");
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        // Rules show what they do to an image of some format.
        let mut shown = false;
        for line in code.lines() {
            shown = shown && line != "    }," || line.ends_with("Example {");
            let line = line.split("//").next().unwrap_or_default();
            for (index, part) in line.split('"').enumerate() {
                let part = part.to_ascii_lowercase();
                let literal = index % 2 == 1;
                literals += usize::from(literal);
                // Prose and names of files may hold a format's name; a literal that is one may not.
                let named = FORMATS.iter().any(|format| match literal {
                    true => part == *format,
                    false => part.contains(format),
                });
                assert!(shown || !named, "{}: {line}", file.display());
            }
        }
    }
    assert!(literals > 100, "{literals} were read only");
}
