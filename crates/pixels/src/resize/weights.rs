//! The weights of a kernel along an axis, remembered: the planes of a picture share them, and so do
//! pictures of one shape.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use andon_kernels::resample::{Span, Weights};

use super::Kernel;
use super::axis::Axis;

/// How many weights a thread remembers: two axes of two plane sizes, and as much again.
const REMEMBERED: usize = 8;

thread_local! {
    /// The most recent first.
    static RECENT: RefCell<Vec<(Axis, Kernel, Rc<Weights>)>> = const { RefCell::new(Vec::new()) };
}

/// The weights of `kernel` along `axis`.
pub(super) fn weights(axis: &Axis, kernel: Kernel) -> Rc<Weights> {
    RECENT.with_borrow_mut(|recent| {
        let known = recent
            .iter()
            .position(|(a, k, _)| a == axis && *k == kernel);
        let entry = match known {
            Some(index) => recent.remove(index),
            None => (*axis, kernel, Rc::new(made(axis, kernel))),
        };
        let weights = entry.2.clone();
        recent.truncate(REMEMBERED - 1);
        recent.insert(0, entry);
        weights
    })
}

fn made(axis: &Axis, kernel: Kernel) -> Weights {
    let span = Span {
        input: axis.count,
        left: axis.left,
        length: axis.length,
        output: axis.out,
    };
    let curve = &CURVES[kernel as usize];
    Weights::new(span, kernel.support(), |x| curve.at(x))
}

/// A kernel's right half, sampled: evaluating a windowed sinc for each of the some ten thousand weights
/// of a picture would take as long as resampling it.
struct Curve(Vec<f64>);

/// Samples per unit. Between them the curve is taken for straight: an error of some 1e-6, a fiftieth of
/// what rounding weights to 14 bits does.
const DENSITY: f64 = 1024.0;

static CURVES: LazyLock<[Curve; 5]> = LazyLock::new(|| {
    [
        Kernel::Lanczos3,
        Kernel::Mitchell,
        Kernel::CatmullRom,
        Kernel::Bilinear,
        Kernel::Box,
    ]
    .map(Curve::new)
});

impl Curve {
    fn new(kernel: Kernel) -> Self {
        let last = (kernel.support() * DENSITY) as usize;
        Self(
            (0..=last + 1)
                .map(|i| kernel.at(i as f64 / DENSITY))
                .collect(),
        )
    }

    fn at(&self, x: f64) -> f64 {
        let place = x.abs() * DENSITY;
        let index = place as usize;
        match self.0.get(index..index + 2) {
            Some(&[left, right]) => left + (right - left) * (place - index as f64),
            _ => 0.0,
        }
    }
}

impl Kernel {
    /// The kernel itself, `x` in result samples from its centre.
    fn at(self, x: f64) -> f64 {
        let x = x.abs();
        // The ends belong to it: a box that ends between two samples must not lose both.
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
}

fn sinc(x: f64) -> f64 {
    let x = x * std::f64::consts::PI;
    if x == 0.0 { 1.0 } else { x.sin() / x }
}

/// Mitchell and Netravali, "Reconstruction filters in computer graphics" (1988), equation 8.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_curves_are_the_kernels() {
        for (curve, kernel) in CURVES.iter().zip([
            Kernel::Lanczos3,
            Kernel::Mitchell,
            Kernel::CatmullRom,
            Kernel::Bilinear,
            Kernel::Box,
        ]) {
            for i in 0..7000 {
                let x = f64::from(i) * 0.000_437 - 1.5;
                // Beside a box's edge the sampled one still falls.
                if (x.abs() - kernel.support()).abs() > 2.0 / DENSITY {
                    assert!((curve.at(x) - kernel.at(x)).abs() < 1e-5, "{kernel} at {x}");
                }
            }
        }
    }

    #[test]
    fn weights_are_made_once_for_all_planes_of_a_shape() {
        let axis = Axis::new(100, 1.0, 0.0, 100.0, 40, 1);
        let first = weights(&axis, Kernel::Lanczos3);
        assert!(Rc::ptr_eq(&first, &weights(&axis, Kernel::Lanczos3)));
        assert!(!Rc::ptr_eq(&first, &weights(&axis, Kernel::Mitchell)));
    }
}
