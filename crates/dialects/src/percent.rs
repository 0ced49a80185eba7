//! Percent decoding, exactly once: decoding twice would turn `%252e%252e` into `..`, which leads out of a folder.

use std::fmt::Write;

use crate::refusal::Refusal;

/// Decodes the percent escapes of a raw path.
///
/// # Errors
/// A `%` without two hex digits, a NUL, or bytes that are not UTF-8.
pub(crate) fn decode(raw: &str) -> Result<String, Refusal> {
    let mut decoded = Vec::with_capacity(raw.len());
    for byte in bytes(raw) {
        let byte = byte?;
        if byte == 0 {
            return Err(Refusal::new(raw, "no file's name holds a NUL (`%00`)"));
        }
        decoded.push(byte);
    }
    String::from_utf8(decoded)
        .map_err(|_| Refusal::new(raw, "the path must be UTF-8 when it is decoded"))
}

/// Returns the bytes of a raw text, with each percent escape decoded once.
fn bytes(raw: &str) -> impl Iterator<Item = Result<u8, Refusal>> {
    let mut bytes = raw.bytes();
    std::iter::from_fn(move || {
        let byte = bytes.next()?;
        if byte != b'%' {
            return Some(Ok(byte));
        }
        let mut digit = || bytes.next().and_then(|b| char::from(b).to_digit(16));
        let pair = digit().zip(digit());
        Some(
            pair.map(|(high, low)| (high << 4 | low) as u8)
                .ok_or_else(|| {
                    Refusal::new(
                        raw,
                        "every `%` must stand before two hex digits (`%25` is a `%`)",
                    )
                }),
        )
    })
}

/// Percent-encodes all characters that must be escaped in a path segment, except those in `bare`. Decoding the result
/// returns the same text.
#[must_use]
pub fn encode(text: &str, bare: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            'A'..='Z' | 'a'..='z' | '0'..='9' => encoded.push(letter),
            letter if BARE.contains(letter) || bare.contains(letter) => encoded.push(letter),
            letter => {
                for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a String cannot fail.
                    let _ = write!(encoded, "%{byte:02X}");
                }
            }
        }
    }
    encoded
}

/// Whether a text has only characters that are allowed in a URL path (RFC 3986, section 3.3). Escapes are not
/// validated.
pub(crate) fn is_path(raw: &str) -> bool {
    let bytes = raw.bytes();
    bytes
        .into_iter()
        .all(|it| is_bare(it) || matches!(it, b'/' | b'%'))
}

/// Whether a path stays the same when it is decoded and encoded again.
pub(crate) fn is_plain(raw: &str) -> bool {
    raw.bytes().all(|it| is_bare(it) || it == b'/')
}

fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || BARE.as_bytes().contains(&byte)
}

/// Returns one normal form for all texts that decode to the same bytes: bytes that are allowed in a path segment, and
/// those in `bare`, are not escaped.
///
/// # Errors
/// A `%` without two hex digits.
pub(crate) fn normal(raw: &str, bare: &[u8]) -> Result<String, Refusal> {
    let mut text = String::with_capacity(raw.len());
    for byte in bytes(raw) {
        let byte = byte?;
        if is_bare(byte) || bare.contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    Ok(text)
}

/// The characters of RFC 3986's `pchar` that need no escape, apart from letters and digits.
const BARE: &str = "-._~!$&'()*+,;=:@";

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn what_is_encoded_is_decoded_to_the_same_text() {
        assert_eq!(encode("a/b ä%.jpg", ""), "a%2Fb%20%C3%A4%25.jpg");
        assert_eq!(encode("fit:1x2,q:3", "/"), "fit:1x2,q:3");
        for text in ["a/b ä%?#.jpg", "50%x50%", "(あ)"] {
            assert_eq!(decode(&encode(text, "/")).unwrap(), text);
        }
    }

    #[test]
    fn escapes_are_decoded_exactly_once() {
        assert_eq!(decode("/a%20b%2Fc+d").unwrap(), "/a b/c+d");
        assert_eq!(decode("/%252e").unwrap(), "/%2e");
        assert_eq!(decode("/%E3%81%82").unwrap(), "/あ");
    }

    #[test]
    fn what_no_file_can_be_called_is_refused() {
        for (raw, why) in [
            ("/a%", "two hex digits"),
            ("/a%2", "two hex digits"),
            ("/a%zz", "two hex digits"),
            ("/a%00.jpg", "NUL"),
            ("/a\0.jpg", "NUL"),
            ("/%FF", "UTF-8"),
        ] {
            let refusal = decode(raw).unwrap_err();
            assert!(refusal.why.contains(why), "{raw}: {refusal}");
        }
    }
}
