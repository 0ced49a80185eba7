//! The grammar of imgproxy's paths: options and source, and how to revert changes by proxies.

use super::secret;
use crate::percent;
use crate::signature::{Key, base64};

/// Reverts what proxies change in a path below the prefix: they may escape colons before `plain/`, and merge slashes
/// after it. The returned path is the one that is signed.
pub(super) fn repair(path: &str) -> String {
    let source_start = match path.strip_prefix(PLAIN) {
        Some(_) => Some(PLAIN.len()),
        None => path.find("/plain/").map(|at| at + 1 + PLAIN.len()),
    };
    let (prefix, source) = path.split_at(source_start.unwrap_or(path.len()));
    let prefix = prefix.replace("%3A", ":");
    let scheme = source.split_once(":/").filter(|(scheme, rest)| {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        !scheme.is_empty() && scheme.bytes().all(word) && !rest.starts_with('/')
    });
    match scheme {
        Some((LOCAL, rest)) => format!("{prefix}{LOCAL}:///{rest}"),
        Some((scheme, rest)) => format!("{prefix}{scheme}://{rest}"),
        None => prefix + source,
    }
}

const PLAIN: &str = "plain/";

/// The scheme of sources that are files of the server's origins.
pub(super) const LOCAL: &str = "local";

/// The segment that starts a further pipeline, which is applied to the result of the options before it.
pub(super) const PIPELINE: &str = "-";

/// Splits a path into its options, each as name and arguments, and the segments of the source after them.
pub(super) fn options<'a>(path: &'a str, separator: &str) -> (Vec<Vec<&'a str>>, Vec<&'a str>) {
    let mut options = Vec::new();
    let mut segments = path.split('/');
    while let Some(segment) = segments.next() {
        if !segment.contains(separator) && segment != PIPELINE {
            let source = std::iter::once(segment).chain(segments).collect();
            return (options, source);
        }
        options.push(segment.split(separator).collect());
    }
    (options, Vec::new())
}

/// The source in a URL, decoded, and the format that its extension requests.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SourceSpec {
    pub(super) source: String,
    pub(super) extension: Option<String>,
}

/// Why a source cannot be read, as a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable(pub(super) &'static str);

/// Settings for parsing the source of a URL.
pub(super) struct Reading<'a> {
    /// Whether the last segment of a source in base64 is a file name, which is ignored.
    pub(super) has_file_name: bool,
    /// The key that decrypts encrypted sources; `None` if there is none, or if paths are not signed.
    pub(super) key: Option<&'a Key>,
}

/// Parses a source: plain, encrypted or in base64.
pub(super) fn source(segments: &[&str], reading: &Reading<'_>) -> Result<SourceSpec, Unreadable> {
    match segments {
        ["plain", rest @ ..] if !rest.is_empty() => plain(&rest.join("/")),
        ["enc", rest @ ..] if !rest.is_empty() => {
            let key = reading.key.ok_or(CLOSED)?;
            let (bytes, extension) =
                from_base64(rest, reading.has_file_name).map_err(|_| CLOSED)?;
            let text_of_source = secret::open(key, &bytes)
                .and_then(|bytes| text(bytes).ok())
                .ok_or(CLOSED)?;
            Ok(SourceSpec {
                source: text_of_source,
                extension,
            })
        }
        segments => {
            let (bytes, extension) = from_base64(segments, reading.has_file_name)?;
            Ok(SourceSpec {
                source: text(bytes)?,
                extension,
            })
        }
    }
}

/// The only error about encrypted sources. Distinct errors would reveal details of the decrypted text.
const CLOSED: Unreadable = Unreadable("encrypted sources need a key, a signature, and to be whole");

fn plain(raw: &str) -> Result<SourceSpec, Unreadable> {
    let mut parts = raw.split('@');
    let (name, extension) = (parts.next().unwrap_or_default(), parts.next());
    if parts.next().is_some() {
        return Err(Unreadable(
            "only one `@` may stand in a source (`%40` is an `@`)",
        ));
    }
    if name.is_empty() {
        return Err(Unreadable("the source is missing"));
    }
    let source = percent::decode(name);
    let source = source.map_err(|_| {
        Unreadable("every `%` must stand before two hex digits, and the source be UTF-8")
    })?;
    let extension = extension.filter(|extension| !extension.is_empty());
    Ok(SourceSpec {
        source,
        extension: extension.map(str::to_owned),
    })
}

fn from_base64(
    segments: &[&str],
    has_file_name: bool,
) -> Result<(Vec<u8>, Option<String>), Unreadable> {
    let segments = match segments {
        [segments @ .., _] if has_file_name && !segments.is_empty() => segments,
        segments => segments,
    };
    let text = segments.concat();
    let mut parts = text.split('.');
    let (digits, extension) = (parts.next().unwrap_or_default(), parts.next());
    if parts.next().is_some() {
        return Err(Unreadable("only one `.` may stand in a source in base64"));
    }
    if digits.is_empty() {
        return Err(Unreadable("the source is missing"));
    }
    let bytes = base64::read(digits).ok_or(Unreadable("the source is no URL-safe base64"))?;
    let extension = extension.filter(|extension| !extension.is_empty());
    Ok((bytes, extension.map(str::to_owned)))
}

fn text(bytes: Vec<u8>) -> Result<String, Unreadable> {
    let text = String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0'));
    text.ok_or(Unreadable("the source is no UTF-8"))
}
