//! Converts weserv's parameters to a [`Wish`], the terms that all dialects share.

use andon_recipe::{Colour, Facts, Fitting, Flatten, Gravity, Keep, Recipe, Rotate, Step, Wish};

use super::{Fit, WeservRules};

/// Side in px of the square source for which the steps of a [`Wish`] are computed. It exceeds the usual boxes, so that
/// no step depends on the size of the source.
const LARGE: u32 = 1 << 19;

impl WeservRules {
    /// Converts the parameters to the terms that all dialects share. Lengths in percent have no equivalent in these
    /// terms, and are listed in [`Wish::beyond`].
    pub(super) fn to_wish(&self) -> Wish {
        let query = &self.query;
        let lengths = ["w", "h", "cx", "cy", "cw", "ch"].into_iter();
        let relative = lengths.filter(|key| query.text(key).is_some_and(|text| text.contains('%')));
        let mut beyond: Vec<String> = relative.map(str::to_owned).collect();
        beyond.extend(query.has("mtrim").then(|| "mtrim".to_owned()));
        let crop = self.crop((LARGE, LARGE));
        let is_open = crop.is_some() && !(query.has("cw") && query.has("ch"));
        beyond.extend(is_open.then(|| "a crop without cw and ch".to_owned()));
        let crop = crop.filter(|_| !is_open);
        let crop = crop.map(|(x, y, w, h)| Step::crop(x, y, w, h));
        let (before, after) = match query.flag("precrop") {
            true => (crop, None),
            false => (None, crop),
        };
        let flip = self.flips().map(Step::Flip);
        let turns = self.quarters().map(Step::Turn).into_iter().chain(flip);
        let (mut w, mut h) = self.bounds(&Facts::new("jpeg", LARGE, LARGE));
        if matches!(self.degrees().rem_euclid(360), 90 | 270) && !query.flag("precrop") {
            (w, h) = (h, w);
        }
        let side = |side: i32| (side > 0).then(|| f64::from(side));
        let fit = match self.fit() {
            _ if (w, h) == (0, 0) => Fitting::Nothing,
            Fit::Inside => Fitting::Inside,
            Fit::Fill => Fitting::Exact,
            Fit::Cover if w > 0 && h > 0 => Fitting::Cover,
            Fit::Contain if w > 0 && h > 0 => {
                Fitting::Pad(query.colour("cbg").unwrap_or(Colour::CLEAR))
            }
            Fit::Cover | Fit::Contain => Fitting::Inside,
            Fit::Outside => {
                beyond.push("fit=outside".to_owned());
                Fitting::Inside
            }
        };
        let ground = query.colour("bg").filter(|ground| ground.a > 0);
        let rotation = (self.degrees() % 90 != 0).then(|| {
            Step::Rotate(Rotate {
                degrees: f64::from(self.degrees().rem_euclid(360)),
                colour: query.colour("rbg").unwrap_or(Colour::CLEAR),
            })
        });
        let after = after.into_iter().chain(rotation).chain(self.effects());
        let after = after.chain(ground.map(|colour| Step::Flatten(Flatten(colour))));
        // Only the shape is expressed, because trimming to it depends on the size of the image.
        let mask = self.mask((LARGE, LARGE)).into_iter().flatten();
        let mask = mask.filter(|step| matches!(step, Step::Effect(_)));
        Wish {
            before: self.trim().into_iter().chain(turns).chain(before).collect(),
            fit,
            w: side(w),
            h: side(h),
            enlarge: !query.flag("we"),
            keep: self.keep(),
            after: after.chain(mask).collect(),
            beyond,
            ..Wish::of(&Recipe::from(self.output.clone()))
        }
    }

    fn keep(&self) -> Keep {
        let name = self.query.text("a").unwrap_or_default();
        let share = |key| {
            self.query
                .number(key)
                .filter(|share| (0.0..=1.0).contains(share))
                .unwrap_or(0.5)
                * 100.0
        };
        let has =
            |long: &str, short: &str| name == short || name.split('-').any(|word| word == long);
        let halves = |start: bool, end: bool| if start { 0 } else { 1 + u32::from(end) };
        match name {
            "entropy" | "attention" => Keep::Salient,
            _ if name.starts_with("focal") || name.starts_with("crop-") => {
                Keep::Point(share("fpx"), share("fpy"))
            }
            _ => Keep::Towards(Gravity::at((
                halves(has("left", "l"), has("right", "r")),
                halves(has("top", "t"), has("bottom", "b")),
            ))),
        }
    }
}
