//! Splits a paragraph into runs: characters with the same direction, script, font and orientation, which are shaped
//! together.

use std::ops::Range;

use andon_pixels::Writing;
use icu_properties::CodePointSetData;
use icu_properties::props::EmojiPresentation;
use icu_segmenter::GraphemeClusterSegmenter;
use unicode_bidi::{BidiInfo, Level};
use unicode_script::{Script, UnicodeScript};
use unicode_vo::{Orientation, char_orientation};

use super::shape::Glyph;
use super::{ASCENT, DESCENT, shape};
use crate::fonts::{FontSelection, Fonts, is_invisible};

/// A paragraph: text without line ends.
pub(super) struct Paragraph<'a> {
    pub(super) text: &'a str,
    bidi: BidiInfo<'a>,
    runs: Vec<Run>,
    /// Byte offsets at which the paragraph's grapheme clusters begin, and the end of the last one.
    pub(super) clusters: Vec<usize>,
    /// For each byte offset, the total advance of the glyphs before it, in em.
    advances: Vec<f64>,
    /// Additional distance between characters, in em.
    tracking: f64,
    /// Height of the paragraph's lines in em: the sum of the maximum ascent and the maximum descent of its fonts. 0 for
    /// a column, in which upright characters are 1 em wide and rotated ones are centred.
    pub(super) across: f64,
}

/// A run of characters: a range of bytes in a paragraph's text, with the properties that its characters share.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) range: Range<usize>,
    pub(super) script: Script,
    pub(super) face: usize,
    pub(super) set: Set,
    level: Level,
}

/// Orientation of a run's glyphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    Horizontal,
    /// The glyphs are upright in a column of vertical text.
    Upright,
    /// The glyphs are rotated clockwise by 90° in a column of vertical text.
    Turned,
}

impl<'a> Paragraph<'a> {
    /// Splits a paragraph into runs, with `tracking` em between its characters.
    pub(super) fn new(
        text: &'a str,
        fonts: &Fonts,
        selection: &FontSelection,
        (writing, tracking): (Writing, f64),
    ) -> Self {
        let bidi = BidiInfo::new(text, None);
        let clusters: Vec<usize> = GraphemeClusterSegmenter::new().segment_str(text).collect();
        let mut runs: Vec<Run> = Vec::new();
        let mut script = first_script(text);
        for ends in clusters.windows(2) {
            let range = ends[0]..ends[1];
            let cluster = &text[range.clone()];
            let cluster_script = script_of(cluster);
            script = cluster_script.unwrap_or(script);
            let last = runs.last().map(|run| run.face);
            let is_visible = cluster.chars().any(|letter| !is_invisible(letter));
            let face = match (is_visible, last) {
                (false, Some(last)) => Some(last),
                _ => fonts.face_for(cluster, script, selection, last, is_emoji(cluster)),
            };
            // Characters without a glyph in any font are left out; the response reports them.
            let Some(face) = face else {
                continue;
            };
            let set = match (writing, is_visible, runs.last()) {
                (Writing::Horizontal, ..) => Set::Horizontal,
                (Writing::Vertical, false, Some(last)) => last.set,
                (Writing::Vertical, ..) => in_column(cluster, fonts, face),
            };
            let level = bidi.levels[range.start];
            match runs.last_mut() {
                Some(last)
                    if last.range.end == range.start
                        && (last.script, last.face, last.set, last.level)
                            == (script, face, set, level) =>
                {
                    last.range.end = range.end;
                }
                _ => runs.push(Run {
                    range,
                    script,
                    face,
                    set,
                    level,
                }),
            }
        }
        let mut paragraph = Self {
            text,
            bidi,
            runs,
            clusters,
            advances: Vec::new(),
            tracking,
            across: 0.0,
        };
        paragraph.measure(fonts);
        paragraph
    }

    fn measure(&mut self, fonts: &Fonts) {
        let (mut above, mut below) = (ASCENT, DESCENT);
        let mut advances = vec![0.0; self.text.len() + 1];
        for run in &self.runs {
            for glyph in self.shape_run(run, self.is_rtl(run), fonts) {
                // The advance of a ligature is counted at its beginning.
                advances[glyph.text.start + 1] += glyph.advance;
                above = above.max(glyph.extent.0);
                below = below.max(glyph.extent.1);
            }
        }
        let mut sum = 0.0;
        for advance in &mut advances {
            sum += *advance;
            *advance = sum;
        }
        self.advances = advances;
        self.across = match self.runs.iter().any(|run| run.set == Set::Horizontal) {
            true => above + below,
            false => 0.0,
        };
    }

