//! What is wanted of an image.
//!
//! A [`Recipe`] is a list of steps in the order in which they act, with ONE canonical text: the log
//! line, the tests' notation and, once it is resolved, the cache key. It knows no file, no codec and no
//! pixel. Sizes may be relative; [`Rules::resolve`] meets the source's [`Facts`] and makes them whole
//! pixels. URL dialects with an arithmetic of their own are other [`Rules`] that resolve to the same
//! recipes, so that equal requests share one result however they are written.
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
//! | change the arithmetic of sizes | `crates/recipe/src/resolve.rs`; small_light's own: `crates/dialects/src/small_light/rules/layout.rs` |
//! | add a word to the recipe's text | its declaration in `crates/recipe/src/words.rs`, then `step.rs`, `text/`, `resolve.rs` |

#![forbid(unsafe_code)]

pub mod args;
mod measure;
mod nearest;
pub mod options;
mod orientation;
mod resolve;
mod rules;
mod step;
mod text;
mod types;
mod wish;
mod words;

pub use args::{Arg, Word};
pub use measure::{Area, Measure, Measured};
pub use nearest::{nearest, unknown};
pub use orientation::Orientation;
pub use resolve::{rotated_size, size_after};
pub use rules::{Facts, ResolveError, Rules};
pub use step::{Bounds, Canvas, Colour, Crop, Effect, Flip, Gravity, Length, Pad, Step, Turn};
pub use text::ParseError;
pub use types::{Background, Chroma, FormatName, Goal, Kept, Output, Profile, Recipe, StoredTurn};
pub use wish::{Fit, Keep, Wish};
pub use words::{GRAVITIES, WORDS};
