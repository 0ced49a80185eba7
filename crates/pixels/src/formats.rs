//! The known formats and the limits that apply to them: the basis on which plans are made.

use andon_recipe::{Effect, FormatName};

use crate::codec::{Codec, Drawings, Encode, Info};
use crate::cost::CpuTime;
use crate::error::{Error, Result};
use crate::frame::{Depth, Model, Traits};
use crate::limits::{Bound, Limits};
use crate::stage::OverlaySource;

/// The codecs, the limits, and how many more pixels than the result needs are left to the resampler.
#[derive(Clone)]
pub(crate) struct Formats {
    pub(crate) codecs: &'static [&'static dyn Codec],
    pub(crate) limits: Limits,
    /// Minimum number of decoded pixels per result pixel, along each side, that shrink-on-load leaves to the resampler.
    pub(crate) headroom: f64,
}

impl Formats {
    /// Returns the codec that claims these bytes, and the header that it reads.
    pub(crate) fn header(&self, bytes: &[u8]) -> Result<(&'static dyn Codec, Info)> {
        within(
            Bound::SOURCE_BYTES,
            bytes.len() as u64,
            self.limits.source_bytes,
        )?;
        let codec = self.claimant(bytes).ok_or(Error::UnknownFormat)?;
        let info = codec.probe(bytes)?;
        Ok((codec, info))
    }

    /// Whether the header of this file can be read in a fraction of a millisecond.
    pub(crate) fn probes_at_once(&self, bytes: &[u8]) -> bool {
        let codec = self.claimant(bytes);
        codec.is_some_and(|codec| codec.probes_at_once(bytes))
    }

    /// Returns the codec whose format a file claims to be of.
    fn claimant(&self, bytes: &[u8]) -> Option<&'static dyn Codec> {
        self.codecs.iter().copied().find(|codec| codec.sniff(bytes))
    }

    /// Returns the file that an effect lays over the image; the file of a plain colour is generated. `None` for effects
    /// without an overlay.
    pub(crate) fn overlay(
        &self,
        effect: &Effect,
        overlays: &dyn OverlaySource,
    ) -> Option<Result<Vec<u8>>> {
        if let Some(name) = effect.overlay_name() {
            return Some(overlays.load(name));
        }
        let colour = effect.overlay_colour()?;
        Some(self.drawings().map(|drawings| drawings.solid(colour)))
    }

    /// Returns the codec that generates drawings of text and colours.
    ///
    /// # Errors
    /// `Recipe` if no codec can generate drawings.
    pub(crate) fn drawings(&self) -> Result<&'static dyn Drawings> {
        let mut drawings = self.codecs.iter().filter_map(|codec| codec.drawings());
        drawings.next().ok_or_else(|| Error::Recipe {
            piece: Effect::TEXT.to_owned(),
            why: "no format that is read here can show text or a plain colour".to_owned(),
        })
    }

    /// Returns a format that accepts RGB with alpha unchanged, for images that are never written.
    pub(crate) fn holding_anything(&self) -> Option<FormatName> {
        let traits = Traits {
            alpha: true,
            ..Traits::new(Model::Rgb, Depth::U8)
        };
        let takes = |codec: &&&dyn Codec| {
            let encoder = codec.encoder();
            encoder.is_some_and(|encoder| encoder.accepts(traits, &Encode::default()) == traits)
        };
        let codec = self.codecs.iter().find(takes)?;
        FormatName::new(codec.name()).ok()
    }

    /// Returns the codec with this name or alias.
    pub(crate) fn codec(&self, name: &str) -> Option<&'static dyn Codec> {
        self.codecs
            .iter()
            .copied()
            .find(|codec| codec.name() == name || codec.format().aliases.contains(&name))
    }
}

impl Limits {
    /// Returns an error for an image whose header says that it is too large to decode.
    pub(crate) fn check_source(&self, info: &Info) -> Result<()> {
        let side = u64::from(info.width.max(info.height));
        within(Bound::SIDE, side, u64::from(self.side))?;
        within(Bound::PIXELS, info.pixels(), self.pixels)
    }

    /// Returns an error for an animation of more frames, or of more pixels in all frames together, than the limits
    /// allow.
    pub(crate) fn check_frames(&self, info: &Info, frames: u32) -> Result<()> {
        within(Bound::FRAMES, u64::from(frames), u64::from(self.frames))?;
        let pixels = info.pixels().saturating_mul(u64::from(frames));
        within(Bound::ANIMATION_PIXELS, pixels, self.animation_pixels)
    }

    /// Returns an error for work on a source file of `bytes` bytes that is planned to take more processor time than the
    /// limit. For files of less than 1 MiB, the limit is lower, down to a quarter for the smallest, and the worst case
    /// of the work counts: what makes them expensive is the request, which costs its sender nothing.
    ///
    /// # Errors
    /// `Limit`, in nanoseconds.
    pub fn check_cpu(&self, planned: CpuTime, bytes: u64) -> Result<()> {
        let Some(limit) = self.cpu.map(|limit| limit.as_nanos() as f64) else {
            return Ok(());
        };
        if bytes >= WHOLE_CPU {
            return within(Bound::CPU, planned.estimated, limit as u64);
        }
        let share = LEAST_CPU + (1.0 - LEAST_CPU) * bytes as f64 / WHOLE_CPU as f64;
        within(Bound::CPU, planned.most, (limit * share) as u64)
    }
}

/// Smallest source file, in bytes, on which work may use the whole limit of processor time.
const WHOLE_CPU: u64 = 1 << 20;

/// The share of the limit of processor time that work on the smallest files may use.
const LEAST_CPU: f64 = 0.25;

/// Returns an error for a value over its limit.
pub(crate) fn within(bound: Bound, value: u64, limit: u64) -> Result<()> {
    if value > limit {
        Err(Error::Limit {
            bound,
            value,
            limit,
        })
    } else {
        Ok(())
    }
}
