//! Converts sharp's options to a [`Wish`], the terms that all dialects share.

use andon_recipe::{
    Colour, Fitting, Flatten, FormatName, Goal, Gravity, Keep, Output, Pad, Recipe, Rotate, Step,
    Trim, Wish,
};

use super::{Fit, Position, SharpRules};
use crate::{effects, geometry};

impl SharpRules {
    pub(super) fn to_wish(&self) -> Wish {
        let pipeline = &self.pipeline;
        let resize = &pipeline.resize;
        let mut beyond = Vec::new();
        let both = resize.width.is_some() && resize.height.is_some();
        let fit = match resize.fit {
            _ if !resize.has_side() => Fitting::Nothing,
            Fit::Cover if both => Fitting::Cover,
            Fit::Contain if both => Fitting::Pad(resize.padding_colour),
            Fit::Fill => Fitting::Exact,
            Fit::Outside if both => {
                beyond.push("fit=outside".to_owned());
                Fitting::Inside
            }
            _ => Fitting::Inside,
        };
        let degrees = pipeline.degrees.rem_euclid(360.0);
        let turn = geometry::turn(degrees as u32).filter(|_| degrees % 90.0 == 0.0);
        let rotate = (degrees % 90.0 != 0.0).then_some(Step::Rotate(Rotate {
            degrees,
            colour: pipeline.corners.unwrap_or(Colour::BLACK),
        }));
        let turns = pipeline.flips().map(Step::Flip).into_iter();
        let turns = turns.chain(turn.map(Step::Turn)).chain(rotate);
        let (turns_before, turns_after): (Vec<_>, Vec<_>) = match pipeline.turns_first {
            true => (turns.collect(), Vec::new()),
            false => (Vec::new(), turns.collect()),
        };
        let part = |part: Option<[u32; 4]>| part.map(|[x, y, w, h]| Step::crop(x, y, w, h));
        let trim = pipeline.trim.map(|tolerance| Step::Trim(Trim(tolerance)));
        let margins = pipeline
            .margins
            .map(|([top, right, bottom, left], colour)| {
                Step::Pad(Pad {
                    top,
                    right,
                    bottom,
                    left,
                    colour,
                })
            });
        let ground = pipeline.ground.map(|colour| Step::Flatten(Flatten(colour)));
        let before = trim.into_iter().chain(part(pipeline.part));
        let after = turns_after.into_iter().chain(part(pipeline.later_part));
        let after = after.chain(margins).chain(ground);
        let effects = effects::steps(pipeline.effects.iter().cloned().map(Some));
        Wish {
            before: before.chain(turns_before).collect(),
            fit,
            w: resize.width.map(f64::from),
            h: resize.height.map(f64::from),
            enlarge: resize.enlarge,
            keep: match resize.position {
                Position::Salient => Keep::Salient,
                position => Keep::Towards(Gravity::at(position.halves())),
            },
            after: after.chain(effects).collect(),
            beyond,
            ..Wish::of(&Recipe::from(self.requested_output()))
        }
    }

    /// Returns the output settings that the URL asks for, without sharp's defaults.
    fn requested_output(&self) -> Output {
        let mut output = self.output.clone();
        output.goal = self.encoding.quality.map(Goal::Quality);
        if self.is_chosen_by_accept {
            output.format = FormatName::new(Output::AUTO).ok();
        }
        let is_gif = output
            .format
            .as_ref()
            .is_some_and(|name| name.as_str() == "gif");
        output.frame = (self.encoding.is_still && !is_gif).then_some(1);
        output
    }
}
