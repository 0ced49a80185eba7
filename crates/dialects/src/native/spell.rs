//! Writes wishes (requests in the terms that all dialects share) as Andon's own URLs with the default prefix.

use andon_recipe::Wish;

use crate::percent;
use crate::spelling::{Draft, Spelt};

/// Writes a request (a wish) as a URL of Andon's own dialect, which can express all of it except [`Wish::beyond`].
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let recipe = percent::encode(&wish.recipe().to_string(), "");
    Draft::default().finish(format!("/r/{recipe}/{source}"))
}