    /// Returns the advance of a part of the text in em. Parts begin and end at cluster boundaries. There is no
    /// additional distance after the last cluster.
    pub(super) fn advance(&self, range: Range<usize>) -> f64 {
        if self.tracking == 0.0 {
            return self.advances[range.end] - self.advances[range.start];
        }
        let last = range.end.checked_sub(1).filter(|last| *last >= range.start);
        let run = last.and_then(|last| self.runs.iter().find(|run| run.range.contains(&last)));
        let advance = self.advances[range.end] - self.advances[range.start];
        advance - run.map_or(0.0, |run| self.tracking_of(run))
    }

    /// Returns the additional distance between the characters of a run, in em. Scripts with joined letters have none,
    /// because it would separate the letters.
    pub(super) fn tracking_of(&self, run: &Run) -> f64 {
        if joins(run.script) {
            0.0
        } else {
            self.tracking
        }
    }

    /// Returns the glyphs of a run, or of a part of one, from left to right or from top to bottom.
    pub(super) fn shape_run(&self, run: &Run, is_rtl: bool, fonts: &Fonts) -> Vec<Glyph> {
        let tracking = self.tracking_of(run);
        // Additional distance is not possible inside a ligature, so ligatures are off if there is any.
        let mut glyphs = shape::shape(fonts, self.text, run, is_rtl, tracking == 0.0);
        let starts: Vec<usize> = glyphs.iter().map(|glyph| glyph.text.start).collect();
        for (at, glyph) in glyphs.iter_mut().enumerate() {
            if starts.get(at + 1) != Some(&starts[at]) {
                glyph.advance += tracking;
            }
        }
        glyphs
    }

    /// Whether the paragraph's first strong character is of a right-to-left script.
    pub(super) fn begins_right(&self) -> bool {
        let paragraph = self.bidi.paragraphs.first();
        paragraph.is_some_and(|paragraph| paragraph.level.is_rtl())
    }

    fn is_rtl(&self, run: &Run) -> bool {
        run.level.is_rtl()
    }

    /// Returns the runs of a line from left to right, each with a flag: whether its glyphs go from right to left.
    pub(super) fn visual(&self, line: Range<usize>) -> Vec<(Run, bool)> {
        let Some(paragraph) = self.bidi.paragraphs.first() else {
            return Vec::new();
        };
        if line.is_empty() {
            return Vec::new();
        }
        let mut visual = Vec::new();
        let (levels, parts) = self.bidi.visual_runs(paragraph, line);
        for part in parts {
            let is_rtl = levels[part.start].is_rtl();
            let in_line = |run: &Run| {
                let range = run.range.start.max(part.start)..run.range.end.min(part.end);
                let run = Run {
                    range: range.clone(),
                    ..run.clone()
                };
                (!range.is_empty()).then_some((run, is_rtl))
            };
            let mut runs: Vec<_> = self.runs.iter().filter_map(in_line).collect();
            if is_rtl {
                runs.reverse();
            }
            visual.extend(runs);
        }
        visual
    }
}

/// Whether the letters of a script are joined.
fn joins(script: Script) -> bool {
    matches!(
        script,
        Script::Arabic
            | Script::Hanifi_Rohingya
            | Script::Mandaic
            | Script::Mongolian
            | Script::Nko
            | Script::Phags_Pa
            | Script::Syriac
    )
}

/// Returns the script of a cluster, or `None` for characters that several scripts share.
fn script_of(cluster: &str) -> Option<Script> {
    let mut scripts = cluster.chars().map(|letter| letter.script());
    scripts.find(|script| !matches!(script, Script::Common | Script::Inherited | Script::Unknown))
}

fn first_script(text: &str) -> Script {
    script_of(text).unwrap_or(Script::Common)
}

/// Whether a cluster is shown in colours: by default, or because of a variation selector.
fn is_emoji(cluster: &str) -> bool {
    let coloured = CodePointSetData::new::<EmojiPresentation>();
    let by_default = cluster
        .chars()
        .next()
        .is_some_and(|first| coloured.contains(first));
    cluster.contains('\u{fe0f}') || (by_default && !cluster.contains('\u{fe0e}'))
}

/// Returns the orientation of a cluster in a column: upright, or rotated if its font has no vertical form for it.
fn in_column(cluster: &str, fonts: &Fonts, face: usize) -> Set {
    let Some(first) = cluster.chars().next() else {
        return Set::Upright;
    };
    match char_orientation(first) {
        Orientation::Upright | Orientation::TransformedOrUpright => Set::Upright,
        Orientation::TransformedOrRotated if shape::has_vertical_form(fonts, face, first) => {
            Set::Upright
        }
        Orientation::TransformedOrRotated | Orientation::Rotated => Set::Turned,
    }
}
