//! The header of a WebP file: the container's chunks, and the header of the first frame.

use andon_pixels::{Animation, Delay, Error, Info, Model, Orientation, Result, Space};

use super::ffi::{self, Features};
use super::groups;
use super::riff::{Chunk, Chunks, frame_flags, u24};
use super::{LOSSY, NAME};
use crate::animation::{Blend, Disposal};
use crate::exif;

/// The properties of a file, read without decoding pixels.
#[derive(Debug)]
pub(super) struct Header<'a> {
    /// Canvas width in px.
    pub(super) width: u32,
    /// Canvas height in px.
    pub(super) height: u32,
    /// The first frame.
    pub(super) frame: Part<'a>,
    frames: u32,
    animation: Option<Animation>,
    /// The ICC profile.
    pub(super) icc: Option<&'a [u8]>,
    /// The EXIF block, beginning with its TIFF header.
    pub(super) exif: Option<&'a [u8]>,
    /// The XMP packet.
    pub(super) xmp: Option<&'a [u8]>,
    /// Whether all data that the container declares are present.
    pub(super) whole: bool,
}

/// A frame and its place on the canvas.
#[derive(Debug)]
pub(super) struct Part<'a> {
    /// X coordinate of the frame's left edge on the canvas, in px.
    pub(super) x: u32,
    /// Y coordinate of the frame's top edge on the canvas, in px.
    pub(super) y: u32,
    /// The features of the frame's bitstream.
    pub(super) features: Features,
    /// The bytes that libwebp decodes.
    pub(super) data: &'a [u8],
    /// Duration of the frame, in ms.
    pub(super) duration: u32,
    /// Whether the frame replaces the earlier pixels or is blended over them.
    pub(super) blend: Blend,
    /// What happens to the frame's area before the next frame is drawn.
    pub(super) disposal: Disposal,
}

impl<'a> Header<'a> {
    /// Reads the container and the first frame's header.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let (mut chunks, mut whole) = Chunks::of_file(bytes)?;
        let mut contents = Contents::default();
        loop {
            match chunks.next() {
                Some(Ok(chunk)) => contents.take(chunk),
                // For a probe, the file may be only a beginning of the whole. Decoding reports missing data.
                Some(Err(_)) => {
                    whole = false;
                    break;
                }
                None => break,
            }
        }
        let (frame, canvas) = match contents.first_frame {
            Some(data) => (Part::of_animation(data)?, contents.canvas),
            None => (Part::of_still(bytes)?, None),
        };
        let (width, height) = canvas.unwrap_or((frame.features.width, frame.features.height));
        frame.check_inside(width, height)?;
        let frames = contents.frames.max(1);
        let mut header = Self {
            width,
            height,
            frame,
            frames,
            animation: None,
            icc: contents.icc,
            exif: contents.exif,
            xmp: contents.xmp,
            whole,
        };
        header.animation = (frames > 1).then(|| Animation {
            apart: false,
            plays: contents.plays,
            duration_ms: contents.duration_ms,
            alpha: contents.clears || header.frame.features.alpha || !header.covers(),
        });
        Ok(header)
    }

    /// Returns the length in bytes of the file according to its header.
    ///
    /// # Errors
    /// `Broken` if a part of a chunk, or the bitstream of a frame, is missing.
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

    /// Whether the first frame covers the whole canvas, so that it needs no compositing.
    pub(super) fn covers(&self) -> bool {
        let Features { width, height, .. } = self.frame.features;
        (self.frame.x, self.frame.y, width, height) == (0, 0, self.width, self.height)
    }

    /// Converts the header to the format-independent `Info`.
    pub(super) fn info(&self) -> Info {
        let features = &self.frame.features;
        Info {
            model: if features.lossless || !self.covers() {
                Model::Rgb
            } else {
                LOSSY
            },
            alpha: features.alpha || !self.covers(),
            space: self
                .icc
                .map_or(Space::UNSPECIFIED, |icc| Space::of_profile(icc, Model::Rgb)),
            frames: self.frames,
            animation: self.animation,
            // Browsers ignore the orientation in the EXIF block of a WebP.
            orientation: Orientation::default(),
            lossless: features.lossless,
            metadata: self.exif.is_some() || self.xmp.is_some(),
            ..Info::new(NAME, self.width, self.height, Model::Rgb)
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
            duration: 0,
            blend: Blend::Replace,
            disposal: Disposal::Keep,
        })
    }

    /// Checks the number of groups of prefix codes in a bitstream, because libwebp allocates tables for each of them.
    ///
    /// # Errors
    /// `Unsupported` if the tables would take more memory than the estimated cost of decoding includes.
    pub(super) fn check_groups(&self) -> Result<()> {
        let Features { width, height, .. } = self.features;
        // For a still image, the data is the whole file.
        let chunks = match self.data.starts_with(b"RIFF") {
            true => Chunks::of_file(self.data)?.0,
            false => Chunks::of(self.data),
        };
        groups::check(chunks, (width, height))
    }

    /// Checks that a frame is inside its canvas, which is `width` × `height` px. All readers require this, and the
    /// estimated cost of decoding includes no memory for a larger frame.
    ///
    /// # Errors
    /// `Broken` if the frame extends beyond the canvas.
    pub(super) fn check_inside(&self, width: u32, height: u32) -> Result<()> {
        let inside =
            |at: u32, length: u32, side: u32| u64::from(at) + u64::from(length) <= u64::from(side);
        let Features {
            width: own_width,
            height: own_height,
            ..
        } = self.features;
        match inside(self.x, own_width, width) && inside(self.y, own_height, height) {
            true => Ok(()),
            false => Err(Error::broken(
                NAME,
                format!(
                    "a frame of {own_width}×{own_height} px at {},{} reaches over the edge of {width}×{height} px",
                    self.x, self.y
                ),
            )),
        }
    }

    /// Reads a frame from the data of an ANMF chunk: position, size, duration and flags, followed by the chunks of the
    /// bitstream.
    pub(super) fn of_animation(anmf: &'a [u8]) -> Result<Self> {
        let broken = || Error::broken(NAME, "one of its frames is cut off");
        let place = |at: usize| anmf.get(at..).and_then(u24).ok_or_else(broken);
        let (x, y) = (place(0)? * 2, place(3)? * 2);
        let duration = place(12)?;
        let flags = anmf.get(15).copied().ok_or_else(broken)?;
        let data = anmf.get(ANMF_HEADER_BYTES..).ok_or_else(broken)?;
        let data = bitstream(data).ok_or_else(broken)?;
        Ok(Self {
            x,
            y,
            features: ffi::features(data)?,
            data,
            duration,
            blend: if flags & frame_flags::REPLACE == 0 {
                Blend::Over
            } else {
                Blend::Replace
            },
            disposal: if flags & frame_flags::CLEAR == 0 {
                Disposal::Keep
            } else {
                Disposal::Clear
            },
        })
    }
}

