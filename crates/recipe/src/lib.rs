//! Recipes: which operations to apply to an image, and how to write the result.
//!
//! A [`Recipe`] is a list of steps in the order in which they are applied, with ONE canonical text: the log line, the
//! tests' notation and, once it is resolved, the cache key. It depends on no file, codec or pixels. Sizes may be
//! relative; [`Rules::resolve`] converts them to whole pixels with the source's [`Facts`]. URL dialects with an
//! arithmetic of their own are other [`Rules`] that resolve to the same recipes, so that equal requests share one
//! result however they are written.
//!
//! ```
//! use andon_recipe::{Facts, Recipe, Rules};
//! let recipe: Recipe = "cover:250x250,as:webp,q:80".parse().unwrap();
//! assert_eq!(recipe.to_string(), "cover:250x250,as:webp,q:80");
//! let resolved = recipe.resolve(&Facts::new("jpeg", 400, 300)).unwrap();
//! assert_eq!(resolved.to_string(), "exact:333x250,crop:41:0:250x250,as:webp,q:80");
//! ```
//!
//! # Where to begin
//!
//! | to … | open |
//! |---|---|
//! | change the arithmetic of sizes | the step's file in `crates/recipe/src/steps/`, and `crates/recipe/src/resolve/`; small_light's own: `crates/dialects/src/small_light/rules/layout.rs` |
//! | add a step | a file in `crates/recipe/src/steps/` that implements `Geometry`, and its line in `steps!` of `steps.rs` |
//! | add a word for output | its `Setting` in `crates/recipe/src/output/`, and its field in `Output` |

#![forbid(unsafe_code)]

pub mod args;
mod choices;
mod colour;
mod colour_names;
mod effect;
mod error;
mod gravity;
mod length;
mod measure;
mod nearest;
pub mod options;
mod orientation;
mod output;
mod recipe;
mod resolve;
mod rules;
mod spelling;
mod steps;
mod text;
mod wish;
mod words;

pub use args::{Arg, Word};
pub use colour::Colour;
pub use effect::Effect;
pub use error::ParseError;
pub use gravity::{GRAVITIES, Gravity};
pub use length::Length;
pub use measure::{Area, Measure, Measured};
pub use nearest::{nearest, unknown};
pub use options::{Chroma, Goal};
pub use orientation::Orientation;
pub use output::{Background, FormatName, Kept, Output, Profile, StoredTurn};
pub use recipe::Recipe;
pub use resolve::size_after;
pub use rules::{Blame, Facts, ResolveError, Rules};
pub use spelling::instead_of;
pub use steps::*;
pub use wish::{Fitting, Keep, Wish};
pub use words::words;
