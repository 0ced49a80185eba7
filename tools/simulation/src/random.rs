//! Pseudo-random numbers, which are the same for the same seed.

pub use andon_client::Random;

/// Hashes a number to one that appears unrelated to it.
#[must_use]
pub fn scramble(number: u64) -> u64 {
    Random::new(number).bits()
}
