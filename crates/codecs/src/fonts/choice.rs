//! Choice of the font for each character, including fallback fonts.

use resvg::usvg::fontdb::{Family, ID, Style, Weight};
use unicode_script::{Script, UnicodeScript};

use super::{FontRequest, Fonts};

/// The fonts that a text requests.
#[derive(Debug)]
pub(crate) struct FontSelection {
    /// The faces of the families that the text names, in order of preference, followed by that of the default family.
    faces: Vec<usize>,
    /// Whether the text names families. These are preferred to the families for its script.
    is_named: bool,
    weight: u16,
    is_italic: bool,
}

impl Fonts {
    /// Returns the fonts that a text requests, and the requested families that are not loaded.
    pub(crate) fn selection(&self, request: &FontRequest) -> (FontSelection, Vec<String>) {
        let weight = request.weight.unwrap_or(Weight::NORMAL.0);
        let style = match request.is_italic {
            true => Style::Italic,
            false => Style::Normal,
        };
        let find = |family| self.query(family, Weight(weight), style);
        let mut unknown = Vec::new();
        let mut faces = Vec::new();
        for name in &request.families {
            let family = match name.as_str() {
                "sans-serif" => Family::SansSerif,
                "serif" => Family::Serif,
                "monospace" => Family::Monospace,
                "cursive" => Family::Cursive,
                "fantasy" => Family::Fantasy,
                name => Family::Name(name),
            };
            match find(family) {
                Some(face) if faces.contains(&face) => {}
                Some(face) => faces.push(face),
                None => unknown.push(name.clone()),
            }
        }
        let is_named = !faces.is_empty();
        faces.extend(find(Family::SansSerif));
        let selection = FontSelection {
            faces,
            is_named,
            weight,
            is_italic: request.is_italic,
        };
        (selection, unknown)
    }

    /// Returns the face for a cluster of characters that are drawn together, such as a letter with its marks. This is
    /// the first candidate that has all visible characters of the cluster, otherwise the first that has the first
    /// visible character, otherwise `None`.
    ///
    /// The first candidates are the faces in `selection` and those preferred for `script` (the latter first if the text
    /// names no family), then `last`. Of these, only faces with coloured glyphs are used if `is_emoji` is set, and
    /// otherwise only faces without. Then all faces follow, those closest in style first.
    pub(crate) fn face_for(
        &self,
        cluster: &str,
        script: Script,
        selection: &FontSelection,
        last: Option<usize>,
        is_emoji: bool,
    ) -> Option<usize> {
        let whole = |face: usize| {
            let mut visible = cluster.chars().filter(|letter| !is_invisible(*letter));
            visible.all(|letter| self.has(face, letter))
        };
        self.first(script, selection, last, is_emoji, whole)
            .or_else(|| {
                let first = cluster.chars().find(|letter| !is_invisible(*letter))?;
                let has = |face: usize| self.has(face, first);
                self.first(script, selection, last, is_emoji, has)
            })
    }

    fn first(
        &self,
        script: Script,
        selection: &FontSelection,
        last: Option<usize>,
        is_emoji: bool,
        has: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let is_fit = |face: &usize| self.faces[*face].is_coloured == is_emoji && has(*face);
        let of_script = self.fallback.iter().find(|(it, _)| *it == script);
        let of_script = of_script.map_or(&[][..], |(_, faces)| faces);
        let [one, other] = match selection.is_named {
            true => [&selection.faces, of_script],
            false => [of_script, &selection.faces],
        };
        let preferred = one.iter().chain(other).copied().chain(last);
        let mut preferred = preferred.filter(is_fit);
        preferred.next().or_else(|| {
            let all = (0..self.faces.len()).filter(|face| has(*face));
            all.min_by_key(|face| self.distance(*face, selection, is_emoji))
        })
    }

    /// Returns how much a face differs from the request: in having coloured glyphs, in italics, in width and in weight,
    /// compared in this order. The face with the smallest value is used.
    fn distance(
        &self,
        face: usize,
        selection: &FontSelection,
        is_emoji: bool,
    ) -> (bool, bool, bool, u16) {
        let face = &self.faces[face];
        (
            face.is_coloured != is_emoji,
            face.is_italic != selection.is_italic,
            !face.is_normal_width,
            face.weight.abs_diff(selection.weight),
        )
    }

    fn has(&self, face: usize, letter: char) -> bool {
        self.faces[face].coverage.has(letter)
    }

    /// Returns the face that `usvg` should use for a character which no face in `used` has.
    pub(crate) fn fallback(&self, letter: char, used: &[ID]) -> Option<ID> {
        let base = used.first().and_then(|id| self.index_of(*id));
        let selection = FontSelection {
            faces: Vec::new(),
            is_named: false,
            weight: base.map_or(Weight::NORMAL.0, |face| self.faces[face].weight),
            is_italic: base.is_some_and(|face| self.faces[face].is_italic),
        };
        let has = |face: usize| self.has(face, letter) && !used.contains(&self.faces[face].id);
        let face = self.first(letter.script(), &selection, None, false, has)?;
        Some(self.faces[face].id)
    }

    /// Returns the characters of a text for which no font has a glyph, without duplicates, and at most [`MOST_MISSING`]
    /// of them. Invisible characters need no glyph.
    pub(crate) fn missing(&self, text: &str) -> Vec<char> {
        let mut missing: Vec<char> = Vec::new();
        for letter in text.chars() {
            let is_missing = !self.all.has(letter) && !is_invisible(letter);
            if is_missing && !missing.contains(&letter) {
                missing.push(letter);
                if missing.len() == MOST_MISSING {
                    break;
                }
            }
        }
        missing
    }
}

/// Maximum number of missing characters that are collected. Messages list fewer.
pub(crate) const MOST_MISSING: usize = 64;

/// Whether a character is white space, a control, or a mark that only affects how others are drawn.
pub(crate) fn is_invisible(letter: char) -> bool {
    letter.is_whitespace()
        || letter.is_control()
        || matches!(
            letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}
