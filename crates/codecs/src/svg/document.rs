//! The text of an SVG: recognising, unpacking, parsing and estimating its cost, within limits.

use std::io::Read;

use andon_pixels::{Bound, Error, Result};
use data_url::DataUrl;
use flate2::{bufread, read::GzDecoder};
use resvg::usvg::roxmltree::{Document, Node, ParsingOptions};
use resvg::usvg::{Options, Tree};

use super::outline::{ELEMENTS, Outline};
use super::references::{self, Weight};
use super::steps::Steps;
use super::{NAME, encoding, entities, ground::Ground, markup, prolog};
use crate::guard;

/// Maximum number of bytes of the unpacked text.
const TEXT_BYTES: usize = 1 << 20;

/// Number of bytes at the beginning of the text in which the root's tag has to end.
pub(super) const HEAD: usize = 64 << 10;

/// Number of bytes in which the root's tag of a nested drawing has to end. It is smaller than `HEAD` because there may
/// be many nested drawings.
const HEAD_INSIDE: usize = 4096;

/// Whether a file begins like an SVG, with or without gzip compression.
pub(super) fn sniff(head: &[u8]) -> bool {
    is_drawing(head, HEAD)
}

/// Whether an image embedded in a drawing begins like an SVG, with or without gzip compression.
pub(super) fn sniff_inside(head: &[u8]) -> bool {
    is_drawing(head, HEAD_INSIDE)
}

fn is_drawing(head: &[u8], most: usize) -> bool {
    let head = &head[..head.len().min(most)];
    if head.starts_with(GZIP) {
        let mut text = Vec::new();
        // Errors are ignored, because `head` usually ends before the packed text does.
        let _ = GzDecoder::new(head)
            .take(most as u64)
            .read_to_end(&mut text);
        return is_svg(&text);
    }
    is_svg(head)
}

pub(super) const GZIP: &[u8] = &[0x1f, 0x8b];

fn is_svg(text: &[u8]) -> bool {
    let text = encoding::decode_start(text);
    prolog::read(&text).is_some_and(|prolog| prolog::is_svg(&text[prolog.root..]))
}

/// Returns the text of a file, unpacked and with its entities expanded.
///
/// # Errors
/// `Limit` or `Unsupported` for a text that is too long or has unsupported entities; `Broken`.
pub(super) fn text(bytes: &[u8]) -> Result<String> {
    let mut bytes_of_text = Vec::new();
    let text = if bytes.starts_with(GZIP) {
        let read = GzDecoder::new(bytes)
            .take(TEXT_BYTES as u64 + 1)
            .read_to_end(&mut bytes_of_text);
        read.map_err(|_| broken("it does not unpack"))?;
        &bytes_of_text
    } else {
        bytes
    };
    short_enough(text.len())?;
    let text = encoding::decode(text)?;
    short_enough(text.len())?;
    entities::expand_declared(text)
}

/// Checks that a text has at most `TEXT_BYTES` bytes.
///
/// # Errors
/// `Limit` if the text is longer.
pub(super) fn short_enough(length: usize) -> Result<()> {
    guard::at_most(
        Bound::of_format(NAME, "text", "bytes"),
        length as u64,
        TEXT_BYTES as u64,
    )
}

/// Returns the offset in bytes at which the file ends. A plain text extends to the end of the bytes, because only white
/// space and comments may follow its root. Other data may follow a gzip stream.
pub(super) fn end(bytes: &[u8]) -> Result<usize> {
    if !bytes.starts_with(GZIP) {
        return Ok(bytes.len());
    }
    let mut decoder = bufread::GzDecoder::new(bytes);
    let read = std::io::copy(&mut decoder, &mut std::io::sink());
    read.map_err(|_| broken("it does not unpack"))?;
    Ok(bytes.len() - decoder.into_inner().len())
}

/// Parses the elements of a text with expanded entities. Remaining entities are an error, because their expansion would
/// not be counted.
pub(super) fn parse(text: &str) -> Result<Document<'_>> {
    markup::check(text)?;
    let options = ParsingOptions {
        allow_dtd: !text.contains("<!ENTITY"),
        // The parser also counts texts and attributes.
        nodes_limit: 4 * ELEMENTS as u32,
        ..ParsingOptions::default()
    };
    let document =
        Document::parse_with_options(text, options).map_err(|error| broken(error.to_string()))?;
    if document.root_element().tag_name().name() != "svg" {
        return Err(broken("its root is no svg element"));
    }
    Ok(document)
}

/// Which images a drawing may contain.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Inside {
    Images,
    /// No images, because the drawing is itself an image in another one.
    Nothing,
}

