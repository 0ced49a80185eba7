//! The header of a bitmap: the format of its pixels and their offset.

use std::ops::Range;

use andon_pixels::{Error, Result};

use crate::bytes::{u16_le, u32_le};

/// A bitmap from its header on: a BMP file without its first 14 bytes, or an entry of an ICO file.
pub(crate) struct Dib<'a> {
    /// Name of the format that contains the bitmap.
    pub(super) format: &'static str,
    /// All bytes, starting with the header.
    pub(super) bytes: &'a [u8],
    /// Width in px.
    pub(crate) width: u32,
    /// Height in px. For an icon it includes the rows of the mask, until `Dib::of_icon` subtracts them.
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
    /// Whether a mask follows the pixels, as in icons: one bit per pixel, row after row, set for transparent pixels.
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
        let header = Header::of(bytes, format)?;
        let (width, height, bits) = header.size()?;
        let (compression, colours) = match header.is_core() {
            true => (0, 0),
            false => (header.later(16)?, header.later(32)? as usize),
        };
        let packing = header.packing(compression, bits)?;
        let top_down = height < 0;
        if top_down && packing == Packing::Runs {
            return Err(header.broken("its run lengths go from top to bottom"));
        }
        let (masks, palette_at) = header.masks(compression, bits)?;
        let most = if bits <= 8 { 1_usize << bits } else { 0 };
        let colours = match colours {
            0 => most,
            told => told.min(most),
        };
        let colour_bytes = if header.is_core() { 3 } else { 4 };
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

    /// Converts this to the bitmap of an icon, which has a mask below its pixels. In icons of 32 bits per pixel, the
    /// pixels have their own opacity, unless all opacity values are 0.
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

/// The fields of a bitmap header of any generation.
struct Header<'a> {
    bytes: &'a [u8],
    format: &'static str,
    /// Length in bytes, which identifies the generation.
    length: usize,
}

impl<'a> Header<'a> {
    fn of(bytes: &'a [u8], format: &'static str) -> Result<Self> {
        let mut header = Self {
            bytes,
            format,
            length: 0,
        };
        header.length = header.long(0)? as usize;
        match header.length {
            12 | 16..=124 => Ok(header),
            length => Err(header.broken(&format!("its header is {length} bytes long"))),
        }
    }

    fn broken(&self, why: &str) -> Error {
        Error::broken(self.format, why)
    }

    /// Whether this is the first header of OS/2, which contains only the size and the depth.
    fn is_core(&self) -> bool {
        self.length == 12
    }

    fn short(&self, at: usize) -> Result<u16> {
        u16_le(self.bytes, at).ok_or_else(|| self.broken("its header is cut off"))
    }

    fn long(&self, at: usize) -> Result<u32> {
        u32_le(self.bytes, at).ok_or_else(|| self.broken("its header is cut off"))
    }

    /// Returns a field, or 0 if the header is too short to contain it.
    fn later(&self, at: usize) -> Result<u32> {
        match self.length >= at + 4 {
            true => self.long(at),
            false => Ok(0),
        }
    }

    /// Returns width and height in px, and the bits per pixel. A negative height means that the top row comes first.
    fn size(&self) -> Result<(i64, i64, u16)> {
        let (width, height, bits_at) = match self.is_core() {
            true => (self.short(4)?.into(), self.short(6)?.into(), 10),
            false => (
                i64::from(self.long(4)? as i32),
                i64::from(self.long(8)? as i32),
                14,
            ),
        };
        if !(1..=MOST).contains(&width) || !(1..=MOST).contains(&height.abs()) {
            return Err(self.broken(&format!("its size is {width}×{height}")));
        }
        Ok((width, height, self.short(bits_at)?))
    }

    /// Whether the header contains bit masks.
    fn has_masks(&self, compression: u32) -> bool {
        matches!(compression, 3 | 6) && self.length != OS2
    }

    fn packing(&self, compression: u32, bits: u16) -> Result<Packing> {
        match (compression, bits) {
            (1, 8) | (2, 4) => Ok(Packing::Runs),
            (0, 1 | 2 | 4 | 8 | 16 | 24 | 32) => Ok(Packing::None),
            (3 | 6, 16 | 32) if self.has_masks(compression) => Ok(Packing::None),
            _ => Err(Error::unsupported(
                self.format,
                format!("compression {compression} of {bits} bits"),
            )),
        }
    }

    /// Returns the bit masks of red, green, blue and alpha, and the offset of the palette, which the masks may precede.
    fn masks(&self, compression: u32, bits: u16) -> Result<([u32; 4], usize)> {
        if !self.has_masks(compression) {
            let masks = match bits {
                16 => [0x7c00, 0x3e0, 0x1f, 0],
                _ => [0xff_0000, 0xff00, 0xff, 0],
            };
            return Ok((masks, self.length));
        }
        let count = match compression {
            6 => 4,
            _ if self.length >= 56 => 4,
            _ => 3,
        };
        let mut masks = [0; 4];
        for (index, mask) in masks.iter_mut().enumerate().take(count) {
            *mask = self.long(40 + 4 * index)?;
        }
        let extra_masks = if self.length == 40 { 4 * count } else { 0 };
        Ok((masks, self.length + extra_masks))
    }
}

/// Maximum length of a side in px.
const MOST: i64 = 1 << 30;

/// Colour space type of a header with an embedded profile: `MBED`.
const EMBEDDED: u32 = 0x4d42_4544;

/// Length in bytes of the OS/2 2 header, whose compression types 3 and 4 are not those of Windows.
const OS2: usize = 64;
