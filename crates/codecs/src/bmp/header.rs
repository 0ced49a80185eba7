//! The header of a bitmap: what its pixels are, and where they stand.

use std::ops::Range;

use andon_pixels::{Error, Result};

use crate::bytes::{u16_le, u32_le};

/// A bitmap from its header on: the whole of a BMP but its first 14 bytes, or an entry of an ICO.
pub(crate) struct Dib<'a> {
    /// The format that it stands in.
    pub(super) format: &'static str,
    /// From the header on.
    pub(super) bytes: &'a [u8],
    /// In px.
    pub(crate) width: u32,
    /// In px; of an icon, with the mask's rows until they are taken off.
    pub(crate) height: u32,
    /// The first row is the top one.
    pub(super) top_down: bool,
    /// Bits of a pixel.
    pub(crate) bits: u16,
    pub(super) packing: Packing,
    /// Of red, green, blue and alpha in a pixel of 16 or 32 bits.
    pub(super) masks: [u32; 4],
    /// Where the colours stand.
    pub(super) palette_at: usize,
    /// How many colours.
    pub(super) colours: usize,
    /// Bytes of a colour.
    pub(super) colour_bytes: usize,
    /// Where the pixels stand.
    pub(super) pixels_at: usize,
    /// An icon has a row of clear bits for each row of pixels.
    pub(super) clear_mask: bool,
}

/// How pixels are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// Row after row.
    None,
    /// Run lengths, of indices with 8 or 4 bits.
    Runs,
}

impl<'a> Dib<'a> {
    /// Reads a header.
    pub(crate) fn read(bytes: &'a [u8], format: &'static str) -> Result<Self> {
        let broken = |why: &str| Error::broken(format, why);
        let long = |at| u32_le(bytes, at).ok_or_else(|| broken("its header is cut off"));
        let short = |at| u16_le(bytes, at).ok_or_else(|| broken("its header is cut off"));
        let length = long(0)? as usize;
        let core = length == 12;
        if !(core || (16..=124).contains(&length)) {
            return Err(broken(&format!("its header is {length} bytes long")));
        }
        let (width, height, bits_at) = match core {
            true => (i64::from(short(4)?), i64::from(short(6)?), 10),
            false => (i64::from(long(4)? as i32), i64::from(long(8)? as i32), 14),
        };
        if !(1..=MOST).contains(&width) || !(1..=MOST).contains(&height.abs()) {
            return Err(broken(&format!("its size is {width}×{height}")));
        }
        let bits = short(bits_at)?;
        // Short headers leave out what is zero.
        let later = |at: usize| if length >= at + 4 { long(at) } else { Ok(0) };
        let (compression, colours) = match core {
            true => (0, 0),
            false => (later(16)?, later(32)?),
        };
        let fields = matches!(compression, 3 | 6) && length != OS2;
        let packing = match (compression, bits) {
            (1, 8) | (2, 4) => Packing::Runs,
            (0, 1 | 2 | 4 | 8 | 16 | 24 | 32) => Packing::None,
            (3 | 6, 16 | 32) if fields => Packing::None,
            _ => {
                return Err(Error::Unsupported {
                    format,
                    what: format!("compression {compression} of {bits} bits"),
                });
            }
        };
        let top_down = height < 0;
        if top_down && packing == Packing::Runs {
            return Err(broken("its run lengths go from top to bottom"));
        }
        let mut palette_at = length;
        let masks = match (fields, bits) {
            (true, _) => {
                let count = if compression == 6 || length >= 56 {
                    4
                } else {
                    3
                };
                let mut masks = [0; 4];
                for (index, mask) in masks.iter_mut().enumerate().take(count) {
                    *mask = long(40 + 4 * index)?;
                }
                if length == 40 {
                    palette_at += 4 * count;
                }
                masks
            }
            (false, 16) => [0x7c00, 0x3e0, 0x1f, 0],
            _ => [0xff_0000, 0xff00, 0xff, 0],
        };
        let most = if bits <= 8 { 1_usize << bits } else { 0 };
        let colours = match colours as usize {
            0 => most,
            told => told.min(most),
        };
        let colour_bytes = if core { 3 } else { 4 };
        Ok(Self {
            format,
            bytes,
            width: width as u32,
            height: height.unsigned_abs() as u32,
            top_down,
            bits,
            packing,
            masks,
            palette_at,
            colours,
            colour_bytes,
            pixels_at: palette_at + colours * colour_bytes,
            clear_mask: false,
        })
    }

    /// The bitmap of an icon, below which stands a mask: 32 bits have opacity of their own, unless all of it is 0.
    pub(crate) fn of_icon(mut self) -> Self {
        self.height = self.height.div_ceil(2);
        if self.bits == 32 && self.masks[3] == 0 {
            self.masks[3] = 0xff00_0000;
        }
        self.clear_mask = true;
        self
    }

    /// Has it opacity?
    pub(super) fn has_alpha(&self) -> bool {
        self.clear_mask || (matches!(self.bits, 16 | 32) && self.masks[3] != 0)
    }

    /// Bytes of a row at `bits` per pixel: a multiple of four.
    pub(super) fn stride(&self, bits: u16) -> usize {
        (self.width as usize * usize::from(bits)).div_ceil(32) * 4
    }

    /// The profile in Windows' fifth header.
    pub(crate) fn embedded_profile(&self) -> Option<&'a [u8]> {
        self.bytes.get(self.profile_at()?)
    }

    /// The bytes of the file that hold the colour profile, if it has one.
    pub(super) fn profile_at(&self) -> Option<Range<usize>> {
        if u32_le(self.bytes, 0)? != 124 || u32_le(self.bytes, 56)? != EMBEDDED {
            return None;
        }
        let at = u32_le(self.bytes, 112)? as usize;
        let length = u32_le(self.bytes, 116)? as usize;
        let place = at..at.checked_add(length)?;
        (length > 0 && place.end <= self.bytes.len()).then_some(place)
    }
}

/// The longest side that is believed.
const MOST: i64 = 1 << 30;

/// `MBED`.
const EMBEDDED: u32 = 0x4d42_4544;

/// The header of OS/2 2, whose compressions 3 and 4 are others.
const OS2: usize = 64;
