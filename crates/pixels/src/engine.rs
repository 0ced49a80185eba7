//! Plans and runs: the crate's front door.

use std::time::Duration;

use andon_recipe::Recipe;

use crate::codec::{Codec, Info};
use crate::error::Result;
use crate::limits::{Interrupt, Limits};
use crate::plan::Plan;
use crate::stage::Materials;

/// Turns recipes into plans and plans into pictures. Cheap to clone, free of state: any number of
/// threads may share one.
#[derive(Clone)]
pub struct Engine {
    #[allow(dead_code)]
    codecs: &'static [&'static dyn Codec],
    #[allow(dead_code)]
    limits: Limits,
}

/// A finished picture.
#[derive(Debug)]
pub struct Rendered {
    /// Its bytes; `None`: the source's own, untouched.
    pub body: Option<Vec<u8>>,
    /// Its media type, from its true format.
    pub media_type: &'static str,
    /// Width in px.
    pub width: u32,
    /// Height in px.
    pub height: u32,
    /// Where the time went.
    pub timings: Timings,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    /// Decoding.
    pub decode: Duration,
    /// Every stage between decoding and encoding.
    pub stages: Duration,
    /// Encoding.
    pub encode: Duration,
}

impl Engine {
    /// An engine over these codecs, within these limits.
    #[must_use]
    pub fn new(codecs: &'static [&'static dyn Codec], limits: Limits) -> Self {
        Self { codecs, limits }
    }

    /// Reads a picture's header.
    ///
    /// # Errors
    /// `UnknownFormat`, `Broken`, `Unsupported`, `Limit`.
    pub fn probe(&self, bytes: &[u8]) -> Result<Info> {
        let _ = bytes;
        todo!()
    }

    /// Plans a recipe for the picture in `bytes`: reads its header only.
    ///
    /// # Errors
    /// As `probe`, and `Recipe`, and `Limit` for a result or a peak that is too large.
    pub fn plan(&self, recipe: &Recipe, bytes: &[u8]) -> Result<Plan> {
        let _ = (recipe, bytes);
        todo!()
    }

    /// Runs a plan on the bytes it was made for.
    ///
    /// # Errors
    /// Any.
    pub fn run(
        &self,
        plan: &Plan,
        bytes: &[u8],
        materials: &dyn Materials,
        interrupt: &dyn Interrupt,
    ) -> Result<Rendered> {
        let _ = (plan, bytes, materials, interrupt);
        todo!()
    }
}
