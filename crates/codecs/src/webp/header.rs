//! What a WebP says before its pixels: the container's chunks, and the first frame's own header.

use andon_pixels::{Depth, Error, Info, Model, Orientation, Result};

use super::ffi::{self, Features};
use super::riff::{Chunk, Chunks, u24};
use super::{LOSSY, NAME};
use crate::exif;

/// All that is known before a pixel is decoded.
#[derive(Debug)]
pub(super) struct Header<'a> {
    /// Canvas width in px.
    pub(super) width: u32,
    /// Canvas height in px.
    pub(super) height: u32,
    /// The first frame.
    pub(super) frame: Part<'a>,
    /// 1, or 2 for "more than one".
    frames: u32,
    /// The colour profile.
    pub(super) icc: Option<&'a [u8]>,
    /// The EXIF block from its TIFF header on.
    pub(super) exif: Option<&'a [u8]>,
    xmp: bool,
    /// Everything the container promises is there.
    pub(super) whole: bool,
}

/// A frame and its place on the canvas.
#[derive(Debug)]
pub(super) struct Part<'a> {
    /// Left edge in px.
    pub(super) x: u32,
    /// Top edge in px.
    pub(super) y: u32,
    /// What its bitstream says.
    pub(super) features: Features,
    /// What libwebp decodes.
    pub(super) data: &'a [u8],
}

impl<'a> Header<'a> {
    /// Reads the container and the first frame's header.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let (mut chunks, mut whole) = Chunks::of_file(bytes)?;
        let mut found = Found::default();
        loop {
            match chunks.next() {
                Some(Ok(chunk)) => found.take(chunk),
                // A probe may be handed the beginning of a file only: what is not there yet is left to
                // the decoder.
                Some(Err(_)) => {
                    whole = false;
                    break;
                }
                None => break,
            }
        }
        let (frame, canvas) = match found.first_frame {
            Some(data) => (Part::of_animation(data)?, found.canvas),
            None => (Part::of_still(bytes)?, None),
        };
        let (width, height) = canvas.unwrap_or((frame.features.width, frame.features.height));
        Ok(Self {
            width,
            height,
            frame,
            frames: found.frames.max(1),
            icc: found.icc,
            exif: found.exif,
            xmp: found.xmp,
            whole,
        })
    }

    /// How many bytes from the beginning are the file that its header promises, all of its chunks there, and a
    /// bitstream in each frame.
    pub(super) fn extent(bytes: &[u8]) -> Result<usize> {
        let (chunks, whole) = Chunks::of_file(bytes)?;
        if !whole {
            return Err(Error::broken(NAME, "it is cut off"));
        }
        let end = RIFF_HEADER_BYTES + chunks.rest().len();
        for chunk in chunks {
            let chunk = chunk?;
            if &chunk.name == b"ANMF" {
                Part::of_animation(chunk.data)?;
                let inside = chunk.data.get(ANMF_HEADER_BYTES..).unwrap_or_default();
                Chunks::of(inside).try_for_each(|chunk| chunk.map(drop))?;
            }
        }
        Ok(end)
    }

    /// Is the first frame the whole canvas? Then it needs no composing.
    pub(super) fn covers(&self) -> bool {
        let Features { width, height, .. } = self.frame.features;
        (self.frame.x, self.frame.y, width, height) == (0, 0, self.width, self.height)
    }

    /// As the engine wants it.
    pub(super) fn info(&self) -> Info {
        let features = &self.frame.features;
        Info {
            format: NAME,
            width: self.width,
            height: self.height,
            model: if features.lossless || !self.covers() {
                Model::Rgb
            } else {
                LOSSY
            },
            depth: Depth::U8,
            alpha: features.alpha || !self.covers(),
            palette: false,
            frames: self.frames,
            orientation: self
                .exif
                .map_or_else(Orientation::default, exif::orientation),
            quality: None,
            lossless: features.lossless,
            progressive: false,
            metadata: self.icc.is_some() || self.exif.is_some() || self.xmp,
            decoder_bytes: 0,
            page_offset: (0, 0),
        }
    }
}

impl<'a> Part<'a> {
    fn of_still(bytes: &'a [u8]) -> Result<Self> {
        let features = ffi::features(bytes)?;
        if features.animation {
            return Err(Error::broken(NAME, "it is an animation without frames"));
        }
        Ok(Self {
            x: 0,
            y: 0,
            features,
            data: bytes,
        })
    }

    /// From an ANMF chunk: place, size, duration and flags, then the bitstream's own chunks. The first
    /// frame lands on a clear canvas, where blending changes nothing.
    fn of_animation(anmf: &'a [u8]) -> Result<Self> {
        let broken = || Error::broken(NAME, "its first frame is cut off");
        let place = |at: usize| anmf.get(at..).and_then(u24).ok_or_else(broken);
        let (x, y) = (place(0)? * 2, place(3)? * 2);
        let data = anmf.get(ANMF_HEADER_BYTES..).ok_or_else(broken)?;
        let data = bitstream(data).ok_or_else(broken)?;
        Ok(Self {
            x,
            y,
            features: ffi::features(data)?,
            data,
        })
    }
}

/// `RIFF`, a length, `WEBP`.
const RIFF_HEADER_BYTES: usize = 12;
const ANMF_HEADER_BYTES: usize = 16;

/// From the first chunk that libwebp understands on: ALPH with VP8, or either bitstream alone.
fn bitstream(data: &[u8]) -> Option<&[u8]> {
    let mut chunks = Chunks::of(data);
    loop {
        let here = chunks.rest();
        match chunks.next()? {
            Ok(chunk) if matches!(&chunk.name, b"ALPH" | b"VP8 " | b"VP8L") => return Some(here),
            Ok(_) => {}
            // Cut inside its last chunk: the header may be there all the same.
            Err(_) => return Some(here),
        }
    }
}

#[derive(Default)]
struct Found<'a> {
    canvas: Option<(u32, u32)>,
    first_frame: Option<&'a [u8]>,
    frames: u32,
    icc: Option<&'a [u8]>,
    exif: Option<&'a [u8]>,
    xmp: bool,
}

impl<'a> Found<'a> {
    fn take(&mut self, chunk: Chunk<'a>) {
        match &chunk.name {
            b"VP8X" => {
                let side = |at: usize| chunk.data.get(at..).and_then(u24).map(|side| side + 1);
                self.canvas = side(4).zip(side(7));
            }
            b"ANMF" => {
                self.frames = self.frames.saturating_add(1);
                self.first_frame.get_or_insert(chunk.data);
            }
            b"ICCP" => self.icc = Some(chunk.data),
            b"EXIF" => self.exif = Some(exif::without_prefix(chunk.data)),
            b"XMP " => self.xmp = true,
            _ => {}
        }
    }
}
