//! Limits on the cost of a request, and interruption of work that is no longer wanted.

use std::fmt;
use std::time::Duration;

/// Stack size, in bytes, of a thread that processes images. Vector drawings need most: readers admit elements and
/// references nested 200 deep, for which the libraries that draw them take up to 0.8 MB.
pub const STACK: usize = 8 << 20;

/// Reports whether work is still wanted, or has passed its deadline or lost its client. Called once per row band and
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
    /// Damaged sources are rejected with an error.
    #[default]
    Refused,
    /// The intact part of a damaged source is shown, as in browsers, if its codec supports that.
    Shown,
}

/// Limits on sources, results and work, checked against headers and recipes before anything is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a source file in bytes.
    pub source_bytes: u64,
    /// Maximum number of pixels of a source image.
    pub pixels: u64,
    /// Maximum number of frames of an animated source image.
    pub frames: u32,
    /// Maximum total number of pixels of all frames of an animated source, each counted as large as the canvas.
    pub animation_pixels: u64,
    /// Maximum width and height of a source image in px.
    pub side: u32,
    /// Maximum number of pixels of a result.
    pub result_pixels: u64,
    /// Maximum width and height of a result in px.
    pub result_side: u32,
    /// Maximum peak memory of a plan in bytes, including source and result.
    pub memory: u64,
    /// Maximum number of scans of a progressive JPEG. Each scan costs a pass over the whole image.
    pub scans: u32,
    /// Maximum size of a metadata block (ICC, EXIF) after decompression, in bytes.
    pub metadata_bytes: u64,
    /// Maximum predicted CPU time of the work for a waiting client; `None` for no limit. Planning itself does not check it:
    /// callers with waiting clients do, with [`Limits::check_cpu`].
    pub cpu: Option<Duration>,
    /// Whether sources that are truncated or damaged are rejected, or shown as far as they are intact.
    pub damaged: Damaged,
}

/// A limit by name, to identify in an error the limit that a value exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The limit's name, as in the settings (`limits.NAME`).
    pub name: &'static str,
    /// The unit of the limit's values, in plural.
    pub unit: &'static str,
    /// What the limit applies to.
    pub on: BoundOn,
}

/// What a [`Bound`] applies to, and where it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundOn {
    /// Source files. The value of the limit is a field of [`Limits`].
    Source,
    /// Results. The value of the limit is a field of [`Limits`].
    Result,
    /// The work for one request, such as its CPU time. The value of the limit is a field of [`Limits`].
    Work,
    /// The memory of all requests together, a setting of the server.
    Server,
    /// The size of a result that a plan reserves memory for. No setting changes this limit.
    Plan,
    /// What the format of this name can hold. No setting changes this limit.
    Format(&'static str),
}

impl Bound {
    /// The limit [`Limits::source_bytes`].
    pub const SOURCE_BYTES: Self = Self::of("source_bytes", "bytes", BoundOn::Source);
    /// The limit [`Limits::pixels`].
    pub const PIXELS: Self = Self::of("pixels", "pixels", BoundOn::Source);
    /// The limit [`Limits::frames`].
    pub const FRAMES: Self = Self::of("frames", "frames", BoundOn::Source);
    /// The limit [`Limits::animation_pixels`].
    pub const ANIMATION_PIXELS: Self = Self::of("animation_pixels", "pixels", BoundOn::Source);
    /// The limit [`Limits::side`].
    pub const SIDE: Self = Self::of("side", "px", BoundOn::Source);
    /// The limit [`Limits::result_pixels`].
    pub const RESULT_PIXELS: Self = Self::of("result_pixels", "pixels", BoundOn::Result);
    /// The limit [`Limits::result_side`].
    pub const RESULT_SIDE: Self = Self::of("result_side", "px", BoundOn::Result);
    /// The limit [`Limits::memory`].
    pub const MEMORY: Self = Self::of("memory", "bytes", BoundOn::Source);
    /// The limit [`Limits::scans`].
    pub const SCANS: Self = Self::of("scans", "scans", BoundOn::Source);
    /// The limit [`Limits::metadata_bytes`].
    pub const METADATA_BYTES: Self = Self::of("metadata_bytes", "bytes", BoundOn::Source);
    /// The limit [`Limits::cpu`].
    pub const CPU: Self = Self::of("cpu", "ns", BoundOn::Work);
    /// Maximum size of an animated result, for which its plan reserves memory.
    pub const ANIMATION_BYTES: Self = Self::of("animation_bytes", "bytes", BoundOn::Plan);
    /// The memory that a server may use for all requests together.
    pub const MEMORY_BUDGET: Self = Self::of("memory_budget", "bytes", BoundOn::Server);

    const fn of(name: &'static str, unit: &'static str, on: BoundOn) -> Self {
        Self { name, unit, on }
    }

    /// A limit of what files of a format can hold, such as `side` in `px`.
    #[must_use]
    pub const fn of_format(format: &'static str, name: &'static str, unit: &'static str) -> Self {
        Self::of(name, unit, BoundOn::Format(format))
    }

    /// The configuration key that sets the limit, if any does.
    #[must_use]
    pub fn key(&self) -> Option<String> {
        match self.on {
            BoundOn::Source | BoundOn::Result | BoundOn::Work => {
                Some(format!("limits.{}", self.name))
            }
            BoundOn::Server => Some(self.name.to_owned()),
            BoundOn::Plan | BoundOn::Format(_) => None,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.on {
            BoundOn::Format(format) => write!(f, "{format}_{}", self.name),
            _ => f.write_str(self.name),
        }
    }
}

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
