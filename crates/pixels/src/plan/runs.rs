//! Splits a resolved recipe into runs: views of the image, and stages that paint on it in between.

use andon_recipe::{
    Canvas, Colour, Crop, Effect, Exact, Length, Orient, Orientation, Original, Recipe, Rotate,
    Shrink, Step,
};

use super::view::View;
use super::words::unknown_step;
use crate::codec::{Codec, Info, Scale};
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::canvas::OnCanvas;
use crate::ops::rotate::Rotated;
use crate::resize::RegionF;
use crate::stage::Stage;

/// A resolved recipe split into runs, in order: views, each of which combines consecutive geometric steps, and the
/// effects between them.
pub(super) struct Runs {
    /// The crop, scaling and turn that the source goes through first.
    pub(super) first: View,
    /// The decoding scale in whose px the lengths in `first` are given: full scale, unless a `shrink` step reduces it.
    pub(super) measured: Scale,
    /// The effects, and the views between them, that follow `first`.
    pub(super) rest: Vec<Run>,
    /// The size in px after each step of the recipe, followed by that of the result.
    pub(super) sizes: Vec<(u32, u32)>,
}

/// Returns the stage of an effect; `None` if its arguments change nothing.
pub(super) fn stage(effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
    let op = ops::ALL.iter().find(|op| op.word().name == effect.name);
    let op = op.ok_or_else(|| {
        let effects = ops::ALL.iter().map(|op| op.word().name);
        let words = andon_recipe::words().map(|word| word.name);
        let mut names: Vec<&str> = words.chain(effects).collect();
        // A word with two forms is listed twice.
        names.dedup();
        Error::Recipe {
            piece: effect.name.clone(),
            why: unknown_step(&effect.name, &names),
        }
    })?;
    op.parse(effect)
}

/// What follows the first view of the source in a recipe: consecutive geometric steps, or one effect.
pub(super) enum Run {
    /// Consecutive geometric steps, combined into one view of the image that they are applied to.
    View(View),
    /// The stage of an effect.
    Painted(Box<dyn Stage>),
}

impl Runs {
    /// Splits a resolved recipe, for an image with this header, into views that combine geometric steps, and the
    /// effects between them.
    pub(super) fn of(recipe: &Recipe, source: &dyn Codec, info: &Info) -> Result<Self> {
        let mut runs = Self {
            first: View::whole((info.width, info.height)),
            measured: Scale::FULL,
            rest: Vec::new(),
            sizes: Vec::new(),
        };
        let mut size = (info.width, info.height);
        for step in &recipe.steps {
            runs.step(step, size, source, info)?;
            size = match runs.rest.last() {
                None => runs.first.size(),
                Some(Run::View(view)) => view.size(),
                Some(Run::Painted(stage)) => stage.size_after(size.0, size.1),
            };
            runs.sizes.push(size);
        }
        runs.sizes.push(size);
        Ok(runs)
    }

    /// Adds a turn after all steps of the recipe.
    pub(super) fn turn_last(&mut self, orientation: Orientation) {
        if let Some(&size) = self.sizes.last() {
            self.view(size).turn(orientation);
            self.sizes.push(orientation.size(size.0, size.1));
        }
    }

    fn step(
        &mut self,
        step: &Step,
        size: (u32, u32),
        source: &dyn Codec,
        info: &Info,
    ) -> Result<()> {
        match *step {
            Step::Original(Original) => {}
            Step::Orient(Orient) => self.view(size).turn(info.orientation),
            Step::Turn(turn) => self.view(size).turn(Orientation::default().then(turn)),
            Step::Flip(flip) => self.view(size).turn(Orientation::default().flipped(flip)),
            Step::Shrink(Shrink(eighths)) => self.shrink(eighths, source, info),
            Step::Crop(Crop::At {
                x: Length::Px(x),
                y: Length::Px(y),
                w: Length::Px(w),
                h: Length::Px(h),
            }) => self.view(size).crop(RegionF { x, y, w, h }),
            Step::Exact(Exact {
                w: Length::Px(w),
                h: Length::Px(h),
            }) => {
                // Scaling twice takes two views, because a single scaling would give another image.
                if self.view(size).is_scaled {
                    self.rest.push(Run::View(View::whole(size)));
                }
                self.view(size).scale((w as u32, h as u32));
            }
            Step::Canvas(canvas) => self.canvas(canvas, size),
            Step::Rotate(Rotate { degrees, colour }) => {
                self.paint(Box::new(Rotated { degrees, colour }))
            }
            Step::Effect(ref effect) => {
                if let Some(stage) = stage(effect)? {
                    self.paint(stage);
                }
            }
            _ => {
                return Err(Error::Internal(format!("`{step}` was not resolved")));
            }
        }
        Ok(())
    }

    /// Returns the view that the next geometric step is combined with: a new one if the last step was an effect.
    fn view(&mut self, size: (u32, u32)) -> &mut View {
        if matches!(self.rest.last(), Some(Run::Painted(_))) {
            self.rest.push(Run::View(View::whole(size)));
        }
        match self.rest.last_mut() {
            Some(Run::View(view)) => view,
            _ => &mut self.first,
        }
    }

    /// Sets the decoding scale to `eighths`/8 if the codec supports it: the recipe's later lengths are in px of the
    /// image at that scale. In resolved recipes, `shrink` comes before crops and scalings.
    fn shrink(&mut self, eighths: u8, source: &dyn Codec, info: &Info) {
        if source.scales(info) != [Scale::FULL] {
            self.measured = Scale(eighths.clamp(1, 8));
            self.first = View {
                orientation: self.first.orientation,
                ..View::whole(info.scaled(self.measured))
            };
        }
    }

    fn canvas(&mut self, canvas: Canvas, (width, height): (u32, u32)) {
        let (x, y) = canvas.at.map_or((0, 0), |(x, y)| (x.into(), y.into()));
        let is_visible =
            |at: i64, length: u32, room: u32| at < room.into() && at + i64::from(length) > 0;
        // An image that is not visible need not be decoded, unless something is painted on it before.
        let is_seen = !self.rest.is_empty()
            || (is_visible(x, width, canvas.w) && is_visible(y, height, canvas.h));
        if !is_seen {
            self.first = View::blank((canvas.w, canvas.h));
            if canvas.colour == Colour::CLEAR {
                return;
            }
        }
        let (x, y) = if is_seen { (x, y) } else { (0, 0) };
        self.paint(Box::new(OnCanvas {
            width: canvas.w,
            height: canvas.h,
            x,
            y,
            colour: canvas.colour,
        }));
    }

    fn paint(&mut self, stage: Box<dyn Stage>) {
        self.rest.push(Run::Painted(stage));
    }
}
