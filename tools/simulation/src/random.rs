//! Numbers that look random and are the same for the same seed.

pub use andon_client::Random;

/// A number that has nothing to do with `number` and is always the same.
#[must_use]
pub fn scramble(number: u64) -> u64 {
    Random::new(number).bits()
}
