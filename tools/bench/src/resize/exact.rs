//! Exact resampling of a plane: sums of products in 64-bit floats, without rounding in between.

use andon_kernels::resample::Kernel;

use super::plane::{Plane, Sample};

/// Which samples that lie exactly at an end of the box kernel's window have a weight: those at both ends, as in the
/// kernel's definition, or only those at the right end, as in `fast_image_resize`. Other kernels are 0 at the ends.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Ends {
    Both,
    Right,
}

/// Resamples a plane exactly. The result is not clamped.
pub(crate) fn resampled<S: Sample>(
    plane: &Plane<S>,
    (width, height): (u32, u32),
    kernel: Kernel,
    ends: Ends,
) -> Vec<f64> {
    let x = windows(plane.width, width, kernel, ends);
    let y = windows(plane.height, height, kernel, ends);
    let stride = plane.width as usize;
    let mut between = vec![0.0; stride];
    let mut out = Vec::with_capacity(width as usize * height as usize);
    for (first, weights) in &y {
        between.fill(0.0);
        for (weight, row) in weights
            .iter()
            .zip(plane.samples[first * stride..].chunks(stride))
        {
            for (sum, &sample) in between.iter_mut().zip(row) {
                *sum += weight * sample.into();
            }
        }
        out.extend(x.iter().map(|(first, weights)| {
            let samples = weights.iter().zip(&between[*first..]);
            samples.map(|(weight, sample)| weight * sample).sum::<f64>()
        }));
    }
    out
}

/// Returns the window of each result sample: the index of the first input sample, and the weights.
fn windows(input: u32, output: u32, kernel: Kernel, ends: Ends) -> Vec<(usize, Vec<f64>)> {
    let step = f64::from(input) / f64::from(output);
    let scale = step.max(1.0);
    let reach = kernel.support() * scale;
    let window = |result| {
        let centre = (f64::from(result) + 0.5) * step - 0.5;
        let first = (centre - reach).ceil().max(0.0);
        let last = (centre + reach)
            .floor()
            .min(f64::from(input) - 1.0)
            .max(first);
        let weight = |at: u32| {
            // Rounded, so that the last bit of a quotient does not decide whether a sample lies on the end of a window.
            let x = (f64::from(at) - centre) / scale;
            let x = (x * 1e9).round() / 1e9;
            if ends == Ends::Right && kernel == Kernel::Box && x == -kernel.support() {
                0.0
            } else {
                kernel.at(x)
            }
        };
        let weights: Vec<_> = (first as u32..=last as u32).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        (first as usize, weights.iter().map(|w| w / sum).collect())
    };
    (0..output).map(window).collect()
}
