//! The headers `Cache-Tag` and `Surrogate-Key`: tags that say what a result is made of, for CDNs that purge by them.

use andon_cache::Entry;
use hyper::header::{HeaderMap, HeaderName};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::config::TagHeader;

/// Sets the headers in `names` to the tags that purge this result here, its source, and all folders above the source.
pub(crate) fn set(headers: &mut HeaderMap, entry: &Entry, names: &[TagHeader]) {
    let source = &entry.source;
    let above = source.match_indices('/');
    let prefixes = above.map(|(slash, _)| format!("prefix:{}", &source[..=slash]));
    let tags: Vec<String> = [format!("source:{source}")]
        .into_iter()
        .chain(prefixes)
        .chain(entry.tags.iter().cloned())
        .map(|tag| utf8_percent_encode(&tag, IN_TAGS).to_string())
        .collect();
    for name in names {
        let (name, between) = match name {
            TagHeader::CacheTag => ("cache-tag", ","),
            TagHeader::SurrogateKey => ("surrogate-key", " "),
        };
        super::set(headers, HeaderName::from_static(name), &tags.join(between));
    }
}

/// The characters that are percent-encoded in tags: those that would end a tag or are not allowed in a header.
const IN_TAGS: &AsciiSet = &CONTROLS.add(b' ').add(b',').add(b'%');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_header_has_its_own_separator_and_no_tag_has_one_in_it() {
        let entry = Entry {
            source: "/trip/a b,c.jpg".to_owned(),
            tags: vec!["type:image/webp".to_owned(), "material:行.png".to_owned()],
            ..Entry::default()
        };
        let mut headers = HeaderMap::new();
        set(
            &mut headers,
            &entry,
            &[TagHeader::CacheTag, TagHeader::SurrogateKey],
        );
        let tags = [
            "source:/trip/a%20b%2Cc.jpg",
            "prefix:/",
            "prefix:/trip/",
            "type:image/webp",
            "material:%E8%A1%8C.png",
        ];
        assert_eq!(headers["cache-tag"], tags.join(","));
        assert_eq!(headers["surrogate-key"], tags.join(" "));
        let mut none = HeaderMap::new();
        set(&mut none, &entry, &[]);
        assert!(none.is_empty());
    }
}
