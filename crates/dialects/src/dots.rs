//! Detection of dot segments, `.` and `..`, however they are escaped.
//!
//! Nothing here resolves them. A path with dot segments is refused where the source is a file or is fetched over HTTP,
//! because proxies, file systems and web servers disagree about where such a path leads.

/// Whether a decoded path has a segment that is `.` or `..`, or becomes one when it is decoded further. A backslash
/// counts as a slash, since some web servers treat it so.
pub(crate) fn has_dots(path: &str) -> bool {
    // Most paths take this fast exit: a dot segment is next to a slash, or has an escape in it.
    let mut last = b'/';
    let suspicious = path.bytes().any(|byte| {
        let is_suspect = byte == b'%' || (byte == b'.' && matches!(last, b'/' | b'\\'));
        last = byte;
        is_suspect
    });
    if !suspicious {
        return false;
    }
    let bytes = unescape(path);
    let mut segments = bytes.split(|byte| matches!(byte, b'/' | b'\\'));
    segments.any(|segment| matches!(segment, b"." | b".."))
}

/// Decodes percent escapes repeatedly, including those that result from decoding, in one pass: each byte that completes
/// an escape is decoded in place.
fn unescape(path: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::with_capacity(path.len());
    for byte in path.bytes() {
        bytes.push(byte);
        while let [.., b'%', high, low] = bytes[..] {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let Some((high, low)) = digit(high).zip(digit(low)) else {
                break;
            };
            bytes.truncate(bytes.len() - 3);
            bytes.push((high << 4 | low) as u8);
        }
    }
    bytes
}

/// Returns the path of an absolute URL, without its query and fragment.
pub(crate) fn path_of_url(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest
        .find(['/', '\\', '?', '#'])
        .map_or("", |at| &rest[at..]);
    path.split(['?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a text with every byte percent-escaped `times` times.
    fn escaped(text: &str, times: usize) -> String {
        let mut escaped = text.to_owned();
        for _ in 0..times {
            escaped = escaped.bytes().map(|byte| format!("%{byte:02x}")).collect();
        }
        escaped
    }

    #[test]
    fn dot_segments_are_found_however_often_they_are_escaped() {
        for times in 0..4 {
            for dots in [".", ".."] {
                let dots = escaped(dots, times);
                for path in [
                    dots.clone(),
                    format!("a/{dots}"),
                    format!("{dots}/a"),
                    format!("a/{dots}/b.jpg"),
                    format!("a\\{dots}\\b.jpg"),
                    format!("a%2f{dots}%5Cb.jpg"),
                ] {
                    assert!(has_dots(&path), "{path}");
                }
            }
        }
        assert!(has_dots("a/.%2e/b") && has_dots("a/%2E./b"));
    }

    #[test]
    fn an_escape_of_an_escape_of_an_escape_is_decoded_in_one_walk() {
        let often = format!("a/%{}2e./b", "25".repeat(8000));
        assert!(has_dots(&often));
        assert!(!has_dots(&format!("a/%{}61/b", "25".repeat(8000))));
    }

    #[test]
    fn names_with_dots_are_no_dot_segments() {
        for path in [
            "",
            "a.jpg",
            "a..b/..c/d../.e/...",
            "50%/a.jpg",
            "100%25/..a",
            "%2e.a/b%",
            "a/....//b",
        ] {
            assert!(!has_dots(path), "{path}");
        }
    }

    #[test]
    fn the_path_of_a_url_is_between_its_host_and_its_query() {
        for (url, path) in [
            ("https://a.test/x/../y?z=../..", "/x/../y"),
            ("https://a.test", ""),
            ("https://a.test?x=/../", ""),
            ("https://a.test\\..\\y", "\\..\\y"),
            ("https://a.test/x#/../", "/x"),
        ] {
            assert_eq!(path_of_url(url), path, "{url}");
        }
    }
}
