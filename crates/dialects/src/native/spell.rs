//! Writes wishes as Andon's own URLs, with the usual prefix.

use andon_recipe::Wish;

use crate::percent;
use crate::spelling::{Said, Spelt};

/// Returns the URL for a wish.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let recipe = percent::encode(&wish.recipe().to_string(), "");
    Said::default().spelt(format!("/r/{recipe}/{source}"))
}
