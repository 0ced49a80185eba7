//! Media types of files that are served unchanged. Images are recognized by their first bytes, whatever their names
//! are, and a few other types by their extensions. All other files are `application/octet-stream`.

use andon_pixels::Codec;

/// Returns the media type of a file by its content and its name.
#[must_use]
pub fn of(codecs: &[&dyn Codec], path: &str, bytes: &[u8]) -> &'static str {
    if let Some(codec) = codec(codecs, bytes) {
        return codec.format().media_type;
    }
    // A file whose name promises an image of a known format, but whose content is none, must not be labelled as one.
    by_name(codecs, path)
        .filter(|media_type| {
            codecs
                .iter()
                .all(|codec| codec.format().media_type != *media_type)
        })
        .unwrap_or(UNKNOWN)
}

/// Whether the bytes are an image of a known format, whatever the file's name is.
#[must_use]
pub fn is_image(codecs: &[&dyn Codec], bytes: &[u8]) -> bool {
    codec(codecs, bytes).is_some()
}

/// Whether a file's name promises an image of a known format. Text and JSON are formats of results, but not of images.
#[must_use]
pub fn promises_image(codecs: &[&dyn Codec], path: &str) -> bool {
    let Some(promised) = by_name(codecs, path) else {
        return false;
    };
    let is_read = promised.starts_with("image/") || promised == "application/pdf";
    is_read
        && codecs
            .iter()
            .any(|codec| promised == codec.format().media_type)
}

fn codec<'a>(codecs: &[&'a dyn Codec], bytes: &[u8]) -> Option<&'a dyn Codec> {
    let head = &bytes[..bytes.len().min(HEAD)];
    codecs.iter().copied().find(|codec| codec.sniff(head))
}

/// Returns the media type that a file's extension promises: the type of the codec with this name or alias, or of
/// another known extension.
#[must_use]
pub fn by_name(codecs: &[&dyn Codec], path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next()?;
    let (_, extension) = name.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    let has_extension = |codec: &&&dyn Codec| {
        codec.name() == extension || codec.format().aliases.contains(&extension.as_str())
    };
    let other = || {
        EXTENSIONS
            .iter()
            .find(|(candidate, _)| *candidate == extension)
    };
    let codec = codecs
        .iter()
        .find(has_extension)
        .map(|codec| codec.format().media_type);
    codec.or_else(|| other().map(|(_, media_type)| *media_type))
}

/// The media type of files about which nothing is known.
pub const UNKNOWN: &str = "application/octet-stream";

/// Number of bytes from the beginning that are enough to recognize nearly every file.
pub(crate) const SHORT_HEAD: usize = 1024;

/// Number of bytes from the beginning that are enough to recognize every file: an SVG is recognized by the start of its
/// root element, which long comments may precede.
pub(crate) const HEAD: usize = 64 << 10;

const EXTENSIONS: &[(&str, &str)] = &[
    ("css", "text/css; charset=utf-8"),
    ("htm", "text/html; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("md", "text/markdown; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("pdf", "application/pdf"),
    ("txt", "text/plain; charset=utf-8"),
    ("woff2", "font/woff2"),
    ("xml", "application/xml"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_is_that_of_the_last_segment() {
        let by_name = |path| by_name(andon_codecs::ALL, path);
        assert_eq!(by_name("a/b.html"), Some("text/html; charset=utf-8"));
        assert_eq!(by_name("B.JPG"), Some("image/jpeg"));
        assert_eq!(by_name("a.html/b"), None);
        assert_eq!(by_name("html"), None);
    }

    #[test]
    fn files_beside_images_promise_none() {
        for (path, is_image) in [
            ("a.JPG", true),
            ("a.svg", true),
            ("a.json", false),
            ("a.txt", false),
            ("a", false),
        ] {
            assert_eq!(promises_image(andon_codecs::ALL, path), is_image, "{path}");
        }
    }

    #[test]
    fn the_table_is_sorted_and_has_no_doubles() {
        assert!(EXTENSIONS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
