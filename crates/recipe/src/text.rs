//! Parsing and printing of the canonical text of recipes.
//!
//! Steps are separated by commas, and their arguments by colons:
//!
//! ```text
//! orient,crop:10:10:50%x50%,cover:400x300,pad:0:8:0:8:ffffff,blur:0x1.5,as:webp,q:80
//! ```
//!
//! Steps are applied in the order in which they are written. Words for the output may be anywhere, and are printed
//! last. Numbers are printed in their shortest form, and defaults not at all.

mod parse;
mod print;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::any_recipe;
