//! The text encoding of SVG files: UTF-8, or UTF-16 in either byte order, detected from the first bytes as in browsers.

use std::borrow::Cow;

use andon_pixels::Result;

use super::document::broken;

/// Decodes the whole text, without its byte order mark.
pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>> {
    let Some((units, odd)) = utf16(bytes) else {
        let text = bytes.strip_prefix(MARK).unwrap_or(bytes);
        let text = std::str::from_utf8(text).map_err(|_| broken("its text is not UTF-8"))?;
        return Ok(Cow::Borrowed(text));
    };
    let text: Option<String> = char::decode_utf16(units).collect::<Result<_, _>>().ok();
    text.filter(|_| !odd)
        .map(Cow::Owned)
        .ok_or_else(|| broken("its text is not UTF-16"))
}

/// Decodes the beginning of a text to UTF-8. It may be cut off at any byte. A UTF-16 text is decoded up to its first
/// error. A UTF-8 text is returned without its byte order mark, and is not validated.
pub(super) fn decode_start(bytes: &[u8]) -> Cow<'_, [u8]> {
    let Some((units, _)) = utf16(bytes) else {
        return Cow::Borrowed(bytes.strip_prefix(MARK).unwrap_or(bytes));
    };
    let text: String = char::decode_utf16(units).map_while(Result::ok).collect();
    Cow::Owned(text.into_bytes())
}

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the code units of a UTF-16 text, and whether an odd byte remains at its end. Returns `None` if the text is
/// not UTF-16.
fn utf16(bytes: &[u8]) -> Option<(impl Iterator<Item = u16> + '_, bool)> {
    let (from_bytes, text): (fn([u8; 2]) -> u16, _) = match bytes {
        [0xff, 0xfe, text @ ..] => (u16::from_le_bytes, text),
        [0xfe, 0xff, text @ ..] => (u16::from_be_bytes, text),
        // Without a byte order mark, the text must begin with markup.
        [b'<', 0, ..] => (u16::from_le_bytes, bytes),
        [0, b'<', ..] => (u16::from_be_bytes, bytes),
        _ => return None,
    };
    let (pairs, rest) = text.as_chunks::<2>();
    let units = pairs.iter().map(move |pair| from_bytes(*pair));
    Some((units, !rest.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_16_of_both_orders_is_read_with_and_without_a_mark() {
        let text = "<svg>\u{e9}\u{1f600}</svg>";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (mark, bytes) in [(&[0xff, 0xfe], &little), (&[0xfe, 0xff], &big)] {
            for mark in [&mark[..], &[]] {
                let file = [mark, bytes].concat();
                assert_eq!(decode(&file).as_deref(), Ok(text));
                assert_eq!(
                    &*decode_start(&file[..file.len() - 1]),
                    b"<svg>\xc3\xa9\xf0\x9f\x98\x80</svg"
                );
                assert!(decode(&file[..file.len() - 1]).is_err());
            }
        }
        assert!(decode(b"<svg>\xe9</svg>").is_err());
    }
}
