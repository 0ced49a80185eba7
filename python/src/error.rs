//! Converts errors of the engine to `andon.AndonError`.

use andon_batch::Renderer;
use andon_pixels::Error;
use andon_recipe::{ParseError, Recipe};
use pyo3::prelude::*;

mod python {
    pyo3::import_exception!(andon._types, AndonError);
}

/// Returns the Python exception for an error of the engine.
pub(crate) fn exception(error: Error) -> PyErr {
    python::AndonError::new_err((error.to_string(), error.kind(), error.status()))
}

/// Parses a recipe.
pub(crate) fn parse_recipe(text: &str) -> PyResult<Recipe> {
    let to_exception = |error: ParseError| {
        let kind = Error::Recipe {
            piece: error.piece.clone(),
            why: error.expected.clone(),
        };
        python::AndonError::new_err((error.to_string(), kind.kind(), kind.status()))
    };
    text.parse().map_err(to_exception)
}

/// Parses a recipe, and checks it for errors that can be found without an image.
pub(crate) fn parse_and_check(text: &str, renderer: &Renderer) -> PyResult<Recipe> {
    let recipe = parse_recipe(text)?;
    renderer.check(&recipe).map_err(exception)?;
    Ok(recipe)
}
