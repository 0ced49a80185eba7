//! Andon's own URLs: `/r/RECIPE/SOURCE`, such as `/r/fit:250x250,as:webp/trip/a.jpg`.
//!
//! RECIPE is one raw path segment that is decoded once and parsed strictly: anything that is not part of a recipe is an
//! error. Commas and colons need no escape, and a percent sign is written `%25`. Every recipe has one canonical text. A
//! target in another spelling is served with a `Link` header to the canonical one, or redirected to it. `as:json`
//! requests facts about the image, and `as:json,with:colours:5,with:uri` also data computed from the result's pixels.
//! `/p/NAME/SOURCE` applies the recipe of a preset, and with `only_presets` nothing else is served.

mod config;
mod facts;
mod form;
mod spell;

use std::collections::BTreeMap;
use std::sync::Arc;

use andon_recipe::{Recipe, unknown};

pub use config::{Canonical, NativeConfig};

use crate::dialect::{Dialect, Target};
use crate::percent;
use crate::refusal::Refusal;
use crate::request::{Ask, ImageRequest, Redirect, Source};
use facts::Facts;

#[derive(Debug)]
struct Native {
    /// Path prefix of URLs with a recipe, without a trailing slash.
    prefix: String,
    canonical: Canonical,
    /// Path prefix of URLs with a preset, without a trailing slash.
    preset_prefix: String,
    only_presets: bool,
    presets: BTreeMap<String, Recipe>,
}

impl Native {
    fn preset(&self, name: &str) -> Result<Recipe, Refusal> {
        self.presets.get(name).cloned().ok_or_else(|| {
            let names: Vec<&str> = self.presets.keys().map(String::as_str).collect();
            Refusal::new(name, unknown("preset", name, &names))
        })
    }
}

impl Dialect for Native {
    fn example(&self, path: &str) -> String {
        match self.presets.keys().next().filter(|_| self.only_presets) {
            Some(name) => format!("{}/{name}{path}", self.preset_prefix),
            None => format!("{}/fit:250x250{path}", self.prefix),
        }
    }

    fn source_patterns(&self) -> Vec<String> {
        let presets = (!self.presets.is_empty()).then_some(&self.preset_prefix);
        let mounts = presets.into_iter().chain([&self.prefix]);
        let pattern = |mount: &str| format!("{}/[^/?]+/+([^?]*)", regex::escape(mount));
        mounts.map(|mount| pattern(mount)).collect()
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        // Without presets, their prefix is available to plain files.
        let preset = target
            .below(&self.preset_prefix)
            .filter(|_| !self.presets.is_empty());
        let Some(rest) = preset.or_else(|| target.below(&self.prefix)) else {
            return Ok(None);
        };
        if self.only_presets && preset.is_none() {
            let why = format!(
                "only presets are served: `{}/NAME/file`",
                self.preset_prefix
            );
            return Err(Refusal::new(target.path, why));
        }
        let (recipe, source) = rest.split_once('/').unwrap_or((rest, ""));
        let source = Source::path_or_url(source)?;
        if source.as_str().is_empty() {
            let why = match preset {
                Some(_) => format!("it must be `{}/NAME/file`", self.preset_prefix),
                None => format!("it must be `{}/RECIPE/file`", self.prefix),
            };
            return Err(Refusal::new(target.path, format!("no file follows: {why}")));
        }
        let first = percent::decode(recipe)?;
        let mut recipe: Recipe = match preset {
            Some(_) => self.preset(&first)?,
            None => first.parse().map_err(|error| {
                if self.presets.contains_key(&first) {
                    let why = format!("it is a preset: `{}/{first}/file`", self.preset_prefix);
                    return Refusal::new(&first, why);
                }
                let andon_recipe::ParseError { piece, expected } = error;
                let why = format!("it is no part of a recipe; expected {expected}");
                Refusal::new(&piece, why)
            })?,
        };
        let format = recipe.output.format.as_ref();
        let ask = match format.is_some_and(|format| format.as_str() == facts::FORMAT) {
            true => Ask::Describe(Arc::new(Facts::of(&mut recipe)?)),
            false => Ask::Image,
        };
        let mut request = ImageRequest {
            ask,
            ..ImageRequest::image(source, recipe)
        };
        // URLs of presets and of rewrite rules are chosen by the operator, and so never redirected.
        let canonical = match preset.is_some() || target.is_rewritten {
            true => None,
            false => self.write(&request).filter(|text| text != target.path),
        };
        match (self.canonical, canonical) {
            // The signature in front of the target is not valid for the canonical one.
            (Canonical::Redirect, Some(to)) if target.front.is_empty() => {
                request.ask = Ask::Redirect(Redirect { to, status: 301 });
            }
            (_, canonical) => request.style.canonical = canonical,
        }
        Ok(Some(request))
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let mut recipe = request.rules.text();
        match &request.ask {
            Ask::Image => {}
            Ask::Describe(document) => {
                let mut facts: Recipe = recipe.parse().ok()?;
                Facts::add_options(&document.name(), &mut facts);
                recipe = facts.to_string();
            }
            Ask::File | Ask::Redirect(_) | Ask::Text { .. } => return None,
        }
        let mut prefix = &self.prefix;
        if self.only_presets {
            let mut presets = self.presets.iter();
            let (name, _) = presets.find(|(_, preset)| preset.to_string() == recipe)?;
            recipe.clone_from(name);
            prefix = &self.preset_prefix;
        }
        let recipe = percent::encode(&recipe, "");
        let source = &request.source;
        let source = source
            .escaped()
            .unwrap_or_else(|| percent::encode(source.as_str(), "/").into());
        Some(format!("{prefix}/{recipe}/{source}"))
    }
}

#[cfg(test)]
mod tests;
