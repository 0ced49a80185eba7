//! What is wanted of a picture.
//!
//! A [`Recipe`] is one typed wish with ONE canonical text: it is the cache key, the ETag's input, the
//! log line and the tests' notation. URL dialects produce it, the planner in `pixels` reads it. It
//! knows no file, no codec and no pixel; sizes it cannot know before a picture is opened stay
//! relative until [`Recipe::layout`] meets the picture's size.
//!
//! ```
//! use andon_recipe::Recipe;
//! let recipe: Recipe = "fit:250x250,as:jpeg,q:95".parse().unwrap();
//! let layout = recipe.layout(4000, 3000).unwrap();
//! assert_eq!((layout.width, layout.height), (250, 187));
//! assert_eq!(recipe.to_string(), "fit:250x250,as:jpeg,q:95");
//! ```

#![forbid(unsafe_code)]

pub mod args;
mod layout;
mod text;
mod types;

pub use args::{Arg, Word};
pub use layout::{CanvasLayout, Layout, LayoutError, Rect, Scaling};
pub use text::ParseError;
pub use types::{
    Canvas, Chroma, Colour, Effect, Fit, Flatten, FormatName, Length, Original, Output, Recipe,
    Region, Size, Turn,
};
