//! Separable resampling of one plane of 8- or 16-bit samples: down the columns first, then along the
//! rows, in blocks that stay in the processor's near caches.
//!
//! 8-bit samples: weights have 14 fractional bits and sum to exactly one; between the passes samples keep
//! 6 fractional bits in 16. Error against the exact convolution: at most 1 level for kernels whose
//! absolute weights sum to 2 or less and that weigh up to some thirty samples along each axis.
//!
//! 16-bit samples: in 32-bit floats, by fused multiplications and additions in one order, which every
//! processor rounds alike. Error: at most 0.6 levels.

mod kernel;
mod narrow;
mod weights;
mod wide;

// Without vector kernels there is nothing to order.
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
    /// Its samples from the window's first on.
    pub samples: &'a [S],
    /// Samples from one row to the next.
    pub stride: usize,
    /// Rows of the window.
    pub height: usize,
}

/// Makes result rows `rows` of a plane: `out` holds just those, each `x.output()` long.
///
/// # Panics
/// When the source is smaller than the weights read, or `out` does not fit: bugs of the caller.
pub fn rows<S: Resampled>(
    source: Source<'_, S>,
    x: &Weights<S>,
    y: &Weights<S>,
    rows: Range<usize>,
    out: &mut [S],
) {
    rows_on(Level::best(), source, x, y, rows, out);
}

/// Resamples rows with the instructions of one level, for tests and benches.
///
/// # Panics
/// Also when the processor lacks that level.
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
        // SAFETY: the level is there, and the rest was checked as well.
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
        /// What one sample is weighed with.
        type Weight: Copy + Default + PartialEq + Debug;

        /// A sample between the passes.
        type Between: Copy + Default;

        /// Weights, of sum one, as they are multiplied. Both slices are as long; `middle` is the index of
        /// the weight that a little more or less matters least to.
        fn round_weights(window: &[f64], middle: usize, values: &mut [Self::Weight]);

        /// The vector kernels of a level, if it has any.
        fn passes(level: Level) -> Option<&'static Passes<Self, Self::Between>>
        where
            Self: super::Resampled;

        /// Their twin: [`super::rows_on`], its conditions checked.
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
