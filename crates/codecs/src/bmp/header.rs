//! The header of a bitmap: the format of its pixels, and where they are.

use std::ops::Range;

use andon_pixels::{Error, Result};

use crate::bytes::{u16_le, u32_le};

/// A bitmap from its header on: a BMP file without its first 14 bytes, or an entry of an ICO file.
pub(crate) struct Dib<'a> {
    /// Name of the format that contains the bitmap.
    pub(super) format: &'static str,
    /// All bytes from the header on.
    pub(super) bytes: &'a [u8],
    /// Width in px.
    pub(crate) width: u32,
    /// Height in px. For an icon it includes the rows of the mask until `Dib::of_icon` takes them off.
    pub(crate) height: u32,
    /// Whether the first stored row is the top one.
    pub(super) top_down: bool,
    /// Bits per pixel.
    pub(crate) bits: u16,
    pub(super) packing: Packing,
    /// Bit masks of red, green, blue and alpha in a pixel of 16 or 32 bits.
    pub(super) masks: [u32; 4],
    /// Offset of the palette in `bytes`.
    pub(super) palette_at: usize,
    /// Number of colours in the palette.
    pub(super) colours: usize,
    /// Bytes per colour in the palette.
    pub(super) colour_bytes: usize,
    /// Offset of the pixels in `bytes`.
    pub(super) pixels_at: usize,
    /// Whether a mask follows the pixels, as in icons: for each row a row of bits that mark transparent pixels.
    pub(super) clear_mask: bool,
}

/// How the pixels are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// Uncompressed, row after row.
    None,
    /// Run-length encoded indices of 8 or 4 bits.
    Runs,
}

impl<'a> Dib<'a> {
    /// Reads the header of a bitmap.
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

    /// Turns this into the bitmap of an icon, which has a mask below its pixels. Pixels of 32 bits have opacity of
    /// their own, unless all of it is 0.
    pub(crate) fn of_icon(mut self) -> Self {
        self.height = self.height.div_ceil(2);
        if self.bits == 32 && self.masks[3] == 0 {
            self.masks[3] = 0xff00_0000;
        }
        self.clear_mask = true;
        self
    }

    /// Returns whether the image has opacity.
    pub(super) fn has_alpha(&self) -> bool {
        self.clear_mask || (matches!(self.bits, 16 | 32) && self.masks[3] != 0)
    }

    /// Returns the length of a row in bytes at `bits` per pixel, a multiple of four.
    pub(super) fn stride(&self, bits: u16) -> usize {
        (self.width as usize * usize::from(bits)).div_ceil(32) * 4
    }

    /// Returns the ICC profile that is embedded in a version 5 header of Windows.
    pub(crate) fn embedded_profile(&self) -> Option<&'a [u8]> {
        self.bytes.get(self.profile_at()?)
    }

    /// Returns the range of `bytes` that holds the embedded colour profile, if there is one.
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

/// Longest side in px that is accepted.
const MOST: i64 = 1 << 30;

/// Colour space type of a header with an embedded profile: `MBED`.
const EMBEDDED: u32 = 0x4d42_4544;

/// Length in bytes of the OS/2 2 header, whose compression types 3 and 4 are not those of Windows.
const OS2: usize = 64;
