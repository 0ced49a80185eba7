//! Searches for the largest quality whose file is short enough.

use andon_recipe::options;

use crate::error::Result;
use crate::plan::output::{refusal, setting_text};

/// A binary search for the largest quality whose file is short enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    /// The most bytes that the file may have.
    pub(crate) bytes: u64,
    /// Whether the shortest file becomes the result if none is short enough.
    pub(crate) shortest: bool,
    /// The highest quality to try. A quality above the source's own would preserve no more detail.
    pub(crate) quality: u8,
}

impl Length {
    /// Returns an upper limit, in bytes, of the best file so far, which is kept while another one is tried. `frame` is
    /// the size of the frame in bytes.
    pub(crate) fn best_bytes(self, frame: u64) -> u64 {
        match self.shortest {
            true => frame,
            false => frame.min(self.bytes),
        }
    }

    /// Returns how many encodes the search takes at most.
    pub(crate) fn tries(self) -> u32 {
        u8::BITS - self.quality.leading_zeros()
    }

    /// Returns the quality that the search begins with.
    pub(crate) fn first(self) -> u8 {
        self.quality.div_ceil(2)
    }

    /// Returns the largest of the files that are short enough. Files are assumed to grow with the quality. If they do
    /// not, a larger one may be missed, but the result is still short enough.
    pub(crate) fn run(self, mut encode: impl FnMut(u8) -> Result<Vec<u8>>) -> Result<Vec<u8>> {
        let (mut fits, mut most) = (0, self.quality);
        let (mut best, mut shortest): (Option<Vec<u8>>, usize) = (None, usize::MAX);
        let mut fallback = None;
        while fits < most {
            let quality = fits + (most - fits).div_ceil(2);
            let file = encode(quality)?;
            shortest = shortest.min(file.len());
            if file.len() as u64 <= self.bytes {
                (fits, best, fallback) = (quality, Some(file), None);
            } else {
                most = quality - 1;
                // No file is short enough yet, and this one has the lowest quality so far.
                if self.shortest && best.is_none() {
                    fallback = Some(file);
                }
            }
        }
        best.or(fallback).ok_or_else(|| {
            refusal(
                &setting_text(options::MAX.name, &self.bytes.to_string()),
                format!(
                    "even at quality 1 it takes {shortest} bytes; allow more, or ask for a smaller size"
                ),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that grows by ten bytes with each step of the quality.
    fn file(quality: u8) -> Vec<u8> {
        vec![quality; usize::from(quality) * 10]
    }

    #[test]
    fn the_largest_quality_that_fits_is_found_in_as_many_tries_as_were_said() {
        for quality in 1..=100 {
            for fits in 1..=quality {
                let search = Length {
                    bytes: u64::from(fits) * 10 + 5,
                    shortest: false,
                    quality,
                };
                let mut tried = Vec::new();
                let found = search.run(|quality| {
                    tried.push(quality);
                    Ok(file(quality))
                });
                assert_eq!(found, Ok(file(fits)));
                assert_eq!(tried[0], search.first());
                assert!(tried.len() <= search.tries() as usize, "{tried:?}");
            }
        }
    }

    #[test]
    fn what_never_fits_is_an_error_that_says_how_short_it_can_be() {
        let search = Length {
            bytes: 9,
            shortest: false,
            quality: 100,
        };
        let error = search.run(|quality| Ok(file(quality))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`max:9` cannot be done: even at quality 1 it takes 10 bytes; allow more, or ask for a smaller size"
        );
    }

    #[test]
    fn what_never_fits_may_be_as_short_as_it_can_be() {
        let search = Length {
            bytes: 9,
            shortest: true,
            quality: 100,
        };
        assert_eq!(search.run(|quality| Ok(file(quality))), Ok(file(1)));
    }
}
