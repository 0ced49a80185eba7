//! The images that are requested: their keys, what they take to make, and results that tell what they are of.

use std::time::Duration;

use andon_cache::{Entry, Key, Life};
use bytes::Bytes;

use crate::random::scramble;

/// The key of an image's result.
#[must_use]
pub fn key(image: u32) -> Key {
    Key::of(&[image.to_le_bytes()])
}

/// Where an image stands on the ring.
#[must_use]
pub fn hash(image: u32) -> u64 {
    scramble(u64::from(image))
}

/// What purges name it by.
#[must_use]
pub fn source(image: u32) -> String {
    format!("/photos/{image}.jpg")
}

/// A result that says which image it is of, and which version.
#[must_use]
pub fn result(image: u32, version: u32) -> Entry {
    let body = [image.to_le_bytes(), version.to_le_bytes()].concat();
    Entry {
        body: body.into(),
        source: source(image),
        life: Life::fresh_for(YEAR),
        ..Entry::default()
    }
}

/// The version that a result of `image` says; `None` if it is of another one.
#[must_use]
pub fn version_of(image: u32, result: &Bytes) -> Option<u32> {
    let (of, version) = result.split_first_chunk()?;
    let version = version.try_into().ok()?;
    (u32::from_le_bytes(*of) == image).then_some(u32::from_le_bytes(version))
}

/// What making an image's result takes, and what is known of it before.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// On one thread.
    pub takes: Duration,
    /// What its plan says, in nanoseconds: up to a quarter off.
    pub planned: u64,
    /// Bytes of the source.
    pub source_bytes: u64,
}

impl Work {
    /// That of an image: 6 to 36 ms, 14.6 on average.
    #[must_use]
    pub fn of(image: u32) -> Self {
        let dice = scramble(!u64::from(image));
        let millis = MILLIS[(dice % MILLIS.len() as u64) as usize];
        let off = 75 + (dice >> 8) % 51;
        let megabytes = 25 + (dice >> 16) % 51;
        Self {
            takes: Duration::from_millis(millis),
            planned: millis * off * 10_000,
            source_bytes: millis * megabytes * 2000,
        }
    }
}

/// Times of images: photographs of several megapixels, all of them worth a place in the shared store.
pub const MILLIS: [u64; 8] = [6, 8, 10, 12, 12, 15, 18, 36];

const YEAR: Duration = Duration::from_secs(365 * 86_400);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_tells_its_image_and_version_and_that_of_another_none() {
        let entry = result(7, 3);
        assert_eq!(version_of(7, &entry.body), Some(3));
        assert_eq!(version_of(8, &entry.body), None);
        assert_eq!(version_of(7, &Bytes::from_static(b"torn")), None);
    }

    #[test]
    fn plans_are_near_the_time_that_work_takes() {
        for image in 0..1000 {
            let work = Work::of(image);
            let ratio = work.planned as f64 / work.takes.as_nanos() as f64;
            assert!((0.74..1.27).contains(&ratio), "{ratio}");
        }
    }
}
