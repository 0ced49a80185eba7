//! The words of recipes, each declared once: parsing, the suggestions in error messages and the reference documentation
//! all use these declarations. Effects are declared by the engine, which checks them.

use std::iter;

use crate::{Word, output, steps};

/// The word for a recipe that changes nothing.
pub(crate) const SAME: Word = Word {
    name: "same",
    args: &[],
    help: "changes nothing but the encoding; stands alone. As everywhere, an image that is stored turned becomes \
           upright",
    example: "same",
};

/// Returns every word of recipes that is not an effect, in the order in which the reference documentation lists them. A
/// word that can be written in two forms, with different arguments, is returned twice.
pub fn words() -> impl Iterator<Item = &'static Word> {
    let output = || output::settings().map(|setting| setting.word);
    // The reference explains `stored` directly after `orient`, because the two exclude each other.
    let (alone, upright) = (1, 2);
    iter::once(&SAME)
        .chain(steps::words().take(upright))
        .chain(output().take(alone))
        .chain(steps::words().skip(upright))
        .chain(output().skip(alone))
}

/// Whether `name` is a word of recipes that is not an effect, so that no effect may have this name.
pub(crate) fn is_taken(name: &str) -> bool {
    words().any(|word| word.name == name)
}
