//! The structure of a GIF up to its pixels, read block by block from the file in memory.

use andon_pixels::{Animation, Delay, Error, Info, Model, Result};

use super::NAME;
use super::decode::NANOS_PER_PIXEL;
use crate::animation::Disposal;

/// The signatures with which a file may begin.
pub(super) const VERSIONS: [&[u8]; 2] = [b"GIF87a", b"GIF89a"];

/// The properties of a file, read without unpacking pixels.
#[derive(Debug)]
pub(super) struct Header<'a> {
    /// Width of the logical screen in px, at least 1.
    pub(super) width: u32,
    /// Height of the logical screen in px, at least 1.
    pub(super) height: u32,
    /// The first frame.
    pub(super) frame: Part<'a>,
    total: Total,
    metadata: bool,
    animation: Option<Animation>,
    /// Whether every block is complete. A missing trailer is accepted, as in browsers.
    pub(super) whole: bool,
}

/// A frame's place on the screen, how it is stored, and how it is disposed of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    /// Left edge on the screen, in px.
    pub(super) x: u32,
    /// Top edge on the screen, in px.
    pub(super) y: u32,
    /// Width in px.
    pub(super) width: u32,
    /// Height in px.
    pub(super) height: u32,
    /// Whether the rows are stored interlaced, in four passes.
    pub(super) interlaced: bool,
    /// The index of transparent pixels, if there is one.
    pub(super) transparent: Option<u8>,
    /// The frame's own colour table, or otherwise the file's: red, green and blue of each index.
    pub(super) palette: &'a [u8],
    /// Bits per index before LZW compression.
    pub(super) index_bits: u8,
    /// The sub-blocks of compressed indices, followed by the rest of the file.
    pub(super) data: &'a [u8],
    /// The time for which the frame is shown.
    pub(super) delay: Delay,
    /// What happens to the frame's rectangle before the next frame is drawn.
    pub(super) disposal: Disposal,
}

/// Totals and maxima over all frames, which may be larger than the screen.
#[derive(Debug, Default)]
struct Total {
    frames: u32,
    /// Pixels of all frames.
    pixels: u64,
    /// Pixels of the largest frame.
    largest: u64,
    /// Width of the widest frame, in px.
    widest: u32,
    seconds: f64,
    /// Whether the canvas may be transparent somewhere after a frame was shown.
    clears: bool,
}

impl Total {
    fn add(&mut self, part: &Part<'_>) {
        self.clears |= part.disposal.clears(self.frames == 0);
        self.frames = self.frames.saturating_add(1);
        self.pixels += part.pixels();
        self.largest = self.largest.max(part.pixels());
        self.widest = self.widest.max(part.width);
        self.seconds += part.delay.seconds();
    }
}

impl Part<'_> {
    pub(super) fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

