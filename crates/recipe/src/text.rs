//! The canonical text, both ways.
//!
//! Steps stand between commas, their arguments between colons:
//!
//! ```text
//! orient,crop:10:10:50%x50%,cover:400x300,pad:0:8:0:8:ffffff,blur:0x1.5,as:webp,q:80
//! ```
//!
//! Steps act in the order in which they are written. How the result is written may be said anywhere, and
//! is printed last. Numbers are printed as short as they can be, and defaults not at all.

mod parse;
mod print;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::any_recipe;
