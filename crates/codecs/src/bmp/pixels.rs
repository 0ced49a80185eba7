//! Decoding of bitmaps to planes.

use andon_pixels::{Error, Frame, Grid, Interrupt, Model, Plane, Result};

use super::header::{Dib, Packing};
use super::runs;
use crate::guard;

/// Red, green, blue and alpha of a pixel.
type Pixel = [u8; 4];

impl Dib<'_> {
    /// Decodes the whole image. Its size must have been checked against the limits.
    pub(crate) fn frame(&self, interrupt: &dyn Interrupt) -> Result<Frame> {
        let stride = self.stride(self.bits);
        let data = self.bytes.get(self.pixels_at..);
        let data = data.ok_or_else(|| self.cut_off())?;
        let palette = self.palette();
        let (width, height) = (self.width as usize, self.height as usize);
        let indices = self.indices(data, interrupt)?;
        let clear = match self.clear_mask {
            // The mask may be missing if pixels have their own opacity.
            true => data.get(stride * height..).unwrap_or_default(),
            false => &[],
        };
        // Writers that do not support opacity store zeros there.
        let by_mask = self.clear_mask && !(self.bits == 32 && self.says_opacity(data));
        let alpha = self.has_alpha();
        let channels = 3 + usize::from(alpha);
        let mut planes = Grid::several(channels, self.width, self.height, 0_u8);
        let mut pixels = vec![[0; 4]; width];
        for y in 0..height {
            if y % BAND_ROWS == 0 {
                guard::check_interrupt(interrupt)?;
            }
            let stored_row = if self.top_down { y } else { height - 1 - y };
            match &indices {
                Some(indices) => {
                    for (pixel, index) in pixels.iter_mut().zip(&indices[stored_row * width..]) {
                        *pixel = palette.get(usize::from(*index)).copied().unwrap_or(BLACK);
                    }
                }
                None => self.row(&data[stored_row * stride..], &palette, &mut pixels),
            }
            if by_mask {
                let row = clear.get(stored_row * self.stride(1)..).unwrap_or_default();
                for (x, pixel) in pixels.iter_mut().enumerate() {
                    let bits = row.get(x / 8).copied().unwrap_or(0);
                    pixel[3] = if bits >> (7 - x % 8) & 1 == 1 { 0 } else { 255 };
                }
            }
            for (channel, plane) in planes.iter_mut().enumerate() {
                for (sample, pixel) in plane.row_mut(y as u32).iter_mut().zip(&pixels) {
                    *sample = pixel[channel];
                }
            }
        }
        Frame::of_planes(Model::Rgb, planes.into_iter().map(Plane::U8).collect())
    }

    fn cut_off(&self) -> Error {
        Error::broken(self.format, "it is cut off")
    }

    /// Returns the indices of run-length encoded pixels. Returns `None` for uncompressed pixels, after a check that all
    /// of them are present.
    ///
    /// # Errors
    /// `Broken` if pixels are missing; `Interrupted`.
    fn indices(&self, data: &[u8], interrupt: &dyn Interrupt) -> Result<Option<Vec<u8>>> {
        let (width, height) = (self.width as usize, self.height as usize);
        if self.packing == Packing::Runs {
            let runs_and_length = runs::unpack(data, self.bits, width, height, interrupt)?;
            let (indices, _) = runs_and_length.ok_or_else(|| self.cut_off())?;
            return Ok(Some(indices));
        }
        // The padding of the last row may be missing.
        let row = (width * usize::from(self.bits)).div_ceil(8);
        let rows = (height - 1).checked_mul(self.stride(self.bits));
        match rows.and_then(|rows| rows.checked_add(row)) {
            Some(needed) if needed <= data.len() => Ok(None),
            _ => Err(self.cut_off()),
        }
    }

    /// Returns whether any pixel of a 32-bit image has an opacity other than 0.
    fn says_opacity(&self, data: &[u8]) -> bool {
        let pixels = data.chunks_exact(4);
        let mut pixels = pixels.take(self.width as usize * self.height as usize);
        pixels.any(|pixel| {
            let pixel = u32::from_le_bytes([pixel[0], pixel[1], pixel[2], pixel[3]]);
            pixel & self.masks[3] != 0
        })
    }

    /// Returns the offset in bytes from the header at which pixels, mask and profile end. Missing padding of the last
    /// row is not counted. The mask of a 32-bit icon may be missing or cut off, because its pixels have their own
    /// opacity. The mask then ends at `entry_length`, the length that the icon's directory states for the entry.
    pub(crate) fn end(&self, entry_length: usize, interrupt: &dyn Interrupt) -> Result<usize> {
        let (width, height) = (self.width as usize, self.height as usize);
        let data = self.bytes.get(self.pixels_at..).unwrap_or_default();
        let length = match self.packing {
            Packing::Runs => {
                let runs_and_length = runs::unpack(data, self.bits, width, height, interrupt)?;
                runs_and_length.map_or(data.len(), |(_, length)| length)
            }
            Packing::None => self.stride(self.bits).saturating_mul(height),
        };
        let pixels = self.pixels_at.saturating_add(length);
        let masked = match self.clear_mask {
            true => pixels.saturating_add(self.stride(1).saturating_mul(height)),
            false => pixels,
        };
        let pixels = match self.bits {
            32 => entry_length.clamp(pixels, masked),
            _ => masked,
        };
        let profile = self.profile_at().map_or(0, |place| place.end);
        Ok(pixels.max(profile).min(self.bytes.len()))
    }

    /// Returns the palette, or the part of it that the file contains.
    fn palette(&self) -> Vec<Pixel> {
        let table = self.bytes.get(self.palette_at..).unwrap_or_default();
        let colours = table.chunks_exact(self.colour_bytes).take(self.colours);
        colours
            .map(|colour| [colour[2], colour[1], colour[0], 255])
            .collect()
    }

    fn row(&self, row: &[u8], palette: &[Pixel], pixels: &mut [Pixel]) {
        match self.bits {
            1 | 2 | 4 | 8 => {
                let bits = usize::from(self.bits);
                let mask = (1_u16 << bits) - 1;
                for (x, pixel) in pixels.iter_mut().enumerate() {
                    let byte = u16::from(row[x * bits / 8]);
                    let index = byte >> (8 - bits - x * bits % 8) & mask;
                    *pixel = palette.get(usize::from(index)).copied().unwrap_or(BLACK);
                }
            }
            24 => {
                for (pixel, bytes) in pixels.iter_mut().zip(row.chunks_exact(3)) {
                    *pixel = [bytes[2], bytes[1], bytes[0], 255];
                }
            }
            bits => {
                let fields = self.masks.map(Field::of);
                for (pixel, bytes) in pixels
                    .iter_mut()
                    .zip(row.chunks_exact(usize::from(bits) / 8))
                {
                    let value = bytes
                        .iter()
                        .rev()
                        .fold(0, |value, byte| value << 8 | u32::from(*byte));
                    *pixel = fields.map(|field| field.sample(value, 0));
                    pixel[3] = fields[3].sample(value, 255);
                }
            }
        }
    }
}

const BLACK: Pixel = [0, 0, 0, 255];

/// Number of rows decoded between two checks of the interrupt.
const BAND_ROWS: usize = 16;

/// The bits of a pixel that store one colour.
#[derive(Clone, Copy)]
struct Field {
    mask: u32,
    shift: u32,
    most: u64,
}

impl Field {
    fn of(mask: u32) -> Self {
        let shift = mask.trailing_zeros().min(31);
        Self {
            mask,
            shift,
            most: u64::from(mask >> shift),
        }
    }

    /// Returns the field's value scaled to 8 bits, or `none` if the field has no bits.
    fn sample(self, value: u32, none: u8) -> u8 {
        if self.mask == 0 {
            return none;
        }
        let bits = u64::from((value & self.mask) >> self.shift);
        ((bits * 255 + self.most / 2) / self.most) as u8
    }
}
