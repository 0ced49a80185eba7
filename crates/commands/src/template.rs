//! URLs with a placeholder for the source, such as `/r/fit:250x250{source}`.

use andon_dialects::{Refusal, Source, percent_encode};

/// Placeholder for the path of a source, including its leading slash.
pub(crate) const SOURCE: &str = "{source}";

/// Inserts a source into a URL template. `source` is a decoded path that begins with a slash.
pub(crate) fn filled(template: &str, source: &str) -> String {
    template.replace(SOURCE, &percent_encode(source, "/"))
}

/// Percent-decodes the path of a source in a URL. The result begins with a slash.
pub(crate) fn decoded(source: &str) -> Result<String, Refusal> {
    Ok(format!("/{}", Source::from_raw(source)?.place()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_stand_in_a_url_is_escaped_once() {
        let source = decoded("/a b/\u{fc}%20%3f100%25.jpg").unwrap();
        assert_eq!(source, "/a b/\u{fc} ?100%.jpg");
        let url = filled("/r/fit:2x2{source}?v=1", &source);
        assert_eq!(url, "/r/fit:2x2/a%20b/%C3%BC%20%3F100%25.jpg?v=1");
    }
}
