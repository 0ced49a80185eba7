//! Converts strips and tiles to planes.

use andon_pixels::buffers::Plain;
use andon_pixels::{Decode, Depth, Frame, Grid, Plane, Result};

use super::lab;
use super::page::{Colours, Opacity, Page};
use super::sources::{self, Place};
use super::unpack::unpack;
use crate::guard;

/// Decodes the whole page. The caller has checked its size against the limits.
pub(super) fn frame(bytes: &[u8], page: &Page<'_>, how: &Decode<'_>) -> Result<Frame> {
    match page.info().depth {
        Depth::U8 => planes::<u8>(bytes, page, how),
        _ => planes::<u16>(bytes, page, how),
    }
}

/// The type of a plane's samples, which have 8 or 16 bits.
trait Sample: Plain + Default {
    const MOST: u32;
    fn of(value: u32) -> Self;
    fn value(self) -> u32;
    fn plane(grid: Grid<Self>) -> Plane;
}

impl Sample for u8 {
    const MOST: u32 = 255;

    fn of(value: u32) -> Self {
        value as Self
    }

    fn value(self) -> u32 {
        self.into()
    }

    fn plane(grid: Grid<Self>) -> Plane {
        Plane::U8(grid)
    }
}

impl Sample for u16 {
    const MOST: u32 = 65_535;

    fn of(value: u32) -> Self {
        value as Self
    }

    fn value(self) -> u32 {
        self.into()
    }

    fn plane(grid: Grid<Self>) -> Plane {
        Plane::U16(grid)
    }
}

fn planes<S: Sample>(bytes: &[u8], page: &Page<'_>, how: &Decode<'_>) -> Result<Frame> {
    let model = page.info().model;
    let alpha = page.opacity.is_some();
    let count = model.planes() + usize::from(alpha);
    let mut planes = Grid::several(count, page.width, page.height, S::default());
    sources::each(bytes, page, |packed, rows, places| {
        guard::check_interrupt(how.interrupt)?;
        let unpacked = Unpacked::of(packed, page, rows, how)?;
        for place in places {
            guard::check_interrupt(how.interrupt)?;
            place.deal_all(&unpacked, page, &mut planes);
        }
        Ok(())
    })?;
    if page.opacity == Some(Opacity::Multiplied) {
        divide(&mut planes);
    }
    if let Colours::Lab { signed } = page.colours {
        let (bits, most) = (page.bits, f64::from(S::MOST));
        let mut rest = planes.iter_mut().map(Grid::samples_mut);
        if let (Some(l), Some(a), Some(b)) = (rest.next(), rest.next(), rest.next()) {
            for ((l, a), b) in l.iter_mut().zip(a).zip(b) {
                let light = lab::to_srgb([*l, *a, *b].map(S::value), bits, signed);
                [*l, *a, *b] = light.map(|code| S::of((code * most).round() as u32));
            }
        }
    }
    let mut planes: Vec<Plane> = planes.into_iter().map(S::plane).collect();
    let alpha = if alpha { planes.pop() } else { None };
    Frame::new(model, page.width, page.height, planes, alpha)
}

/// The uncompressed rows of a strip or tile.
struct Unpacked {
    bytes: Vec<u8>,
    /// Distance between rows, in bytes.
    stride: usize,
    /// Samples per pixel.
    samples: usize,
}

impl Unpacked {
    /// Unpacks a strip or tile of this many rows.
    fn of(packed: &[u8], page: &Page<'_>, rows: usize, how: &Decode<'_>) -> Result<Self> {
        let width = page.chunk.0 as usize;
        let samples = if page.planar { 1 } else { page.samples };
        let subsampling = match page.colours {
            Colours::YCbCr { subsampling } if page.compression != 7 => Some(subsampling),
            _ => None,
        };
        let stride = (width * samples * page.bits as usize).div_ceil(8);
        let length = match subsampling {
            Some((h, v)) => width.div_ceil(h) * rows.div_ceil(v) * (h * v + 2),
            None => stride * rows,
        };
        let mut bytes = unpack(packed, page, (width, rows), length, how)?;
        let (bytes, stride) = match subsampling {
            Some(subsampling) => (to_rgb(&bytes, subsampling, width, rows), width * 3),
            None => {
                if page.has_prediction {
                    for row in bytes[..length].chunks_exact_mut(stride) {
                        accumulate(row, page, samples);
                    }
                }
                (bytes, stride)
            }
        };
        Ok(Self {
            bytes,
            stride,
            samples,
        })
    }
}

impl Place {
    /// Writes all rows of a strip or tile to their place in the planes, without the parts beyond the page's edges.
    fn deal_all<S: Sample>(&self, unpacked: &Unpacked, page: &Page<'_>, planes: &mut [Grid<S>]) {
        let samples = unpacked.samples;
        let rows = self.rows.min((page.height - self.y) as usize);
        let columns = (page.chunk.0 as usize).min((page.width - self.x) as usize);
        let mut values = vec![0; columns * samples];
        let stored_rows = unpacked.bytes.chunks_exact(unpacked.stride).take(rows);
        for (y, row) in stored_rows.enumerate() {
            for (index, value) in values.iter_mut().enumerate() {
                *value = sample(row, index, page);
            }
            self.deal(&values, samples, y as u32, page, planes);
        }
    }

