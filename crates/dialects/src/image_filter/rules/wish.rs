//! Converts the directives of nginx's image filter to a [`Wish`], the terms that all dialects share.

use andon_recipe::{Fitting, Recipe, Step, Turn, Wish};

use super::{ImageFilterRules, unsharp_mask};
use crate::image_filter::options::{Bound, Filter};

impl ImageFilterRules {
    /// Converts the directives to the terms that all dialects share. The result does not say how nginx's image filter
    /// treats profiles and metadata, because no URL requests that.
    pub(super) fn to_wish(&self) -> Wish {
        if matches!(self.options.filter, Filter::Test | Filter::Size) {
            return Wish::of(&Recipe::original());
        }
        let side = |Bound(px): Bound| u32::try_from(px).ok().map(f64::from);
        let (fit, w, h) = match self.options.filter {
            Filter::Test | Filter::Size | Filter::Rotate => (Fitting::Nothing, None, None),
            Filter::Resize(w, h) => (Fitting::Inside, side(w), side(h)),
            Filter::Crop(w, h) => (Fitting::Cover, side(w), side(h)),
        };
        // The directive counts counterclockwise.
        let turn = match self.options.rotate {
            90 => Some(Turn::R270),
            180 => Some(Turn::R180),
            270 => Some(Turn::R90),
            _ => None,
        };
        Wish {
            fit,
            w,
            h,
            after: turn
                .map(Step::Turn)
                .into_iter()
                .chain(unsharp_mask(self.options.sharpen))
                .collect(),
            ..Wish::default()
        }
    }
}
