//! The text: what it may hold, and the size that it gives itself.

use std::collections::HashMap;
use std::io::Read;

use andon_pixels::{Error, Result};
use flate2::{bufread, read::GzDecoder};
use resvg::usvg::roxmltree::{Document, Node, NodeId, ParsingOptions};
use resvg::usvg::{Options, Size, Tree};

use super::NAME;

/// Bytes of the text, unpacked.
const TEXT_BYTES: usize = 1 << 20;

/// Elements, with everything that `use` repeats.
const NODES: u32 = 50_000;

/// Elements inside each other: they are walked recursively.
const DEPTH: usize = 200;

/// How much of the beginning may stand before the root element.
const HEAD: usize = 4096;

/// Does it begin like an SVG, packed or not?
pub(super) fn sniff(head: &[u8]) -> bool {
    let head = &head[..head.len().min(HEAD)];
    if head.starts_with(GZIP) {
        let mut text = Vec::new();
        // The end of the head is no end of the packed text.
        let _ = GzDecoder::new(head)
            .take(HEAD as u64)
            .read_to_end(&mut text);
        return is_svg(&text);
    }
    is_svg(head)
}

const GZIP: &[u8] = &[0x1f, 0x8b];

fn is_svg(text: &[u8]) -> bool {
    let text = text
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(text)
        .trim_ascii_start();
    let root = |text: &[u8]| memchr::memmem::find(text, b"<svg").is_some();
    text.starts_with(b"<svg")
        || ([&b"<?xml"[..], b"<!--", b"<!DOCTYPE svg"].iter())
            .any(|prefix| text.starts_with(prefix) && root(text))
}

/// The text, unpacked, no longer than it may be.
pub(super) fn text(bytes: &[u8]) -> Result<String> {
    let mut unpacked = Vec::new();
    let text = if bytes.starts_with(GZIP) {
        let read = GzDecoder::new(bytes)
            .take(TEXT_BYTES as u64 + 1)
            .read_to_end(&mut unpacked);
        read.map_err(|_| broken("it does not unpack"))?;
        &unpacked
    } else {
        bytes
    };
    if text.len() > TEXT_BYTES {
        return Err(Error::Limit {
            name: "svg_text",
            value: text.len() as u64,
            limit: TEXT_BYTES as u64,
        });
    }
    let text = std::str::from_utf8(text).map_err(|_| broken("its text is not UTF-8"))?;
    Ok(text.to_owned())
}

/// Where the file ends. Nothing but white space and comments may follow the root of a text, which is read whole; packed,
/// anything may follow it.
pub(super) fn end(bytes: &[u8]) -> Result<usize> {
    if !bytes.starts_with(GZIP) {
        return Ok(bytes.len());
    }
    let mut packed = bufread::GzDecoder::new(bytes);
    let read = std::io::copy(&mut packed, &mut std::io::sink());
    read.map_err(|_| broken("it does not unpack"))?;
    Ok(bytes.len() - packed.into_inner().len())
}

/// The elements. Entities are refused, for what they expand to is not known before.
pub(super) fn parse(text: &str) -> Result<Document<'_>> {
    let options = ParsingOptions {
        allow_dtd: !text.contains("<!ENTITY"),
        // Texts and attributes are counted, too.
        nodes_limit: 4 * NODES,
        ..ParsingOptions::default()
    };
    let document =
        Document::parse_with_options(text, options).map_err(|error| broken(error.to_string()))?;
    if document.root_element().tag_name().name() != "svg" {
        return Err(broken("its root is no svg element"));
    }
    bounded(&document)?;
    Ok(document)
}

/// Refuses what is too deep or, with everything that is repeated, too much.
fn bounded(document: &Document<'_>) -> Result<()> {
    let mut depth = 0_usize;
    let mut deepest = 0;
    let mut node = document.root_element();
    // Recursion over what is too deep is what this is to prevent.
    'walk: loop {
        deepest = deepest.max(depth);
        if let Some(child) = node.first_element_child() {
            (node, depth) = (child, depth + 1);
            continue;
        }
        loop {
            if let Some(next) = node.next_sibling_element() {
                node = next;
                break;
            }
            match node.parent_element() {
                Some(parent) if depth > 0 => (node, depth) = (parent, depth - 1),
                _ => break 'walk,
            }
        }
    }
    if deepest > DEPTH {
        return Err(unsupported(format!("elements nested {deepest} deep")));
    }
    let with_id = |node: Node<'_, '_>| Some((node.attribute("id")?.to_owned(), node.id()));
    let ids: HashMap<String, NodeId> = document.descendants().filter_map(with_id).collect();
    let mut known = HashMap::new();
    let count = repeated(document.root_element(), document, &ids, &mut known, 0);
    if count > u64::from(NODES) {
        return Err(unsupported(format!(
            "{count} elements, repeated ones included"
        )));
    }
    Ok(())
}

