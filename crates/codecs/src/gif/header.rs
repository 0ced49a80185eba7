//! What a GIF says before its pixels, read block by block from the file in memory.

use andon_pixels::{Animation, Delay, Error, Info, Model, Result};

use super::NAME;
use super::decode::NANOS_PER_PIXEL;
use crate::animation::Disposal;

/// What a file may begin with.
pub(super) const VERSIONS: [&[u8]; 2] = [b"GIF87a", b"GIF89a"];

/// All that is known before a pixel is unpacked.
#[derive(Debug)]
pub(super) struct Header<'a> {
    /// Width of the logical screen in px, at least 1.
    pub(super) width: u32,
    /// Height of the logical screen in px, at least 1.
    pub(super) height: u32,
    /// The first frame.
    pub(super) frame: Part<'a>,
    frames: u32,
    /// Pixels of all frames, of the largest, and the width of the widest: they may be larger than the screen.
    pixels: u64,
    largest: u64,
    widest: u32,
    metadata: bool,
    animation: Option<Animation>,
    /// No block is cut off. A missing trailer alone is forgiven: browsers forgive it.
    pub(super) whole: bool,
}

/// A frame's place on the screen, how it is stored, and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    /// Left edge in px.
    pub(super) x: u32,
    /// Top edge in px.
    pub(super) y: u32,
    /// Width in px.
    pub(super) width: u32,
    /// Height in px.
    pub(super) height: u32,
    /// Rows are stored in four passes.
    pub(super) interlaced: bool,
    /// The index that stands for a clear pixel.
    pub(super) transparent: Option<u8>,
    /// Its own colour table, else the file's: red, green, blue of each index.
    pub(super) palette: &'a [u8],
    /// Bits of an index before packing.
    pub(super) index_bits: u8,
    /// The sub-blocks of packed indices, and the rest of the file.
    pub(super) data: &'a [u8],
    /// The time for which the frame is shown.
    pub(super) delay: Delay,
    /// What becomes of its place before the next frame.
    pub(super) disposal: Disposal,
}

impl Part<'_> {
    pub(super) fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

impl<'a> Header<'a> {
    /// Walks the blocks of the file; hops over the data between them.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut blocks = Blocks::of(bytes)?;
        let mut first: Option<Part<'a>> = None;
        let (mut frames, mut seconds, mut clears) = (0_u32, 0.0, false);
        let (mut pixels, mut largest, mut widest) = (0_u64, 0_u64, 0_u32);
        let whole = loop {
            match blocks.next_part() {
                Block::Part(part) => {
                    // What is restored before anything else was drawn is clear, too.
                    clears |= match part.disposal {
                        Disposal::Clear => true,
                        Disposal::Restore => first.is_none(),
                        Disposal::Keep => false,
                    };
                    first.get_or_insert(part);
                    frames = frames.saturating_add(1);
                    pixels += part.pixels();
                    largest = largest.max(part.pixels());
                    widest = widest.max(part.width);
                    seconds += part.delay.seconds();
                }
                Block::Skipped => {}
                Block::End => break true,
                Block::Cut => break false,
            }
        };
        let frame = first.ok_or_else(|| {
            if whole {
                Error::broken(NAME, "it holds no image")
            } else {
                cut()
            }
        })?;
        if frame.width == 0 || frame.height == 0 {
            return Err(Error::broken(NAME, "its first frame is empty"));
        }
        if frame.palette.is_empty() {
            return Err(Error::broken(NAME, "its first frame has no colours"));
        }
        // Some writers leave the screen empty, or it is too small: browsers make it as large as the first frame needs.
        let screen = blocks.screen;
        let grows = frame.width > screen.0 || frame.height > screen.1;
        let side = |side: u32, end: u32| if grows { side.max(end) } else { side };
        let mut header = Self {
            width: side(screen.0, frame.x + frame.width),
            height: side(screen.1, frame.y + frame.height),
            frame,
            frames,
            pixels,
            largest,
            widest,
            metadata: blocks.metadata,
            animation: None,
            whole,
        };
        header.animation = (frames > 1).then(|| Animation {
            apart: false,
            plays: blocks.plays.unwrap_or(1),
            duration_ms: (seconds * 1000.0_f64).round() as u64,
            alpha: clears || frame.transparent.is_some() || !header.covers(),
        });
        Ok(header)
    }

    /// Hands over every frame, in their order, and says where the last block ends: with the trailer, or in front of what
    /// stands in its place.
    ///
    /// # Errors
    /// `Broken` for a file that is cut inside a block, and what `each` says.
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
                Block::Cut => return Err(cut()),
            }
        }
        let end = bytes.len() - blocks.walk.rest.len();
        // Nothing but the trailer is a block that ends an image.
        let is_other = blocks.ended && bytes.get(end - 1) != Some(&TRAILER);
        Ok(end - usize::from(is_other))
    }

    /// As the engine wants it.
    pub(super) fn info(&self) -> Info {
        Info {
            alpha: self.frame.transparent.is_some() || !self.covers(),
            palette: true,
            frames: self.frames,
            animation: self.animation,
            lossless: true,
            progressive: self.frame.interlaced,
            metadata: self.metadata,
            decoder_bytes: self.decoder_bytes(),
            decoder_nanos: self.decoder_nanos(),
            ..Info::new(NAME, self.width, self.height, Model::Rgb)
        }
    }

    /// What the indices and planes of a frame take that is larger than the screen.
    fn decoder_bytes(&self) -> u64 {
        let planes = 4 * u64::from(self.widest) * u64::from(self.height);
        (self.largest + planes).saturating_sub(5 * self.screen_pixels())
    }

    /// What unpacking such frames takes, for each frame.
    fn decoder_nanos(&self) -> u64 {
        let each = self.pixels / u64::from(self.frames.max(1));
        let most = each.max(self.frame.pixels());
        most.saturating_sub(self.screen_pixels()) * NANOS_PER_PIXEL
    }

    fn screen_pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Does the first frame leave nothing of the screen bare?
    fn covers(&self) -> bool {
        let frame = &self.frame;
        (frame.x, frame.y) == (0, 0) && frame.width >= self.width && frame.height >= self.height
    }
}