/// Returns the weight (cost) of a document, including the drawings embedded in it, and the document's background.
pub(super) fn weigh(
    document: &Document<'_>,
    inside: Inside,
    steps: &Steps,
) -> Result<(Weight, Ground)> {
    let before = steps.left();
    let outline = Outline::of(document, steps)?;
    let ground = outline.ground;
    let nested = |url: &str| match inside {
        Inside::Images => nested(url, steps),
        Inside::Nothing => Ok(Weight::default()),
    };
    let mut weight = references::follow(outline, steps, &nested)?;
    weight.nanos += STEP * (before - steps.left()) as f64;
    Ok((weight, ground))
}

/// Time in ns for each of the [`Steps`] that are spent while a document is read.
const STEP: f64 = 10.0;

/// Returns the weight (cost) of drawing the SVG in an image's `data:` URL, or a weight of zero if the URL has no SVG.
fn nested(url: &str, steps: &Steps) -> Result<Weight> {
    steps.spend(url.len() as u64 / 16, "images")?;
    let Ok(url) = DataUrl::process(url) else {
        return Ok(Weight::default());
    };
    let mut head = Vec::new();
    // Errors end the decoding; the text before them is used.
    let _ = url.decode(|bytes| {
        head.extend_from_slice(bytes);
        if head.len() < HEAD_INSIDE {
            Ok(())
        } else {
            Err(())
        }
    });
    if !sniff_inside(&head) {
        return Ok(Weight::default());
    }
    let read = || -> Result<Weight> {
        let (bytes, _) = url
            .decode_to_vec()
            .map_err(|_| broken("an image in it is not base64"))?;
        let text = text(&bytes)?;
        let document = parse(&text)?;
        let (weight, _) = weigh(&document, Inside::Nothing, steps)?;
        let units = weight.units.saturating_add(text.len() as u64 / 100);
        Ok(Weight { units, ..weight })
    };
    match read() {
        // `usvg` leaves out such a drawing.
        Err(Error::Broken { .. } | Error::Limit { .. }) => Ok(Weight::default()),
        weighed => weighed,
    }
}

/// Rounds width and height to whole pixels, at least one each.
pub(super) fn whole_size(width: f32, height: f32) -> (u32, u32) {
    let whole = |side: f32| (side.round() as u32).max(1);
    (whole(width), whole(height))
}

/// Whether the root's size depends on its content: it has no view box, and its width or height is missing or a
/// percentage. `usvg` then uses the extent of the content, but this crate uses the size from [`super::size`].
pub(super) fn is_unsized(root: Node<'_, '_>) -> bool {
    let relative = |name| {
        root.attribute(name)
            .is_none_or(|value| value.trim_end().ends_with('%'))
    };
    super::size::view_box(root).is_none() && (relative("width") || relative("height"))
}

/// Converts a document to the tree that `resvg` draws.
pub(super) fn tree(document: &Document<'_>, options: &Options<'_>) -> Result<Tree> {
    Tree::from_xmltree(document, options).map_err(|error| broken(error.to_string()))
}

pub(super) fn broken(why: impl Into<String>) -> Error {
    Error::broken(NAME, why)
}

pub(super) fn unsupported(what: String) -> Error {
    Error::unsupported(NAME, what)
}

#[cfg(test)]
mod tests {
    use super::super::size::size as sides;
    use super::*;

    fn weighed(svg: &str) -> Result<Weight> {
        let document = parse(svg)?;
        let steps = Steps::new();
        weigh(&document, Inside::Images, &steps).map(|(weight, _)| weight)
    }

    #[test]
    fn sizes_come_from_the_root() {
        for (attributes, size) in [
            ("width='30' height='20'", (30, 20)),
            ("viewBox='0 0 40 50'", (40, 50)),
            ("width='80' viewBox='0 0 40 50'", (80, 100)),
            ("width='1in' height='50%' viewBox='0 0 10 10'", (96, 5)),
            ("", (300, 150)),
            ("width='40'", (40, 150)),
            ("width='100%' height='50'", (300, 50)),
            ("font-size='20px' width='2em' height='1ex'", (40, 10)),
        ] {
            let svg = format!("<svg xmlns='http://www.w3.org/2000/svg' {attributes}/>");
            assert_eq!(sides(svg.as_bytes()), Ok(size), "{attributes}");
        }
    }

    #[test]
    fn entities_that_are_left_are_refused_and_a_plain_doctype_is_not() {
        let svg = |head: &str| {
            format!("{head}<svg xmlns='http://www.w3.org/2000/svg' width='3' height='3'/>")
        };
        let plain = "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd'>";
        assert_eq!(sides(svg(plain).as_bytes()), Ok((3, 3)));
        assert!(parse(&svg(plain)).is_ok());
        let entity = "<!DOCTYPE svg [<!ENTITY a 'b'>]>";
        assert!(parse(&svg(entity)).is_err());
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
        let error = weighed(&svg).unwrap_err().to_string();
        assert!(
            error.contains("elements, repeated ones included"),
            "{error}"
        );
    }
}