/// How many elements it comes to; what refers to itself is not counted again, and is not drawn either.
fn repeated(
    node: Node<'_, '_>,
    document: &Document<'_>,
    ids: &HashMap<String, NodeId>,
    known: &mut HashMap<NodeId, u64>,
    depth: usize,
) -> u64 {
    if let Some(count) = known.get(&node.id()) {
        return *count;
    }
    if depth > 2 * DEPTH {
        return u64::from(NODES) + 1;
    }
    known.insert(node.id(), 0);
    let mut count = 1_u64;
    for child in node.children().filter(Node::is_element) {
        count = count.saturating_add(repeated(child, document, ids, known, depth + 1));
    }
    if node.tag_name().name() == "use" {
        let href = node
            .attributes()
            .find(|attribute| attribute.name() == "href");
        let target = href.and_then(|href| ids.get(href.value().trim().strip_prefix('#')?));
        if let Some(target) = target.and_then(|id| document.get_node(*id)) {
            count = count.saturating_add(repeated(target, document, ids, known, depth + 1));
        }
    }
    known.insert(node.id(), count);
    count
}

/// Its size in px: by the root's attributes, and by what is drawn where they say nothing.
pub(super) fn size(bytes: &[u8]) -> Result<(u32, u32)> {
    let text = text(bytes)?;
    let document = parse(&text)?;
    let root = document.root_element();
    let says = ["width", "height", "viewBox"]
        .iter()
        .filter_map(|name| Some((*name, root.attribute(*name)?)));
    let said: Vec<_> = says.collect();
    let told = said.len() > 1 || said.first().is_some_and(|(name, _)| *name == "viewBox");
    let size = match !told {
        true => tree(&document, &Options::default())?.size(),
        false => {
            let mut alone = String::from("<svg xmlns='http://www.w3.org/2000/svg'");
            for (name, value) in said {
                let value = value
                    .replace('&', "&amp;")
                    .replace('\'', "&apos;")
                    .replace('<', "&lt;");
                alone += &format!(" {name}='{value}'");
            }
            alone += "/>";
            let alone = Document::parse(&alone).map_err(|error| broken(error.to_string()))?;
            tree(&alone, &Options::default())?.size()
        }
    };
    Ok(whole(size))
}

/// In whole pixels, as they are drawn.
pub(super) fn whole(size: Size) -> (u32, u32) {
    let size = size.to_int_size();
    (size.width(), size.height())
}

/// What is drawn.
pub(super) fn tree(document: &Document<'_>, options: &Options<'_>) -> Result<Tree> {
    Tree::from_xmltree(document, options).map_err(|error| broken(error.to_string()))
}

pub(super) fn broken(why: impl Into<String>) -> Error {
    Error::broken(NAME, why)
}

pub(super) fn unsupported(what: String) -> Error {
    Error::Unsupported { format: NAME, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_from_the_root() {
        for (attributes, size) in [
            ("width='30' height='20'", (30, 20)),
            ("viewBox='0 0 40 50'", (40, 50)),
            ("width='80' viewBox='0 0 40 50'", (80, 100)),
            ("width='1in' height='50%' viewBox='0 0 10 10'", (96, 5)),
        ] {
            let svg = format!("<svg xmlns='http://www.w3.org/2000/svg' {attributes}/>");
            assert_eq!(super::size(svg.as_bytes()), Ok(size), "{attributes}");
        }
    }

    #[test]
    fn entities_are_refused_and_a_plain_doctype_is_not() {
        let svg = |head: &str| {
            format!("{head}<svg xmlns='http://www.w3.org/2000/svg' width='3' height='3'/>")
        };
        let plain = "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd'>";
        assert_eq!(size(svg(plain).as_bytes()), Ok((3, 3)));
        let entity = "<!DOCTYPE svg [<!ENTITY a 'b'>]>";
        assert!(size(svg(entity).as_bytes()).is_err());
    }

    #[test]
    fn repeated_elements_are_counted() {
        let mut svg = String::from(
            "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><g id='a0'/>",
        );
        for level in 1..9 {
            svg += &format!("<g id='a{level}'>");
            for _ in 0..10 {
                svg += &format!("<use href='#a{}'/>", level - 1);
            }
            svg += "</g>";
        }
        svg += "</svg>";
        let error = size(svg.as_bytes()).unwrap_err().to_string();
        assert!(
            error.contains("elements, repeated ones included"),
            "{error}"
        );
    }
}
