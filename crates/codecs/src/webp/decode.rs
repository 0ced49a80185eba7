//! Decodes a WebP to planes.

use andon_pixels::{
    Cost, Decode, Delay, Error, Frame, FrameReader, Grid, Image, Info, Interrupt, Limits, Metadata,
    Model, Plane, Result, Scale, Scales, Subsampling, Timed,
};

use super::ffi::{self, Features};
use super::groups::{GROUP_BYTES, MOST_GROUPS};
use super::header::{Header, Part as Stored};
use super::riff::Chunks;
use super::{LOSSY, NAME};
use crate::animation::{Canvas, Part, Place};
use crate::guard;

/// Decodes the first frame, placed on its canvas.
pub(super) fn decode(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
    let header = Header::read(bytes)?;
    guard::check_probed(header.width, header.height, info, how.limits)?;
    let features = header.frame.features;
    guard::size(features.width, features.height, how.limits)?;
    if !header.whole {
        return Err(Error::broken(NAME, "it is cut off"));
    }
    header.frame.check_groups()?;
    let metadata = guard::read_metadata(how, |most| metadata(&header, most))?;
    let frame = if header.info().model == LOSSY {
        lossy(&header, info.scaled(how.scales.luma), how)?
    } else {
        rgb(&header, how)?
    };
    Ok(Image::read(frame, metadata, info.space))
}

/// Returns the offset in bytes at which the image ends. The first frame is decoded, because nothing else reveals
/// damage. Of further frames, only the presence of every chunk is checked.
pub(super) fn extent(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<usize> {
    let end = Header::extent(bytes)?;
    match decode(&bytes[..end], info, how) {
        Ok(_) | Err(Error::Limit { .. }) => Ok(end),
        Err(error) => Err(error),
    }
}

pub(super) fn extent_cost(bytes: u64, info: &Info) -> Cost {
    let one = cost(bytes, info, Scales::FULL);
    Cost {
        scratch: one.scratch + 4 * info.pixels(),
        ..one
    }
}

/// Returns the cost of decoding, measured with photos on one core. Scaling a lossy image saves no decoding, and takes
/// additional time.
pub(super) fn cost(bytes: u64, info: &Info, scales: Scales) -> Cost {
    let pixels = info.pixels();
    if info.model == LOSSY {
        let scaling = u64::from(scales.luma != Scale::FULL);
        let alpha = u64::from(info.alpha);
        Cost {
            nanos: bytes * LOSSY_NANOS_PER_BYTE
                + pixels
                    * (LOSSY_TENTHS_PER_PIXEL + alpha * ALPHA_TENTHS + scaling * SCALING_TENTHS)
                    / 10,
            // Rows that are being processed, and a whole unpacked and unfiltered alpha plane, if there is one.
            scratch: u64::from(info.width) * 256
                + alpha * (2 * pixels + groups_bytes(pixels))
                + DECODER_BYTES,
        }
    } else {
        Cost {
            nanos: bytes * LOSSLESS_NANOS_PER_BYTE + pixels * LOSSLESS_TENTHS_PER_PIXEL / 10,
            // libwebp's own 32-bit pixels and the interleaved pixels. The planes are allocated after libwebp has freed
            // its pixels.
            scratch: pixels * 5 + groups_bytes(pixels) + DECODER_BYTES,
        }
    }
}

/// Returns the memory in bytes of libwebp for the prefix codes of a lossless image. Encoders write at most one group of
/// codes for every 16 × 16 px.
fn groups_bytes(pixels: u64) -> u64 {
    (pixels / 256).min(u64::from(MOST_GROUPS)) * GROUP_BYTES
}

const LOSSY_NANOS_PER_BYTE: u64 = 70;
const LOSSY_TENTHS_PER_PIXEL: u64 = 20;
const ALPHA_TENTHS: u64 = 30;
const SCALING_TENTHS: u64 = 8;
const LOSSLESS_NANOS_PER_BYTE: u64 = 8;
const LOSSLESS_TENTHS_PER_PIXEL: u64 = 60;
const DECODER_BYTES: u64 = 2 << 20;

fn lossy(header: &Header<'_>, (width, height): (u32, u32), how: &Decode<'_>) -> Result<Frame> {
    let (chroma_width, chroma_height) = Subsampling::C420.chroma_size(width, height);
    let mut y = Grid::filled(width, height, 0);
    let mut u = Grid::filled(chroma_width, chroma_height, 0);
    let mut v = Grid::filled(chroma_width, chroma_height, 0);
    let features = header.frame.features;
    let mut alpha = features.alpha.then(|| Grid::filled(width, height, 0));
    let planes = ffi::Planes {
        y: &mut y,
        u: &mut u,
        v: &mut v,
        alpha: alpha.as_mut(),
    };
    ffi::decode_planes(header.frame.data, features, planes, how.interrupt)?;
    let planes = [y, u, v].map(Plane::U8).into();
    Frame::new(LOSSY, width, height, planes, alpha.map(Plane::U8))
}

/// Decodes a lossless image, or a frame that does not cover the whole canvas. Pixels outside the frame are transparent.
fn rgb(header: &Header<'_>, how: &Decode<'_>) -> Result<Frame> {
    let part = &header.frame;
    let covers = header.covers();
    let alpha = part.features.alpha || !covers;
    let pixels = ffi::decode_rgb(part.data, part.features, alpha, how.interrupt)?;
    guard::check_interrupt(how.interrupt)?;

    let channels = if alpha { 4 } else { 3 };
    let mut planes = Grid::several(channels, header.width, header.height, 0u8);
    if covers {
        deal(&pixels, &mut planes);
    } else {
        let rows = pixels.chunks_exact(part.features.width as usize * channels);
        for (y, row) in (part.y..header.height).zip(rows) {
            for (channel, plane) in planes.iter_mut().enumerate() {
                let columns = plane.row_mut(y).iter_mut().skip(part.x as usize);
                for (out, pixel) in columns.zip(row.chunks_exact(channels)) {
                    *out = pixel[channel];
                }
            }
        }
    }
    Frame::of_planes(Model::Rgb, planes.into_iter().map(Plane::U8).collect())
}

/// Reads the frames of an animation.
pub(super) struct Reader<'a> {
    chunks: Chunks<'a>,
    size: (u32, u32),
    metadata: Metadata,
    canvas: Canvas,
    limits: &'a Limits,
    interrupt: &'a dyn Interrupt,
}

