//! XMP: properties of an image, as RDF in XML.

use std::fmt::Write;
use std::ops::Range;

use andon_recipe::Orientation;
use roxmltree::{Document, Node, ParsingOptions};

use super::places;

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const DUBLIN_CORE: &str = "http://purl.org/dc/elements/1.1/";

/// Namespaces whose properties are all about rights. The last one (PLUS) also says whether machines may be trained with
/// the image.
const RIGHTS: [&str; 3] = [
    "http://ns.adobe.com/xap/1.0/rights/",
    "http://creativecommons.org/ns#",
    "http://ns.useplus.org/ldf/xmp/1.0/",
];

/// Namespace of the properties in [`ORIGIN`].
const IPTC_EXTENSION: &str = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/";
/// Properties that tell whether and how AI made the image, and have to stay with it.
const ORIGIN: [&str; 5] = [
    "DigitalSourceType",
    "AISystemUsed",
    "AISystemVersionUsed",
    "AIPromptInformation",
    "AIPromptWriterName",
];

const PHOTOSHOP: &str = "http://ns.adobe.com/photoshop/1.0/";
const CREDITS: [&str; 1] = ["Credit"];

/// Namespace for the list of images in a file.
const CONTAINER: &str = "http://ns.google.com/photos/1.0/container/";
/// Namespace for the parameters of a gain map in the file.
const GAIN_MAP: &str = "http://ns.adobe.com/hdr-gain-map/1.0/";

/// Namespace for the camera's original image, stored in the XMP packet itself.
const ORIGINAL: &str = "http://ns.google.com/photos/1.0/image/";
/// Namespace for a depth map that is stored in the XMP packet itself.
const DEPTHS: &str = "http://ns.google.com/photos/1.0/depthmap/";
const IMAGES: [&str; 4] = [CONTAINER, GAIN_MAP, ORIGINAL, DEPTHS];

const BASIC: &str = "http://ns.adobe.com/xap/1.0/";
const EXIF: &str = "http://ns.adobe.com/exif/1.0/";
const TIFF: &str = "http://ns.adobe.com/tiff/1.0/";

const NAMES: [&str; 4] = ["rights", "creator", "contributor", "publisher"];

/// Most XML nodes that an XMP packet may have. No camera's packet has more.
const MOST_NODES: u32 = 20_000;

/// Returns an XMP packet with only the properties about author, rights and AI; `None` if there are none, or if the
/// packet cannot be parsed.
pub(super) fn reduced(packet: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(packet).ok()?;
    let text = text.trim_matches(['\0', '\u{feff}']).trim();
    let document = parsed(text)?;
    let mut builder = Builder::default();
    for node in document.descendants().filter(is_description) {
        for attribute in node.attributes() {
            if let Some(space) = attribute.namespace()
                && is_kept(space, attribute.name())
                && let Some(prefix) = node.lookup_prefix(space)
            {
                builder.declare(node, prefix);
                let value = escaped(attribute.value());
                let name = attribute.name();
                let _ = write!(
                    builder.properties,
                    "<{prefix}:{name}>{value}</{prefix}:{name}>"
                );
            }
        }
        for property in node.children().filter(Node::is_element) {
            let name = property.tag_name();
            if name
                .namespace()
                .is_some_and(|space| is_kept(space, name.name()))
            {
                let source = &text[property.range()];
                for space in property.namespaces() {
                    if let Some(prefix) = space.name()
                        && source.contains(&format!("{prefix}:"))
                    {
                        builder.declare(property, prefix);
                    }
                }
                builder.properties.push_str(source);
            }
        }
    }
    builder.packet()
}

/// Returns the XMP packet without its properties about pixels other than those that are written: thumbnails in the
/// packet, image sizes, and lists of images that follow in the source file, such as a gain map. If `place` is set,
/// properties about where the image was taken are removed, too. `None` for a packet that cannot be parsed.
pub(super) fn without_images(packet: &[u8], place: bool) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(packet).ok()?;
    let mut parts = parts_on_others(text.trim_end_matches(['\0']), place)?;
    parts.sort_by_key(|part| part.start);
    let mut result = Vec::with_capacity(packet.len());
    let mut from = 0;
    for part in parts {
        result.extend_from_slice(&packet[from..part.start]);
        from = part.end;
    }
    result.extend_from_slice(&packet[from..]);
    Some(result)
}

/// Returns the byte ranges of the XMP properties to remove: those about other pixels than the written ones, such as
/// thumbnails, and, if `place` is set, those about where the image was taken. No range lies inside another. Places are
/// searched at any depth, because a packet may contain the properties of other images that this one was made from.
fn parts_on_others(text: &str, place: bool) -> Option<Vec<Range<usize>>> {
    let document = parsed(text.trim_start_matches('\u{feff}'))?;
    let begin = text.len() - text.trim_start_matches('\u{feff}').len();
    let is_removed = |space: Option<&str>, name: &str, is_top: bool| {
        space.is_some_and(|space| {
            (is_top && is_of_others(space, name)) || (place && places::is_property(space, name))
        })
    };
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut end = 0;
    for node in document.descendants().filter(Node::is_element) {
        // The node lies inside a range that is removed already.
        if node.range().start < end {
            continue;
        }
        let name = node.tag_name();
        let is_property = node.parent().is_some_and(|parent| is_description(&parent));
        if is_removed(name.namespace(), name.name(), is_property) {
            end = node.range().end;
            parts.push(node.range());
            continue;
        }
        let is_top = is_description(&node);
        let attributes = (node.attributes())
            .filter(|attribute| is_removed(attribute.namespace(), attribute.name(), is_top));
        parts.extend(attributes.map(|attribute| attribute.range()));
    }
    let moved = |part: Range<usize>| part.start + begin..part.end + begin;
    Some(parts.into_iter().map(moved).collect())
}

