//! Converts the parameters of an IIIF URL to a [`Wish`], the terms that all dialects share.

use andon_recipe::{Colour, Effect, Fitting, Flip, Orientation, Recipe, Rotate, Step, Wish};

use super::IiifRules;
use crate::iiif::parse::{Quality, Region, Shape};

impl IiifRules {
    /// Converts the parameters to the terms that all dialects share. Square regions, and regions and sizes in percent,
    /// have no equivalent in these terms, and are listed in [`Wish::beyond`].
    pub(super) fn to_wish(&self) -> Wish {
        let mut beyond = Vec::new();
        let region = match self.region {
            Region::Full => None,
            Region::At([x, y, w, h]) => Some(Step::crop(x, y, w, h)),
            Region::Square | Region::Percent(_) => {
                beyond.push(self.region.to_string());
                None
            }
        };
        let (fit, w, h) = match self.size.shape {
            Shape::Max if !self.size.grows => (Fitting::Nothing, None, None),
            Shape::Width(w) => (Fitting::Inside, Some(w), None),
            Shape::Height(h) => (Fitting::Inside, None, Some(h)),
            Shape::Exact(w, h) => (Fitting::Exact, Some(w), Some(h)),
            Shape::Inside(w, h) => (Fitting::Inside, Some(w), Some(h)),
            Shape::Max | Shape::Percent(_) => {
                beyond.push(self.size.to_string());
                (Fitting::Nothing, None, None)
            }
        };
        let flip = self.rotation.mirror.then_some(Step::Flip(Flip::Horizontal));
        let degrees = self.rotation.degrees;
        let turn = match degrees % 90.0 == 0.0 {
            true => Orientation {
                mirror: false,
                quarters: (degrees / 90.0) as u8,
            }
            .steps()
            .next(),
            false => Some(Step::Rotate(Rotate {
                degrees,
                colour: Colour::WHITE,
            })),
        };
        let effect = match self.quality {
            Quality::Default | Quality::Color => None,
            Quality::Gray => Effect::new("gray", Vec::new()).ok(),
            Quality::Bitonal => Effect::new("bitonal", Vec::new()).ok(),
        };
        Wish {
            before: region.into_iter().collect(),
            fit,
            w: w.map(f64::from),
            h: h.map(f64::from),
            enlarge: self.size.grows,
            after: flip
                .into_iter()
                .chain(turn)
                .chain(effect.map(Step::Effect))
                .collect(),
            beyond,
            ..Wish::of(&Recipe::from(self.output.clone()))
        }
    }
}
