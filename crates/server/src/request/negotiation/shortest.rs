//! Chooses, of the formats that a client accepts, the one with the shortest file. The choice depends only on the header
//! of the source and the size of the result, so that a cached result is found without reading its source.

use std::sync::Arc;

use andon_pixels::{Codec, Drawn, Web};
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
    web: Web,
    /// Whether the format is also offered for animations.
    moves: bool,
}

impl Offer {
    /// Returns a codec's format, or `None` if it is not written for browsers.
    pub(super) fn of(codec: &'static dyn Codec) -> Option<Self> {
        let format = codec.format();
        let encoder = codec.encoder()?;
        let animation = encoder.animation();
        Some(Self {
            name: FormatName::new(format.name).ok()?,
            media_type: format.media_type,
            web: format.web?,
            options: encoder.options(),
            moves: animation.is_some_and(|animation| animation.moves_everywhere()),
        })
    }
}

/// Rules that make a recipe from the facts of a source, and choose its output format among several.
#[derive(Debug)]
pub(super) struct Shortest {
    /// The rules for everything but the format.
    pub(super) rules: Arc<dyn Rules>,
    /// The formats to choose from, in the order of the configuration.
    pub(super) offers: Vec<Offer>,
    pub(super) background: Background,
    /// Names of the formats in which every browser shows HDR images.
    pub(super) hdr_everywhere: Arc<[&'static str]>,
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

    fn overlays(&self) -> Vec<String> {
        self.rules.overlays()
    }
}

impl Shortest {
    /// Returns the best format for a still image, or `None` if no format that is offered suits it, so that it stays in
    /// the source's own format. `plain` is the recipe without a format. `output` is changed to lossless for a drawing
    /// that is better kept lossless.
    fn for_still(&self, plain: &Recipe, facts: &Facts, output: &mut Output) -> Option<&Offer> {
        let source_size = (facts.width, facts.height);
        let (width, height) = size_after(&plain.steps, facts).unwrap_or(source_size);
        let is_aimed = matches!(output.goal, Some(goal) if !matches!(goal, Goal::Quality(_)));
        let fits = |offer: &&Offer| match facts.hdr && !output.drops_gain_map {
            true => offer.web.hdr,
            false => !facts.drawn || offer.web.drawn != Drawn::Shifted,
        };
        let shortest = |offers: &mut dyn Iterator<Item = _>| {
            offers.min_by_key(|offer: &&Offer| offer.web.length(width.max(height)))
        };
        // A drawing that is not resampled keeps its few colours, so that its file is short in a lossless format.
        if facts.drawn && !facts.hdr && !is_aimed && !plain.steps.iter().any(is_resampling) {
            let mut offers = self.offers.iter();
            if let Some(offer) = offers.find(|offer| offer.web.drawn == Drawn::Lossless) {
                output.goal = None;
                output.lossless = true;
                return Some(offer);
            }
        }
        let best = shortest(&mut self.offers.iter().filter(fits));
        match best {
            None if facts.hdr && !self.hdr_everywhere.contains(&&*facts.format) => {
                shortest(&mut self.offers.iter())
            }
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
