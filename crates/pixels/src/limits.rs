//! Limits on the cost of a request, and interruption of work that is no longer wanted.

use std::time::Duration;

/// Tells whether work is still wanted, or has passed its deadline or lost its client. Asked once per row band and
/// before every stage.
pub trait Interrupt: Sync {
    /// Whether the work should stop because its result is no longer wanted.
    fn interrupted(&self) -> bool;
}

/// An `Interrupt` for work that is never interrupted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Never;

impl Interrupt for Never {
    fn interrupted(&self) -> bool {
        false
    }
}

/// What to do with a source that is truncated or damaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Damaged {
    /// Damaged sources are refused.
    #[default]
    Refused,
    /// What is left of a damaged source is shown, as browsers do, if its codec can.
    Shown,
}

/// Limits on sources, results and work, checked by headers and recipes before anything is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of a source file.
    pub source_bytes: u64,
    /// Most pixels of a source image.
    pub pixels: u64,
    /// Most frames of an animated source image.
    pub frames: u32,
    /// Most pixels of all frames of an animated source together, each counted as large as the canvas.
    pub animation_pixels: u64,
    /// Longest side allowed for a source image, in px.
    pub side: u32,
    /// Most pixels of a result.
    pub result_pixels: u64,
    /// Longest side allowed for a result, in px.
    pub result_side: u32,
    /// Most bytes that a plan may hold at its peak, source and result included.
    pub memory: u64,
    /// Most scans of a progressive JPEG; each costs a pass over the whole image.
    pub scans: u32,
    /// Most bytes of one metadata block (ICC, EXIF) after decompression.
    pub metadata_bytes: u64,
    /// Most processor time that work for a waiting client may be planned to take, if limited. Planning itself does not
    /// check it: callers whose clients wait do, with [`Limits::check_cpu`].
    pub cpu: Option<Duration>,
    /// Whether sources that are truncated or damaged are refused or shown as far as they go.
    pub damaged: Damaged,
}

/// Name of the limit of processor time, whose values are in nanoseconds.
pub(crate) const CPU: &str = "cpu";

impl Default for Limits {
    fn default() -> Self {
        Self {
            source_bytes: 64 << 20,
            pixels: 120_000_000,
            frames: 500,
            animation_pixels: 200_000_000,
            side: 32_768,
            result_pixels: 50_000_000,
            result_side: 16_384,
            memory: 1 << 30,
            scans: 100,
            metadata_bytes: 4 << 20,
            cpu: None,
            damaged: Damaged::Refused,
        }
    }
}
