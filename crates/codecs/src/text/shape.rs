//! Shapes a run with `harfrust`: converts characters to glyphs and positions.

use std::ops::Range;

use harfrust::{
    Direction, Feature, FontRef, Script, ShapeOptions, ShaperData, Tag, UnicodeBuffer, script,
};
use skrifa::MetadataProvider;
use skrifa::instance::{LocationRef, Size};

use super::runs::{Run, Set};
use crate::fonts::Fonts;

/// A glyph of a run. Lengths are in em.
#[derive(Clone, Debug)]
pub(crate) struct Glyph {
    pub(crate) face: usize,
    pub(crate) id: u32,
    /// The bytes of the paragraph's text that this glyph shows, possibly together with other glyphs of the same range.
    pub(crate) text: Range<usize>,
    /// The characters that this glyph shows, if its font has coloured glyphs. If multiple glyphs show the same
    /// characters, only the first of them has this.
    pub(super) coloured: Option<String>,
    /// Distance of the glyph from its position, to the right and upwards, in em.
    pub(crate) offset: (f64, f64),
    /// Distance between the positions of this glyph and the next one along the line, in em.
    pub(crate) advance: f64,
    pub(super) set: Set,
    /// The ascent and the descent of the glyph's font, in em.
    pub(super) extent: (f64, f64),
}

/// Returns the glyphs of a run, from left to right or from top to bottom. `ligatures` enables ligatures that the script
/// does not require.
pub(super) fn shape(
    fonts: &Fonts,
    text: &str,
    run: &Run,
    is_rtl: bool,
    ligatures: bool,
) -> Vec<Glyph> {
    let direction = match run.set {
        Set::Upright => Direction::TopToBottom,
        _ if is_rtl => Direction::RightToLeft,
        _ => Direction::LeftToRight,
    };
    let id = fonts.face(run.face).id;
    let result = fonts.database().with_face_data(id, |data, index| {
        let font = FontRef::from_index(data, index).ok()?;
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(&text[run.range.clone()]);
        // Letters can join neighbours in other fonts, which the shaper needs to know.
        buffer.set_pre_context(&text[..run.range.start]);
        buffer.set_post_context(&text[run.range.end..]);
        buffer.set_direction(direction);
        buffer.set_script(script(run.script));
        Some(glyphs(&font, buffer, run, ligatures))
    });
    let mut glyphs = result.flatten().unwrap_or_default();
    if fonts.face(run.face).is_coloured {
        let mut last = None;
        for glyph in &mut glyphs {
            if last.replace(glyph.text.start) != Some(glyph.text.start) {
                glyph.coloured = Some(text[glyph.text.clone()].to_owned());
            }
        }
    }
    glyphs
}

fn glyphs(font: &FontRef<'_>, buffer: UnicodeBuffer, run: &Run, ligatures: bool) -> Vec<Glyph> {
    let data = ShaperData::new(font);
    let shaper = data.shaper(font).build();
    let no_ligatures = [b"liga", b"clig"].map(|tag| Feature::new(Tag::new(tag), 0, ..));
    let features: &[Feature] = if ligatures { &[] } else { &no_ligatures };
    let result = shaper.shape(buffer, ShapeOptions::new().features(features));
    let metrics = skrifa::metrics::Metrics::new(font, Size::unscaled(), LocationRef::default());
    let em = f64::from(metrics.units_per_em.max(1));
    let units = |units: i32| f64::from(units) / em;
    let extent = |length: f32| (f64::from(length) / em).clamp(0.0, FARTHEST);
    let extent = (extent(metrics.ascent), extent(-metrics.descent));
    let infos = result.glyph_infos();
    let mut ends: Vec<usize> = infos.iter().map(|info| info.cluster as usize).collect();
    ends.push(run.range.len());
    ends.sort_unstable();
    ends.dedup();
    let places = infos.iter().zip(result.glyph_positions());
    let glyph = places.map(|(info, place)| {
        let start = info.cluster as usize;
        let index = ends.partition_point(|end| *end <= start);
        let end = ends.get(index).copied().unwrap_or(run.range.len());
        Glyph {
            face: run.face,
            id: info.glyph_id,
            text: run.range.start + start..run.range.start + end,
            coloured: None,
            offset: (units(place.x_offset), units(place.y_offset)),
            advance: match run.set {
                // Positive downwards.
                Set::Upright => -units(place.y_advance),
                _ => units(place.x_advance),
            },
            set: run.set,
            extent,
        }
    });
    glyph.collect()
}

/// Maximum ascent or descent in em, whatever the font states.
const FARTHEST: f64 = 3.0;

/// Converts a script to the type of `harfrust`.
fn script(script: unicode_script::Script) -> Script {
    let tag = Tag::from_be_bytes(script.as_iso15924_tag().to_be_bytes());
    match script {
        unicode_script::Script::Common => script::COMMON,
        _ => Script::from_iso15924_tag(tag).unwrap_or(script::UNKNOWN),
    }
}

/// Whether a font has a different glyph for a character in columns.
pub(super) fn has_vertical_form(fonts: &Fonts, face: usize, letter: char) -> bool {
    let id = fonts.face(face).id;
    let differs = fonts.database().with_face_data(id, |data, index| {
        let font = FontRef::from_index(data, index).ok()?;
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(letter.encode_utf8(&mut [0; 4]));
        buffer.set_direction(Direction::TopToBottom);
        buffer.guess_segment_properties();
        let data = ShaperData::new(&font);
        let result = data
            .shaper(&font)
            .build()
            .shape(buffer, ShapeOptions::new());
        let plain = font.charmap().map(letter)?;
        Some(result.glyph_infos().first()?.glyph_id != plain.to_u32())
    });
    differs.flatten().unwrap_or(false)
}
