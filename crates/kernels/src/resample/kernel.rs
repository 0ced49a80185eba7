//! Resampling kernels: their curves, and tables of the curves.

use std::fmt;
use std::sync::LazyLock;

/// The kernel from which a resampler takes the weights of neighbouring samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Windowed sinc over three lobes, for photos.
    #[default]
    Lanczos3,
    /// Soft cubic without visible ringing, for palettes, alpha channels and enlarging.
    Mitchell,
    /// Cubic that is sharper than Mitchell.
    CatmullRom,
    /// Linear interpolation, or a triangle filter when shrinking.
    Bilinear,
    /// The mean of the area that an output sample covers.
    Box,
}

impl Kernel {
    const ALL: [Self; 5] = [
        Self::Lanczos3,
        Self::Mitchell,
        Self::CatmullRom,
        Self::Bilinear,
        Self::Box,
    ];

    /// Returns how far the kernel reaches to each side, in output samples (in input samples when enlarging).
    #[must_use]
    pub fn support(self) -> f64 {
        match self {
            Self::Lanczos3 => 3.0,
            Self::Mitchell | Self::CatmullRom => 2.0,
            Self::Bilinear => 1.0,
            Self::Box => 0.5,
        }
    }

    /// Returns the kernel's value at distance `x` from its centre, in output samples. The value is zero at distances
    /// greater than the support. A distance equal to the support is still inside the kernel: two input samples that
    /// lie exactly at the ends of a box must both count.
    #[must_use]
    pub fn at(self, x: f64) -> f64 {
        let x = x.abs();
        if x > self.support() {
            return 0.0;
        }
        match self {
            Self::Lanczos3 => sinc(x) * sinc(x / 3.0),
            Self::Mitchell => cubic(x, 1.0 / 3.0, 1.0 / 3.0),
            Self::CatmullRom => cubic(x, 0.0, 0.5),
            Self::Bilinear => 1.0 - x,
            Self::Box => 1.0,
        }
    }

    /// Returns the table of the kernel's curve.
    pub(super) fn curve(self) -> &'static Curve {
        &CURVES[self as usize]
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lanczos3 => "lanczos3",
            Self::Mitchell => "mitchell",
            Self::CatmullRom => "catmullrom",
            Self::Bilinear => "bilinear",
            Self::Box => "box",
        })
    }
}

fn sinc(x: f64) -> f64 {
    let x = x * std::f64::consts::PI;
    if x == 0.0 { 1.0 } else { x.sin() / x }
}

/// Cubic filter with parameters `b` and `c`: Mitchell and Netravali, "Reconstruction filters in computer graphics"
/// (1988), equation 8.
fn cubic(x: f64, b: f64, c: f64) -> f64 {
    if x < 1.0 {
        ((12.0 - 9.0 * b - 6.0 * c) * x.powi(3) + (-18.0 + 12.0 * b + 6.0 * c) * x.powi(2) + 6.0
            - 2.0 * b)
            / 6.0
    } else {
        ((-b - 6.0 * c) * x.powi(3)
            + (6.0 * b + 30.0 * c) * x.powi(2)
            + (-12.0 * b - 48.0 * c) * x
            + 8.0 * b
            + 24.0 * c)
            / 6.0
    }
}

/// A table of a kernel's right half. Evaluating a windowed sinc for each of the about ten thousand weights of an image
/// would take as long as resampling it.
pub(super) struct Curve {
    /// Where the curve ends, in samples of the table.
    end: f64,
    /// The value of the curve at each sample, and the difference to the next one. Zero from the end on. The length is a
    /// power of two, so that indices can be masked instead of checked.
    samples: Box<[[f64; 2]; SIZE]>,
}

/// Samples of a kernel's table per output sample (per input sample when enlarging). Linear interpolation between them
/// has an error of about 1e-6, a fiftieth of that of rounding weights to 14 bits.
pub(super) const DENSITY: f64 = 1024.0;

/// Number of samples in a kernel's table: room for a support of 3 output samples, and for one output sample more.
const SIZE: usize = 4096;

/// How far beyond its support a curve keeps its last value, in samples of the table. Distances are computed with
/// rounding errors, which must not exclude a sample at the very end of a box.
const HAIR: f64 = 1e-6;

/// The tables of all kernels, in the order of [`Kernel::ALL`].
static CURVES: LazyLock<[Curve; 5]> = LazyLock::new(|| Kernel::ALL.map(Curve::new));

impl Curve {
    fn new(kernel: Kernel) -> Self {
        let end = kernel.support() * DENSITY;
        let at = |i: usize| kernel.at((i as f64).min(end) / DENSITY);
        let mut samples = Box::new([[0.0; 2]; SIZE]);
        for (i, sample) in samples[..=end as usize].iter_mut().enumerate() {
            *sample = [at(i), at(i + 1) - at(i)];
        }
        Self {
            end: end + HAIR,
            samples,
        }
    }

    /// Returns the curve's values at four distances from its centre, measured in samples of the table ([`DENSITY`] to
    /// an output sample). Four at a time, so that the compiler can vectorise it.
    #[inline(always)]
    pub(super) fn at(&self, distances: [f64; 4]) -> [f64; 4] {
        let places = distances.map(|distance| {
            let place = distance.abs();
            if place < self.end {
                place
            } else {
                self.end + 1.0
            }
        });
        // SAFETY: all places are at most some thousands.
        let indices = places.map(|place| unsafe { place.to_int_unchecked::<i32>() });
        let samples = indices.map(|index| self.samples[index as usize % SIZE]);
        std::array::from_fn(|i| samples[i][0] + samples[i][1] * (places[i] - f64::from(indices[i])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_curves_are_the_kernels() {
        for kernel in Kernel::ALL {
            let curve = kernel.curve();
            for i in 0..7000 {
                let x = [-1.5, 0.0, 0.7, 1.5].map(|from| f64::from(i) * 0.000_437 + from);
                for (x, sampled) in x.into_iter().zip(curve.at(x.map(|x| x * DENSITY))) {
                    assert!((sampled - kernel.at(x)).abs() < 1e-5, "{kernel} at {x}");
                }
            }
        }
    }
}
