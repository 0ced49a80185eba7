//! Requests in the terms that all URL languages share.

use std::fmt;

use crate::{
    Bounds, Canvas, Colour, Cover, Dpr, Exact, Fit, Focus, Gravity, Length, Original, Output,
    Recipe, Step,
};

/// A request in terms that all URL languages share, independent of the size of the source: a box, the steps before and
/// after the image is fitted to the box, and the settings for the output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// Steps before the image is fitted to the box, such as turns and crops. A first step that turns the image upright
    /// is left out.
    pub before: Vec<Step>,
    /// How the image is fitted to the box.
    pub fit: Fitting,
    /// Width of the box in device pixels; `None` if that side is open.
    pub w: Option<f64>,
    /// Height of the box in device pixels; `None` if that side is open.
    pub h: Option<f64>,
    /// Whether images smaller than the box are enlarged.
    pub enlarge: bool,
    /// The part that is kept in view if the image is cropped.
    pub keep: Keep,
    /// Steps after the image is fitted to the box, such as effects and backgrounds.
    pub after: Vec<Step>,
    /// Settings for the output, as far as the request contains them.
    pub output: Output,
    /// The parts of the request that other URL languages do not have, as options of the language it was written in.
    pub beyond: Vec<String>,
}

/// How an image is fitted to a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fitting {
    /// The image is not scaled: there is no box.
    #[default]
    Nothing,
    /// The image is scaled to fit inside the box.
    Inside,
    /// The image is scaled to cover the box, and cropped to it.
    Cover,
    /// The image is stretched to the box.
    Exact,
    /// The image is scaled to fit inside the box, and centred on a background of this colour.
    Pad(Colour),
}

/// The part of an image that is kept in view when the image is cropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keep {
    /// The middle, a side or a corner.
    Towards(Gravity),
    /// The area that draws the eye.
    Salient,
    /// The faces in the image.
    Faces,
    /// A point: its distance from the left and from the top, in percent of the sides.
    Point(f64, f64),
}

impl Default for Keep {
    fn default() -> Self {
        Self::Towards(Gravity::Centre)
    }
}

/// Writes a gravity's name, `smart`, `faces` or the point's coordinates with `:` between them.
impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Towards(gravity) => f.write_str(Gravity::CHOICES.word(*gravity)),
            Self::Salient => f.write_str("smart"),
            Self::Faces => f.write_str("faces"),
            Self::Point(x, y) => write!(f, "{x}:{y}"),
        }
    }
}

impl Wish {
    /// Converts a recipe, which need not be resolved, to the terms that all URL languages share. Lengths are converted
    /// to device pixels. A box in percent cannot be converted, and is added to `beyond`.
    #[must_use]
    pub fn of(recipe: &Recipe) -> Self {
        let mut wish = Self {
            output: recipe.output.clone(),
            ..Self::default()
        };
        let mut dpr = 1.0;
        for step in &recipe.steps {
            match step {
                Step::Dpr(Dpr(ratio)) => dpr = *ratio,
                Step::Orient(_) if wish.before.is_empty() && wish.fit == Fitting::Nothing => {}
                step => wish.add(step, dpr),
            }
        }
        wish
    }

    /// Adds the next step of the recipe. `dpr` is the ratio of device pixels to CSS pixels.
    fn add(&mut self, step: &Step, dpr: f64) {
        let side = |length: Length| match length {
            Length::Px(px) => Some(px * dpr),
            Length::Percent(_) => None,
        };
        let px = |px: u32| (f64::from(px) * dpr).round() as u32;
        let (fit, sides, enlarge) = match *step {
            _ if self.fit != Fitting::Nothing => return self.add_after(step, px),
            Step::Fit(Fit { inside, enlarge }) => match inside {
                Bounds::Width(w) => (Fitting::Inside, [Some(w), None], enlarge),
                Bounds::Height(h) => (Fitting::Inside, [None, Some(h)], enlarge),
                Bounds::Both(w, h) => (Fitting::Inside, [Some(w), Some(h)], enlarge),
            },
            Step::Cover(Cover { w, h, enlarge, .. }) => {
                (Fitting::Cover, [Some(w), Some(h)], enlarge)
            }
            Step::Exact(Exact { w, h }) => (Fitting::Exact, [Some(w), Some(h)], true),
            Step::Pad(_) | Step::Canvas(_) => return self.add_after(step, px),
            _ => return self.before.push(step.clone()),
        };
        if let Step::Cover(Cover { gravity, .. }) = step {
            let set = |step: &Step| matches!(step, Step::Focus(_));
            self.keep = match (gravity, self.before.pop_if(|step| set(step))) {
                (Gravity::Centre, Some(Step::Focus(Focus::Salient))) => Keep::Salient,
                (Gravity::Centre, Some(Step::Focus(Focus::Faces))) => Keep::Faces,
                (
                    Gravity::Centre,
                    Some(Step::Focus(Focus::At {
                        x: Length::Percent(x),
                        y: Length::Percent(y),
                    })),
                ) => Keep::Point(x, y),
                (gravity, focus) => {
                    self.before.extend(focus);
                    Keep::Towards(*gravity)
                }
            };
        }
        match sides.iter().flatten().all(|length| side(*length).is_some()) {
            true => {
                (self.fit, self.enlarge) = (fit, enlarge);
                [self.w, self.h] = sides.map(|length| length.and_then(side));
            }
            false => self.beyond.push(step.to_string()),
        }
    }

