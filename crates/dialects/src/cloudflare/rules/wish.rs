//! Converts Cloudflare's options to a [`Wish`], the terms that all dialects share.

use andon_recipe::{Area, Facts, Flatten, Measure, Recipe, Step, Wish};

use super::CloudflareRules;

/// Width and height in px of the source for which the steps of a [`Wish`] are computed. They exceed the usual boxes, so
/// that no step depends on the size of the source.
const LARGE: (u32, u32) = (1 << 19, 1 << 19);

impl CloudflareRules {
    /// Converts the options to the terms that all dialects share; `None` if they crop to nothing. A crop that depends
    /// on the image's size has no equivalent in these terms, and is listed in [`Wish::beyond`].
    pub(super) fn to_wish(&self) -> Option<Wish> {
        let options = &self.options;
        let mut facts = Facts::new("jpeg", LARGE.0, LARGE.1);
        let border = Measure::Trim {
            tolerance: 10,
            corner: (false, false),
        };
        let whole = Area {
            x: 0,
            y: 0,
            w: LARGE.0,
            h: LARGE.1,
        };
        facts.measured = [(border, whole)].into_iter().collect();
        let (mut steps, _) = self.steps_before_scaling(&facts).ok()?;
        let is_px = ["trim.width", "trim.height"]
            .iter()
            .all(|key| options.text(key).is_some());
        let mut beyond = Vec::new();
        if !is_px && steps.iter().any(|step| matches!(step, Step::Crop(_))) {
            steps.retain(|step| !matches!(step, Step::Crop(_)));
            beyond.push("trim".to_owned());
        }
        beyond.extend(
            (options.text("fit") == Some("aspect-crop")).then(|| "fit=aspect-crop".to_owned()),
        );
        beyond.extend((!self.drawings.is_empty()).then(|| "draw".to_owned()));
        steps.extend(self.sizes(LARGE));
        let ground = self.colour("background").filter(|ground| ground.a > 0);
        steps.extend(ground.map(|colour| Step::Flatten(Flatten(colour))));
        steps.extend(self.effects());
        let output = self.output.clone();
        Some(Wish {
            beyond,
            ..Wish::of(&Recipe { steps, output })
        })
    }
}
