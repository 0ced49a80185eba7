//! Decoding of GIF files to planes.

use andon_pixels::{
    Cost, Damaged, Decode, Error, Frame, FrameReader, Grid, Image, Info, Interrupt, Limits, Result,
    Timed,
};

use super::NAME;
use super::header::{Block, Blocks, Header, Part as Stored};
use super::lzw;
use super::rows::stored_order;
use crate::animation::{Blend, Canvas, Disposal, Part, Place};
use crate::guard;

/// Decodes the first frame, composed on the logical screen.
pub(super) fn decode(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
    let header = Header::read(bytes)?;
    guard::check_probed(header.width, header.height, info, how.limits)?;
    // A frame may extend beyond its screen; the pixels outside are decoded and discarded.
    guard::size(header.frame.width, header.frame.height, how.limits)?;
    if !header.whole {
        return Err(Error::broken(NAME, "it is cut off"));
    }
    let alpha = header.info().alpha;
    frame(&header, alpha, how.interrupt).map(Image::still)
}

/// Decodes the undamaged part of the first frame of a damaged file.
pub(super) fn salvage(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
    let header = Header::read(bytes)?;
    guard::check_probed(header.width, header.height, info, how.limits)?;
    guard::size(header.frame.width, header.frame.height, how.limits)?;
    let part = &header.frame;
    let length = part.width as usize * part.height as usize;
    let mut indices = lzw::unpack_there(part.data, part.index_bits, length, how.interrupt)?;
    if indices.is_empty() {
        return Err(Error::broken(NAME, "it has no pixels"));
    }
    // Missing pixels are transparent or, without transparency, have the first colour, which is often the background.
    indices.resize(length, part.transparent.unwrap_or(0));
    let mut canvas = Canvas::new(header.width, header.height, header.info().alpha);
    let part = look_up(part, header.height, &indices)?;
    let frame = canvas.draw(&part, Blend::Over, Disposal::Keep)?;
    Ok(Image::still(frame))
}

/// Returns the offset in bytes at which the image ends. Every frame within the limits is unpacked to check it for
/// damage.
pub(super) fn extent(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<usize> {
    let too_large = guard::size(info.width, info.height, how.limits).is_err();
    let (mut frames, mut pixels) = (0_u32, 0);
    Header::each_frame(bytes, |frame| {
        frames = frames.saturating_add(1);
        pixels += frame.pixels();
        let too_many = frames > how.limits.frames || pixels > how.limits.pixels.min(MOST_CHECKED);
        if too_large || too_many {
            return guard::check_interrupt(how.interrupt);
        }
        let length = frame.width as usize * frame.height as usize;
        lzw::unpack(frame.data, frame.index_bits, length, how.interrupt).map(drop)
    })
}

/// Returns the cost of `extent`, which unpacks all frames. Each is assumed to be as large as the logical screen, or as
/// large as the largest frame if that is larger than the screen.
pub(super) fn extent_cost(bytes: u64, info: &Info) -> Cost {
    let one = cost(bytes, info);
    let each = info.pixels() * NANOS_PER_PIXEL + info.decoder_nanos;
    let all = each.saturating_mul(u64::from(info.frames));
    Cost {
        nanos: bytes * NANOS_PER_BYTE + all.min(MOST_CHECKED * NANOS_PER_PIXEL),
        ..one
    }
}

/// Maximum number of pixels, of all frames together, that are checked for damage before a file becomes the result
/// without being encoded again. For further frames, only the presence of every block is checked.
const MOST_CHECKED: u64 = 120_000_000;

/// Returns the cost of decoding, measured with photos and drawings on one core.
pub(super) fn cost(bytes: u64, info: &Info) -> Cost {
    Cost {
        nanos: bytes * NANOS_PER_BYTE + info.pixels() * NANOS_PER_PIXEL + info.decoder_nanos,
        // One index per pixel and the frame's own planes, which exist until they are drawn on the canvas.
        scratch: 5 * info.pixels() + info.decoder_bytes + DICTIONARY_BYTES,
    }
}

const NANOS_PER_BYTE: u64 = 5;
pub(super) const NANOS_PER_PIXEL: u64 = 3;
const DICTIONARY_BYTES: u64 = 128 << 10;

fn frame(header: &Header<'_>, alpha: bool, interrupt: &dyn Interrupt) -> Result<Frame> {
    let mut canvas = Canvas::new(header.width, header.height, alpha);
    let part = unpack(&header.frame, header.height, interrupt)?;
    canvas.draw(&part, Blend::Over, Disposal::Keep)
}

/// Reads the frames of an animation.
pub(super) struct Reader<'a> {
    blocks: Blocks<'a>,
    canvas: Canvas,
    limits: &'a Limits,
    interrupt: &'a dyn Interrupt,
}