    /// Adds a step that is applied after the image is fitted to the box. `px` converts a length to device pixels.
    fn add_after(&mut self, step: &Step, px: impl Fn(u32) -> u32) {
        let mut step = step.clone();
        match &mut step {
            Step::Pad(pad) => {
                for side in [&mut pad.top, &mut pad.right, &mut pad.bottom, &mut pad.left] {
                    *side = px(*side);
                }
            }
            Step::Canvas(canvas) if canvas.at.is_none() => {
                (canvas.w, canvas.h) = (px(canvas.w), px(canvas.h));
                let sides = [self.w, self.h].map(|side| side.map(f64::round));
                let is_box = sides == [Some(canvas.w.into()), Some(canvas.h.into())];
                if self.fit == Fitting::Inside && self.after.is_empty() && is_box {
                    self.fit = Fitting::Pad(canvas.colour);
                    return;
                }
            }
            _ => {}
        }
        self.after.push(step);
    }

    /// Returns all steps except those that fit the image to the box.
    pub fn others(&self) -> impl Iterator<Item = &Step> {
        self.before.iter().chain(&self.after)
    }

    /// Returns the steps that fit the image to the box.
    fn fitted(&self) -> Vec<Step> {
        let px = |side: f64| Length::px(side).unwrap_or(Length::Px(Length::MAX_PX));
        let (w, h, enlarge) = (self.w.map(px), self.h.map(px), self.enlarge);
        let whole = Length::Percent(100.0);
        let fit = |inside| Step::Fit(Fit { inside, enlarge });
        let (w, h) = match (self.fit, w, h) {
            (Fitting::Nothing, ..) | (_, None, None) => return Vec::new(),
            (Fitting::Exact, w, h) => (w.unwrap_or(whole), h.unwrap_or(whole)),
            (_, Some(w), None) => return vec![fit(Bounds::Width(w))],
            (_, None, Some(h)) => return vec![fit(Bounds::Height(h))],
            (_, Some(w), Some(h)) => (w, h),
        };
        let rounded = |side: Option<f64>| (side.unwrap_or_default().round() as u32).max(1);
        let cover = |gravity| {
            Step::Cover(Cover {
                w,
                h,
                gravity,
                enlarge,
            })
        };
        let (w_px, h_px) = (rounded(self.w), rounded(self.h));
        match (self.fit, self.keep) {
            (Fitting::Exact, _) => vec![Step::Exact(Exact { w, h })],
            (Fitting::Cover, Keep::Towards(gravity)) => vec![cover(gravity)],
            (Fitting::Cover, Keep::Salient) => {
                vec![Step::Focus(Focus::Salient), cover(Gravity::Centre)]
            }
            (Fitting::Cover, Keep::Faces) => {
                vec![Step::Focus(Focus::Faces), cover(Gravity::Centre)]
            }
            (Fitting::Cover, Keep::Point(x, y)) => {
                let (x, y) = (Length::Percent(x), Length::Percent(y));
                vec![Step::Focus(Focus::At { x, y }), cover(Gravity::Centre)]
            }
            (Fitting::Pad(colour), _) => {
                let ground = Canvas {
                    w: w_px,
                    h: h_px,
                    colour,
                    at: None,
                };
                vec![fit(Bounds::Both(w, h)), Step::Canvas(ground)]
            }
            (Fitting::Nothing | Fitting::Inside, _) => vec![fit(Bounds::Both(w, h))],
        }
    }

    /// Converts the request to a recipe, without the options in `beyond`, for which recipes have no terms.
    #[must_use]
    pub fn recipe(&self) -> Recipe {
        if self.before.contains(&Step::Original(Original)) {
            return Recipe::original();
        }
        let mut steps = self.before.clone();
        steps.extend(self.fitted());
        steps.extend(self.after.iter().cloned());
        Recipe {
            steps,
            output: self.output.clone(),
        }
    }

    /// Returns the steps that fit the image to the box, as text of a recipe such as `cover:60x60:north`; empty if there
    /// is no box.
    #[must_use]
    pub fn bounds(&self) -> String {
        let words: Vec<String> = self.fitted().iter().map(Step::to_string).collect();
        words.join(",")
    }
}