impl<'a> Reader<'a> {
    /// Opens an animation. The first frame is decoded by the first call of `next`.
    pub(super) fn open(bytes: &'a [u8], info: &Info, how: &Decode<'a>) -> Result<Self> {
        let header = Header::read(bytes)?;
        guard::check_probed(header.width, header.height, info, how.limits)?;
        if !header.whole {
            return Err(Error::broken(NAME, "it is cut off"));
        }
        Ok(Self {
            chunks: Chunks::of_file(bytes)?.0,
            size: (header.width, header.height),
            metadata: guard::read_metadata(how, |most| metadata(&header, most))?,
            canvas: Canvas::of(info),
            limits: how.limits,
            interrupt: how.interrupt,
        })
    }
}

impl FrameReader for Reader<'_> {
    fn metadata(&self) -> Metadata {
        self.metadata.clone()
    }

    fn next(&mut self) -> Result<Option<Timed>> {
        let source = loop {
            match self.chunks.next() {
                Some(chunk) => {
                    let chunk = chunk?;
                    if &chunk.name == b"ANMF" {
                        break Stored::of_animation(chunk.data)?;
                    }
                }
                None => return Ok(None),
            }
        };
        let Features {
            width,
            height,
            alpha,
            ..
        } = source.features;
        guard::size(width, height, self.limits)?;
        source.check_inside(self.size.0, self.size.1)?;
        source.check_groups()?;
        let pixels = ffi::decode_rgb(source.data, source.features, alpha, self.interrupt)?;
        guard::check_interrupt(self.interrupt)?;
        let mut planes = Grid::several(if alpha { 4 } else { 3 }, width, height, 0u8);
        deal(&pixels, &mut planes);
        drop(pixels);
        let place = Place {
            x: source.x,
            y: source.y,
            width,
            height,
        };
        let part = Part::new(place, planes)?;
        let frame = self.canvas.draw(&part, source.blend, source.disposal)?;
        let delay = Delay::played(source.duration, 1000);
        Ok(Some(Timed { frame, delay }))
    }
}

/// Distributes interleaved pixels to planes of the same size.
fn deal(pixels: &[u8], planes: &mut [Grid<u8>]) {
    let channels = planes.len();
    for (channel, plane) in planes.iter_mut().enumerate() {
        let samples = pixels.chunks_exact(channels).map(|pixel| pixel[channel]);
        for (out, sample) in plane.samples_mut().iter_mut().zip(samples) {
            *out = sample;
        }
    }
}

fn metadata(header: &Header<'_>, most: u64) -> Result<Metadata> {
    for block in header.icc.iter().chain(&header.exif).chain(&header.xmp) {
        guard::metadata(block.len(), most)?;
    }
    Ok(Metadata {
        icc: header.icc.map(Into::into),
        exif: header.exif.map(<[u8]>::to_vec),
        xmp: header.xmp.map(<[u8]>::to_vec),
        ..Metadata::default()
    })
}
