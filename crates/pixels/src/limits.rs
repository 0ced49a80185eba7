//! What a request may cost, and whether it is still wanted.

use std::time::Duration;

/// Asked once per row band, and before every stage: a deadline or a lost client.
pub trait Interrupt: Sync {
    /// True when nobody wants the result any more.
    fn interrupted(&self) -> bool;
}

/// Work that nobody interrupts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Never;

impl Interrupt for Never {
    fn interrupted(&self) -> bool {
        false
    }
}

/// What becomes of a source that is cut or damaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Damaged {
    /// It is refused.
    #[default]
    Refused,
    /// What there is of it is shown, as browsers do, where its codec can.
    Shown,
}

/// Ceilings, checked from headers and recipes before anything is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a source file.
    pub source_bytes: u64,
    /// Pixels of a source image.
    pub pixels: u64,
    /// Frames of a source image that moves.
    pub frames: u32,
    /// Pixels of all its frames together, each as large as the canvas.
    pub animation_pixels: u64,
    /// Longest side of a source image, in px.
    pub side: u32,
    /// Pixels of a result.
    pub result_pixels: u64,
    /// Longest side of a result, in px.
    pub result_side: u32,
    /// Bytes that a plan may hold at its peak, source and result included.
    pub memory: u64,
    /// Scans of a progressive JPEG: each costs a walk over the whole image.
    pub scans: u32,
    /// Bytes of one metadata block after inflation (ICC, EXIF).
    pub metadata_bytes: u64,
    /// Processor time that work for a waiting client may be planned to take, if it has a limit. Planning itself does not
    /// check it: [`Limits::check_cpu`] does, for callers whose clients wait.
    pub cpu: Option<Duration>,
    /// Sources that are cut or damaged.
    pub damaged: Damaged,
}

/// The name of the limit of processor time, whose values are nanoseconds.
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
