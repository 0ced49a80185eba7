//! Andon's own URLs: `/r/RECIPE/SOURCE`, such as `/r/fit:250x250,as:webp/trip/a.jpg`.
//!
//! RECIPE is one raw segment of the path, decoded once and read strictly: what is no part of a recipe is an error.
//! Commas and colons stand bare, a per cent sign is `%25`. Recipes have one canonical text; a target in another
//! spelling is served with a `Link` to the canonical one, or redirected to it. `as:json` asks for the facts.

mod config;
mod facts;

use std::sync::Arc;

use andon_recipe::Recipe;

pub use config::{Canonical, NativeConfig};

use crate::EXAMPLE_SOURCE;
use crate::dialect::{Dialect, Refusal, Target};
use crate::percent;
use crate::request::{Ask, ImageRequest, Redirect, Source};
use facts::Facts;

#[derive(Debug)]
struct Native {
    /// Without its last slash.
    prefix: String,
    canonical: Canonical,
}

impl Dialect for Native {
    fn example(&self) -> String {
        format!("{}/fit:250x250,q:95{EXAMPLE_SOURCE}", self.prefix)
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        let Some(rest) = target.below(&self.prefix) else {
            return Ok(None);
        };
        let (recipe, source) = rest.split_once('/').unwrap_or((rest, ""));
        let source = Source::path_or_url(source)?;
        if source.as_str().is_empty() {
            let prefix = &self.prefix;
            let why = format!("no file follows the recipe: it must be `{prefix}/RECIPE/file`");
            return Err(Refusal::new(target.path, why));
        }
        let mut recipe: Recipe = percent::decode(recipe)?.parse().map_err(|error| {
            let andon_recipe::ParseError { piece, expected } = error;
            Refusal::new(
                &piece,
                format!("it is no part of a recipe; expected {expected}"),
            )
        })?;
        let format = recipe.output.format.as_ref();
        let ask = match format.is_some_and(|format| format.as_str() == FACTS) {
            true => {
                recipe.output.format = None;
                Ask::Describe(Arc::new(Facts))
            }
            false => Ask::Picture,
        };
        let mut request = ImageRequest {
            ask,
            ..ImageRequest::picture(source, recipe)
        };
        let canonical = self.write(&request).filter(|text| text != target.path);
        match (self.canonical, canonical) {
            (Canonical::Redirect, Some(to)) => {
                request.ask = Ask::Redirect(Redirect { to, status: 301 });
            }
            (_, canonical) => request.style.canonical = canonical,
        }
        Ok(Some(request))
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let mut recipe = request.rules.text();
        match &request.ask {
            Ask::Picture => {}
            Ask::Describe(_) => {
                let mut facts: Recipe = recipe.parse().ok()?;
                facts.output.format = andon_recipe::FormatName::new(FACTS).ok();
                recipe = facts.to_string();
            }
            Ask::File | Ask::Redirect(_) | Ask::Text(_) => return None,
        }
        let prefix = &self.prefix;
        let recipe = percent::encode(&recipe, "");
        let source = percent::encode(request.source.as_str(), "/");
        Some(format!("{prefix}/{recipe}/{source}"))
    }
}

/// The format that asks for facts.
const FACTS: &str = "json";

#[cfg(test)]
mod tests;
