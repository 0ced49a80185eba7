//! Similarity of two images: PSNR over R, G and B, SSIM of luma, and both for single planes. All benchmarks use it.

use anyhow::{Context as _, Result};
use fast_ssim2::{PixelDescriptor, PixelSlice, Ssimulacra2Reference};

use crate::stats::mean;

/// An image of interleaved 8-bit RGB samples.
pub(crate) struct Rgb {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) samples: Vec<u8>,
}

impl Rgb {
    /// Returns a view of the pixels (as sRGB) for SSIMULACRA2.
    pub(crate) fn slice(&self) -> Result<PixelSlice<'_>> {
        let slice = PixelSlice::new(
            &self.samples,
            self.width as u32,
            self.height as u32,
            3 * self.width,
            PixelDescriptor::RGB8_SRGB,
        );
        slice.map(PixelSlice::erase).ok().context("pixels to score")
    }

    /// Converts the samples to floats.
    pub(crate) fn exact(&self) -> RgbF {
        RgbF {
            width: self.width,
            height: self.height,
            samples: self.samples.iter().map(|&level| level.into()).collect(),
        }
    }
}

/// Returns the SSIMULACRA2 score of an image against a reference of the same size. It is at most 100.
pub(crate) fn scored(reference: &Ssimulacra2Reference, image: &Rgb) -> Result<f64> {
    reference.compare(&image.slice()?).context("a score")
}

/// An image of interleaved RGB samples in floats, 0 to 255. Floats keep the fractions of a reference image.
pub(crate) struct RgbF {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) samples: Vec<f32>,
}

/// Returns the peak signal-to-noise ratio in dB, which is infinite for equal images. Both images must have the same
/// size.
pub(crate) fn psnr(reference: &RgbF, image: &Rgb) -> f64 {
    assert_eq!(
        (reference.width, reference.height),
        (image.width, image.height),
        "only images of one size can be compared"
    );
    let pairs = reference.samples.iter().zip(&image.samples);
    decibels(pairs.map(|(&a, &b)| f64::from(a - f32::from(b))))
}

/// Returns the peak signal-to-noise ratio of one plane in dB. Both slices must have the same length.
pub(crate) fn plane_psnr(reference: &[f64], plane: &[u8]) -> f64 {
    assert_eq!(reference.len(), plane.len(), "planes of different sizes");
    let pairs = reference.iter().zip(plane);
    decibels(pairs.map(|(a, &b)| a - f64::from(b)))
}

fn decibels(errors: impl Iterator<Item = f64>) -> f64 {
    let mean = mean(errors.map(|error| error * error));
    10.0 * (255.0 * 255.0 / mean).log10()
}

/// Returns the structural similarity of luma (BT.601), which is 1 for equal images. Its parameters are a Gaussian
/// window of 11 px with sigma 1.5, K1 = 0.01 and K2 = 0.03. The result is the mean over all positions where the window
/// lies inside the image.
pub(crate) fn ssim(reference: &RgbF, image: &Rgb) -> f64 {
    let x = luma(
        reference
            .samples
            .chunks_exact(3)
            .map(|p| [p[0], p[1], p[2]]),
    );
    let y = luma(
        image
            .samples
            .chunks_exact(3)
            .map(|p| [p[0], p[1], p[2]].map(f32::from)),
    );
    similarity(x, y, reference.width, reference.height)
}

/// Returns the structural similarity of one plane of `width` samples per row.
pub(crate) fn plane_ssim(reference: &[f64], plane: &[u8], width: usize) -> f64 {
    assert_eq!(reference.len(), plane.len(), "planes of different sizes");
    let samples = plane.iter().map(|&sample| f64::from(sample));
    let height = plane.len() / width;
    similarity(reference.to_vec(), samples.collect(), width, height)
}

fn similarity(x: Vec<f64>, y: Vec<f64>, width: usize, height: usize) -> f64 {
    let blur = |values: Vec<f64>| window(&values, width, height);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).collect::<Vec<_>>();
    let (xx, yy, xy) = (product(&x, &x), product(&y, &y), product(&x, &y));
    let (mx, my, xx, yy, xy) = (blur(x), blur(y), blur(xx), blur(yy), blur(xy));
    let (c1, c2) = ((0.01_f64 * 255.0).powi(2), (0.03_f64 * 255.0).powi(2));
    let total: f64 = (0..mx.len())
        .map(|i| {
            let (mx, my) = (mx[i], my[i]);
            let (vx, vy, cov) = (xx[i] - mx * mx, yy[i] - my * my, xy[i] - mx * my);
            ((2.0 * mx * my + c1) * (2.0 * cov + c2)) / ((mx * mx + my * my + c1) * (vx + vy + c2))
        })
        .sum();
    total / mx.len() as f64
}