impl<'a> Reader<'a> {
    /// Opens an animation. The first frame is decoded by the first call of `next`.
    pub(super) fn open(bytes: &'a [u8], info: &Info, how: &Decode<'a>) -> Result<Self> {
        let header = Header::read(bytes)?;
        guard::check_probed(header.width, header.height, info, how.limits)?;
        if !header.whole && how.limits.damaged == Damaged::Refused {
            return Err(Error::broken(NAME, "it is cut off"));
        }
        Ok(Self {
            blocks: Blocks::of(bytes)?,
            canvas: Canvas::of(info),
            limits: how.limits,
            interrupt: how.interrupt,
        })
    }
}

impl FrameReader for Reader<'_> {
    fn next(&mut self) -> Result<Option<Timed>> {
        loop {
            let part = match self.blocks.next_part() {
                Block::Part(part) => part,
                Block::Skipped => continue,
                Block::End => return Ok(None),
                Block::Cut => return Err(Error::broken(NAME, "it is cut off")),
            };
            guard::size(part.width, part.height, self.limits)?;
            if part.palette.is_empty() {
                return Err(Error::broken(NAME, "one of its frames has no colours"));
            }
            let pixels = unpack(&part, self.canvas.height(), self.interrupt)?;
            let frame = self.canvas.draw(&pixels, Blend::Over, part.disposal)?;
            let delay = part.delay;
            return Ok(Some(Timed { frame, delay }));
        }
    }
}

/// Unpacks a frame's own pixels, with the rows in display order. Rows below the screen are unpacked and discarded.
fn unpack(part: &Stored<'_>, screen: u32, interrupt: &dyn Interrupt) -> Result<Part> {
    let length = part.width as usize * part.height as usize;
    let indices = lzw::unpack(part.data, part.index_bits, length, interrupt)?;
    guard::check_interrupt(interrupt)?;
    look_up(part, screen, &indices)
}

/// Looks up the colours of a frame's indices and returns the pixels within the height of the screen.
fn look_up(part: &Stored<'_>, screen: u32, indices: &[u8]) -> Result<Part> {
    let width = part.width as usize;
    let table = Table::new(part.palette, part.transparent);
    let channels = if part.transparent.is_some() { 4 } else { 3 };
    let visible_rows = part.height.min(screen.saturating_sub(part.y));
    let mut planes = Grid::several(channels, part.width, visible_rows, 0u8);
    let rows = indices.chunks_exact(width.max(1));
    for (y, row) in stored_order(part.height, part.interlaced).zip(rows) {
        if y < visible_rows {
            for (plane, values) in planes.iter_mut().zip(&table.channels) {
                for (out, &index) in plane.row_mut(y).iter_mut().zip(row) {
                    *out = values[usize::from(index)];
                }
            }
        }
    }
    let place = Place {
        x: part.x,
        y: part.y,
        width: part.width,
        height: visible_rows,
    };
    Part::new(place, planes)
}

/// A colour table: red, green, blue and alpha by index. Indices past the palette are opaque black.
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