/// Length of the file header in bytes: `RIFF`, a length, `WEBP`.
const RIFF_HEADER_BYTES: usize = 12;
const ANMF_HEADER_BYTES: usize = 16;

/// Returns the data beginning with the first chunk that libwebp reads: ALPH before VP8, or only a VP8 or VP8L
/// bitstream.
fn bitstream(data: &[u8]) -> Option<&[u8]> {
    let mut chunks = Chunks::of(data);
    loop {
        let start = chunks.rest();
        match chunks.next()? {
            Ok(chunk) if matches!(&chunk.name, b"ALPH" | b"VP8 " | b"VP8L") => return Some(start),
            Ok(_) => {}
            // The last chunk is cut off, but its header may be complete.
            Err(_) => return Some(start),
        }
    }
}

#[derive(Default)]
struct Contents<'a> {
    canvas: Option<(u32, u32)>,
    first_frame: Option<&'a [u8]>,
    frames: u32,
    /// Number of times that the animation is played; 0 means forever.
    plays: u32,
    duration_ms: u64,
    /// Whether a frame may make pixels of the canvas transparent again, by clearing its area or replacing the earlier
    /// pixels.
    clears: bool,
    icc: Option<&'a [u8]>,
    exif: Option<&'a [u8]>,
    xmp: Option<&'a [u8]>,
}

impl<'a> Contents<'a> {
    fn take(&mut self, chunk: Chunk<'a>) {
        match &chunk.name {
            b"VP8X" => {
                let side = |at: usize| chunk.data.get(at..).and_then(u24).map(|side| side + 1);
                self.canvas = side(4).zip(side(7));
            }
            b"ANMF" => {
                self.frames = self.frames.saturating_add(1);
                self.first_frame.get_or_insert(chunk.data);
                let flags = chunk.data.get(15).copied().unwrap_or(0);
                // Whether a replacing frame has transparent pixels is stated only in its bitstream.
                let replaces = flags & frame_flags::REPLACE != 0
                    && Part::of_animation(chunk.data).is_ok_and(|part| part.features.alpha);
                self.clears |= flags & frame_flags::CLEAR != 0 || replaces;
                let duration = chunk.data.get(12..).and_then(u24).unwrap_or(0);
                self.duration_ms +=
                    (Delay::played(duration, 1000).seconds() * 1000.0).round() as u64;
            }
            b"ANIM" => {
                if let Some(&[low, high]) = chunk.data.get(4..6) {
                    self.plays = u32::from(u16::from_le_bytes([low, high]));
                }
            }
            b"ICCP" => self.icc = Some(chunk.data),
            b"EXIF" => self.exif = Some(exif::without_prefix(chunk.data)),
            b"XMP " => self.xmp = Some(chunk.data),
            _ => {}
        }
    }
}
