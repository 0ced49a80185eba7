//! `[limits]`: what a request may cost. The first twelve keys are the pixel engine's own.

use std::time::Duration;

use andon_pixels::{Damaged, Limits};
use andon_settings::check;
use serde::Deserialize;

use super::{Bytes, ConfigError, Span};

/// `[limits]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Bytes of a source file.
    pub source_bytes: Bytes,
    /// Pixels of a source image.
    pub pixels: u64,
    /// Frames of a source image that moves.
    pub frames: u32,
    /// Pixels of all its frames together.
    pub animation_pixels: u64,
    /// Longest side of a source image, in px.
    pub side: u32,
    /// Pixels of a result.
    pub result_pixels: u64,
    /// Longest side of a result, in px.
    pub result_side: u32,
    /// Bytes that one image's work may hold at its peak.
    pub memory: Bytes,
    /// Scans of a progressive JPEG.
    pub scans: u32,
    /// Bytes of one metadata block after inflation.
    pub metadata_bytes: Bytes,
    /// Processor time that the plan of one result may come to, before it is corrected by what this machine takes; less for
    /// small sources, see [`Limits::check_cpu`]; zero: no such limit. It holds where a client waits, not for idle requests
    /// and results made ahead for a store.
    pub cpu: Span,
    /// Sources that are cut or damaged.
    pub broken: Broken,
    /// Open connections, as far as the system grants descriptors for them. Then whoever waits longest
    /// without asking makes room; if all are being answered, the next is refused.
    pub connections: usize,
    /// Of those, one client's (an address; a /64 of IPv6); 0: no such limit. Unix sockets do not count.
    pub connections_per_client: usize,
    /// Files read at the same time, apart from the pixel threads.
    pub fetches: usize,
    /// Bytes of source files held at the same time, waiting and being worked on.
    pub held_bytes: Bytes,
}

/// What becomes of a source that is cut or damaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Broken {
    /// It is answered with 415.
    #[default]
    Refuse,
    /// What there is of a JPEG, PNG or GIF is shown, for `cache.negative` only.
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
    /// The pixel engine's share.
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
        let (limits, usual) = (self.pixels(), Limits::default());
        for (key, value, usual, unit) in [
            (
                "source_bytes",
                limits.source_bytes,
                usual.source_bytes,
                "bytes",
            ),
            ("pixels", limits.pixels, usual.pixels, "pixels"),
            (
                "frames",
                limits.frames.into(),
                usual.frames.into(),
                "frames",
            ),
            (
                "animation_pixels",
                limits.animation_pixels,
                usual.animation_pixels,
                "pixels",
            ),
            ("side", limits.side.into(), usual.side.into(), "pixels"),
            (
                "result_pixels",
                limits.result_pixels,
                usual.result_pixels,
                "pixels",
            ),
            (
                "result_side",
                limits.result_side.into(),
                usual.result_side.into(),
                "pixels",
            ),
            ("memory", limits.memory, usual.memory, "bytes"),
            ("scans", limits.scans.into(), usual.scans.into(), "scans"),
            (
                "metadata_bytes",
                limits.metadata_bytes,
                usual.metadata_bytes,
                "bytes",
            ),
        ] {
            check(value > 0, format!("limits.{key}"), || {
                format!("0 {unit} would refuse every image; the default is {usual}")
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

/// Nothing that a client waits for takes as long.
const LONGEST: Duration = Duration::from_secs(3600);

/// Far more than one machine serves.
const MOST: usize = 1_000_000;
