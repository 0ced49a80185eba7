//! The characters of a drawing's text for which no font has a glyph.

use std::collections::HashSet;

use resvg::usvg::roxmltree::Document;
use resvg::usvg::{Group, ImageKind, Node, Tree};

use crate::fonts::{self, Fonts, MOST_MISSING};

/// Returns the characters of all text in a drawing, and in drawings inside it, for which no font has a glyph, without
/// duplicates, and at most [`MOST_MISSING`] of them.
///
/// The document is searched in addition to the tree, because the tree contains no text without any glyph. Hidden text
/// counts as well.
pub(super) fn letters(document: &Document<'_>, tree: &Tree) -> Vec<char> {
    let mut letters_found = Vec::new();
    // With this set, each node is visited once, even if text elements are nested.
    let mut text_nodes = HashSet::new();
    let mut texts = document
        .descendants()
        .filter_map(|node| {
            let parent = node.parent();
            let is_inside = parent.is_some_and(|parent| text_nodes.contains(&parent.id()));
            if is_inside || node.has_tag_name((SVG, "text")) {
                text_nodes.insert(node.id());
            }
            node.text().filter(|_| is_inside && node.is_text())
        })
        .peekable();
    // Most drawings have no text and need no fonts.
    if texts.peek().is_some() || tree.has_text_nodes() {
        let fonts = fonts::installed();
        texts.for_each(|text| add(text, &fonts, &mut letters_found));
        inside(tree.root(), &fonts, &mut letters_found);
    }
    letters_found
}

/// The namespace of SVG elements.
const SVG: &str = "http://www.w3.org/2000/svg";

fn inside(group: &Group, fonts: &Fonts, letters_found: &mut Vec<char>) {
    for node in group.children() {
        match node {
            Node::Group(group) => inside(group, fonts, letters_found),
            Node::Text(text) => {
                let chunks = text.chunks().iter();
                chunks.for_each(|chunk| add(chunk.text(), fonts, letters_found));
            }
            Node::Image(image) => {
                if let ImageKind::SVG(tree) = image.kind() {
                    inside(tree.root(), fonts, letters_found);
                }
            }
            Node::Path(_) => {}
        }
    }
}

fn add(text: &str, fonts: &Fonts, letters_found: &mut Vec<char>) {
    for letter in fonts.missing(text) {
        if letters_found.len() < MOST_MISSING && !letters_found.contains(&letter) {
            letters_found.push(letter);
        }
    }
}