    /// Writes a row of stored values to its place in the planes.
    fn deal<S: Sample>(
        &self,
        values: &[u32],
        samples: usize,
        y: u32,
        page: &Page<'_>,
        planes: &mut [Grid<S>],
    ) {
        let most = (1_u32 << page.bits) - 1;
        let to_plane_scale = |value: u32| {
            S::of(
                ((u64::from(value) * u64::from(S::MOST) + u64::from(most) / 2) / u64::from(most))
                    as u32,
            )
        };
        let colour_samples = page.colours.samples();
        let count = planes.len();
        for (channel, plane) in planes.iter_mut().enumerate() {
            // With a palette, all three planes are looked up with the same index.
            let index = match &page.colours {
                Colours::Palette(_) if channel < 3 => 0,
                Colours::Palette(_) => 1,
                _ => channel,
            };
            let Some(index) = index
                .checked_sub(self.first)
                .filter(|index| *index < samples)
            else {
                continue;
            };
            let row = &mut plane.row_mut(self.y + y)[self.x as usize..];
            let row = row
                .iter_mut()
                .zip(values.iter().skip(index).step_by(samples));
            let opacity = page.opacity.is_some() && channel + 1 == count;
            match &page.colours {
                Colours::Palette(palette) if channel < 3 => {
                    for (sample, index) in row {
                        let colour = palette.get(*index as usize).copied().unwrap_or_default();
                        *sample = S::of(u32::from(colour[channel]));
                    }
                }
                Colours::Gray {
                    white_is_zero: true,
                } if !opacity && colour_samples == 1 => {
                    row.for_each(|(sample, value)| *sample = to_plane_scale(most - value));
                }
                _ => row.for_each(|(sample, value)| *sample = to_plane_scale(*value)),
            }
        }
    }
}

/// Returns the stored sample at an index of a row.
fn sample(row: &[u8], index: usize, page: &Page<'_>) -> u32 {
    match page.bits {
        8 => u32::from(row[index]),
        16 => {
            let pair = [row[2 * index], row[2 * index + 1]];
            u32::from(match page.big_endian {
                true => u16::from_be_bytes(pair),
                false => u16::from_le_bytes(pair),
            })
        }
        bits => {
            let first = index * bits as usize;
            let bit = |at: usize| u32::from(row[at / 8] >> (7 - at % 8) & 1);
            (first..first + bits as usize).fold(0, |value, at| value << 1 | bit(at))
        }
    }
}

/// Undoes the horizontal differencing of a row.
fn accumulate(row: &mut [u8], page: &Page<'_>, samples: usize) {
    if page.bits == 8 {
        for index in samples..row.len() {
            row[index] = row[index].wrapping_add(row[index - samples]);
        }
        return;
    }
    let read = |pair: &[u8]| match page.big_endian {
        true => u16::from_be_bytes([pair[0], pair[1]]),
        false => u16::from_le_bytes([pair[0], pair[1]]),
    };
    for index in samples..row.len() / 2 {
        let left_sample = read(&row[2 * (index - samples)..]);
        let value = read(&row[2 * index..]).wrapping_add(left_sample);
        row[2 * index..2 * index + 2].copy_from_slice(&match page.big_endian {
            true => value.to_be_bytes(),
            false => value.to_le_bytes(),
        });
    }
}

/// Converts blocks of luma samples, each followed by one Cb and one Cr, to interleaved RGB by BT.601.
fn to_rgb(bytes: &[u8], (h, v): (usize, usize), width: usize, rows: usize) -> Vec<u8> {
    let mut rgb = vec![0; width * rows * 3];
    let across = width.div_ceil(h);
    for (index, block) in bytes.chunks_exact(h * v + 2).enumerate() {
        let (left, top) = (index % across * h, index / across * v);
        let (cb, cr) = (
            f32::from(block[h * v]) - 128.0,
            f32::from(block[h * v + 1]) - 128.0,
        );
        for (place, luma) in block[..h * v].iter().enumerate() {
            let (x, y) = (left + place % h, top + place / h);
            if x < width && y < rows {
                let luma = f32::from(*luma);
                let colours = [
                    luma + 1.402 * cr,
                    luma - 0.344_136 * cb - 0.714_136 * cr,
                    luma + 1.772 * cb,
                ];
                let at = (y * width + x) * 3;
                rgb[at..at + 3].copy_from_slice(&colours.map(|colour| (colour + 0.5) as u8));
            }
        }
    }
    rgb
}

/// Divides colours by the opacity that they were multiplied by. The last plane is the opacity.
fn divide<S: Sample>(planes: &mut [Grid<S>]) {
    let Some((alpha, colours)) = planes.split_last_mut() else {
        return;
    };
    for colour in colours {
        for (sample, alpha) in colour.samples_mut().iter_mut().zip(alpha.samples()) {
            let alpha = alpha.value().max(1);
            let value = (u64::from(sample.value()) * u64::from(S::MOST) + u64::from(alpha) / 2)
                / u64::from(alpha);
            *sample = S::of(value.min(u64::from(S::MOST)) as u32);
        }
    }
}
