//! Checks of a recipe that do not depend on an image.

use andon_recipe::{FormatName, Output, Recipe};

use super::draft::{encoder, named};
use super::{output, runs};
use crate::codec::Codec;
use crate::error::Result;
use crate::formats::Formats;
use crate::stage::wrong;

/// Returns an error for a recipe that cannot produce an image: an unknown effect or format, a format that cannot be
/// written, or arguments and options that are never accepted.
pub(crate) fn check(formats: &Formats, recipe: &Recipe) -> Result<()> {
    effects(recipe)?;
    let output = &recipe.output;
    if let Some(name) = &output.moving
        && name.as_str() != Output::SOURCE
    {
        writable_codec(formats, name)?;
    }
    if let Some(name) = output.format.as_ref().filter(|_| !output.is_open()) {
        let target = writable_codec(formats, name)?;
        // With a format for animations besides `format`, an option may be meant for that one.
        if output.moving.is_none() {
            output::settled(output, target, true)?;
        }
    }
    Ok(())
}

fn effects(recipe: &Recipe) -> Result<()> {
    for effect in recipe.effects() {
        runs::stage(effect)?;
        if let Some(recipe) = effect.recipe() {
            effects(&recipe.map_err(|error| wrong(effect, &error))?)?;
        }
    }
    Ok(())
}

fn writable_codec(formats: &Formats, name: &FormatName) -> Result<&'static dyn Codec> {
    let target = named(formats, name)?;
    encoder(target)?;
    Ok(target)
}