fn cut() -> Error {
    Error::broken(NAME, "it is cut off")
}

const EXTENSION: u8 = 0x21;
const IMAGE: u8 = 0x2c;
pub(super) const TRAILER: u8 = 0x3b;
const GRAPHIC_CONTROL: u8 = 0xf9;
const COMMENT: u8 = 0xfe;
const APPLICATION: u8 = 0xff;

/// Bytes of the colour table that a flags byte announces.
fn table_bytes(flags: u8) -> usize {
    if flags & 0x80 == 0 {
        0
    } else {
        3 << ((flags & 7) + 1)
    }
}

/// A block of the file, as far as images go.
pub(super) enum Block<'a> {
    /// A frame.
    Part(Part<'a>),
    /// Anything else.
    Skipped,
    /// The image has ended.
    End,
    /// The file has, too early.
    Cut,
}

/// A walk over the blocks of a file.
pub(super) struct Blocks<'a> {
    walk: Walk<'a>,
    screen: (u32, u32),
    palette: &'a [u8],
    control: Control,
    /// How often the file says that it is to be shown; 0 is forever. The first of several counts.
    plays: Option<u32>,
    metadata: bool,
    begun: bool,
    cut: bool,
    /// By a byte that begins no block, such as the trailer.
    ended: bool,
}

/// What a graphic control extension says of the frame that follows.
#[derive(Clone, Copy, Default)]
struct Control {
    transparent: Option<u8>,
    delay: u16,
    disposal: Disposal,
}

impl<'a> Blocks<'a> {
    /// Reads what stands before the first block.
    pub(super) fn of(bytes: &'a [u8]) -> Result<Self> {
        let rest = VERSIONS
            .iter()
            .find_map(|version| bytes.strip_prefix(*version))
            .ok_or_else(|| Error::broken(NAME, "it lacks the signature"))?;
        let mut walk = Walk { rest };
        let [w0, w1, h0, h1, flags, _, _] = walk.take().ok_or_else(cut)?;
        Ok(Self {
            palette: walk.slice(table_bytes(flags)).ok_or_else(cut)?,
            walk,
            screen: (length(w0, w1), length(h0, h1)),
            control: Control::default(),
            plays: None,
            metadata: false,
            begun: false,
            cut: false,
            ended: false,
        })
    }

    /// Reads one block.
    pub(super) fn next_part(&mut self) -> Block<'a> {
        if self.cut {
            return Block::Cut;
        }
        if self.walk.rest.is_empty() && self.begun {
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
                let own = walk.slice(table_bytes(flags))?;
                let [index_bits] = walk.take()?;
                let control = std::mem::take(&mut self.control);
                let part = Part {
                    x: length(x0, x1),
                    y: length(y0, y1),
                    width: length(w0, w1),
                    height: length(h0, h1),
                    interlaced: flags & 0x40 != 0,
                    transparent: control.transparent,
                    palette: if own.is_empty() { self.palette } else { own },
                    index_bits,
                    data: walk.rest,
                    delay: Delay::played(u32::from(control.delay), 100),
                    disposal: control.disposal,
                };
                self.begun = true;
                // The header counts a frame whose data is cut off, so that it can be told what is.
                self.cut = walk.skip_sub_blocks().is_none();
                Some(Block::Part(part))
            }
            // The trailer. Rubbish after an image is the end of it, too; before one, it is no image.
            _ => {
                self.ended = true;
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
                    // So many times more; 0 is forever.
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

/// The extensions that say how often.
const LOOPING: [&[u8]; 2] = [b"\x0bNETSCAPE2.0", b"\x0bANIMEXTS1.0"];

struct Walk<'a> {
    rest: &'a [u8],
}

impl<'a> Walk<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*taken)
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
