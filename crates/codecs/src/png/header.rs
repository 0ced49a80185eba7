//! What a PNG says before its pixels, read chunk by chunk from the file in memory: nothing is copied,
//! nothing inflated.

use andon_pixels::{Depth, Error, Info, Model, Orientation, Result};

use super::NAME;
use crate::exif;

/// The eight bytes every PNG begins with.
pub(super) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// All that is known before a pixel is inflated.
#[derive(Debug)]
pub(super) struct Header<'a> {
    /// Width in px, at least 1.
    pub(super) width: u32,
    /// Height in px, at least 1.
    pub(super) height: u32,
    /// Bits of a stored sample: 1, 2, 4, 8 or 16.
    pub(super) bits: u8,
    /// Stored as Adam7.
    pub(super) interlaced: bool,
    colour: Colour,
    transparent: bool,
    frames: u32,
    offset: (i32, i32),
    other_metadata: bool,
    /// The iCCP chunk: name, method, deflated profile.
    pub(super) iccp: Option<&'a [u8]>,
    /// The eXIf chunk from its TIFF header on.
    pub(super) exif: Option<&'a [u8]>,
}

/// IHDR's colour type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    Gray,
    Rgb,
    Indexed,
    GrayAlpha,
    Rgba,
}

impl<'a> Header<'a> {
    /// Reads the chunks up to the pixels, and whatever metadata still follows them in the bytes at hand.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut chunks = Chunks::of(bytes)?;
        let first = chunks.next().ok_or_else(cut)??;
        if &first.kind != b"IHDR" {
            return Err(Error::broken(NAME, "it does not begin with its header"));
        }
        let mut header = Self::from_ihdr(first.data)?;
        let mut pixels = false;
        while let Some(chunk) = chunks.next() {
            match chunk {
                Ok(chunk) if &chunk.kind == b"IDAT" => pixels = true,
                Ok(chunk) => header.take(&chunk, pixels),
                // A probe may be handed the beginning of a file only.
                Err(_) if pixels || chunks.is_inside(b"IDAT") => {
                    pixels = true;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        if !pixels {
            return Err(Error::broken(NAME, "it holds no pixels"));
        }
        Ok(header)
    }

    /// As the engine wants it.
    pub(super) fn info(&self) -> Info {
        Info {
            format: NAME,
            width: self.width,
            height: self.height,
            model: match self.colour {
                Colour::Gray | Colour::GrayAlpha => Model::Gray,
                Colour::Rgb | Colour::Indexed | Colour::Rgba => Model::Rgb,
            },
            depth: if self.bits == 16 {
                Depth::U16
            } else {
                Depth::U8
            },
            alpha: self.transparent || matches!(self.colour, Colour::GrayAlpha | Colour::Rgba),
            palette: self.colour == Colour::Indexed,
            frames: self.frames,
            orientation: self
                .exif
                .map_or_else(Orientation::default, exif::orientation),
            quality: None,
            lossless: true,
            progressive: self.interlaced,
            metadata: self.iccp.is_some() || self.exif.is_some() || self.other_metadata,
            decoder_bytes: 0,
            page_offset: self.offset,
        }
    }

    fn from_ihdr(data: &[u8]) -> Result<Self> {
        let &[
            w0,
            w1,
            w2,
            w3,
            h0,
            h1,
            h2,
            h3,
            bits,
            colour,
            method,
            filter,
            interlace,
        ] = data
        else {
            return Err(Error::broken(NAME, "its header has a wrong length"));
        };
        let width = u32::from_be_bytes([w0, w1, w2, w3]);
        let height = u32::from_be_bytes([h0, h1, h2, h3]);
        if width == 0 || height == 0 || width > MAX_SIDE || height > MAX_SIDE {
            return Err(Error::broken(NAME, format!("its size is {width}×{height}")));
        }
        let colour = match (colour, bits) {
            (0, 1 | 2 | 4 | 8 | 16) => Colour::Gray,
            (2, 8 | 16) => Colour::Rgb,
            (3, 1 | 2 | 4 | 8) => Colour::Indexed,
            (4, 8 | 16) => Colour::GrayAlpha,
            (6, 8 | 16) => Colour::Rgba,
            _ => {
                return Err(Error::broken(
                    NAME,
                    format!("colour type {colour} cannot have {bits} bits"),
                ));
            }
        };
        if method != 0 || filter != 0 || interlace > 1 {
            return Err(Error::broken(
                NAME,
                "it names an unknown compression, filter or interlace method",
            ));
        }
        Ok(Self {
            width,
            height,
            bits,
            interlaced: interlace == 1,
            colour,
            transparent: false,
            frames: 1,
            offset: (0, 0),
            other_metadata: false,
            iccp: None,
            exif: None,
        })
    }

    fn take(&mut self, chunk: &Chunk<'a>, after_pixels: bool) {
        match &chunk.kind {
            b"eXIf" => self.exif = Some(exif::without_prefix(chunk.data)),
            b"tEXt" | b"zTXt" | b"iTXt" | b"tIME" => self.other_metadata = true,
            // The rest acts only where the standard puts it: before the pixels.
            _ if after_pixels => {}
            b"iCCP" => self.iccp = Some(chunk.data),
            b"tRNS" => {
                self.transparent =
                    matches!(self.colour, Colour::Gray | Colour::Rgb | Colour::Indexed);
            }
            b"acTL" => {
                if let Some(frames) = chunk.data.first_chunk() {
                    self.frames = u32::from_be_bytes(*frames).max(1);
                }
            }
            b"oFFs" => {
                // The last byte is the unit; micrometres place nothing on a page of pixels.
                if let &[x0, x1, x2, x3, y0, y1, y2, y3, 0] = chunk.data {
                    self.offset = (
                        i32::from_be_bytes([x0, x1, x2, x3]),
                        i32::from_be_bytes([y0, y1, y2, y3]),
                    );
                }
            }
            _ => {}
        }
    }
}

/// Checks what the pixels hang on: the file reaches its end, and every critical chunk has the checksum
/// it claims. Done over the file in memory before anything is inflated, so that the inflater can stop
/// at the last row instead of following a stream that may go on for gigabytes.
pub(super) fn verify(bytes: &[u8]) -> Result<()> {
    let critical = |chunk: &Chunk<'_>| chunk.kind[0].is_ascii_uppercase() || &chunk.kind == b"tRNS";
    walked(bytes, critical).map(drop)
}

/// How many bytes from the beginning are the picture: up to its last chunk, each with the checksum it claims.
pub(super) fn extent(bytes: &[u8]) -> Result<usize> {
    walked(bytes, |_| true)
}

/// Walks to the end of the last chunk and checks the checksums of some.
fn walked(bytes: &[u8], checked: impl Fn(&Chunk<'_>) -> bool) -> Result<usize> {
    let mut chunks = Chunks::of(bytes)?;
    while let Some(chunk) = chunks.next() {
        let chunk = chunk?;
        if checked(&chunk) && chunk.checksum != chunk.computed_checksum() {
            let kind = String::from_utf8_lossy(&chunk.kind);
            return Err(Error::broken(
                NAME,
                format!("its {kind} chunk has a wrong checksum"),
            ));
        }
        if &chunk.kind == b"IEND" {
            return Ok(bytes.len() - chunks.rest.len());
        }
    }
    Err(cut())
}

/// A side above this is not a PNG any more.
const MAX_SIDE: u32 = i32::MAX as u32;

struct Chunk<'a> {
    kind: [u8; 4],
    data: &'a [u8],
    checksum: u32,
}

impl Chunk<'_> {
    fn computed_checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.kind);
        hasher.update(self.data);
        hasher.finalize()
    }
}

