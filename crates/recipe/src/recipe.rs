//! Recipes: steps, and settings for the output.

use crate::{Effect, Original, Output, Step, StoredTurn};

/// The operations of one request on an image, and how its result is written. The default recipe changes nothing but the
/// encoding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    /// Steps to apply, in order.
    pub steps: Vec<Step>,
    /// Settings for the output.
    pub output: Output,
}

impl Recipe {
    /// Maximum number of steps of a recipe. It is limited because each step may cost as much as a whole image.
    pub const MOST_STEPS: usize = 64;

    /// Returns the recipe whose result is the source's own bytes.
    #[must_use]
    pub fn original() -> Self {
        Self {
            steps: vec![Step::Original(Original)],
            output: Output::default(),
        }
    }

    /// Whether the result is the source's own bytes, whatever they are.
    #[must_use]
    pub fn is_original(&self) -> bool {
        self.steps.contains(&Step::Original(Original))
    }

    /// Returns the effects among the steps, in order.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        self.steps.iter().filter_map(|step| match step {
            Step::Effect(effect) => Some(effect),
            _ => None,
        })
    }

    /// Returns the names of the overlay files of the effects, and of the recipes of their overlays.
    #[must_use]
    pub fn overlays(&self) -> Vec<String> {
        let mut names = Vec::new();
        for effect in self.effects() {
            effect.add_overlays(&mut names);
        }
        names
    }

    /// Returns the number of steps, including those in the recipes of overlays.
    pub(crate) fn steps_in_all(&self) -> usize {
        let of = |step: &Step| match step {
            Step::Effect(effect) => effect.steps(),
            _ => 1,
        };
        self.steps.iter().map(of).sum()
    }
}

/// Creates a recipe of these steps with the default output.
impl From<Vec<Step>> for Recipe {
    fn from(steps: Vec<Step>) -> Self {
        Self {
            steps,
            output: Output::default(),
        }
    }
}

impl Recipe {
    /// Creates a recipe whose steps are applied to the pixels as they are stored, without turning them upright first. A
    /// step may still turn them.
    #[must_use]
    pub fn of_stored(steps: Vec<Step>, output: Output) -> Self {
        let stored_turn = match output.stored_turn {
            StoredTurn::Applied => StoredTurn::Kept,
            stored_turn => stored_turn,
        };
        let output = Output {
            stored_turn,
            ..output
        };
        Self { steps, output }
    }
}

/// Creates a recipe without steps.
impl From<Output> for Recipe {
    fn from(output: Output) -> Self {
        Self {
            steps: Vec::new(),
            output,
        }
    }
}