/// Whether a property is about other pixels than those that will be written.
fn is_of_others(space: &str, name: &str) -> bool {
    IMAGES.contains(&space)
        || match space {
            BASIC => name == "Thumbnails",
            EXIF => matches!(name, "PixelXDimension" | "PixelYDimension"),
            TIFF => matches!(name, "ImageWidth" | "ImageLength"),
            _ => false,
        }
}

/// Sets the orientation wherever the XMP packet states it.
pub(super) fn set_orientation(packet: &mut [u8], orientation: Orientation) {
    const NAME: &[u8] = b"tiff:Orientation";
    let mut from = 0;
    while let Some(offset) = packet[from..]
        .windows(NAME.len())
        .position(|text| text == NAME)
    {
        from += offset + NAME.len();
        if let [b'=', b'"' | b'\'', digit, ..] | [b'>', digit, ..] = &mut packet[from..]
            && digit.is_ascii_digit()
        {
            *digit = b'0' + orientation.exif() as u8;
        }
    }
}

fn parsed(text: &str) -> Option<Document<'_>> {
    let options = ParsingOptions {
        nodes_limit: MOST_NODES,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).ok()
}

fn is_description(node: &Node<'_, '_>) -> bool {
    node.has_tag_name((RDF, "Description"))
        && node
            .parent()
            .is_some_and(|parent| parent.has_tag_name((RDF, "RDF")))
}

fn is_kept(space: &str, name: &str) -> bool {
    RIGHTS.contains(&space)
        || match space {
            DUBLIN_CORE => NAMES.contains(&name),
            IPTC_EXTENSION => ORIGIN.contains(&name),
            PHOTOSHOP => CREDITS.contains(&name),
            _ => false,
        }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;")
}

#[derive(Default)]
struct Builder {
    /// Namespace prefixes and their URIs, as declared in the rebuilt XMP packet.
    namespaces: Vec<(String, String)>,
    properties: String,
}

impl Builder {
    fn declare(&mut self, node: Node<'_, '_>, prefix: &str) {
        let is_declared = self.namespaces.iter().any(|(name, _)| name == prefix);
        if let Some(space) = node
            .lookup_namespace_uri(Some(prefix))
            .filter(|_| !is_declared)
        {
            self.namespaces.push((prefix.to_owned(), space.to_owned()));
        }
    }

    fn packet(self) -> Option<Vec<u8>> {
        if self.properties.is_empty() {
            return None;
        }
        let mut packet =
            String::from("<?xpacket begin=\"\u{feff}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>");
        let _ = write!(
            packet,
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"{RDF}\"><rdf:Description rdf:about=\"\""
        );
        for (prefix, space) in &self.namespaces {
            if !matches!(&**prefix, "rdf" | "x" | "xml") {
                let _ = write!(packet, " xmlns:{prefix}=\"{}\"", escaped(space));
            }
        }
        packet.push('>');
        packet.push_str(&self.properties);
        packet.push_str("</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end=\"w\"?>");
        Some(packet.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: &str = r#"<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
        <x:xmpmeta xmlns:x="adobe:ns:meta/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:RDF>
        <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
            xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:tiff="http://ns.adobe.com/tiff/1.0/"
            xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/"
            exif:GPSLatitude="48,12N" tiff:Orientation="6" xmpRights:WebStatement="https://a.test/?a&amp;b">
        <dc:rights><rdf:Alt><rdf:li xml:lang="x-default">(c) me</rdf:li></rdf:Alt></dc:rights>
        <dc:title><rdf:Alt><rdf:li xml:lang="x-default">At home</rdf:li></rdf:Alt></dc:title>
        </rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"#;

    #[test]
    fn rights_are_kept_and_titles_and_places_are_not() {
        let kept = reduced(PACKET.as_bytes()).expect("something to keep");
        let text = String::from_utf8(kept.clone()).expect("text");
        for there in ["(c) me", "https://a.test/?a&amp;b", "xmlns:dc="] {
            assert!(text.contains(there), "{text}");
        }
        for gone in ["GPS", "At home", "Orientation", "xmlns:exif"] {
            assert!(!text.contains(gone), "{text}");
        }
        assert_eq!(reduced(&kept), Some(kept), "once more");
    }

    #[test]
    fn what_says_nothing_of_rights_or_is_no_packet_keeps_nothing() {
        let bare = PACKET
            .replace("dc:rights", "dc:subject")
            .replace("xmpRights:Web", "exif:Web");
        for text in [
            &*bare,
            "",
            "<a",
            "\0",
            "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
        ] {
            assert_eq!(reduced(text.as_bytes()), None, "{text}");
        }
        for length in 0..PACKET.len() {
            let _ = reduced(&PACKET.as_bytes()[..length]);
        }
    }

    #[test]
    fn an_orientation_is_set_in_either_spelling() {
        let mut packet =
            *b"tiff:Orientation=\"6\" <tiff:Orientation>8</tiff:Orientation> tiff:Orientation";
        set_orientation(&mut packet, Orientation::from_exif(3));
        let expected =
            b"tiff:Orientation=\"3\" <tiff:Orientation>3</tiff:Orientation> tiff:Orientation";
        assert_eq!(&packet, expected);
    }
}
