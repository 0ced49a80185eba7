//! How nginx's image filter module computes sizes, with its integer operations in the same order.

mod wish;

use andon_recipe::{
    Colour, Effect, Facts, Flatten, Goal, Kept, Output, Profile, Recipe, ResolveError, Rules, Step,
    Turn,
};

use super::OPEN;
use super::options::{Bound, Filter, Options};

/// The values of the directives in a location, and how they are resolved to a recipe for an image.
#[derive(Clone, Debug)]
pub(super) struct ImageFilterRules {
    options: Options,
    output: Output,
}

impl ImageFilterRules {
    pub(super) fn new(options: Options) -> Self {
        let output = Output {
            metadata: Kept::None,
            profile: Profile::Drop,
            progressive: options.interlace,
            ..Output::default()
        };
        Self { options, output }
    }

    /// Whether a source of this size in px is left unchanged: always with `test` and `size`; with `resize` and `crop`
    /// if it fits into the box and is not turned; never with `rotate`.
    fn passes(&self, width: u64, height: u64) -> bool {
        match self.options.filter {
            Filter::Test | Filter::Size => true,
            Filter::Rotate => false,
            Filter::Resize(w, h) | Filter::Crop(w, h) => {
                width <= w.0 && height <= h.0 && self.options.rotate == 0
            }
        }
    }

    fn steps(&self, (width, height): (u64, u64)) -> Vec<Step> {
        let (mut w, mut h) = (width, height);
        match self.options.filter {
            Filter::Test | Filter::Size | Filter::Rotate => {}
            Filter::Resize(most_w, most_h) => {
                if w > most_w.0 {
                    (w, h) = (most_w.0, scale_side(h, most_w, w));
                }
                if h > most_h.0 {
                    (w, h) = (scale_side(w, most_h, h), most_h.0);
                }
            }
            Filter::Crop(most_w, most_h) => {
                let taller = (w as f64 / h as f64) < (most_w.0 as f64 / most_h.0 as f64);
                if taller && w > most_w.0 {
                    (w, h) = (most_w.0, scale_side(h, most_w, w));
                } else if !taller && h > most_h.0 {
                    (w, h) = (scale_side(w, most_h, h), most_h.0);
                }
            }
        }
        // No side is longer than that of the source, which is a u32.
        let px = |side: u64| side as u32;
        let mut steps = vec![Step::exact(px(w), px(h))];
        // The directive counts counterclockwise.
        let turn = match self.options.rotate {
            90 => Some(Turn::R270),
            180 => Some(Turn::R180),
            270 => Some(Turn::R90),
            _ => None,
        };
        if let Some(turn) = turn {
            steps.push(Step::Turn(turn));
            // GD turns an image onto a black background without alpha.
            let black = Colour {
                a: u8::MAX,
                ..Colour::CLEAR
            };
            steps.push(Step::Flatten(Flatten(black)));
            if turn != Turn::R180 {
                (w, h) = (h, w);
            }
        }
        if let Filter::Crop(most_w, most_h) = self.options.filter {
            let (cut_w, cut_h) = (w.min(most_w.0), h.min(most_h.0));
            let (x, y) = ((w - cut_w) / 2, (h - cut_h) / 2);
            steps.push(Step::crop(px(x), px(y), px(cut_w), px(cut_h)));
        }
        steps.extend(unsharp_mask(self.options.sharpen));
        steps
    }
}

impl Rules for ImageFilterRules {
    fn text(&self) -> String {
        let output = Recipe::from(self.output.clone());
        format!("{OPEN}{}) {output}", self.options)
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let format = facts.format.as_str();
        if !["jpeg", "gif", "png", "webp"].contains(&format) {
            let why = "image_filter reads JPEG, GIF, PNG and WebP only";
            return Err(ResolveError::new(format, why).of_source());
        }
        // The module ignores EXIF orientation. Here its boxes apply to the upright image.
        let (width, height) = facts.orientation.size(facts.width, facts.height);
        let (width, height) = (width.into(), height.into());
        if self.passes(width, height) {
            return Ok(Recipe::original());
        }
        let mut output = self.output.clone();
        let target_format = output.format.as_ref().map_or(format, |name| name.as_str());
        output.goal = self.options.quality(target_format).map(Goal::Quality);
        output.progressive &= matches!(target_format, "jpeg" | "png" | "gif");
        if facts.cmyk {
            output.profile = Profile::Ignore;
        }
        // GD reads only the first frame.
        output.frame = Some(1);
        let steps = self.steps((width, height));
        Recipe { steps, output }.resolve(facts)
    }

    crate::rules::kept_output!();

    fn wish(&self) -> Option<andon_recipe::Wish> {
        Some(self.to_wish())
    }
}

/// Scales a side by the factor by which the other side shrinks from `from` to `to`. The result is at least 1 px.
fn scale_side(side: u64, to: Bound, from: u64) -> u64 {
    // This is only called with `to` less than `from`, both sides of images, so that nothing overflows.
    (side * to.0 / from.max(1)).max(1)
}

/// Returns an unsharp mask that equals GD's sharpening by this percentage. `gdImageSharpen` weights the neighbours of a
/// pixel by -percent/400 in both directions. An unsharp mask with a radius of one pixel and sigma 0.5 weights them by
/// -amount × 0.1065.
fn unsharp_mask(percent: u64) -> Option<Step> {
    const NEIGHBOUR: f64 = 0.106_507;
    if percent == 0 {
        return None;
    }
    let amount = (percent as f64 / 400.0 / NEIGHBOUR * 1e4).round() / 1e4;
    let args = vec![format!("1x0.5+{amount}+0")];
    Effect::new("unsharp", args).ok().map(Step::Effect)
}
