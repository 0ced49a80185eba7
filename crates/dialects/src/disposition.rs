//! `Content-Disposition`: the name under which a browser saves an image (RFC 6266).

/// Returns the header value with the disposition `how` (`inline` or `attachment`) and a file name. `extension` follows
/// the name and may be a placeholder that is filled in later.
///
/// Header libraries read Latin-1 at best. So characters outside of ASCII become underscores in `filename`, and are
/// given in full in `filename*` (RFC 8187), which browsers read.
pub(crate) fn named(how: &str, name: &str, extension: &str) -> String {
    let is_plain = |letter: char| matches!(letter, ' '..='~') && !['"', '\\'].contains(&letter);
    let ascii: String = name
        .chars()
        .map(|letter| if is_plain(letter) { letter } else { '_' })
        .collect();
    let mut value = format!("{how}; filename=\"{ascii}{extension}\"");
    if !name.is_ascii() {
        value.push_str("; filename*=UTF-8''");
        for byte in name.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    value.push(char::from(byte));
                }
                other => value.push_str(&format!("%{other:02X}")),
            }
        }
        value.push_str(extension);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_beyond_ascii_are_said_in_a_parameter_of_their_own() {
        for (name, extension, value) in [
            ("a b.png", "", "attachment; filename=\"a b.png\""),
            ("a\"\\\n.png", "", "attachment; filename=\"a___.png\""),
            (
                "日本 é",
                ".{ext}",
                "attachment; filename=\"__ _.{ext}\"; filename*=UTF-8''%E6%97%A5%E6%9C%AC%20%C3%A9.{ext}",
            ),
        ] {
            assert_eq!(named("attachment", name, extension), value);
        }
    }
}