impl<'a> Header<'a> {
    /// Reads the blocks of the file and skips the data between them.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut blocks = Blocks::of(bytes)?;
        let mut first = None;
        let mut total = Total::default();
        let whole = loop {
            match blocks.next_part() {
                Block::Part(part) => {
                    total.add(&part);
                    first.get_or_insert(part);
                }
                Block::Skipped => {}
                Block::End => break true,
                Block::Cut => break false,
            }
        };
        let frame = first.ok_or_else(|| match whole {
            true => Error::broken(NAME, "it holds no image"),
            false => cut_off(),
        })?;
        if frame.width == 0 || frame.height == 0 {
            return Err(Error::broken(NAME, "its first frame is empty"));
        }
        if frame.palette.is_empty() {
            return Err(Error::broken(NAME, "its first frame has no colours"));
        }
        // Some writers set the screen size to 0, or too small. Browsers then enlarge it to the size of the first frame.
        let screen = blocks.screen;
        let grows = frame.width > screen.0 || frame.height > screen.1;
        let side = |side: u32, end: u32| if grows { side.max(end) } else { side };
        let mut header = Self {
            width: side(screen.0, frame.x + frame.width),
            height: side(screen.1, frame.y + frame.height),
            frame,
            total,
            metadata: blocks.metadata,
            animation: None,
            whole,
        };
        let Total {
            frames,
            seconds,
            clears,
            ..
        } = header.total;
        header.animation = (frames > 1).then(|| Animation {
            apart: false,
            plays: blocks.plays.unwrap_or(1),
            duration_ms: (seconds * 1000.0).round() as u64,
            alpha: clears || frame.transparent.is_some() || !header.covers(),
        });
        Ok(header)
    }

    /// Calls `each` with every frame in order, and returns the offset in bytes at which the last block ends: after the
    /// trailer or, if that is missing, before the bytes in its place.
    ///
    /// # Errors
    /// `Broken` for a file without a complete header or that is cut off inside a block, and any error of `each`.
    pub(super) fn each_frame(
        bytes: &'a [u8],
        mut each: impl FnMut(&Part<'a>) -> Result<()>,
    ) -> Result<usize> {
        let mut blocks = Blocks::of(bytes)?;
        loop {
            match blocks.next_part() {
                Block::Part(frame) => each(&frame)?,
                Block::Skipped => {}
                Block::End => break,
                Block::Cut => return Err(cut_off()),
            }
        }
        let end = bytes.len() - blocks.walk.rest.len();
        // Only the trailer is part of the image; any other byte that ended it is not.
        let is_other = blocks.is_over && bytes.get(end - 1) != Some(&TRAILER);
        Ok(end - usize::from(is_other))
    }

    /// Converts the header to the format-independent `Info`.
    pub(super) fn info(&self) -> Info {
        Info {
            alpha: self.frame.transparent.is_some() || !self.covers(),
            palette: true,
            frames: self.total.frames,
            animation: self.animation,
            lossless: true,
            progressive: self.frame.interlaced,
            metadata: self.metadata,
            decoder_bytes: self.decoder_bytes(),
            decoder_nanos: self.decoder_nanos(),
            ..Info::new(NAME, self.width, self.height, Model::Rgb)
        }
    }

    /// Returns the additional memory in bytes for the indices and planes of frames that are larger than the screen.
    fn decoder_bytes(&self) -> u64 {
        let planes = 4 * u64::from(self.total.widest) * u64::from(self.height);
        (self.total.largest + planes).saturating_sub(5 * self.screen_pixels())
    }

    /// Returns the additional time in nanoseconds per frame for unpacking frames that are larger than the screen.
    fn decoder_nanos(&self) -> u64 {
        let each = self.total.pixels / u64::from(self.total.frames.max(1));
        let most = each.max(self.frame.pixels());
        most.saturating_sub(self.screen_pixels()) * NANOS_PER_PIXEL
    }

    fn screen_pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Returns whether the first frame covers the whole screen.
    fn covers(&self) -> bool {
        let frame = &self.frame;
        (frame.x, frame.y) == (0, 0) && frame.width >= self.width && frame.height >= self.height
    }
}

fn cut_off() -> Error {
    Error::broken(NAME, "it is cut off")
}

const EXTENSION: u8 = 0x21;
const IMAGE: u8 = 0x2c;
pub(super) const TRAILER: u8 = 0x3b;
const GRAPHIC_CONTROL: u8 = 0xf9;
const COMMENT: u8 = 0xfe;
const APPLICATION: u8 = 0xff;

/// Returns the length in bytes of the colour table that a flags byte declares.
fn table_bytes(flags: u8) -> usize {
    if flags & 0x80 == 0 {
        0
    } else {
        3 << ((flags & 7) + 1)
    }
}

/// A block of the file. Only frames are distinguished from other blocks.
pub(super) enum Block<'a> {
    /// A frame.
    Part(Part<'a>),
    /// Any other block.
    Skipped,
    /// The end of the image.
    End,
    /// The file ends inside the block.
    Cut,
}

/// Reader of a file's blocks, one after the other.
pub(super) struct Blocks<'a> {
    walk: Walk<'a>,
    screen: (u32, u32),
    palette: &'a [u8],
    control: Control,
    /// Number of times that the animation is played; 0 means forever. If the file states it several times, the first
    /// counts.
    plays: Option<u32>,
    metadata: bool,
    has_frame: bool,
    cut_off: bool,
    /// Whether a byte that does not begin a block, such as the trailer, has ended the image.
    is_over: bool,
}

/// The fields of a graphic control extension, which apply to the next frame.
#[derive(Clone, Copy, Default)]
struct Control {
    transparent: Option<u8>,
    delay: u16,
    disposal: Disposal,
}

