//! The headers `Cache-Tag` and `Surrogate-Key`: tags that say what a result is made of, for CDNs that purge by them.

use std::collections::HashSet;

use andon_cache::Entry;
use hyper::header::{HeaderMap, HeaderName};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::config::TagHeader;

/// Sets the headers in `names` to the tags of this result: those of the result itself, of its source, and of all folders
/// above the source and the overlay images.
pub(crate) fn set(headers: &mut HeaderMap, entry: &Entry, names: &[TagHeader]) {
    let source = &entry.source;
    let overlays = entry.tags.iter();
    let overlays = overlays.filter_map(|tag| tag.strip_prefix(Entry::ALSO_OF));
    let sources = std::iter::once(&**source).chain(overlays);
    let above = |source: &'_ str| -> Vec<String> {
        let slashes = source.match_indices('/');
        slashes
            .map(|(slash, _)| format!("prefix:{}", &source[..=slash]))
            .collect()
    };
    let mut prefixes: Vec<String> = sources.flat_map(above).collect();
    let mut seen_prefixes = HashSet::new();
    prefixes.retain(|prefix| seen_prefixes.insert(prefix.clone()));
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
            tags: [
                "type:image/webp",
                "source:/logos/行.png",
                "overlay:/logos/行.png",
            ]
            .map(str::to_owned)
            .to_vec(),
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
            "prefix:/logos/",
            "type:image/webp",
            "source:/logos/%E8%A1%8C.png",
            "overlay:/logos/%E8%A1%8C.png",
        ];
        assert_eq!(headers["cache-tag"], tags.join(","));
        assert_eq!(headers["surrogate-key"], tags.join(" "));
        let mut none = HeaderMap::new();
        set(&mut none, &entry, &[]);
        assert!(none.is_empty());
    }
}
