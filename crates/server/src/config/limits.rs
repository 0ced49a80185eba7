//! The `[limits]` table: what a request may cost. The first twelve keys are limits of the pixel engine itself.

use std::time::Duration;

use andon_pixels::{Damaged, Limits};
use andon_settings::check;
use serde::Deserialize;

use super::{Bytes, ConfigError, Span};

/// The `[limits]` table: what a request may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Maximum bytes of a source file.
    pub source_bytes: Bytes,
    /// Maximum pixels of a source image.
    pub pixels: u64,
    /// Maximum frames of an animated source image.
    pub frames: u32,
    /// Maximum pixels of all frames of an animated source image together.
    pub animation_pixels: u64,
    /// Maximum length of a source image's longest side, in px.
    pub side: u32,
    /// Maximum pixels of a result.
    pub result_pixels: u64,
    /// Maximum length of a result's longest side, in px.
    pub result_side: u32,
    /// Maximum bytes that the work on one image may allocate at its peak.
    pub memory: Bytes,
    /// Maximum number of scans of a progressive JPEG.
    pub scans: u32,
    /// Maximum bytes of one metadata block after decompression.
    pub metadata_bytes: Bytes,
    /// Maximum processor time that the plan of one result may predict, without the calibration to this machine's speed;
    /// zero means no limit. For sources of less than 1 MiB, the limit is lower, see [`Limits::check_cpu`]. It does not
    /// apply to results that are made at idle priority, or for a store before any client requests them.
    pub cpu: Span,
    /// What happens to sources that are truncated or damaged.
    pub broken: Broken,
    /// Maximum number of open connections, as far as the system grants file descriptors. Beyond it, the connection that
    /// has been idle longest is closed. If all are busy, the new one is refused.
    pub connections: usize,
    /// Maximum number of open connections of one client (an address, or an IPv6 /64); 0 means no such limit. Connections
    /// on Unix sockets do not count.
    pub connections_per_client: usize,
    /// Maximum number of files that are read at the same time, outside the worker threads.
    pub fetches: usize,
    /// Maximum bytes of source files in memory at the same time, both waiting and in use.
    pub held_bytes: Bytes,
}

/// What happens to a source that is truncated or damaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Broken {
    /// The source is refused with status 415.
    #[default]
    Refuse,
    /// The part of a JPEG, PNG or GIF that can be decoded is shown, and cached for `cache.negative` only.
    Show,
}

impl From<Broken> for Damaged {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Refuse => Self::Refused,
            Broken::Show => Self::Shown,
        }
    }
}

impl Default for LimitsConfig {
    fn default() -> Self {
        let pixels = Limits::default();
        Self {
            source_bytes: Bytes(pixels.source_bytes),
            pixels: pixels.pixels,
            frames: pixels.frames,
            animation_pixels: pixels.animation_pixels,
            side: pixels.side,
            result_pixels: pixels.result_pixels,
            result_side: pixels.result_side,
            memory: Bytes(pixels.memory),
            scans: pixels.scans,
            metadata_bytes: Bytes(pixels.metadata_bytes),
            cpu: Span(Duration::from_secs(5)),
            broken: Broken::Refuse,
            connections: 2048,
            connections_per_client: 1024,
            fetches: 2,
            held_bytes: Bytes(256 << 20),
        }
    }
}

impl LimitsConfig {
    /// Returns the limits of the pixel engine.
    #[must_use]
    pub fn pixels(&self) -> Limits {
        Limits {
            source_bytes: self.source_bytes.0,
            pixels: self.pixels,
            frames: self.frames,
            animation_pixels: self.animation_pixels,
            side: self.side,
            result_pixels: self.result_pixels,
            result_side: self.result_side,
            memory: self.memory.0,
            scans: self.scans,
            metadata_bytes: self.metadata_bytes.0,
            cpu: (!self.cpu.0.is_zero()).then_some(self.cpu.0),
            damaged: self.broken.into(),
        }
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        for (key, value) in [("connections", self.connections), ("fetches", self.fetches)] {
            check((1..=MOST).contains(&value), format!("limits.{key}"), || {
                format!("{value} must be between 1 and {MOST}")
            })?;
        }
        let (limits, defaults) = (self.pixels(), Limits::default());
        for (key, unit, value) in POSITIVE {
            check(value(&limits) > 0, format!("limits.{key}"), || {
                let default = value(&defaults);
                format!("0 {unit} would refuse every image; the default is {default}")
            })?;
        }
        check(self.cpu.0 <= LONGEST, "limits.cpu", || {
            "must be at most an hour (\"1h\"); \"0s\": no limit".to_owned()
        })?;
        check(
            self.held_bytes >= self.source_bytes,
            "limits.held_bytes",
            || {
                format!(
                    "{} is below `limits.source_bytes` ({}): the largest file could never be read; raise this, or lower that",
                    self.held_bytes, self.source_bytes
                )
            },
        )
    }
}

/// The key of a limit, its unit, and how it is read.
type Row = (&'static str, &'static str, fn(&Limits) -> u64);

/// The limits that may not be 0.
const POSITIVE: [Row; 10] = [
    ("source_bytes", "bytes", |limits| limits.source_bytes),
    ("pixels", "pixels", |limits| limits.pixels),
    ("frames", "frames", |limits| limits.frames.into()),
    ("animation_pixels", "pixels", |limits| {
        limits.animation_pixels
    }),
    ("side", "pixels", |limits| limits.side.into()),
    ("result_pixels", "pixels", |limits| limits.result_pixels),
    ("result_side", "pixels", |limits| limits.result_side.into()),
    ("memory", "bytes", |limits| limits.memory),
    ("scans", "scans", |limits| limits.scans.into()),
    ("metadata_bytes", "bytes", |limits| limits.metadata_bytes),
];

/// Upper bound of `limits.cpu`. No client waits that long for an image.
const LONGEST: Duration = Duration::from_secs(3600);

/// Upper bound of `limits.connections` and `limits.fetches`: far more than one machine can serve.
const MOST: usize = 1_000_000;