/// The chunks of a file, `IEND` the last. An error ends the walk.
struct Chunks<'a> {
    rest: &'a [u8],
    ended: bool,
}

impl<'a> Chunks<'a> {
    fn of(bytes: &'a [u8]) -> Result<Self> {
        let rest = bytes
            .strip_prefix(SIGNATURE)
            .ok_or_else(|| Error::broken(NAME, "it lacks the signature"))?;
        Ok(Self { rest, ended: false })
    }

    /// Does the rest begin with a chunk of this kind, whole or not?
    fn is_inside(&self, kind: &[u8]) -> bool {
        self.rest.get(4..8) == Some(kind)
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended || self.rest.is_empty() {
            return None;
        }
        let Some((chunk, rest)) = split_chunk(self.rest) else {
            self.ended = true;
            return Some(Err(cut()));
        };
        self.rest = rest;
        self.ended = &chunk.kind == b"IEND";
        Some(Ok(chunk))
    }
}

fn split_chunk(bytes: &[u8]) -> Option<(Chunk<'_>, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (kind, rest) = rest.split_first_chunk()?;
    let (data, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    let (checksum, rest) = rest.split_first_chunk()?;
    let chunk = Chunk {
        kind: *kind,
        data,
        checksum: u32::from_be_bytes(*checksum),
    };
    Some((chunk, rest))
}

fn cut() -> Error {
    Error::broken(NAME, "it is cut off")
}
