//! The text before the root element: an XML declaration, comments, processing instructions and a document type.

use std::ops::Range;

/// The offsets of the root element and of the declarations before it.
#[derive(Debug, PartialEq)]
pub(super) struct Prolog {
    /// Offset of the root's tag.
    pub(super) root: usize,
    /// Range of the declarations inside the document type (its internal subset).
    pub(super) declarations: Option<Range<usize>>,
}

/// Reads the beginning of a text. Returns `None` if the root begins after the end of `text`, or the text is not XML.
pub(super) fn read(text: &[u8]) -> Option<Prolog> {
    let mut at = 0;
    let mut declarations = None;
    loop {
        at = skip_space(text, at);
        let rest = &text[at..];
        at = if rest.starts_with(b"<?") {
            end_after(text, at, b"?>")?
        } else if rest.starts_with(b"<!--") {
            end_after(text, at, b"-->")?
        } else if rest.starts_with(b"<!DOCTYPE") {
            let (end, internal) = doctype(text, at)?;
            declarations = internal.or(declarations);
            end
        } else {
            let root = rest.starts_with(b"<").then_some(at)?;
            return Some(Prolog { root, declarations });
        };
    }
}

/// Whether the element whose tag begins at the start of `tag` is an `svg`, with or without a namespace prefix.
pub(super) fn is_svg(tag: &[u8]) -> bool {
    let name = tag.strip_prefix(b"<").unwrap_or_default();
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
    let Some(end) = name.iter().position(ends) else {
        return false;
    };
    let local = name[..end].rsplit(|byte| *byte == b':').next();
    local == Some(b"svg")
}

/// Returns the offset after the next occurrence of `end`.
pub(super) fn end_after(text: &[u8], at: usize, end: &[u8]) -> Option<usize> {
    let offset = memchr::memmem::find(text.get(at..)?, end)?;
    Some(at + offset + end.len())
}

fn skip_space(text: &[u8], at: usize) -> usize {
    let rest = &text[at..];
    at + rest.len() - rest.trim_ascii_start().len()
}

/// Returns the end of the document type that begins at `start`, and the range of its internal declarations.
fn doctype(text: &[u8], start: usize) -> Option<(usize, Option<Range<usize>>)> {
    let (mut at, mut begin, mut internal) = (start + 1, None, None);
    loop {
        let rest = text.get(at..)?;
        at = match rest.first()? {
            quote @ (b'"' | b'\'') => end_after(text, at + 1, &[*quote])?,
            b'<' if rest.starts_with(b"<!--") => end_after(text, at, b"-->")?,
            b'<' if rest.starts_with(b"<?") => end_after(text, at, b"?>")?,
            b'[' if begin.is_none() => {
                begin = Some(at + 1);
                at + 1
            }
            b']' if internal.is_none() => {
                internal = begin.map(|begin| begin..at);
                at + 1
            }
            b'>' if begin.is_none() || internal.is_some() => return Some((at + 1, internal)),
            _ => at + 1,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_found_behind_everything_that_is_not_drawn() {
        for head in [
            "",
            " \n",
            "<?xml version='1.0'?>\n",
            "<!-- <svg> ' -->",
            "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://www.w3.org/>'>",
            "<!DOCTYPE svg [<!ENTITY a ']>'><!-- ]> ' --><?x ]>?>] >",
        ] {
            let prolog = read(format!("{head}<svg>").as_bytes());
            assert_eq!(prolog.map(|prolog| prolog.root), Some(head.len()), "{head}");
        }
        for text in ["", "text <svg>", "<!-- <svg>", "<!DOCTYPE svg ['"] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_root_is_known_by_its_name() {
        for tag in ["<svg>", "<svg ", "<a:svg\n", "<svg/>"] {
            assert!(is_svg(tag.as_bytes()), "{tag}");
        }
        for tag in ["<svgs>", "<svg", "<html>", "<svg:a>", ""] {
            assert!(!is_svg(tag.as_bytes()), "{tag}");
        }
    }
}
