//! What a GIF says before its pixels, read block by block from the file in memory.

use andon_pixels::{Depth, Error, Info, Model, Orientation, Result};

use super::NAME;

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
    metadata: bool,
    /// No block is cut off. A missing trailer alone is forgiven: browsers forgive it.
    pub(super) whole: bool,
}

/// The first frame's place on the screen and how it is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    /// Left edge in px.
    pub(super) x: u32,
    /// Top edge in px.
    pub(super) y: u32,
    /// Width in px, at least 1.
    pub(super) width: u32,
    /// Height in px, at least 1.
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
}

impl<'a> Header<'a> {
    /// Walks the blocks of the file; hops over the data between them.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let cut = || Error::broken(NAME, "it is cut off");
        let rest = VERSIONS
            .iter()
            .find_map(|version| bytes.strip_prefix(*version))
            .ok_or_else(|| Error::broken(NAME, "it lacks the signature"))?;
        let mut walk = Walk { rest };
        let screen: [u8; 7] = walk.take().ok_or_else(cut)?;
        let mut found = Found {
            palette: walk.slice(table_bytes(screen[4])).ok_or_else(cut)?,
            ..Found::default()
        };
        let whole = loop {
            match found.take_block(&mut walk) {
                Some(true) => {}
                Some(false) => break true,
                None => break false,
            }
        };
        let frame = found.first.ok_or_else(|| {
            if whole {
                Error::broken(NAME, "it holds no picture")
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
        // Some writers leave the screen empty: then the frame is the screen.
        let side = |at: usize, end: u32| match u16::from_le_bytes([screen[at], screen[at + 1]]) {
            0 => end,
            side => u32::from(side),
        };
        Ok(Self {
            width: side(0, frame.x + frame.width),
            height: side(2, frame.y + frame.height),
            frame,
            frames: found.frames,
            metadata: found.metadata,
            whole,
        })
    }

    /// Hands over every frame, in their order, and says where the trailer ends.
    ///
    /// # Errors
    /// `Broken` for a file without its trailer, and what `each` says.
    pub(super) fn each_frame(
        bytes: &'a [u8],
        mut each: impl FnMut(&Part<'a>) -> Result<()>,
    ) -> Result<usize> {
        let cut = || Error::broken(NAME, "it ends before its trailer");
        // A signature and a screen.
        let rest = bytes.get(13..).ok_or_else(cut)?;
        let mut walk = Walk { rest };
        let palette = walk.slice(table_bytes(bytes[10])).ok_or_else(cut)?;
        let mut found = Found {
            palette,
            ..Found::default()
        };
        while found.take_block(&mut walk).ok_or_else(cut)? {
            if let Some(frame) = found.first.take() {
                each(&frame)?;
            }
        }
        let end = bytes.len() - walk.rest.len();
        match bytes.get(end - 1) {
            Some(&TRAILER) => Ok(end),
            _ => Err(cut()),
        }
    }

    /// As the engine wants it.
    pub(super) fn info(&self) -> Info {
        Info {
            format: NAME,
            width: self.width,
            height: self.height,
            model: Model::Rgb,
            depth: Depth::U8,
            alpha: self.frame.transparent.is_some() || !self.covers(),
            palette: true,
            frames: self.frames,
            orientation: Orientation::default(),
            quality: None,
            lossless: true,
            progressive: self.frame.interlaced,
            metadata: self.metadata,
            decoder_bytes: 0,
            page_offset: (0, 0),
        }
    }

    /// Does the first frame leave nothing of the screen bare?
    fn covers(&self) -> bool {
        let frame = &self.frame;
        (frame.x, frame.y) == (0, 0) && frame.width >= self.width && frame.height >= self.height
    }
}

const EXTENSION: u8 = 0x21;
const IMAGE: u8 = 0x2c;
const TRAILER: u8 = 0x3b;
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

#[derive(Default)]
struct Found<'a> {
    palette: &'a [u8],
    first: Option<Part<'a>>,
    frames: u32,
    metadata: bool,
    transparent: Option<u8>,
}

impl<'a> Found<'a> {
    /// Reads one block. `Some(false)`: the picture has ended; `None`: it is cut off.
    fn take_block(&mut self, walk: &mut Walk<'a>) -> Option<bool> {
        if walk.rest.is_empty() && self.frames > 0 {
            return Some(false);
        }
        match walk.take::<1>()? {
            [EXTENSION] => {
                let [label] = walk.take()?;
                let body = walk.rest;
                walk.skip_sub_blocks()?;
                match (label, body) {
                    (GRAPHIC_CONTROL, &[4, flags, _, _, index, ..]) => {
                        self.transparent = (flags & 1 == 1).then_some(index);
                    }
                    (COMMENT, _) => self.metadata = true,
                    (APPLICATION, body) => {
                        let looping = body.starts_with(b"\x0bNETSCAPE2.0")
                            || body.starts_with(b"\x0bANIMEXTS1.0");
                        self.metadata |= !looping;
                    }
                    _ => {}
                }
                Some(true)
            }
            [IMAGE] => {
                let [x0, x1, y0, y1, w0, w1, h0, h1, flags] = walk.take()?;
                let length = |low, high| u32::from(u16::from_le_bytes([low, high]));
                let own = walk.slice(table_bytes(flags))?;
                let [index_bits] = walk.take()?;
                self.first.get_or_insert(Part {
                    x: length(x0, x1),
                    y: length(y0, y1),
                    width: length(w0, w1),
                    height: length(h0, h1),
                    interlaced: flags & 0x40 != 0,
                    transparent: self.transparent,
                    palette: if own.is_empty() { self.palette } else { own },
                    index_bits,
                    data: walk.rest,
                });
                self.transparent = None;
                self.frames = self.frames.saturating_add(1);
                walk.skip_sub_blocks()?;
                Some(true)
            }
            [TRAILER] => Some(false),
            // Rubbish after a picture is the end of it; before one, it is no picture.
            _ => Some(false),
        }
    }
}

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
