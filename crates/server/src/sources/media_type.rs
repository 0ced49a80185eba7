//! Media types of files that are served as they are: images by their first bytes, whatever their
//! name says; a few others by extension; the rest is `application/octet-stream`.

use andon_pixels::Codec;

/// The type of a file by its content and its name.
#[must_use]
pub fn of(codecs: &[&dyn Codec], path: &str, bytes: &[u8]) -> &'static str {
    if let Some(codec) = codec(codecs, bytes) {
        return codec.format().media_type;
    }
    // What calls itself an image that we know and is none must not be taken for one.
    by_name(codecs, path)
        .filter(|media_type| {
            codecs
                .iter()
                .all(|codec| codec.format().media_type != *media_type)
        })
        .unwrap_or(UNKNOWN)
}

/// Is it an image that we know, whatever it is called?
#[must_use]
pub fn is_picture(codecs: &[&dyn Codec], bytes: &[u8]) -> bool {
    codec(codecs, bytes).is_some()
}

/// Does a file's name promise an image that we know?
#[must_use]
pub fn promises_picture(codecs: &[&dyn Codec], path: &str) -> bool {
    let promised = by_name(codecs, path);
    codecs
        .iter()
        .any(|codec| promised == Some(codec.format().media_type))
}

fn codec<'a>(codecs: &[&'a dyn Codec], bytes: &[u8]) -> Option<&'a dyn Codec> {
    let head = &bytes[..bytes.len().min(HEAD)];
    codecs.iter().copied().find(|codec| codec.sniff(head))
}

/// The type that a file's extension promises: a codec's name or alias, or another that is known.
#[must_use]
pub fn by_name(codecs: &[&dyn Codec], path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next()?;
    let (_, extension) = name.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    let named = |codec: &&&dyn Codec| {
        codec.name() == extension || codec.format().aliases.contains(&extension.as_str())
    };
    let other = || EXTENSIONS.iter().find(|(known, _)| *known == extension);
    let codec = codecs
        .iter()
        .find(named)
        .map(|codec| codec.format().media_type);
    codec.or_else(|| other().map(|(_, media_type)| *media_type))
}

/// Nothing is known about it.
pub const UNKNOWN: &str = "application/octet-stream";

/// Bytes that nearly every file is known by.
pub(crate) const SHORT_HEAD: usize = 1024;

/// Bytes that any is known by: an SVG by the beginning of its root, which long comments may stand before.
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
    fn the_table_is_sorted_and_has_no_doubles() {
        assert!(EXTENSIONS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
