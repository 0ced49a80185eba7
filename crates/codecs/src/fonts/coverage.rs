//! The characters of a font as ranges, which can be looked up without reading the font file.

use skrifa::raw::TableProvider;
use skrifa::{FontRef, MetadataProvider, Tag};

/// Sorted, disjoint ranges of characters, with both ends included.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Coverage(Vec<(u32, u32)>);

/// Returns the characters of a font, and whether it has coloured glyphs; `None` if it cannot be read.
pub(super) fn read(data: &[u8], index: u32) -> Option<(Coverage, bool)> {
    let font = FontRef::from_index(data, index).ok()?;
    // Tables without which nothing can be drawn or measured.
    font.head().ok()?;
    font.hhea().ok()?;
    let characters = font.charmap().mappings().map(|(character, _)| character);
    let coverage = Coverage::of(characters);
    let coloured = [b"COLR", b"CBDT", b"sbix", b"SVG "];
    let mut tables = coloured.into_iter().map(Tag::new);
    let is_coloured = tables.any(|table| font.table_data(table).is_some());
    Some((coverage, is_coloured))
}

impl Coverage {
    fn of(characters: impl Iterator<Item = u32>) -> Self {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for character in characters {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == character => *last = character,
                _ => ranges.push((character, character)),
            }
        }
        Self::merge(ranges)
    }

    /// Returns the union of these sets of characters.
    pub(super) fn union<'a>(coverages: impl Iterator<Item = &'a Self>) -> Self {
        Self::merge(coverages.flat_map(|it| it.0.iter().copied()).collect())
    }

    fn merge(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut merge: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match merge.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => merge.push((first, last)),
            }
        }
        Self(merge)
    }

    pub(super) fn has(&self, character: char) -> bool {
        let character = u32::from(character);
        let count = self.0.partition_point(|(first, _)| *first <= character);
        count > 0 && character <= self.0[count - 1].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coverage_has_the_characters_that_it_was_made_of_and_no_others() {
        let of = [5, 6, 7, 3, 4, 20, 6, 9];
        let coverage = Coverage::of(of.into_iter());
        assert_eq!(coverage.0, [(3, 7), (9, 9), (20, 20)]);
        for character in 0..30_u8 {
            let has = coverage.has(char::from(character));
            assert_eq!(has, of.contains(&u32::from(character)), "{character}");
        }
        let more = Coverage::of([8, 9, 30].into_iter());
        let union = Coverage::union([&coverage, &more].into_iter());
        assert_eq!(union.0, [(3, 9), (20, 20), (30, 30)]);
    }

    #[test]
    fn what_is_no_font_has_no_coverage() {
        for bytes in [
            &b""[..],
            b"OTTO",
            &[0; 64],
            b"ttcf\0\x01\0\0\xff\xff\xff\xff",
        ] {
            assert_eq!(read(bytes, 0), None);
        }
        let cut = &super::super::BUNDLED[..2000];
        assert_eq!(read(cut, 0), None);
    }
}
