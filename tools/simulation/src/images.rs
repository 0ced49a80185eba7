//! The images that are requested: their keys, the work of making them, and results that state which image they are of.

use std::time::Duration;

use andon_cache::{Entry, Key, Life};
use bytes::Bytes;

use crate::random::scramble;

/// Returns the cache key of an image's result.
#[must_use]
pub fn key(image: u32) -> Key {
    Key::of(&[image.to_le_bytes()])
}

/// Returns the position of an image on the hash ring.
#[must_use]
pub fn hash(image: u32) -> u64 {
    scramble(u64::from(image))
}

/// Returns the name of an image's source, as used by purges.
#[must_use]
pub fn source(image: u32) -> String {
    format!("/photos/{image}.jpg")
}

/// Returns a result that states its image and version.
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

/// Returns the version that a result of `image` states, or `None` if it is of another image.
#[must_use]
pub fn version_of(image: u32, result: &Bytes) -> Option<u32> {
    let (of, version) = result.split_first_chunk()?;
    let version = version.try_into().ok()?;
    (u32::from_le_bytes(*of) == image).then_some(u32::from_le_bytes(version))
}

/// The work for an image's result, and what is known about it in advance.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The time that it takes on one thread.
    pub takes: Duration,
    /// The time that the plan predicts, in nanoseconds. It is up to a quarter off.
    pub planned: u64,
    /// Size of the source in bytes.
    pub source_bytes: u64,
}

impl Work {
    /// Returns the work for an image. It takes 6 to 36 ms, 14.6 ms on average.
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

/// The times that images take, in milliseconds. They represent photos of several megapixels, all of which are worth
/// storing in the shared store.
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
