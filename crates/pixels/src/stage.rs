//! Stages: what a plan is made of. Each takes a frame and gives a frame, prints itself and says what it
//! costs.

use std::fmt;

use andon_recipe::{Effect, ParseError, Word};

use crate::cores::Cores;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::{Frame, Image, Traits};
use crate::limits::Interrupt;

/// One step of a plan. `Display` is its line in the printed plan, such as `resize 400x300 lanczos3`.
pub trait Stage: fmt::Display + fmt::Debug + Send + Sync {
    /// Does the work.
    ///
    /// # Errors
    /// `Interrupted`, `Recipe` (a material that is missing or no image).
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame>;

    /// What comes out when `traits` go in: the planner follows the model through the plan.
    fn after(&self, traits: Traits) -> Traits {
        traits
    }

    /// The size that comes out when `width` × `height` goes in.
    fn size_after(&self, width: u32, height: u32) -> (u32, u32) {
        (width, height)
    }

    /// May it bring colour into a gray image? Then the planner makes room for it.
    fn adds_colour(&self) -> bool {
        false
    }

    /// What it does to the gain map of an image of `size`, which is of the size `map`. Whoever changes what is shown
    /// where, or how bright it is, and does not say otherwise, leaves the map without meaning.
    fn on_gain_map(&self, size: (u32, u32), map: (u32, u32)) -> OnGainMap {
        let _ = (size, map);
        OnGainMap::Voids
    }

    /// Estimated cost for an input of this size, and the memory held beside input and output.
    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost;

    /// The effect whose material it lays over its input, if it lays one. `cost` guesses how large that is.
    fn lays(&self) -> Option<&Effect> {
        None
    }

    /// As `cost`, where the material has this size.
    fn cost_of_laying(
        &self,
        material: (u32, u32),
        width: u32,
        height: u32,
        traits: Traits,
    ) -> Cost {
        let _ = material;
        self.cost(width, height, traits)
    }
}

/// What happens to an image's gain map where a stage acts on the image.
#[derive(Debug)]
pub enum OnGainMap {
    /// It holds as it is.
    Keeps,
    /// It goes through this one.
    Follows(Box<dyn Stage>),
    /// It says nothing about the image any more.
    Voids,
}

/// What stages may ask for while they run.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// What an effect composes with, as its own recipe leaves it.
    pub materials: &'a dyn Fn(&Effect) -> Result<Image>,
    /// Draws a document in SVG.
    pub draw: &'a dyn Fn(&str) -> Result<Image>,
    /// Is the result still wanted?
    pub interrupt: &'a dyn Interrupt,
    /// Idle cores that may be borrowed.
    pub cores: &'a dyn Cores,
}

impl Context<'_> {
    /// Stops when nobody wants the result any more.
    ///
    /// # Errors
    /// `Interrupted`.
    pub fn check(&self) -> Result<()> {
        if self.interrupt.interrupted() {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }
}

/// Files that recipes compose with (icons), by name.
pub trait Materials: Sync {
    /// The file's bytes.
    ///
    /// # Errors
    /// `Recipe` naming the material when it is missing or may not be read.
    fn load(&self, name: &str) -> Result<Vec<u8>>;

    /// The image in the file: at hand, or by `decode` from its bytes.
    ///
    /// # Errors
    /// As `load` and `decode`.
    fn picture(&self, name: &str, decode: &dyn Fn(&[u8]) -> Result<Image>) -> Result<Image> {
        decode(&self.load(name)?)
    }
}

/// No materials at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMaterials;

impl Materials for NoMaterials {
    fn load(&self, name: &str) -> Result<Vec<u8>> {
        Err(Error::Recipe {
            piece: name.to_owned(),
            why: "no folder of materials is configured (small_light.material_dir)".to_owned(),
        })
    }
}

/// One effect that recipes can name: one file in `ops/`, one entry in `ops::ALL`.
pub trait Op: Send + Sync {
    /// Its word in a recipe, with its arguments, their ranges and an example; tests parse and run it.
    fn word(&self) -> &'static Word;

    /// The stage for an effect of this word. `None`: its arguments ask for nothing (a blur of 0).
    ///
    /// # Errors
    /// `Recipe` with the offending argument.
    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>>;
}

/// The error for an argument of an effect.
pub(crate) fn wrong(effect: &Effect, error: &ParseError) -> Error {
    Error::Recipe {
        piece: effect.to_string(),
        why: format!("`{}` should be {}", error.piece, error.expected),
    }
}
