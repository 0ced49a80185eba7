//! The reference for small images, simple and slow: libvips' full decode to RGB (no shrink-on-load), then Lanczos3 in
//! floats on the stored (gamma-encoded) values. Intermediate values are not rounded.

use std::f64::consts::PI;

use crate::quality::{Rgb, RgbF};

/// Resizes an image to `width` × `height` px with Lanczos3, clamped to 0 to 255.
pub(crate) fn resize(source: &Rgb, width: usize, height: usize) -> RgbF {
    let across = weights(source.width, width);
    let down = weights(source.height, height);
    // Columns first, because the resulting short rows need less memory.
    let mut narrow = vec![0.0_f32; width * source.height * 3];
    for (row, out) in source
        .samples
        .chunks_exact(source.width * 3)
        .zip(narrow.chunks_exact_mut(width * 3))
    {
        for (taps, pixel) in across.iter().zip(out.chunks_exact_mut(3)) {
            for (&weight, from) in taps
                .weights
                .iter()
                .zip(row[taps.first * 3..].chunks_exact(3))
            {
                for channel in 0..3 {
                    pixel[channel] += weight * f32::from(from[channel]);
                }
            }
        }
    }
    let mut samples = vec![0.0_f32; width * height * 3];
    for (taps, out) in down.iter().zip(samples.chunks_exact_mut(width * 3)) {
        let rows = narrow[taps.first * width * 3..].chunks_exact(width * 3);
        for (&weight, row) in taps.weights.iter().zip(rows) {
            for (value, &from) in out.iter_mut().zip(row) {
                *value += weight * from;
            }
        }
    }
    // Lanczos overshoots, which 8-bit images cannot represent.
    for value in &mut samples {
        *value = value.clamp(0.0, 255.0);
    }
    RgbF {
        width,
        height,
        samples,
    }
}

/// The source samples from which one output sample is computed: the index of the first one, and the weights.
struct Taps {
    first: usize,
    weights: Vec<f32>,
}

fn weights(from: usize, to: usize) -> Vec<Taps> {
    let ratio = from as f64 / to as f64;
    let stretch = ratio.max(1.0);
    (0..to)
        .map(|i| {
            let centre = (i as f64 + 0.5) * ratio;
            let first = (centre - 3.0 * stretch).floor().max(0.0) as usize;
            let last = ((centre + 3.0 * stretch).ceil() as usize).min(from);
            let raw: Vec<f64> = (first..last)
                .map(|j| lanczos3((j as f64 + 0.5 - centre) / stretch))
                .collect();
            let sum: f64 = raw.iter().sum();
            Taps {
                first,
                weights: raw.iter().map(|w| (w / sum) as f32).collect(),
            }
        })
        .collect()
}

fn lanczos3(x: f64) -> f64 {
    if x == 0.0 {
        1.0
    } else if x.abs() < 3.0 {
        3.0 * (PI * x).sin() * (PI * x / 3.0).sin() / (PI * PI * x * x)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_colour_stays_what_it_is() {
        let source = Rgb {
            width: 31,
            height: 17,
            samples: [10, 200, 90].repeat(31 * 17),
        };
        let small = resize(&source, 7, 5);
        for pixel in small.samples.chunks_exact(3) {
            for (have, want) in pixel.iter().zip([10.0, 200.0, 90.0]) {
                assert!((have - want).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn the_same_size_changes_nothing() {
        let source = Rgb {
            width: 4,
            height: 3,
            samples: (0..36).map(|i| i * 7).collect(),
        };
        let same = resize(&source, 4, 3);
        for (a, b) in same.samples.iter().zip(&source.samples) {
            assert!((a - f32::from(*b)).abs() < 1e-3);
        }
    }
}
