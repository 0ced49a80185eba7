//! Measures how similar two images are: the mean structural similarity index of luma (Wang, Bovik, Sheikh, Simoncelli
//! 2004), over windows of 8 × 8 px in steps of 4 px. Box windows cost a tenth of Gaussian ones, and are accurate enough
//! to distinguish a different crop or quality from a different encoder.

use super::DecodedImage;

/// Returns the structural similarity of two images, from below 0 (opposite) to 1 (equal). `None` if their sizes differ.
#[must_use]
pub fn ssim(a: &DecodedImage, b: &DecodedImage) -> Option<f64> {
    if (a.width, a.height) != (b.width, b.height) {
        return None;
    }
    let (width, height) = (a.width as usize, a.height as usize);
    let (side_x, side_y) = (WINDOW.min(width), WINDOW.min(height));
    let (luma_a, luma_b) = (a.luma(), b.luma());
    let mut sum = 0.0;
    let mut windows = 0.0;
    for y in (0..=height - side_y).step_by(STEP) {
        for x in (0..=width - side_x).step_by(STEP) {
            let mut moments = Moments::default();
            for row in y..y + side_y {
                let at = row * width + x;
                moments.add(&luma_a[at..at + side_x], &luma_b[at..at + side_x]);
            }
            sum += moments.similarity();
            windows += 1.0;
        }
    }
    Some(sum / windows)
}

#[derive(Default)]
struct Moments {
    n: f64,
    a: f64,
    b: f64,
    aa: f64,
    bb: f64,
    ab: f64,
}

impl Moments {
    fn add(&mut self, a: &[f32], b: &[f32]) {
        for (&a, &b) in a.iter().zip(b) {
            let (a, b) = (f64::from(a), f64::from(b));
            self.n += 1.0;
            self.a += a;
            self.b += b;
            self.aa += a * a;
            self.bb += b * b;
            self.ab += a * b;
        }
    }

    fn similarity(&self) -> f64 {
        let (mean_a, mean_b) = (self.a / self.n, self.b / self.n);
        let variance_a = self.aa / self.n - mean_a * mean_a;
        let variance_b = self.bb / self.n - mean_b * mean_b;
        let covariance = self.ab / self.n - mean_a * mean_b;
        ((2.0 * mean_a * mean_b + C1) * (2.0 * covariance + C2))
            / ((mean_a * mean_a + mean_b * mean_b + C1) * (variance_a + variance_b + C2))
    }
}

const WINDOW: usize = 8;
const STEP: usize = 4;
/// The constants of the index, (0.01 × 255)² and (0.03 × 255)². They keep its denominators from becoming zero in
/// windows of uniform colour.
const C1: f64 = 6.5025;
const C2: f64 = 58.5225;

#[cfg(test)]
mod tests {
    use super::*;

    fn gradient(noise: u8) -> DecodedImage {
        let rgb = (0..64 * 48_u32).flat_map(|at| {
            let sample = (at % 64 * 3) as u8 + if (at * 7919) % 13 < 6 { noise } else { 0 };
            [sample; 3]
        });
        DecodedImage {
            format: "png",
            width: 64,
            height: 48,
            frames: 1,
            rgb: rgb.collect(),
        }
    }

    #[test]
    fn equal_images_are_wholly_alike_and_noise_makes_them_less_so() {
        let clean = gradient(0);
        assert!((ssim(&clean, &clean).expect("sizes agree") - 1.0).abs() < 1e-9);
        let little = ssim(&clean, &gradient(8)).expect("sizes agree");
        let much = ssim(&clean, &gradient(60)).expect("sizes agree");
        assert!(little < 1.0 && much < little, "{little} {much}");
    }

    #[test]
    fn images_of_different_sizes_are_not_compared() {
        let mut other = gradient(0);
        other.width = 48;
        other.height = 64;
        assert_eq!(ssim(&gradient(0), &other), None);
    }
}
