//! Limits on the input of the XML parser, which compares every attribute of an element with all others, and copies the
//! namespaces of a parent for each child that declares some.

use std::collections::HashSet;

use andon_pixels::Result;
use memchr::{memchr_iter, memmem};

use super::document::unsupported;

/// Maximum number of attributes of one element. Drawing programs write about 60.
const ATTRIBUTES: usize = 1000;

/// Maximum number of namespace comparisons: declarations times the square of the number of prefixes.
const NAMESPACES: usize = 200_000_000;

/// Rejects a text for which the XML parser takes more than linear time.
///
/// No attribute may contain a `<`, so the text between two of them contains at least one whole tag. Comments and texts
/// are counted as if they were tags, too, which is simpler than distinguishing them exactly as the parser does.
pub(super) fn check(text: &str) -> Result<()> {
    let bytes = text.as_bytes();
    let mut prefixes = HashSet::new();
    let mut declarations = 0_usize;
    let mut start = 0;
    for end in memchr_iter(b'<', bytes).chain([bytes.len()]) {
        let tag = bytes.get(start..end).unwrap_or_default();
        start = end + 1;
        // A tag with more than the permitted attributes has more bytes than this.
        if tag.len() > 4 * ATTRIBUTES {
            let attributes = memchr_iter(b'=', tag)
                .filter(|at| is_quoted(tag, *at))
                .count();
            if attributes > ATTRIBUTES {
                return Err(unsupported(format!(
                    "{attributes} attributes of one element; {ATTRIBUTES} are the limit"
                )));
            }
        }
        for at in memmem::find_iter(tag, b"xmlns") {
            declarations += 1;
            let name = tag[at..].split(|byte| *byte == b'=').next();
            prefixes.insert(name.unwrap_or_default().trim_ascii());
        }
    }
    let compared = declarations.saturating_mul(prefixes.len() * prefixes.len());
    if compared > NAMESPACES {
        return Err(unsupported(format!(
            "{declarations} declarations of {} namespaces",
            prefixes.len()
        )));
    }
    Ok(())
}

/// Whether the `=` at `at` is followed by a quotation mark, as between an attribute's name and its value.
fn is_quoted(tag: &[u8], at: usize) -> bool {
    let after = tag[at + 1..].trim_ascii_start();
    matches!(after.first(), Some(b'"' | b'\''))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_an_element_are_counted() {
        let with = |count: usize| {
            let attributes = (0..count).map(|index| format!(" a{index} = '1'"));
            format!("<svg><rect{}/></svg>", attributes.collect::<String>())
        };
        assert!(check(&with(1000)).is_ok());
        let error = check(&with(1001)).unwrap_err().to_string();
        assert!(error.contains("1001 attributes of one element"), "{error}");
    }

    #[test]
    fn one_prefix_may_be_declared_often_and_many_may_not() {
        let same = "<g xmlns:a='b'/>".repeat(20_000);
        assert!(check(&same).is_ok());
        let others: String = (0..1000)
            .map(|index| format!("<g xmlns:a{index}='b'>"))
            .collect();
        assert!(check(&others).is_err());
    }
}
