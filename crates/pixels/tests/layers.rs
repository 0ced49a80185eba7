//! Checks that the crate's modules form layers, each of which uses only lower ones.

mod layering;

use std::path::Path;

/// The modules, from the lowest layer to the highest.
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

/// Names of formats and their aliases. TIFF is missing, because EXIF is stored as TIFF.
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
        // Examples of rules name formats.
        let mut shown = false;
        for line in code.lines() {
            shown = shown && line != "    }," || line.ends_with("Example {");
            let line = line.split("//").next().unwrap_or_default();
            for (index, part) in line.split('"').enumerate() {
                let part = part.to_ascii_lowercase();
                let literal = index % 2 == 1;
                literals += usize::from(literal);
                // Prose and file names may contain the name of a format; a literal may not be one.
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
