//! The binary form of a gain map's parameters (ISO 21496-1, annex C), starting with the minimum version.

use super::{Acts, Channel, Fraction};
use crate::bytes::{u16_be, u32_be};

const SEVERAL: u8 = 0x80;
const IN_BASE_SPACE: u8 = 0x40;
/// Flag: all fractions have the same denominator, which precedes them.
const COMMON: u8 = 0x08;

/// Bytes before the fractions of a gain map's parameters: the minimum version, the writer's version and the flags.
const HEAD_BYTES: usize = 5;

impl Acts {
    /// Reads the parameters of a gain map from their binary form. Returns `None` for data that are cut off,
    /// inconsistent or need a later version.
    pub(super) fn from_iso(iso: &[u8]) -> Option<Self> {
        if u16_be(iso, 0)? != 0 {
            return None;
        }
        u16_be(iso, 2)?;
        let flags = *iso.get(4)?;
        let mut numbers = Numbers {
            iso,
            at: HEAD_BYTES,
            common: None,
        };
        if flags & COMMON != 0 {
            numbers.common = Some(numbers.long()?);
        }
        let base_headroom = numbers.unsigned()?;
        let alternate_headroom = numbers.unsigned()?;
        let count = if flags & SEVERAL != 0 { 3 } else { 1 };
        let channel = |numbers: &mut Numbers<'_>| {
            Some(Channel {
                min: numbers.signed()?,
                max: numbers.signed()?,
                gamma: numbers.unsigned()?,
                base_offset: numbers.signed()?,
                alternate_offset: numbers.signed()?,
            })
        };
        let channels: Option<_> = (0..count).map(|_| channel(&mut numbers)).collect();
        let acts = Self {
            base_headroom,
            alternate_headroom,
            channels: channels?,
            in_base_space: flags & IN_BASE_SPACE != 0,
        };
        acts.is_sound().then_some(acts)
    }

    pub(super) fn to_iso(&self) -> Vec<u8> {
        let flag = if self.channels.len() > 1 { SEVERAL } else { 0 };
        let space = if self.in_base_space { IN_BASE_SPACE } else { 0 };
        let mut iso = vec![0, 0, 0, 0, flag | space];
        let mut put = |fraction: Fraction| {
            // The low 32 bits are the same for signed and unsigned numbers.
            iso.extend((fraction.numerator as u32).to_be_bytes());
            iso.extend(fraction.denominator.to_be_bytes());
        };
        put(self.base_headroom);
        put(self.alternate_headroom);
        for channel in &self.channels {
            put(channel.min);
            put(channel.max);
            put(channel.gamma);
            put(channel.base_offset);
            put(channel.alternate_offset);
        }
        iso
    }
}

struct Numbers<'a> {
    iso: &'a [u8],
    at: usize,
    common: Option<u32>,
}

impl Numbers<'_> {
    fn long(&mut self) -> Option<u32> {
        let long = u32_be(self.iso, self.at)?;
        self.at += 4;
        Some(long)
    }

    fn unsigned(&mut self) -> Option<Fraction> {
        let numerator = self.long()?.into();
        self.denominator(numerator)
    }

    fn signed(&mut self) -> Option<Fraction> {
        let numerator = i64::from(self.long()? as i32);
        self.denominator(numerator)
    }

    fn denominator(&mut self, numerator: i64) -> Option<Fraction> {
        let denominator = match self.common {
            Some(common) => common,
            None => self.long()?,
        };
        (denominator > 0).then_some(Fraction {
            numerator,
            denominator,
        })
    }
}
