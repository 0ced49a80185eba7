//! Converts ngx_small_light's parameters to a [`Wish`], the terms that all dialects share.

use andon_recipe::{Crop, Fitting, Kept, Length, Output, Profile, Recipe, Step, Wish};

use super::{Fit, Original, Region, SmallLightRules};

impl SmallLightRules {
    /// Converts the parameters to the terms that all dialects share. Lengths in percent have no equivalent in these
    /// terms, and are listed in [`Wish::beyond`]. Profiles, metadata and the stored turn are only included if a
    /// parameter changes them.
    pub(super) fn to_wish(&self) -> Wish {
        let px = |length: Option<Length>| match length {
            Some(Length::Px(px)) => Some(px),
            _ => None,
        };
        let (w, h) = (px(self.size.w), px(self.size.h));
        let canvas = self
            .canvas
            .filter(|canvas| (canvas.x, canvas.y) == (None, None));
        let ground =
            canvas.filter(|ground| (Some(ground.w.into()), Some(ground.h.into())) == (w, h));
        let fit = match (self.size.fit, ground) {
            _ if (w, h) == (None, None) => Fitting::Nothing,
            (Fit::Cover, Some(_)) => Fitting::Cover,
            (Fit::Inside, Some(ground)) => Fitting::Pad(ground.colour),
            (Fit::Exact, None) if w.is_some() && h.is_some() => Fitting::Exact,
            _ => Fitting::Inside,
        };
        let both = w.is_some() && h.is_some();
        let conditions = [
            (self.original != Original::Never, "pt"),
            (self.hint.is_some(), "jpeghint"),
            (
                self.region != Region::default() && self.part().is_none(),
                "sx, sy, sw and sh",
            ),
            (
                self.size.fit == Fit::Cover && both && ground.is_none(),
                "da=s without a canvas",
            ),
            (
                (self.size.w, self.size.h) != (w.map(Length::Px), h.map(Length::Px)),
                "dw and dh in per cent",
            ),
            (self.canvas.is_some() && ground.is_none(), "cw and ch"),
            (self.srgb, "cmyk2rgb"),
        ];
        let conditions = conditions.into_iter().filter(|(is, _)| *is);
        let turn = self.turn.map(Step::Turn).into_iter();
        let (profile, metadata) = match self.strip {
            true => (Profile::Drop, Kept::None),
            false => (Profile::default(), Kept::default()),
        };
        Wish {
            before: turn.chain(self.part()).collect(),
            fit,
            w,
            h,
            enlarge: self.size.enlarge,
            after: self.effects.iter().cloned().map(Step::Effect).collect(),
            beyond: conditions.map(|(_, name)| name.to_owned()).collect(),
            ..Wish::of(&Recipe::from(Output {
                profile,
                metadata,
                ..self.output.clone()
            }))
        }
    }

    /// Returns the crop to the region; `None` unless it has width and height, and all values are in px.
    fn part(&self) -> Option<Step> {
        let Region { x, y, w, h } = self.region;
        let zero = Length::Px(0.0);
        let (x, y, w, h) = (x.unwrap_or(zero), y.unwrap_or(zero), w?, h?);
        let is_px = [x, y, w, h]
            .iter()
            .all(|length| matches!(length, Length::Px(_)));
        is_px.then_some(Step::Crop(Crop::At { x, y, w, h }))
    }
}
