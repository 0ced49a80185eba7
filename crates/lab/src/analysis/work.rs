//! Whether two variants did the same work is judged elsewhere, by looking at the replies; this is the answer.

use serde::{Deserialize, Serialize};

/// One URL's replies of one variant, beside the baseline's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkJudgement {
    /// Index of the variant in the header.
    pub variant: u32,
    /// The target as sent.
    pub url: String,
    /// Do they compare as the variant's `expect` wants?
    pub same: bool,
    /// The figures: `13.6 KB vs 44.0 KB, SSIM 0.94 < 0.98`.
    pub detail: String,
}
