//! Applies recipes to many images, outside the server. The shared code of `andon convert` and the Python package.
//!
//! A [`Renderer`] plans and runs one or more recipes for an image in memory; [`each`] processes many images on several
//! threads. The crate opens no file and depends on no image format.
//!
//! ```
//! use andon_batch::{Overlays, Renderer};
//! use andon_pixels::{Limits, Never};
//! use andon_recipe::Recipe;
//!
//! let renderer = Renderer::new(andon_codecs::ALL, Limits::default(), Overlays::default());
//! let svg = br#"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"/>"#;
//! let recipes = ["fit:20x20,as:png", "fit:10x10,as:webp"];
//! let recipes: Vec<Recipe> = recipes.iter().filter_map(|text| text.parse().ok()).collect();
//! let made = renderer.render(&recipes, svg, &Never).made;
//! let sizes: Vec<_> = made.iter().flatten().map(|image| (image.width, image.height)).collect();
//! assert_eq!(sizes, [(20, 15), (10, 8)]);
//! ```

#![forbid(unsafe_code)]

mod each;
mod overlays;
mod renderer;

pub use each::each;
pub use overlays::Overlays;
pub use renderer::{Renderer, Results};
