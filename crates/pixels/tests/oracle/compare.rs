//! The difference between two images.

use crate::image::Image;

/// Differences in levels of 255. Each pixel is weighted by its opacity, so that invisible colours make no difference.
#[derive(Debug)]
pub(crate) struct Difference {
    /// Mean difference of luma, or of opacity if that is larger.
    pub(crate) luma_mean: f64,
    /// The difference of luma that 99 of 100 pixels do not exceed.
    pub(crate) luma_most: f64,
    /// Mean difference of red, green and blue.
    pub(crate) colour_mean: f64,
}

impl Difference {
    /// Compares two images. `opacity` is the opacity of each pixel, `shares` are the weights of red, green and blue in
    /// luma.
    pub(crate) fn between(
        shown: &Image,
        expected: &Image,
        opacity: &Image,
        shares: [f64; 3],
    ) -> Self {
        let seen: Vec<f64> = opacity.pixels.iter().map(|pixel| pixel[3]).collect();
        let pairs = || shown.pixels.iter().zip(&expected.pixels);
        let luma = |pixel: &[f64; 4]| (0..3).map(|c| shares[c] * pixel[c]).sum::<f64>();
        let mut lumas: Vec<f64> = pairs()
            .zip(&seen)
            .map(|((a, b), seen)| (luma(a) - luma(b)).abs() * seen)
            .collect();
        let alphas: Vec<f64> = pairs().map(|(a, b)| (a[3] - b[3]).abs() * 255.0).collect();
        let colours: Vec<f64> = pairs()
            .zip(&seen)
            .map(|((a, b), seen)| (0..3).map(|c| (a[c] - b[c]).abs()).sum::<f64>() / 3.0 * seen)
            .collect();
        let luma_mean = mean(&lumas).max(mean(&alphas));
        lumas.sort_by(f64::total_cmp);
        let most = lumas.len() - 1 - lumas.len() / 100;
        Self {
            luma_mean,
            luma_most: lumas[most],
            colour_mean: mean(&colours),
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
