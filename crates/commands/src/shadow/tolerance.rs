//! How much two images may differ and still count as the same.

use anyhow::bail;

#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Tolerance {
    /// Images with a lower structural similarity are different; 1 is identical
    #[arg(long, value_name = "LEAST", default_value_t = 0.95)]
    pub(crate) ssim: f64,
    /// Images whose widths or heights differ by more than this number of px are different; others are compared at the
    /// size of the old image
    #[arg(long, value_name = "PX", default_value_t = 0)]
    pub(crate) size_tolerance: u32,
}

impl Tolerance {
    /// Validates the tolerances.
    ///
    /// # Errors
    /// If the similarity is out of range.
    pub(crate) fn check(self) -> anyhow::Result<()> {
        if !(-1.0..=1.0).contains(&self.ssim) {
            bail!(
                "--ssim {}: write a similarity up to 1, such as 0.95",
                self.ssim
            );
        }
        Ok(())
    }

    /// Whether images with these widths and heights in px may count as the same.
    pub(super) fn covers(self, sizes: [[u32; 2]; 2]) -> bool {
        largest_difference(sizes) <= self.size_tolerance
    }
}

/// Returns the difference of the widths or of the heights in px, whichever is larger.
pub(super) fn largest_difference([old, new]: [[u32; 2]; 2]) -> u32 {
    old[0].abs_diff(new[0]).max(old[1].abs_diff(new[1]))
}
