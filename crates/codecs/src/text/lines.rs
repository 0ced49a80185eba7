//! Breaks paragraphs into lines. Lengths are in em.

use std::ops::Range;

use andon_pixels::{Breaks, Cut};
use icu_segmenter::LineSegmenter;
use icu_segmenter::options::LineBreakOptions;

use super::LINE;
use super::runs::Paragraph;
use super::shape::Glyph;
use crate::fonts::Fonts;

/// The lines of a text.
#[derive(Debug)]
pub(super) struct Lines {
    lines: Vec<Line>,
    /// Whether a word was broken because it is longer than a line.
    breaks_words: bool,
    /// The distance between baselines, in em.
    pub(super) pitch: f64,
    /// Additional distance between lines, in em; negative if they are closer than usual.
    leading: f64,
}

/// A line, as a range of bytes of a paragraph.
#[derive(Clone, Debug)]
struct Line {
    source: Source,
    range: Range<usize>,
    is_last: bool,
}

/// Which paragraph contains the text of a line.
#[derive(Clone, Copy, Debug)]
enum Source {
    Text(usize),
    /// A separate paragraph with the text that remains of a line that was cut, possibly with an ellipsis. The value is
    /// its index among these paragraphs.
    Cut(usize),
}

/// A line with its glyphs, from left to right or from top to bottom.
#[derive(Debug)]
pub(super) struct ShapedLine {
    pub(super) glyphs: Vec<Glyph>,
    /// Whether each glyph is a space at the end of a word, which is widened to justify the line.
    pub(super) gaps: Vec<bool>,
    pub(super) is_last: bool,
    pub(super) begins_right: bool,
}

/// The text in place of the part of a text that is cut off.
const ELLIPSIS: &str = "\u{2026}";

/// Minimum distance between lines, in em, whatever spacing is requested.
const LEAST_PITCH: f64 = 0.1;

/// How a text that does not fit is cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cutting {
    /// The part of the text that is left out.
    pub(super) place: Cut,
    /// Whether an ellipsis replaces the part of the text that is left out.
    pub(super) ellipsis: bool,
}

