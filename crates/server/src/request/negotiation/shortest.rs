//! Chooses, of the formats that a client accepts, the one with the shortest file. The choice depends only on the header
//! of the source and the size of the result, so that a cached result is found without reading its source.

use std::sync::Arc;

use andon_pixels::Codec;
use andon_recipe::{
    Facts, FormatName, Goal, Measure, Orientation, Output, Recipe, ResolveError, Rules, Step, Word,
    size_after,
};

use super::background::Background;

/// A format that can be chosen.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) name: FormatName,
    pub(super) media_type: &'static str,
    options: &'static [&'static Word],
    /// Whether the format is also offered for animations.
    moves: bool,
}

impl Offer {
    /// The format of this name, or `None` if no codec writes it.
    pub(super) fn new(name: &str, codecs: &[&'static dyn Codec]) -> Option<Self> {
        let codec = codecs.iter().copied().find(|codec| codec.name() == name)?;
        let encoder = codec.encoder()?;
        let animation = encoder.animation();
        Some(Self {
            name: FormatName::new(name).ok()?,
            media_type: codec.format().media_type,
            options: encoder.options(),
            moves: animation.is_some_and(|animation| animation.moves_everywhere()),
        })
    }

    fn is(&self, name: &str) -> bool {
        self.name.as_str() == name
    }
}

/// Rules that leave the format open among several.
#[derive(Debug)]
pub(super) struct Shortest {
    /// The rules without a format.
    pub(super) rules: Arc<dyn Rules>,
    /// The formats to choose from, in the order of the configuration.
    pub(super) offers: Vec<Offer>,
    pub(super) background: Background,
}

impl Rules for Shortest {
    fn text(&self) -> String {
        let names: Vec<_> = self.offers.iter().map(|it| it.name.as_str()).collect();
        format!("{} as {}", self.rules.text(), names.join(" or "))
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let plain = self.rules.resolve(facts)?;
        let mut output = self.rules.output().clone();
        let moves = facts.frames > 1 && output.frame.is_none();
        let offer = match moves {
            true => self.offers.iter().find(|it| it.moves),
            false => self.for_still(&plain, facts, &mut output),
        };
        if let Some(offer) = offer {
            output.format = Some(offer.name.clone());
            output.leave_out_unknown(offer.options);
        }
        self.background.complete(&mut output);
        self.rules.with_output(output).resolve(facts)
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        self.rules.measures(stored)
    }

    fn canonical(&self, facts: &Facts) -> Option<String> {
        self.rules.canonical(facts)
    }

    fn output(&self) -> &Output {
        self.rules.output()
    }

    fn with_output(&self, output: Output) -> Arc<dyn Rules> {
        self.rules.with_output(output)
    }

    fn materials(&self) -> Vec<String> {
        self.rules.materials()
    }
}

impl Shortest {
    /// Returns the format for a still image, or `None` if the source's own format is better than all of them. `plain`
    /// is the recipe without a format.
    fn for_still(&self, plain: &Recipe, facts: &Facts, output: &mut Output) -> Option<&Offer> {
        let own = (facts.width, facts.height);
        let (width, height) = size_after(&plain.steps, facts).unwrap_or(own);
        let is_aimed = matches!(output.goal, Some(goal) if !matches!(goal, Goal::Quality(_)));
        let fits = |offer: &&Offer| match facts.hdr && !output.drops_gain_map {
            // What browsers show brighter than white.
            true => offer.is("avif") || offer.is("jpeg"),
            // Flat colours and thin lines come out in other shades.
            false => !facts.drawn || !offer.is("jxl"),
        };
        let shortest = |offers: &mut dyn Iterator<Item = _>| {
            offers.min_by_key(|offer: &&Offer| curve(offer.name.as_str(), width.max(height)))
        };
        // As many colours as it was drawn in: without loss that is short.
        if facts.drawn && !facts.hdr && !is_aimed && !plain.steps.iter().any(is_resampling) {
            let webp = self.offers.iter().find(|offer| offer.is("webp"));
            if webp.is_some() {
                output.goal = None;
                output.lossless = true;
                return webp;
            }
        }
        let best = shortest(&mut self.offers.iter().filter(fits));
        match best {
            None if facts.hdr && facts.format != "jpeg" => shortest(&mut self.offers.iter()),
            best => best,
        }
    }
}

/// Whether the step makes new colours by mixing existing ones.
fn is_resampling(step: &Step) -> bool {
    matches!(
        step,
        Step::Exact(_) | Step::Shrink(_) | Step::Rotate(_) | Step::Effect(_)
    )
}

/// File lengths at equal quality, in percent of AVIF's. Each row holds up to a longest side of the image in px.
///
/// Geometric means over eight photographs of 8 to 15 megapixels, each written as short as SSIMULACRA2 of 70 and of 80
/// allow.
const CURVES: [(u32, [(&str, u32); 4]); 6] = [
    (
        64,
        [("avif", 100), ("jxl", 129), ("webp", 100), ("jpeg", 167)],
    ),
    (
        150,
        [("avif", 100), ("jxl", 178), ("webp", 115), ("jpeg", 180)],
    ),
    (
        300,
        [("avif", 100), ("jxl", 133), ("webp", 122), ("jpeg", 153)],
    ),
    (
        600,
        [("avif", 100), ("jxl", 130), ("webp", 134), ("jpeg", 161)],
    ),
    (
        1200,
        [("avif", 100), ("jxl", 133), ("webp", 155), ("jpeg", 182)],
    ),
    (
        u32::MAX,
        [("avif", 100), ("jxl", 116), ("webp", 150), ("jpeg", 166)],
    ),
];

/// Returns the length of a file in this format relative to the other formats, for an image whose longest side has
/// `side` px.
fn curve(format: &str, side: u32) -> u32 {
    let row = CURVES.iter().find(|(most, _)| side <= *most);
    let of_format = row.and_then(|(_, row)| row.iter().find(|(name, _)| *name == format));
    of_format.map_or(u32::MAX, |(_, length)| *length)
}
