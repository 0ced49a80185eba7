//! Breaks paragraphs into lines. Lengths are in em.

use std::ops::Range;

use icu_segmenter::LineSegmenter;
use icu_segmenter::options::LineBreakOptions;

use super::LINE;
use super::runs::Paragraph;
use super::shape::{self, Glyph};
use crate::fonts::Fonts;

/// The lines of a text.
#[derive(Debug)]
pub(super) struct Lines {
    lines: Vec<Line>,
    /// Whether a word was broken because it is longer than a line.
    breaks_words: bool,
    /// The distance from one line to the next, in em.
    pub(super) pitch: f64,
}

/// A line: a part of a paragraph, in bytes.
#[derive(Clone, Debug)]
struct Line {
    source: Source,
    range: Range<usize>,
    is_last: bool,
}

/// Which paragraph a line is of.
#[derive(Clone, Copy, Debug)]
enum Source {
    Text(usize),
    /// One that ends in an ellipsis.
    Cut(usize),
}

/// A line with its glyphs, from left to right or from top to bottom.
#[derive(Debug)]
pub(super) struct ShapedLine {
    pub(super) glyphs: Vec<Glyph>,
    /// Whether each glyph ends a word: spaces and what else is widened to justify the line.
    pub(super) gaps: Vec<bool>,
    pub(super) is_last: bool,
    pub(super) begins_right: bool,
}

/// What stands for the rest of a text that is cut off.
const ELLIPSIS: &str = "\u{2026}";

impl Lines {
    /// A line for each paragraph.
    pub(super) fn whole(paragraphs: &[Paragraph<'_>]) -> Self {
        Self::broken(paragraphs, 0.0)
    }

    /// Lines of at most this length, if it is more than 0.
    pub(super) fn broken(paragraphs: &[Paragraph<'_>], length: f64) -> Self {
        let mut lines = Self {
            lines: Vec::new(),
            breaks_words: false,
            pitch: paragraphs.iter().map(|it| it.across).fold(LINE, f64::max),
        };
        for (index, paragraph) in paragraphs.iter().enumerate() {
            let ranges = match length > 0.0 {
                true => lines.of(paragraph, length),
                false => vec![trimmed(paragraph.text, 0..paragraph.text.len())],
            };
            let last = ranges.len().saturating_sub(1);
            let line = |(at, range)| Line {
                source: Source::Text(index),
                range,
                is_last: at == last,
            };
            lines.lines.extend(ranges.into_iter().enumerate().map(line));
        }
        lines
    }

    fn of(&mut self, paragraph: &Paragraph<'_>, length: f64) -> Vec<Range<usize>> {
        let text = paragraph.text;
        let whole = trimmed(text, 0..text.len());
        if paragraph.advance(whole.clone()) <= length {
            return vec![whole];
        }
        let segmenter = LineSegmenter::new_auto(LineBreakOptions::default());
        let breaks: Vec<usize> = segmenter.segment_str(text).skip(1).collect();
        let fits = |range: Range<usize>| paragraph.advance(trimmed(text, range)) <= length;
        let mut ranges = Vec::new();
        let mut start = 0;
        while start < text.len() {
            let after = breaks.partition_point(|at| *at <= start);
            let words = breaks[after..].iter().copied();
            let mut end = words.take_while(|end| fits(start..*end)).last();
            if end.is_none() {
                // The next word is longer than a line.
                self.breaks_words = true;
                let after = paragraph.clusters.partition_point(|at| *at <= start);
                let clusters = paragraph.clusters[after..].iter().copied();
                let mut ends = clusters.clone().take_while(|end| fits(start..*end));
                // At least one character.
                end = ends.by_ref().last().or_else(|| clusters.clone().next());
            }
            let end = end.unwrap_or(text.len());
            ranges.push(trimmed(text, start..end));
            start = end;
        }
        ranges
    }

    /// Whether all lines fit into an area of this length and this width across the lines, where 0 is no limit, without
    /// a broken word.
    pub(super) fn fits(&self, length: f64, across: f64) -> bool {
        let is_short = length <= 0.0 || !self.breaks_words;
        is_short && (across <= 0.0 || self.lines.len() <= self.most(across))
    }

    /// Returns how many lines fit into a width across the lines.
    fn most(&self, across: f64) -> usize {
        // The division is rounded, and a box may be exactly as high as a number of lines.
        (across / self.pitch + 1e-6).floor() as usize
    }

    /// Returns the numbers of the lines that have to end in an ellipsis, because what follows is cut off, with their
    /// new texts; the lines after them are removed.
    pub(super) fn cut(
        &mut self,
        paragraphs: &[Paragraph<'_>],
        length: f64,
        across: f64,
    ) -> Vec<(usize, String)> {
        let mut cut = Vec::new();
        let most = match across > 0.0 {
            true => self.most(across).max(1),
            false => usize::MAX,
        };
        let is_more = self.lines.len() > most;
        self.lines.truncate(most);
        let count = self.lines.len();
        for (index, line) in self.lines.iter().enumerate() {
            let Source::Text(number) = line.source else {
                continue;
            };
            let paragraph = &paragraphs[number];
            let is_long = length > 0.0 && paragraph.advance(line.range.clone()) > length;
            if is_long || (is_more && index + 1 == count) {
                let room = if length > 0.0 {
                    length - 1.0
                } else {
                    f64::INFINITY
                };
                let start = line.range.start;
                let ends = paragraph.clusters.iter().rev().copied();
                let mut ends = ends.filter(|end| (start..=line.range.end).contains(end));
                let end = ends.find(|end| paragraph.advance(start..*end) <= room);
                let kept = trimmed(paragraph.text, start..end.unwrap_or(start));
                cut.push((index, format!("{}{ELLIPSIS}", &paragraph.text[kept])));
            }
        }
        cut
    }

    /// Replaces lines by paragraphs of their own, each given with the number of its line.
    pub(super) fn replace(&mut self, cut: &[(usize, Paragraph<'_>)]) {
        for (number, (line, paragraph)) in cut.iter().enumerate() {
            self.lines[*line] = Line {
                source: Source::Cut(number),
                range: 0..paragraph.text.len(),
                is_last: true,
            };
        }
    }

    /// Returns the lines with their glyphs.
    pub(super) fn shaped(
        &self,
        paragraphs: &[Paragraph<'_>],
        cut: &[(usize, Paragraph<'_>)],
        fonts: &Fonts,
    ) -> Vec<ShapedLine> {
        let line = |line: &Line| {
            let paragraph = match line.source {
                Source::Text(index) => &paragraphs[index],
                Source::Cut(index) => &cut[index].1,
            };
            let runs = paragraph.visual(line.range.clone()).into_iter();
            let glyphs: Vec<Glyph> = runs
                .flat_map(|(run, is_rtl)| shape::shape(fonts, paragraph.text, &run, is_rtl))
                .collect();
            let is_gap = |glyph: &Glyph| paragraph.text[glyph.text.clone()].ends_with(' ');
            ShapedLine {
                gaps: glyphs.iter().map(is_gap).collect(),
                glyphs,
                is_last: line.is_last,
                begins_right: paragraph.begins_right(),
            }
        };
        self.lines.iter().map(line).collect()
    }
}

/// Returns a range without the white space at its end.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let kept = text[range.clone()].trim_end_matches([' ', '\t', '\u{3000}']);
    range.start..range.start + kept.len()
}
