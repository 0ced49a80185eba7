//! Stages: the steps of a plan. Each takes a frame and returns a frame, prints itself and estimates its cost.

use std::fmt;

use andon_recipe::{Effect, ParseError, Word};

use crate::codec::Text;
use crate::cores::Cores;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::{Frame, Image, Traits};
use crate::limits::Interrupt;

/// One step of a plan. Its `Display` is the step's line in the printed plan, such as `resize 400x300 lanczos3`.
pub trait Stage: fmt::Display + fmt::Debug + Send + Sync {
    /// Runs the stage on a frame.
    ///
    /// # Errors
    /// `Interrupted`, or `Recipe` for an overlay that is missing or is no image.
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame>;

    /// Returns the traits of the result for an input with `traits`. With them, the planner tracks the model through the
    /// plan.
    fn after(&self, traits: Traits) -> Traits {
        traits
    }

    /// Returns the size of the result for an input of `width` × `height` px.
    fn size_after(&self, width: u32, height: u32) -> (u32, u32) {
        (width, height)
    }

    /// Whether the stage may bring colour into a gray image. If so, the planner converts the image to a model with
    /// colour first.
    fn adds_colour(&self) -> bool {
        false
    }

    /// Returns the effect of the stage on the gain map of size `map` of an image of size `size`, both in px. By default
    /// the map becomes invalid; stages that change neither positions nor brightness, or whose geometry the map can
    /// follow, override this.
    fn on_gain_map(&self, size: (u32, u32), map: (u32, u32)) -> OnGainMap {
        let _ = (size, map);
        OnGainMap::Voids
    }

    /// Returns the estimated cost for an input of this size, including the memory needed in addition to input and
    /// output.
    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost;

    /// Returns the effect whose overlay image the stage composites over its input, if it has one. `cost` can only guess
    /// the size of that overlay.
    fn lays(&self) -> Option<&Effect> {
        None
    }

    /// Returns the cost as `cost` does, for an overlay image of this size.
    fn cost_of_laying(&self, overlay: (u32, u32), width: u32, height: u32, traits: Traits) -> Cost {
        let _ = overlay;
        self.cost(width, height, traits)
    }
}

/// The effect of a stage on an image's gain map.
#[derive(Debug)]
pub enum OnGainMap {
    /// The gain map stays valid as it is.
    Keeps,
    /// The gain map is processed by this stage.
    Follows(Box<dyn Stage>),
    /// The gain map becomes invalid and is dropped.
    Voids,
}

/// What stages may use while they run.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Loads the overlay image of an effect, with the effect's own recipe applied.
    pub overlays: &'a dyn Fn(&Effect) -> Result<Image>,
    /// Draws a text on a transparent background.
    pub draw: &'a dyn Fn(&Text<'_>) -> Result<Image>,
    /// Reports whether the result is no longer wanted.
    pub interrupt: &'a dyn Interrupt,
    /// Idle cores that stages may use.
    pub cores: &'a dyn Cores,
}

impl Context<'_> {
    /// Fails if the result is no longer wanted.
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

/// The files that recipes use as overlays, such as icons, by name.
pub trait OverlaySource: Sync {
    /// Returns the bytes of a file.
    ///
    /// # Errors
    /// `Recipe`, naming the overlay, when it is missing or may not be read.
    fn load(&self, name: &str) -> Result<Vec<u8>>;

    /// Returns the image in a file: from a cache, or decoded by `decode` from the file's bytes.
    ///
    /// # Errors
    /// Those of `load` and `decode`.
    fn image(&self, name: &str, decode: &dyn Fn(&[u8]) -> Result<Image>) -> Result<Image> {
        decode(&self.load(name)?)
    }
}

/// An empty set of overlay files.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOverlays;

impl OverlaySource for NoOverlays {
    fn load(&self, name: &str) -> Result<Vec<u8>> {
        Err(Error::Recipe {
            piece: name.to_owned(),
            why: "no folder of overlays is configured (small_light.material_dir)".to_owned(),
        })
    }
}

/// An effect that recipes can name: a file in `ops/` and an entry in `ops::ALL`.
pub trait Op: Send + Sync {
    /// Returns the effect's word in recipes, with its arguments, their ranges and an example, which tests parse and
    /// run.
    fn word(&self) -> &'static Word;

    /// Returns the stage for an effect with this word. `None`: its arguments change nothing (such as a blur of 0).
    ///
    /// # Errors
    /// `Recipe` with the offending argument.
    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>>;
}

/// Returns the error for a wrong argument of an effect.
pub(crate) fn wrong(effect: &Effect, error: &ParseError) -> Error {
    let error = error.clone();
    // A comma or colon in a text ends it early, so the error may be in the rest of the text.
    let error = match effect.args.get(1) {
        Some(second) if *second != error.piece => error,
        _ => effect.explain(error),
    };
    Error::Recipe {
        piece: effect.to_string(),
        why: format!("`{}` should be {}", error.piece, error.expected),
    }
}
