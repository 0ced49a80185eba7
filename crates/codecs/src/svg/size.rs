//! The size of an SVG, which depends only on the tag of its root element.

use std::io::Read;

use andon_pixels::Result;
use flate2::read::GzDecoder;
use resvg::usvg::roxmltree::{Document, Node};
use svgtypes::{Length, LengthUnit, ViewBox};

use super::document::{self, GZIP, HEAD, broken};
use super::entities::Entities;
use super::numbers::pixels;
use super::prolog::{self, Prolog};
use super::{encoding, markup};

/// Width and height in px of a drawing that specifies neither, as in browsers.
pub(super) const DEFAULT: (f32, f32) = (300.0, 150.0);

/// Font size in px if the root specifies none.
pub(super) const FONT_SIZE: f32 = 12.0;

/// Returns the size of a drawing in px, which the tag of its root specifies.
pub(super) fn size(bytes: &[u8]) -> Result<(u32, u32)> {
    let mut bytes_of_text = Vec::new();
    let head = if bytes.starts_with(GZIP) {
        let read = GzDecoder::new(bytes)
            .take(HEAD as u64)
            .read_to_end(&mut bytes_of_text);
        // Unpacking errors are ignored if there is some text, because only the tag is needed.
        if read.is_err() && bytes_of_text.is_empty() {
            return Err(broken("it does not unpack"));
        }
        &bytes_of_text
    } else {
        document::short_enough(bytes.len())?;
        bytes
    };
    let head = encoding::decode_start(&head[..head.len().min(HEAD)]);
    let document_of = document_of(&tag(&head)?)?;
    let document = Document::parse(&document_of).map_err(|error| broken(error.to_string()))?;
    let root = document.root_element();
    if root.tag_name().name() != "svg" {
        return Err(broken("its root is no svg element"));
    }
    let (width, height) = of(root).ok_or_else(|| broken("its size is not valid"))?;
    Ok(document::whole_size(width, height))
}

/// Returns the tag of the root, from `<` to `>`, with its entities expanded.
fn tag(head: &[u8]) -> Result<String> {
    let missing = || broken(format!("no svg element in its first {HEAD} bytes"));
    let Prolog { root, declarations } = prolog::read(head).ok_or_else(missing)?;
    let text = |bytes| std::str::from_utf8(bytes).map_err(|_| broken("its text is not UTF-8"));
    let mut quote = None;
    let end = head[root..].iter().position(|byte| {
        match (quote, byte) {
            (None, b'>') => return true,
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            _ => {}
        }
        false
    });
    let tag = text(&head[root..=root + end.ok_or_else(missing)?])?;
    let Some(declarations) = declarations else {
        return Ok(tag.to_owned());
    };
    let mut expanded_tag = String::new();
    Entities::of(text(&head[declarations])?)?.expand(tag, head.len(), &mut expanded_tag)?;
    Ok(expanded_tag)
}

/// Converts a tag to a complete document.
fn document_of(tag: &str) -> Result<String> {
    markup::check(tag)?;
    let open = tag.strip_suffix('>').unwrap_or(tag);
    let open = open.strip_suffix('/').unwrap_or(open);
    Ok(format!("{open}/>"))
}

/// Returns width and height in px that the attributes of a root element specify.
pub(super) fn of(root: Node<'_, '_>) -> Option<(f32, f32)> {
    let length = |name| {
        root.attribute(name)
            .and_then(|value| value.parse::<Length>().ok())
    };
    let (width, height) = (length("width"), length("height"));
    let view = view_box(root);
    let font = length("font-size").map_or(FONT_SIZE, |size| pixels(size, FONT_SIZE) as f32);
    let of = |length: Option<Length>, whole: f32| match length {
        Some(length) if length.unit == LengthUnit::Percent => whole * length.number as f32 / 100.0,
        Some(length) => pixels(length, font) as f32,
        None => whole,
    };
    let Some((w, h)) = view else {
        return valid(of(width, DEFAULT.0), of(height, DEFAULT.1));
    };
    match (width, height) {
        (Some(_), None) => valid(of(width, w), h * of(width, w) / w),
        (None, Some(_)) => valid(w * of(height, h) / h, of(height, h)),
        _ => valid(of(width, w), of(height, h)),
    }
}

/// Returns width and height of the root's view box, if it has a valid one.
pub(super) fn view_box(root: Node<'_, '_>) -> Option<(f32, f32)> {
    let view: ViewBox = root.attribute("viewBox")?.parse().ok()?;
    valid(view.w as f32, view.h as f32)
}

fn valid(width: f32, height: f32) -> Option<(f32, f32)> {
    let is_valid = |side: f32| side.is_finite() && side > 0.0;
    (is_valid(width) && is_valid(height)).then_some((width, height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_the_root_is_passed_over() {
        let root = "<svg xmlns='http://www.w3.org/2000/svg' width='3' height='4' data-a='>'>";
        for head in [
            "",
            "\u{feff}<?xml version='1.0'?>\n",
            "<!-- <svg width='9' height='9'> -->",
            "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://www.w3.org/a'>",
            "<!DOCTYPE svg [ <!ELEMENT a ANY> ] >",
        ] {
            // The text after the tag must not be read.
            let text = format!("{head}{root}<not closed");
            assert_eq!(size(text.as_bytes()), Ok((3, 4)), "{head}");
        }
        let prefixed = "<s:svg xmlns:s='http://www.w3.org/2000/svg' viewBox='0 0 5 6'/>";
        assert_eq!(size(prefixed.as_bytes()), Ok((5, 6)));
        for text in [
            "",
            "<svg",
            "<html width='3' height='3'>",
            "<svg width='&a;' height='1'>",
        ] {
            assert!(size(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_packed_drawing_is_unpacked_as_far_as_its_root() {
        use std::io::Write;
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let root = b"<svg xmlns='http://www.w3.org/2000/svg' width='3' height='4'>";
        packed.write_all(root).expect("memory");
        packed.write_all(&vec![b' '; 8 << 20]).expect("memory");
        let packed = packed.finish().expect("memory");
        assert_eq!(size(&packed), Ok((3, 4)));
        assert_eq!(size(&packed[..packed.len() / 2]), Ok((3, 4)));
    }
}
