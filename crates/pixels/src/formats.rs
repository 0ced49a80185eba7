//! The formats there are and the ceilings that hold for them: what plans are made with.

use andon_recipe::FormatName;

use crate::codec::{Codec, Encode, Info};
use crate::cost::CpuTime;
use crate::error::{Error, Result};
use crate::frame::{Depth, Model, Traits};
use crate::limits::{CPU, Limits};

/// Codecs, ceilings, and how much the resampler is left with.
#[derive(Clone)]
pub(crate) struct Formats {
    pub(crate) codecs: &'static [&'static dyn Codec],
    pub(crate) limits: Limits,
    /// Decoded pixels per result pixel, along each side, that shrink-on-load leaves at least.
    pub(crate) headroom: f64,
}

impl Formats {
    /// The codec that claims these bytes, and what it reads in their header.
    pub(crate) fn header(&self, bytes: &[u8]) -> Result<(&'static dyn Codec, Info)> {
        within("source_bytes", bytes.len() as u64, self.limits.source_bytes)?;
        let codec = self.claimant(bytes).ok_or(Error::UnknownFormat)?;
        let info = codec.probe(bytes)?;
        Ok((codec, info))
    }

    /// Is this header read in no time?
    pub(crate) fn probes_at_once(&self, bytes: &[u8]) -> bool {
        let codec = self.claimant(bytes);
        codec.is_some_and(|codec| codec.probes_at_once(bytes))
    }

    /// The codec whose format a file claims.
    fn claimant(&self, bytes: &[u8]) -> Option<&'static dyn Codec> {
        self.codecs.iter().copied().find(|codec| codec.sniff(bytes))
    }

    /// A format that takes colour and opacity as they are: for what is never written.
    pub(crate) fn holding_anything(&self) -> Option<FormatName> {
        let traits = Traits {
            alpha: true,
            ..Traits::new(Model::Rgb, Depth::U8)
        };
        let takes = |codec: &&&dyn Codec| codec.accepts(traits, &Encode::default()) == Some(traits);
        let codec = self.codecs.iter().find(takes)?;
        FormatName::new(codec.name()).ok()
    }

    /// The codec of this name or alias.
    pub(crate) fn codec(&self, name: &str) -> Option<&'static dyn Codec> {
        self.codecs
            .iter()
            .copied()
            .find(|codec| codec.name() == name || codec.format().aliases.contains(&name))
    }
}

impl Limits {
    /// Refuses an image that is too large to decode, by its header.
    pub(crate) fn check_source(&self, info: &Info) -> Result<()> {
        let side = u64::from(info.width.max(info.height));
        within("side", side, u64::from(self.side))?;
        within("pixels", info.pixels(), self.pixels)
    }

    /// Refuses an image whose `frames` are more, or together larger, than the limits allow.
    pub(crate) fn check_frames(&self, info: &Info, frames: u32) -> Result<()> {
        within("frames", u64::from(frames), u64::from(self.frames))?;
        let pixels = info.pixels().saturating_mul(u64::from(frames));
        within("animation_pixels", pixels, self.animation_pixels)
    }

    /// Refuses work on a source file of `bytes` that is planned to take more processor time than `cpu`. Files of less than
    /// 1 MiB have a share of it, and are held to what the hardest images may take: what is dear about them was asked for
    /// by the request, which costs its sender nothing.
    ///
    /// # Errors
    /// `Limit`, in nanoseconds.
    pub fn check_cpu(&self, planned: CpuTime, bytes: u64) -> Result<()> {
        let Some(limit) = self.cpu.map(|limit| limit.as_nanos() as f64) else {
            return Ok(());
        };
        if bytes >= WHOLE_CPU {
            return within(CPU, planned.estimated, limit as u64);
        }
        let share = LEAST_CPU + (1.0 - LEAST_CPU) * bytes as f64 / WHOLE_CPU as f64;
        within(CPU, planned.most, (limit * share) as u64)
    }
}

/// Bytes of a source file from which on its work may take all of the limit.
const WHOLE_CPU: u64 = 1 << 20;

/// The share of the limit that the smallest files may take.
const LEAST_CPU: f64 = 0.25;

/// Refuses a value over its ceiling.
pub(crate) fn within(name: &'static str, value: u64, limit: u64) -> Result<()> {
    if value > limit {
        Err(Error::Limit { name, value, limit })
    } else {
        Ok(())
    }
}