const TAPS: usize = 11;

fn luma(pixels: impl Iterator<Item = [f32; 3]>) -> Vec<f64> {
    pixels
        .map(|[r, g, b]| 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b))
        .collect()
}

/// Returns the weighted means of `values` in the Gaussian window of SSIM, for all positions where the window lies
/// inside the image. In an image smaller than the window, the window shrinks, so there is at least one position.
fn window(values: &[f64], width: usize, height: usize) -> Vec<f64> {
    let (tx, ty) = (TAPS.min(width), TAPS.min(height));
    let (gx, gy) = (gaussian(tx), gaussian(ty));
    let out_width = width - tx + 1;
    let mut rows = Vec::with_capacity(out_width * height);
    for row in values.chunks_exact(width) {
        rows.extend(row.windows(tx).map(|part| dot(part.iter(), &gx)));
    }
    let mut out = Vec::with_capacity(out_width * (height - ty + 1));
    for top in 0..=height - ty {
        for x in 0..out_width {
            let column = rows[top * out_width + x..].iter().step_by(out_width);
            out.push(dot(column, &gy));
        }
    }
    out
}

fn dot<'a>(values: impl Iterator<Item = &'a f64>, weights: &[f64]) -> f64 {
    values.zip(weights).map(|(v, w)| v * w).sum()
}

fn gaussian(taps: usize) -> Vec<f64> {
    let middle = (taps as f64 - 1.0) / 2.0;
    let raw: Vec<f64> = (0..taps)
        .map(|i| (-(i as f64 - middle).powi(2) / (2.0 * 1.5 * 1.5)).exp())
        .collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|w| w / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(add: u8) -> (RgbF, Rgb) {
        let plain: Vec<u8> = (0..20 * 20 * 3).map(|i| (i % 200) as u8).collect();
        let reference = RgbF {
            width: 20,
            height: 20,
            samples: plain.iter().map(|&v| f32::from(v)).collect(),
        };
        let image = Rgb {
            width: 20,
            height: 20,
            samples: plain.iter().map(|v| v + add).collect(),
        };
        (reference, image)
    }

    #[test]
    fn equal_images_are_perfect() {
        let (reference, image) = ramp(0);
        assert!(psnr(&reference, &image).is_infinite());
        assert!((ssim(&reference, &image) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn an_error_of_one_everywhere_is_48_db() {
        let (reference, image) = ramp(1);
        assert!((psnr(&reference, &image) - 48.1308).abs() < 1e-3);
        let exact = |of: &RgbF| {
            of.samples
                .iter()
                .copied()
                .map(f64::from)
                .collect::<Vec<_>>()
        };
        assert!((plane_psnr(&exact(&reference), &image.samples) - 48.1308).abs() < 1e-3);
    }

    #[test]
    fn a_gray_image_is_as_similar_as_its_plane() {
        let gray: Vec<u8> = (0..400u32).map(|i| (i * i % 251) as u8).collect();
        let exact: Vec<f64> = gray.iter().map(|&v| f64::from(v / 2 + 40)).collect();
        let threefold = |v: f64| [v as f32; 3];
        let reference = RgbF {
            width: 20,
            height: 20,
            samples: exact.iter().copied().flat_map(threefold).collect(),
        };
        let image = Rgb {
            width: 20,
            height: 20,
            samples: gray.iter().flat_map(|&v| [v; 3]).collect(),
        };
        let difference = ssim(&reference, &image) - plane_ssim(&exact, &gray, 20);
        assert!(difference.abs() < 1e-4);
    }

    #[test]
    fn ssim_falls_with_noise() {
        let (reference, mut image) = ramp(0);
        for (i, value) in image.samples.iter_mut().enumerate() {
            *value = value.wrapping_add((i * 7919 % 41) as u8);
        }
        assert!(ssim(&reference, &image) < 0.99);
    }
}