impl<'a> Blocks<'a> {
    /// Reads the file header and the global colour table, which precede the first block.
    pub(super) fn of(bytes: &'a [u8]) -> Result<Self> {
        let rest = VERSIONS
            .iter()
            .find_map(|version| bytes.strip_prefix(*version))
            .ok_or_else(|| Error::broken(NAME, "it lacks the signature"))?;
        let mut walk = Walk { rest };
        let [w0, w1, h0, h1, flags, _, _] = walk.take().ok_or_else(cut_off)?;
        Ok(Self {
            palette: walk.slice(table_bytes(flags)).ok_or_else(cut_off)?,
            walk,
            screen: (length(w0, w1), length(h0, h1)),
            control: Control::default(),
            plays: None,
            metadata: false,
            has_frame: false,
            cut_off: false,
            is_over: false,
        })
    }

    /// Reads the next block.
    pub(super) fn next_part(&mut self) -> Block<'a> {
        if self.cut_off {
            return Block::Cut;
        }
        if self.walk.rest.is_empty() && self.has_frame {
            return Block::End;
        }
        self.block().unwrap_or(Block::Cut)
    }

    fn block(&mut self) -> Option<Block<'a>> {
        let walk = &mut self.walk;
        match walk.take::<1>()? {
            [EXTENSION] => {
                let [label] = walk.take()?;
                let body = walk.rest;
                walk.skip_sub_blocks()?;
                self.extension(label, body);
                Some(Block::Skipped)
            }
            [IMAGE] => {
                let [x0, x1, y0, y1, w0, w1, h0, h1, flags] = walk.take()?;
                let table = walk.slice(table_bytes(flags))?;
                let [index_bits] = walk.take()?;
                let control = std::mem::take(&mut self.control);
                let part = Part {
                    x: length(x0, x1),
                    y: length(y0, y1),
                    width: length(w0, w1),
                    height: length(h0, h1),
                    interlaced: flags & 0x40 != 0,
                    transparent: control.transparent,
                    palette: if table.is_empty() {
                        self.palette
                    } else {
                        table
                    },
                    index_bits,
                    data: walk.rest,
                    delay: Delay::played(u32::from(control.delay), 100),
                    disposal: control.disposal,
                };
                self.has_frame = true;
                // A frame whose data is cut off is returned as well, so that its header can be used; the next call
                // reports the cut.
                self.cut_off = walk.skip_sub_blocks().is_none();
                Some(Block::Part(part))
            }
            // The trailer, or other bytes. Unknown bytes after a frame end the image, too.
            _ => {
                self.is_over = true;
                Some(Block::End)
            }
        }
    }

    fn extension(&mut self, label: u8, body: &[u8]) {
        match (label, body) {
            (GRAPHIC_CONTROL, &[4, flags, low, high, index, ..]) => {
                self.control = Control {
                    transparent: (flags & 1 == 1).then_some(index),
                    delay: u16::from_le_bytes([low, high]),
                    disposal: match flags >> 2 & 7 {
                        2 => Disposal::Clear,
                        3 => Disposal::Restore,
                        _ => Disposal::Keep,
                    },
                };
            }
            (COMMENT, _) => self.metadata = true,
            (APPLICATION, body) => match LOOPING.iter().find_map(|name| body.strip_prefix(*name)) {
                Some(&[3, 1, low, high, ..]) => {
                    // The number of repetitions after the first play; 0 means forever.
                    let more = length(low, high);
                    let plays = if more == 0 { 0 } else { more + 1 };
                    self.plays.get_or_insert(plays);
                }
                Some(_) => {}
                None => self.metadata = true,
            },
            _ => {}
        }
    }
}

fn length(low: u8, high: u8) -> u32 {
    u32::from(u16::from_le_bytes([low, high]))
}

/// Identifiers of the application extensions that state the number of repetitions.
const LOOPING: [&[u8]; 2] = [b"\x0bNETSCAPE2.0", b"\x0bANIMEXTS1.0"];

struct Walk<'a> {
    rest: &'a [u8],
}

impl<'a> Walk<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*bytes)
    }

    fn slice(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (slice, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        Some(slice)
    }

    fn skip_sub_blocks(&mut self) -> Option<()> {
        loop {
            let [length] = self.take()?;
            if length == 0 {
                return Some(());
            }
            self.slice(usize::from(length))?;
        }
    }
}
