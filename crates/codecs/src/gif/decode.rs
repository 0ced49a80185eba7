//! From a GIF to planes.

use andon_pixels::{
    Cost, Decode, Error, Frame, Grid, Image, Info, Interrupt, Model, Plane, Result,
};

use super::NAME;
use super::header::Header;
use super::lzw;
use super::rows::stored_order;
use crate::guard;

/// Decodes the first frame on its screen.
pub(super) fn decode(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
    let header = Header::read(bytes)?;
    guard::probed(header.width, header.height, info, how.limits)?;
    // A frame may be larger than its screen; what lies outside is decoded and dropped.
    guard::size(header.frame.width, header.frame.height, how.limits)?;
    if !header.whole {
        return Err(Error::broken(NAME, "it is cut off"));
    }
    let alpha = header.info().alpha;
    frame(&header, alpha, how.interrupt).map(Image::still)
}

/// Where the picture ends, every frame unpacked on the way, as far as the limits go.
pub(super) fn extent(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<usize> {
    let too_large = guard::size(info.width, info.height, how.limits).is_err();
    let mut pixels = 0;
    Header::each_frame(bytes, |frame| {
        pixels += u64::from(frame.width) * u64::from(frame.height);
        if too_large || pixels > how.limits.pixels {
            return guard::wanted(how.interrupt);
        }
        let length = frame.width as usize * frame.height as usize;
        lzw::unpack(frame.data, frame.index_bits, length, how.interrupt).map(drop)
    })
}

/// As if each frame were as large as the screen.
pub(super) fn extent_cost(bytes: u64, info: &Info) -> Cost {
    let one = cost(bytes, info);
    Cost {
        nanos: one.nanos + info.pixels() * NANOS_PER_PIXEL * u64::from(info.frames - 1),
        ..one
    }
}

/// Measured on photographs and drawings, one core.
pub(super) fn cost(bytes: u64, info: &Info) -> Cost {
    Cost {
        nanos: bytes * NANOS_PER_BYTE + info.pixels() * NANOS_PER_PIXEL,
        // One index per pixel.
        scratch: info.pixels() + DICTIONARY_BYTES,
    }
}

const NANOS_PER_BYTE: u64 = 5;
const NANOS_PER_PIXEL: u64 = 3;
const DICTIONARY_BYTES: u64 = 128 << 10;

fn frame(header: &Header<'_>, alpha: bool, interrupt: &dyn Interrupt) -> Result<Frame> {
    let part = &header.frame;
    let (width, height) = (part.width as usize, part.height as usize);
    let indices = lzw::unpack(part.data, part.index_bits, width * height, interrupt)?;
    guard::wanted(interrupt)?;

    let table = Table::new(part.palette, part.transparent);
    let channels = if alpha { 4 } else { 3 };
    let mut planes = Grid::several(channels, header.width, header.height, 0u8);
    let rows = indices.chunks_exact(width);
    for (y, row) in stored_order(part.height, part.interlaced).zip(rows) {
        let y = part.y + y;
        if y < header.height {
            for (plane, values) in planes.iter_mut().zip(&table.channels) {
                let columns = plane.row_mut(y).iter_mut().skip(part.x as usize);
                for (out, &index) in columns.zip(row) {
                    *out = values[usize::from(index)];
                }
            }
        }
    }
    let mut planes: Vec<Plane> = planes.into_iter().map(Plane::U8).collect();
    let alpha = if alpha { planes.pop() } else { None };
    Ok(Frame::new(
        Model::Rgb,
        header.width,
        header.height,
        planes,
        alpha,
    ))
}

/// Red, green, blue and alpha by index. Indices past the palette are opaque black.
struct Table {
    channels: [[u8; 256]; 4],
}

impl Table {
    fn new(palette: &[u8], transparent: Option<u8>) -> Self {
        let mut channels = [[0; 256], [0; 256], [0; 256], [255; 256]];
        for (index, colour) in palette.chunks_exact(3).take(256).enumerate() {
            for (channel, &value) in channels.iter_mut().zip(colour) {
                channel[index] = value;
            }
        }
        if let Some(index) = transparent {
            for channel in &mut channels {
                channel[usize::from(index)] = 0;
            }
        }
        Self { channels }
    }
}
