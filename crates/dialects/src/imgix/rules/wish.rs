//! Converts imgix's parameters to a [`Wish`], the terms that all dialects share.

use andon_recipe::{
    Colour, Cover, Exact, Flatten, Gravity, Orientation, Output, Recipe, Rotate, Step, StoredTurn,
    Wish,
};

use super::{ImgixRules, overlays, rect};

/// Width and height in px of the source for which the steps of a [`Wish`] are computed. They exceed the usual boxes, so
/// that no step depends on the size of the source.
const LARGE: (u32, u32) = (1 << 19, 1 << 19);

impl ImgixRules {
    /// Converts the parameters to the terms that all dialects share. Values that depend on the image's size have no
    /// equivalent in these terms, and are listed in [`Wish::beyond`].
    pub(super) fn to_wish(&self) -> Wish {
        let query = &self.query;
        let mut beyond: Vec<String> = ["blend", "mark", "txt", "fp-z", "rect", "w", "h"]
            .into_iter()
            .filter(|key| match *key {
                "rect" | "w" | "h" => query
                    .text(key)
                    .is_some_and(|text| text.split(',').any(is_relative)),
                key => query.text(key).is_some(),
            })
            .map(str::to_owned)
            .collect();
        beyond.extend(overlays::mask_image(query).map(|_| "mask".to_owned()));
        beyond.extend((query.text("fit") == Some("min")).then(|| "fit=min".to_owned()));
        let mut steps = self.turns();
        steps.extend(self.trim());
        steps.extend(query.text("rect").and_then(|text| rect(text, LARGE)));
        steps.extend(self.rotation());
        let mut sizes = self.sizes(LARGE);
        if self.zoom().is_some()
            && let Some(Step::Exact(Exact { w, h })) =
                sizes.pop_if(|step| matches!(step, Step::Exact(_)))
        {
            // The part to zoom in on depends on the image's size, so that the crop to it is replaced.
            sizes.pop();
            let gravity = Gravity::Centre;
            sizes.push(Step::Cover(Cover {
                w,
                h,
                gravity,
                enlarge: true,
            }));
        }
        steps.extend(sizes);
        steps.extend(self.tones());
        steps.extend(self.details());
        steps.extend(self.edges(None));
        steps.extend(self.ground_of_all());
        steps.extend(self.margins());
        let stored_turn = match query.text("orient") {
            Some(_) => StoredTurn::Verbatim,
            None => StoredTurn::Applied,
        };
        let output = Output {
            stored_turn,
            ..self.output.clone()
        };
        Wish {
            beyond,
            ..Wish::of(&Recipe { steps, output })
        }
    }

    fn rotation(&self) -> Option<Step> {
        let degrees = self.query.number("rot").filter(|degrees| *degrees > 0.0)?;
        let turn = Orientation {
            mirror: false,
            quarters: (degrees / 90.0) as u8,
        };
        match degrees % 90.0 == 0.0 {
            true => turn.steps().next(),
            false => Some(Step::Rotate(Rotate {
                degrees,
                colour: self.colour("bg").unwrap_or(Colour::CLEAR),
            })),
        }
    }

    fn ground_of_all(&self) -> Option<Step> {
        let ground = self.colour("bg").filter(|ground| ground.a == u8::MAX);
        ground.map(|colour| Step::Flatten(Flatten(colour)))
    }
}

/// Whether a value is a share of a side, or a word for a place, rather than px.
fn is_relative(text: &str) -> bool {
    text.parse::<f64>()
        .map_or(true, |number| number > 0.0 && number <= 1.0)
}