impl Lines {
    /// Breaks paragraphs into lines of at most `length` em, without a limit if it is 0, and with `leading` em of
    /// additional distance between them.
    pub(super) fn break_paragraphs(
        paragraphs: &[Paragraph<'_>],
        length: f64,
        leading: f64,
        breaks: Breaks,
    ) -> Self {
        let usual = paragraphs.iter().map(|it| it.across).fold(LINE, f64::max);
        let pitch = (usual + leading).max(LEAST_PITCH);
        let mut lines = Self {
            lines: Vec::new(),
            breaks_words: false,
            pitch,
            leading: pitch - usual,
        };
        for (index, paragraph) in paragraphs.iter().enumerate() {
            let ranges = match length > 0.0 {
                true => lines.of(paragraph, length, breaks),
                false => vec![without_end_space(paragraph.text, 0..paragraph.text.len())],
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

    fn of(&mut self, paragraph: &Paragraph<'_>, length: f64, breaks: Breaks) -> Vec<Range<usize>> {
        let text = paragraph.text;
        let whole = without_end_space(text, 0..text.len());
        if paragraph.advance(whole.clone()) <= length {
            return vec![whole];
        }
        let breaks: Vec<usize> = match breaks {
            Breaks::Words => {
                let segmenter = LineSegmenter::new_auto(LineBreakOptions::default());
                segmenter.segment_str(text).skip(1).collect()
            }
            Breaks::Characters => paragraph.clusters.iter().skip(1).copied().collect(),
        };
        let fits =
            |range: Range<usize>| paragraph.advance(without_end_space(text, range)) <= length;
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
                // A line has at least one character.
                end = ends.by_ref().last().or_else(|| clusters.clone().next());
            }
            let end = end.unwrap_or(text.len());
            ranges.push(without_end_space(text, start..end));
            start = end;
        }
        ranges
    }

    /// Whether all lines fit into an area of `length` em along the lines and `across` em across them, without a broken
    /// word. 0 means no limit.
    pub(super) fn fits(&self, length: f64, across: f64) -> bool {
        let is_short = length <= 0.0 || !self.breaks_words;
        is_short && (across <= 0.0 || self.lines.len() <= self.most(across))
    }

    /// Returns the maximum number of lines within `across` em, measured across the lines.
    fn most(&self, across: f64) -> usize {
        // The tolerance is for boxes whose height is exactly that of a number of lines, because the division is
        // rounded.
        ((across + self.leading) / self.pitch + 1e-6).floor() as usize
    }

    /// Removes the lines that do not fit into an area of `length` em along the lines and `across` em across them; 0
    /// means no limit. Returns the index and the new text of each remaining line that has to be cut, either because it
    /// is too long or because lines next to it were removed.
    pub(super) fn cut(
        &mut self,
        paragraphs: &[Paragraph<'_>],
        (length, across): (f64, f64),
        how: Cutting,
    ) -> Vec<(usize, String)> {
        let most = match across > 0.0 {
            true => self.most(across).max(1),
            false => usize::MAX,
        };
        let mut neighbour_cut = None;
        if self.lines.len() > most {
            let kept_text = match how.place {
                Cut::End => most,
                Cut::Start => 0,
                Cut::Middle => most.div_ceil(2),
            };
            self.lines
                .drain(kept_text..self.lines.len() - (most - kept_text));
            neighbour_cut = Some(match kept_text {
                0 => (0, Cut::Start),
                kept_text => (kept_text - 1, Cut::End),
            });
        }
        let mut cut_lines = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            let Source::Text(number) = line.source else {
                continue;
            };
            let paragraph = &paragraphs[number];
            let is_long = length > 0.0 && paragraph.advance(line.range.clone()) > length;
            let neighbour_cut = neighbour_cut
                .filter(|(line, _)| *line == index)
                .map(|(_, cut)| cut);
            if let Some(place) = is_long.then_some(how.place).or(neighbour_cut) {
                let room = if length > 0.0 {
                    length - if how.ellipsis { 1.0 } else { 0.0 }
                } else {
                    f64::INFINITY
                };
                let [head, tail] = kept_text(paragraph, line.range.clone(), room, place);
                let mark = if how.ellipsis { ELLIPSIS } else { "" };
                cut_lines.push((index, format!("{head}{mark}{tail}")));
            }
        }
        cut_lines
    }

    /// Replaces the text of lines by separate paragraphs. Each is given with the index of its line.
    pub(super) fn replace(&mut self, cut_lines: &[(usize, Paragraph<'_>)]) {
        for (number, (line, paragraph)) in cut_lines.iter().enumerate() {
            self.lines[*line] = Line {
                source: Source::Cut(number),
                range: 0..paragraph.text.len(),
                is_last: true,
            };
        }
    }

    /// Returns the lines with their glyphs.
    pub(super) fn shape_lines(
        &self,
        paragraphs: &[Paragraph<'_>],
        cut_lines: &[(usize, Paragraph<'_>)],
        fonts: &Fonts,
    ) -> Vec<ShapedLine> {
        let line = |line: &Line| {
            let paragraph = match line.source {
                Source::Text(index) => &paragraphs[index],
                Source::Cut(index) => &cut_lines[index].1,
            };
            let runs = paragraph.visual(line.range.clone());
            let shaped_glyphs = runs
                .iter()
                .flat_map(|(run, is_rtl)| paragraph.shape_run(run, *is_rtl, fonts));
            let mut glyphs: Vec<Glyph> = shaped_glyphs.collect();
            // The last glyph has no additional distance after it.
            if let (Some(glyph), Some((run, _))) = (glyphs.last_mut(), runs.last()) {
                glyph.advance -= paragraph.tracking_of(run);
            }
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

/// Cuts a line to a total length of `room` em. Returns the text that remains at its beginning and at its end.
fn kept_text<'a>(
    paragraph: &Paragraph<'a>,
    line: Range<usize>,
    room: f64,
    place: Cut,
) -> [&'a str; 2] {
    let clusters = || {
        let inside = |at: &usize| (line.start..=line.end).contains(at);
        paragraph.clusters.iter().copied().filter(inside)
    };
    let head = |room: f64| {
        let mut ends = clusters().rev();
        let end = ends.find(|end| paragraph.advance(line.start..*end) <= room);
        without_end_space(paragraph.text, line.start..end.unwrap_or(line.start))
    };
    let tail = |room: f64| {
        let start = clusters().find(|start| paragraph.advance(*start..line.end) <= room);
        let start = start.unwrap_or(line.end);
        paragraph.text[start..line.end].trim_start_matches(SPACES)
    };
    match place {
        Cut::End => [&paragraph.text[head(room)], ""],
        Cut::Start => ["", tail(room)],
        Cut::Middle => {
            let head = head(room / 2.0);
            let rest = room - paragraph.advance(head.clone());
            [&paragraph.text[head], tail(rest)]
        }
    }
}

/// White space that is ignored at the end of a line.
const SPACES: [char; 3] = [' ', '\t', '\u{3000}'];

/// Returns a range without the white space at its end.
fn without_end_space(text: &str, range: Range<usize>) -> Range<usize> {
    let kept_text = text[range.clone()].trim_end_matches(SPACES);
    range.start..range.start + kept_text.len()
}
