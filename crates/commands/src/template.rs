//! URLs with a place for the source: `/r/fit:250x250{source}`.

use andon_dialects::{Refusal, Source, percent_encode};

/// Stands for the path of a source, from its slash on.
pub(crate) const SOURCE: &str = "{source}";

/// The URL of a source, whose path is decoded and begins with a slash.
pub(crate) fn filled(template: &str, source: &str) -> String {
    template.replace(SOURCE, &percent_encode(source, "/"))
}

/// The path of a source as URLs name it, decoded and from its slash on.
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
