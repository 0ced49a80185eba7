//! Separable resampling of one plane of 8- or 16-bit samples: first vertically, then horizontally, in blocks that stay
//! in the L1 and L2 caches.
//!
//! 8-bit samples: weights have 14 fractional bits and sum to exactly one. Between the passes, samples have 16 bits, 6
//! of them fractional. Error against the exact convolution: at most 1 level for kernels whose absolute weights sum to 2
//! or less and that have up to about thirty weights along each axis.
//!
//! 16-bit samples: 32-bit floats, with fused multiply-adds in a fixed order, so that every processor rounds alike.
//! Error: at most 0.6 levels.

mod kernel;
mod narrow;
mod weights;
mod wide;

// Without vector kernels, the module that orders their work is unused.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code)
)]
mod bands;
#[cfg(target_arch = "x86_64")]
mod layout;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::ops::Range;

use crate::cpu::Level;

pub use kernel::Kernel;
pub use weights::{Span, Weights};

/// A plane, or a window of one.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a, S> {
    /// Samples of the plane, starting with the first one of the window.
    pub samples: &'a [S],
    /// Number of samples from the beginning of one row to that of the next.
    pub stride: usize,
    /// Number of rows of the window.
    pub height: usize,
}

/// Computes result rows `rows` of a plane, with the horizontal weights `x` and the vertical weights `y`. `out` has
/// room for exactly these rows, each `x.output()` samples long.
///
/// # Panics
/// If the source is smaller than the weights require, or `out` does not fit, which are bugs in the caller.
pub fn rows<S: Resampled>(
    source: Source<'_, S>,
    x: &Weights<S>,
    y: &Weights<S>,
    rows: Range<usize>,
    out: &mut [S],
) {
    rows_on(Level::best(), source, x, y, rows, out);
}

/// Like `rows`, but with the instructions of `level`, for tests and benchmarks.
///
/// # Panics
/// As for `rows`, and if the processor does not support `level`.
pub fn rows_on<S: Resampled>(
    level: Level,
    source: Source<'_, S>,
    x: &Weights<S>,
    y: &Weights<S>,
    rows: Range<usize>,
    out: &mut [S],
) {
    assert!(
        source.stride >= x.input && source.height >= y.input,
        "a source smaller than its weights"
    );
    assert!(
        source.samples.len() >= (source.height - 1) * source.stride + x.input,
        "a source cut short"
    );
    assert!(rows.end <= y.output(), "rows beyond the result");
    assert_eq!(out.len(), rows.len() * x.output(), "the result's samples");
    assert!(level.is_there(), "{level:?} on a processor without");
    if let Some(passes) = S::passes(level) {
        // SAFETY: the processor supports the level, and all other conditions were checked as well.
        unsafe { bands::rows(passes, source, x, y, rows, out) };
        return;
    }
    S::rows_scalar(source, x, y, rows, out);
}

/// Samples that can be resampled: `u8` and `u16`.
pub trait Resampled: sealed::Resampled {}

impl Resampled for u8 {}
impl Resampled for u16 {}

mod sealed {
    use super::bands::Passes;
    use super::{Debug, Level, Range, Source, Weights};

    pub trait Resampled: Copy + Default + Debug + 'static {
        /// The weight of a sample.
        type Weight: Copy + Default + PartialEq + Debug;

        /// A sample as stored between the vertical and the horizontal pass.
        type Between: Copy + Default;

        /// Converts weights that sum to one to the type used for multiplication. Both slices have the same length.
        /// `middle` is the index of the weight on which a rounding correction has the least effect.
        fn round_weights(window: &[f64], middle: usize, values: &mut [Self::Weight]);

        /// Returns the vector kernels of a level, if there are any.
        fn passes(level: Level) -> Option<&'static Passes<Self, Self::Between>>
        where
            Self: super::Resampled;

        /// Scalar reference version of [`super::rows_on`], called after its conditions were checked.
        fn rows_scalar(
            source: Source<'_, Self>,
            x: &Weights<Self>,
            y: &Weights<Self>,
            rows: Range<usize>,
            out: &mut [Self],
        ) where
            Self: super::Resampled;
    }
}
