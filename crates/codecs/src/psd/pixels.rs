//! Converts the channels of a PSD, which are stored one after the other, to planes.

use andon_pixels::{Depth, Error, Frame, Grid, Info, Interrupt, Plane, Result};

use super::{Header, Mode, NAME};
use crate::bytes::{u16_be, u32_be};
use crate::guard;

/// Decodes the merged image. The caller has checked its size against the limits.
pub(super) fn frame(header: &Header<'_>, info: &Info, interrupt: &dyn Interrupt) -> Result<Frame> {
    let colours = match header.mode {
        Mode::Bitmap | Mode::Gray | Mode::Indexed => 1,
        Mode::Rgb => 3,
        Mode::Cmyk => 4,
    };
    let alpha = usize::from(header.alpha);
    let mut planes = Vec::new();
    let mut rows = Rows::new(header)?;
    for channel in 0..colours + alpha {
        // Ink is stored inverted, as transmitted light.
        let inverted = channel < colours && matches!(header.mode, Mode::Cmyk | Mode::Bitmap);
        let plane = match info.depth {
            Depth::U8 => {
                let mut grid = Grid::filled(header.width, header.height, 0_u8);
                each_row(header, &mut rows, interrupt, |y, row| {
                    for (x, sample) in grid.row_mut(y).iter_mut().enumerate() {
                        let value = match header.bits {
                            1 => 255 * (row[x / 8] >> (7 - x % 8) & 1),
                            _ => row[x],
                        };
                        *sample = if inverted { 255 - value } else { value };
                    }
                })?;
                Plane::U8(grid)
            }
            _ => {
                let mut grid = Grid::filled(header.width, header.height, 0_u16);
                each_row(header, &mut rows, interrupt, |y, row| {
                    for (sample, pair) in grid.row_mut(y).iter_mut().zip(row.chunks_exact(2)) {
                        let value = u16::from_be_bytes([pair[0], pair[1]]);
                        *sample = if inverted { u16::MAX - value } else { value };
                    }
                })?;
                Plane::U16(grid)
            }
        };
        planes.push(plane);
    }
    let alpha = if header.alpha { planes.pop() } else { None };
    if let (Mode::Indexed, Some(Plane::U8(indices))) = (header.mode, planes.first()) {
        let colour = |channel: usize| {
            Plane::U8(indices.map(|index| header.palette[256 * channel + usize::from(index)]))
        };
        planes = [0, 1, 2].map(colour).into();
    }
    Frame::new(info.model, header.width, header.height, planes, alpha)
}

/// The rows of all channels that have not been read yet. A channel's rows follow those of the channel before it.
struct Rows<'a> {
    /// Lengths in bytes of the compressed rows that have not been read yet, as the file stores them: 16 bits each, 32
    /// in large documents. Empty if rows are not compressed.
    lengths: &'a [u8],
    data: &'a [u8],
}

impl<'a> Rows<'a> {
    fn new(header: &Header<'a>) -> Result<Self> {
        let each = if header.large { 4 } else { 2 };
        let table = match header.run_lengths {
            true => header.channels * header.height as usize * each,
            false => 0,
        };
        let parts = header.data.split_at_checked(table);
        let (lengths, data) = parts.ok_or_else(|| Error::broken(NAME, "its rows are cut off"))?;
        Ok(Self { lengths, data })
    }

    /// Reads the next row into `row`. Returns `None` if it is missing or damaged.
    fn next(&mut self, header: &Header<'_>, row: &mut [u8]) -> Option<()> {
        if !header.run_lengths {
            let (stored, rest) = self.data.split_at_checked(row.len())?;
            row.copy_from_slice(stored);
            self.data = rest;
            return Some(());
        }
        let (length, each) = match header.large {
            true => (u32_be(self.lengths, 0)? as usize, 4),
            false => (usize::from(u16_be(self.lengths, 0)?), 2),
        };
        self.lengths = &self.lengths[each..];
        let (packed, rest) = self.data.split_at_checked(length)?;
        self.data = rest;
        let bytes = crate::pack_bits::unpack(packed, row.len())?;
        row.copy_from_slice(&bytes);
        Some(())
    }
}

/// Returns the length in bytes of the merged image, including row lengths and the channels that are not decoded.
pub(super) fn length(header: &Header<'_>) -> Result<usize> {
    let rows = Rows::new(header)?;
    let table = header.data.len() - rows.data.len();
    let pixels = match (header.run_lengths, header.large) {
        (false, _) => row_bytes(header)
            .saturating_mul(header.height as usize)
            .saturating_mul(header.channels),
        (true, true) => (rows.lengths.chunks_exact(4))
            .filter_map(|length| u32_be(length, 0))
            .fold(0, |sum: usize, length| sum.saturating_add(length as usize)),
        (true, false) => (rows.lengths.chunks_exact(2))
            .filter_map(|length| u16_be(length, 0))
            .fold(0, |sum: usize, length| sum.saturating_add(length.into())),
    };
    match pixels <= rows.data.len() {
        true => Ok(table + pixels),
        false => Err(Error::broken(NAME, "its pixels are cut off")),
    }
}

fn row_bytes(header: &Header<'_>) -> usize {
    (header.width as usize * usize::from(header.bits)).div_ceil(8)
}

fn each_row(
    header: &Header<'_>,
    rows: &mut Rows<'_>,
    interrupt: &dyn Interrupt,
    mut take: impl FnMut(u32, &[u8]),
) -> Result<()> {
    let mut row = vec![0; row_bytes(header)];
    for y in 0..header.height {
        if y % BAND_ROWS == 0 {
            guard::check_interrupt(interrupt)?;
        }
        let read = rows.next(header, &mut row);
        read.ok_or_else(|| Error::broken(NAME, "its pixels are cut off or damaged"))?;
        take(y, &row);
    }
    Ok(())
}

/// Number of rows between two checks of the interrupt.
const BAND_ROWS: u32 = 16;
