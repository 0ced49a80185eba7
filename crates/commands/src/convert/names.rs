//! Converts file names to text and back, and reads lists of them.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::buckets::SCHEME;
use crate::read;

/// Returns a path as text, which [`path`] converts back to the same path: bytes that are not UTF-8 become `\xFF`, and a
/// backslash before an `x` becomes `\x5C`.
pub(super) fn text(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace("\\x", "\\x5Cx"));
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02X}")));
    }
    text
}

/// Returns the path for a text written by [`text`]. The URL of an object is returned unchanged.
pub(super) fn path(text: &str) -> PathBuf {
    if text.starts_with(SCHEME) {
        return PathBuf::from(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split("\\x");
    bytes.extend(parts.next().unwrap_or_default().bytes());
    for part in parts {
        let byte = part
            .get(..2)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend(part[2..].bytes());
            }
            None => bytes.extend(b"\\x".iter().copied().chain(part.bytes())),
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// Returns the absolute path of a file as text, which is the same for `a.jpg` and `./a.jpg`. The URL of an object is
/// returned unchanged.
pub(super) fn identity(path: &Path) -> String {
    match path.to_str() {
        Some(url) if url.starts_with(SCHEME) => url.to_owned(),
        _ => text(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned())),
    }
}

/// Returns the folder of a file, which is `.` if the path is only a name.
pub(super) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|it| *it != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

/// Reads a file with names: one per line, or each terminated by NUL, as `find -print0` writes them. Names may be any
/// bytes; a byte order mark at the beginning is skipped.
pub(super) fn read_list(file: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let bytes = read::bytes(file).with_context(|| file.display().to_string())?;
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let (end, behind) = match bytes.contains(&0) {
        true => (0, None),
        false => (b'\n', Some(b'\r')),
    };
    let names = bytes.split(|byte| *byte == end).map(|name| match name {
        [name @ .., last] if Some(*last) == behind => name,
        name => name,
    });
    let names = names.filter(|name| !name.is_empty());
    Ok(names
        .map(|name| PathBuf::from(OsStr::from_bytes(name)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_a_text_of_its_own_that_leads_back_to_it() {
        let names: [&[u8]; 7] = [
            b"a.jpg",
            b"a\xFC.jpg",
            br"a\xFC.jpg",
            br"a\\x.jpg",
            b"a\\\xFC\xFF",
            "Stra\u{df}e\u{1f4f7}.jpg".as_bytes(),
            br"\xZZ\x5C",
        ];
        let texts: Vec<String> = names
            .iter()
            .map(|name| text(Path::new(OsStr::from_bytes(name))))
            .collect();
        for (index, written) in texts.iter().enumerate() {
            assert_eq!(
                path(written).as_os_str().as_bytes(),
                names[index],
                "{written}"
            );
            assert!(!texts[..index].contains(written), "{written}");
        }
        assert_eq!(texts[1], r"a\xFC.jpg");
    }

    #[test]
    fn lists_have_names_of_any_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list");
        for (list, names) in [
            (
                &b"\xEF\xBB\xBFa b.jpg\r\n\nc\xFC.jpg\n"[..],
                vec![&b"a b.jpg"[..], b"c\xFC.jpg"],
            ),
            (b"a\nb\r\0c\xFC\0\0", vec![b"a\nb\r", b"c\xFC"]),
            (b"", vec![]),
        ] {
            std::fs::write(&file, list).unwrap();
            let read = read_list(&file).unwrap();
            let read: Vec<&[u8]> = read
                .iter()
                .map(|name| name.as_os_str().as_bytes())
                .collect();
            assert_eq!(read, names);
        }
    }
}
