//! Converts the parts and filters of a thumbor or imagor URL to a [`Wish`], the terms that all dialects share.

use andon_recipe::{
    Crop, Fitting, Flatten, Flip, Gravity, Keep, Length, Output, Pad, Recipe, Step, StoredTurn,
    Trim, Wish,
};

use super::{Filter, Ground, ThumborRules};
use crate::thumbor::Flavour;
use crate::thumbor::path::{FitIn, Side};

/// Filters that have no equivalent in the terms that all dialects share, separated by spaces.
const BEYOND: &str = "watermark image text label pixelate proportion crop trim";

impl ThumborRules {
    /// Converts the parts and filters of a URL to the terms that all dialects share. Sizes that depend on that of the
    /// image have no equivalent in these terms, and are listed in [`Wish::beyond`].
    pub(super) fn to_wish(&self) -> Wish {
        if self.has(&Filter::Raw) {
            return Wish::of(&Recipe::original());
        }
        let parts = &self.parts;
        let names = parts.filters.iter().map(|(name, _)| name.as_str());
        let mut beyond: Vec<String> = names
            .filter(|name| BEYOND.split(' ').any(|it| it == *name))
            .map(str::to_owned)
            .collect();
        let size = parts.size.unwrap_or_default();
        let side = |side: Side| Some(side.px()).filter(|px| *px > 0).map(f64::from);
        let (w, h) = (side(size.0), side(size.1));
        let is_own = size.0 == Side::Original || size.1 == Side::Original;
        beyond.extend(is_own.then(|| "orig".to_owned()));
        let fit = match parts.fit {
            _ if (w, h) == (None, None) => Fitting::Nothing,
            Some(FitIn {
                adaptive: false,
                full: false,
            }) => Fitting::Inside,
            Some(_) => {
                beyond.push("fit-in that is adaptive or full".to_owned());
                Fitting::Inside
            }
            None if parts.stretch || self.has(&Filter::Stretch) => Fitting::Exact,
            None if w.is_some() && h.is_some() => Fitting::Cover,
            None => Fitting::Inside,
        };
        let trim = self.trim().map(|trim| match self.flavour {
            Flavour::Imagor if !trim.from_end => {
                Step::Trim(Trim(trim.tolerance.unwrap_or(1).clamp(1, 255) as u8))
            }
            _ => {
                beyond.push("trim".to_owned());
                Step::Trim(Trim(trim.tolerance.unwrap_or(0).min(255) as u8))
            }
        });
        let mut turns = self.upright();
        turns.retain(|step| !matches!(step, Step::Orient(_)));
        let is_cut = parts.crop.is_some() && self.part().is_none();
        beyond.extend(is_cut.then(|| "a crop to a share".to_owned()));
        let mut wish = Wish {
            before: turns.into_iter().chain(trim).chain(self.part()).collect(),
            fit,
            w,
            h,
            enlarge: self.enlarges(),
            keep: self.keep(),
            beyond,
            ..Wish::of(&Recipe::from(Output {
                stored_turn: self.stored_turn(),
                ..self.output.clone()
            }))
        };
        self.add_filters(&mut wish);
        wish
    }

    fn stored_turn(&self) -> StoredTurn {
        match self.defaults.orient {
            true => StoredTurn::Applied,
            false => StoredTurn::Verbatim,
        }
    }

    /// Returns the crop before scaling; `None` unless its edges are in whole px.
    fn part(&self) -> Option<Step> {
        let edges @ [left, top, right, bottom] = self.parts.crop?;
        let is_px = edges.iter().all(|edge| edge.fract() == 0.0) && right > left && bottom > top;
        let is_share = self.flavour == Flavour::Imagor && edges.iter().all(|edge| *edge <= 1.0);
        let [x, y, w, h] = [left, top, right - left, bottom - top].map(Length::Px);
        (is_px && !is_share).then_some(Step::Crop(Crop::At { x, y, w, h }))
    }

    fn enlarges(&self) -> bool {
        let last = self.filters.iter().rev().find_map(|filter| match filter {
            Filter::Upscale => Some(true),
            Filter::NoUpscale => Some(false),
            _ => None,
        });
        last.unwrap_or(self.parts.fit.is_none())
    }

    /// Adds the flip and the filters in their order, which are applied to the scaled image.
    fn add_filters(&self, wish: &mut Wish) {
        wish.after.extend(match self.parts.flip {
            (false, false) => None,
            (true, false) => Some(Step::Flip(Flip::Horizontal)),
            (false, true) => Some(Step::Flip(Flip::Vertical)),
            (true, true) => Some(Step::Flip(Flip::Both)),
        });
        for filter in self.filters.iter() {
            wish.after.extend(match filter {
                Filter::Effect(effect) => Some(Step::Effect(effect.clone())),
                Filter::Ground(Ground::Colour(colour)) => Some(Step::Flatten(Flatten(*colour))),
                Filter::Rotate(turn) => turn.map(Step::Turn),
                Filter::Padding(Ground::Colour(colour), [left, top, right, bottom]) => {
                    Some(Step::Pad(Pad {
                        top: *top,
                        right: *right,
                        bottom: *bottom,
                        left: *left,
                        colour: *colour,
                    }))
                }
                Filter::Fill(Ground::Colour(colour))
                    if wish.fit == Fitting::Inside && self.parts.padding.is_none() =>
                {
                    wish.fit = Fitting::Pad(*colour);
                    None
                }
                Filter::Fill(_) | Filter::Ground(_) | Filter::Padding(..) => {
                    wish.beyond.push("a ground other than a colour".to_owned());
                    None
                }
                _ => None,
            });
        }
    }

    fn keep(&self) -> Keep {
        let focal = self.filters.iter().find_map(|filter| match filter {
            Filter::Focal([x, y, right, _]) if right.is_infinite() && *x < 1.0 && *y < 1.0 => {
                Some(Keep::Point(x * 100.0, y * 100.0))
            }
            _ => None,
        });
        let (across, down) = (self.parts.across, self.parts.down);
        let gravity = Gravity::at((
            across.unwrap_or_default() as u32,
            down.unwrap_or_default() as u32,
        ));
        focal.unwrap_or(match self.parts.smart {
            true => Keep::Salient,
            false => Keep::Towards(gravity),
        })
    }
}
