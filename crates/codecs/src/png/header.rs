//! The header of a PNG: its properties before pixels are decoded, read chunk by chunk from the file in memory. Nothing
//! is copied or inflated.

use std::io::Read;

use andon_pixels::{
    Animation, Delay, Depth, Error, Icc, Info, Model, Orientation, Primaries, Result, Space,
    Transfer, orientation_of, profile_of_gamma,
};
use flate2::read::ZlibDecoder;

use super::NAME;
use crate::animation::{Blend, Disposal, Place};
use crate::exif;

/// The eight bytes with which every PNG begins.
pub(super) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The end chunk of every PNG, which has no data.
pub(super) const END: &[u8] = b"\0\0\0\0IEND\xae\x42\x60\x82";

/// Maximum number of bytes that deflate unpacks from one byte: 258 for every two bits.
const DEFLATE_RATIO: u64 = 1032;

/// The properties of a file, read without inflating pixels.
#[derive(Debug, Default)]
pub(super) struct Header<'a> {
    /// Width in px, at least 1.
    pub(super) width: u32,
    /// Height in px, at least 1.
    pub(super) height: u32,
    /// Bits of a stored sample: 1, 2, 4, 8 or 16.
    pub(super) bits: u8,
    /// Whether the image is stored interlaced (Adam7).
    pub(super) interlaced: bool,
    colour: Colour,
    transparent: bool,
    /// Contents of the `acTL` chunk, which marks an animation.
    animated: Option<Animated>,
    /// Number of frames that have a control chunk (fcTL), at most the number that the acTL chunk states.
    frames: u32,
    /// Whether the default image, shown by decoders that do not support animation, is not one of the frames.
    apart: bool,
    duration_ms: f64,
    chunks: u64,
    /// Size in bytes of a file without an end chunk, otherwise 0. Decoding copies such a file to append one.
    unended: u64,
    /// Bytes of the deflated chunks of the current frame.
    frame_bytes: u64,
    /// Maximum of `frame_bytes` over all frames. Each frame is copied to a separate file for decoding.
    longest_frame: u64,
    /// Whether a composed frame may be transparent somewhere even if its pixels are opaque.
    clears: bool,
    other_metadata: bool,
    code_points: Option<Space>,
    /// The iCCP chunk: name, method, deflated profile.
    iccp: Option<&'a [u8]>,
    /// Whether there is an sRGB chunk.
    srgb: bool,
    /// Exponent that converts light to code values, from the gAMA chunk.
    gamma: Option<f64>,
    /// Chromaticities of white, red, green and blue, x before y, from the cHRM chunk.
    chromaticities: Option<[f64; 8]>,
    /// The eXIf chunk, beginning with its TIFF header.
    pub(super) exif: Option<&'a [u8]>,
    /// The iTXt chunk with an XMP packet, beginning after its keyword.
    xmp: Option<&'a [u8]>,
}

/// The numbers of frames and repetitions that a file states.
#[derive(Clone, Copy, Debug)]
struct Animated {
    frames: u32,
    plays: u32,
}

/// IHDR's colour type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Colour {
    #[default]
    Gray,
    Rgb,
    Indexed,
    GrayAlpha,
    Rgba,
}

impl<'a> Header<'a> {
    /// Reads the chunks up to the pixels, and metadata after them, as far as `bytes` extends.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut chunks = Chunks::of(bytes)?;
        let mut header = Self::first(&mut chunks)?;
        let mut pixels = false;
        header.unended = bytes.len() as u64;
        while let Some(chunk) = chunks.next() {
            header.chunks += 1;
            match chunk {
                Ok(chunk) if &chunk.kind == b"IEND" => header.unended = 0,
                Ok(chunk) if &chunk.kind == b"IDAT" => {
                    pixels = true;
                    header.add_frame_bytes(&chunk);
                }
                // Damaged chunks that are not critical are ignored, as in libpng.
                Ok(chunk) if !chunk.is_critical() && !chunk.is_sound() => {}
                Ok(chunk) => header.take(&chunk, pixels),
                // For a probe, the file may be only a beginning of the whole.
                Err(_) if pixels || chunks.is_inside(b"IDAT") => {
                    if chunks.rest.len() > END.len() {
                        header.unended = 0;
                    }
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

    fn first(chunks: &mut Chunks<'a>) -> Result<Self> {
        let first = chunks.next().ok_or_else(cut_off)??;
        if &first.kind != b"IHDR" {
            return Err(Error::broken(NAME, "it does not begin with its header"));
        }
        Self::from_ihdr(first.data)
    }

    /// Returns the total length in bytes of the default image's inflated rows, without the overhead of interlacing.
    fn inflated_length(&self) -> u64 {
        let channels = match self.colour {
            Colour::Gray | Colour::Indexed => 1,
            Colour::GrayAlpha => 2,
            Colour::Rgb => 3,
            Colour::Rgba => 4,
        };
        let bits = u64::from(self.width) * channels * u64::from(self.bits);
        (bits.div_ceil(8) + 1) * u64::from(self.height)
    }

    /// Converts the header to the format-independent `Info`.
    pub(super) fn info(&self) -> Info {
        let model = self.model();
        let profile = self.profile(Space::MATRIX_BYTES as u64);
        Info {
            depth: if self.bits == 16 {
                Depth::U16
            } else {
                Depth::U8
            },
            alpha: self.has_alpha(),
            space: match (self.code_points(), profile) {
                (Some(space), _) => space,
                (None, Some(icc)) => Space::of_profile(&icc, model),
                (None, None) => Space::UNSPECIFIED,
            },
            palette: self.colour == Colour::Indexed,
            frames: self.frames(),
            animation: self.animation(),
            orientation: self.exif.map_or_else(Orientation::default, orientation_of),
            lossless: true,
            progressive: self.interlaced,
            metadata: self.exif.is_some() || self.other_metadata,
            decoder_bytes: self.unended + self.animated.map_or(0, |_| self.longest_frame),
            fewest_bytes: self.inflated_length() / DEFLATE_RATIO,
            decoder_nanos: self.chunks.saturating_sub(FEW_CHUNKS) * NANOS_PER_CHUNK
                / u64::from(self.frames()),
            ..Info::new(NAME, self.width, self.height, model)
        }
    }

    /// Returns the XMP packet. At most `most` + 1 bytes are inflated, so that the caller can detect a longer one.
    pub(super) fn xmp(&self, most: u64) -> Option<Vec<u8>> {
        // The fields are a compression flag, the compression method, and the language and translated keyword, each of
        // which ends with a zero.
        let (&[deflated, _], rest) = self.xmp?.split_first_chunk()?;
        let mut parts = rest.splitn(3, |&byte| byte == 0);
        let text = parts.nth(2)?;
        match deflated {
            0 => Some(text.to_vec()),
            _ => inflate(text, most),
        }
    }

    fn model(&self) -> Model {
        match self.colour {
            Colour::Gray | Colour::GrayAlpha => Model::Gray,
            Colour::Rgb | Colour::Indexed | Colour::Rgba => Model::Rgb,
        }
    }

    /// Returns the code points of the cICP chunk, unless they are unspecified.
    fn code_points(&self) -> Option<Space> {
        self.code_points
            .filter(|space| *space != Space::UNSPECIFIED)
    }

    /// Returns the profile of the colours. The order of precedence is that of the standard: code points (cICP), which
    /// need no profile; an ICC profile (iCCP), of which at most `most` + 1 bytes are inflated; sRGB, which needs none;
    /// gamma and chromaticities, from which a profile is made.
    pub(super) fn profile(&self, most: u64) -> Option<Icc> {
        if self.code_points().is_some() {
            return None;
        }
        match self.iccp {
            Some(iccp) => deflated_profile(iccp)
                .and_then(|deflated| inflate(deflated, most))
                .map(Icc::from),
            None if self.srgb => None,
            None => profile_of_gamma(self.gamma, self.chromaticities, self.model()),
        }
    }

    fn has_alpha(&self) -> bool {
        self.transparent || matches!(self.colour, Colour::GrayAlpha | Colour::Rgba)
    }

    /// Returns the number of frames of an animation that have a control chunk (fcTL): at least 1, and at most the
    /// number that the acTL chunk states. Returns 1 for a still image.
    fn frames(&self) -> u32 {
        match self.animated {
            Some(_) => self.frames.max(1),
            None => 1,
        }
    }

    fn animation(&self) -> Option<Animation> {
        let Animated { plays, .. } = self.animated?;
        (self.frames() > 1 || self.apart).then(|| Animation {
            apart: self.apart,
            plays,
            duration_ms: self.duration_ms.round() as u64,
            alpha: self.clears || self.has_alpha(),
        })
    }

    fn from_ihdr(data: &[u8]) -> Result<Self> {
        let wrong = || Error::broken(NAME, "its header has a wrong length");
        let (size, rest) = data.split_at_checked(8).ok_or_else(wrong)?;
        let (&[width, height], &[bits, colour, method, filter, interlace]) =
            (&longs(size)[..], rest)
        else {
            return Err(wrong());
        };
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
            ..Self::default()
        })
    }

    fn add_frame_bytes(&mut self, chunk: &Chunk<'_>) {
        self.frame_bytes += chunk.data.len() as u64 + CHUNK_BYTES;
        self.longest_frame = self.longest_frame.max(self.frame_bytes);
    }

    fn add_frame(&mut self, control: &Control, after_pixels: bool) {
        let is_first = self.frames == 0;
        // Frames beyond the number in the acTL chunk are not shown.
        let frame_limit = self.animated.map(|animated| animated.frames.max(1));
        if frame_limit.is_some_and(|frame_limit| self.frames >= frame_limit) {
            return;
        }
        let place = &control.place;
        let size = (self.width, self.height);
        let covers = (place.x, place.y) == (0, 0) && (place.width, place.height) == size;
        self.clears |= control.disposal.clears(is_first) || is_first && !covers;
        self.apart |= is_first && after_pixels;
        self.frames = self.frames.saturating_add(1);
        self.duration_ms += control.delay.seconds() * 1000.0;
    }

    /// Reads the fields of a chunk into this header.
    fn take(&mut self, chunk: &Chunk<'a>, after_pixels: bool) {
        match &chunk.kind {
            b"fdAT" => self.add_frame_bytes(chunk),
            b"fcTL" => {
                self.frame_bytes = 0;
                if let Some(control) = Control::read(chunk.data) {
                    self.add_frame(&control, after_pixels);
                }
            }
            b"eXIf" => self.exif = Some(exif::without_prefix(chunk.data)),
            b"tEXt" | b"zTXt" | b"iTXt" | b"tIME" => {
                self.other_metadata = true;
                self.xmp = self.xmp.or(chunk.data.strip_prefix(XMP));
            }
            // All other chunks count only before the pixels, where the standard requires them.
            _ if after_pixels => {}
            b"iCCP" => self.iccp = Some(chunk.data),
            b"sRGB" => self.srgb = true,
            b"gAMA" => self.gamma = parts(chunk.data).map(|[gamma]| gamma),
            b"cHRM" => self.chromaticities = parts(chunk.data),
            // Matrix 0 and full range; other values contradict the RGB pixels of a PNG.
            b"cICP" => {
                if let &[primaries, transfer, 0, 1] = chunk.data {
                    self.code_points = Some(Space {
                        primaries: Primaries::from_code(primaries),
                        transfer: Transfer::from_code(transfer),
                        profiled: false,
                    });
                }
            }
            b"tRNS" => {
                self.transparent =
                    matches!(self.colour, Colour::Gray | Colour::Rgb | Colour::Indexed);
            }
            b"acTL" => {
                if let (8, &[frames, plays]) = (chunk.data.len(), &longs(chunk.data)[..]) {
                    self.animated = Some(Animated { frames, plays });
                }
            }
            _ => {}
        }
    }
}

/// Returns the offset of the name of a cICP chunk whose matrix or range is invalid in a PNG. Returns `None` if there is
/// no such chunk before the pixels.
pub(super) fn unsound_code_points(bytes: &[u8]) -> Option<usize> {
    let mut chunks = Chunks::of(bytes).ok()?;
    loop {
        let name = bytes.len() - chunks.rest.len() + 4;
        let chunk = chunks.next()?.ok()?;
        match &chunk.kind {
            b"IDAT" => return None,
            b"cICP" if !matches!(chunk.data, [_, _, 0, 0 | 1]) => return Some(name),
            _ => {}
        }
    }
}

/// Keyword at the beginning of a text chunk with an XMP packet.
pub(super) const XMP: &[u8] = b"XML:com.adobe.xmp\0";

/// Returns the deflated profile in an iCCP chunk. It follows a name of at most 79 bytes, a zero, and the compression
/// method, which is 0.
fn deflated_profile(iccp: &[u8]) -> Option<&[u8]> {
    let name = iccp.iter().take(80).position(|&byte| byte == 0)?;
    iccp[name + 1..].strip_prefix(&[0])
}

/// Inflates at most `most` + 1 bytes. Returns `None` for data that cannot be inflated, because the pixels are complete
/// without them.
fn inflate(deflated: &[u8], most: u64) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    ZlibDecoder::new(deflated)
        .take(most.saturating_add(1))
        .read_to_end(&mut data)
        .ok()?;
    Some(data)
}

/// Reads all numbers of 32 bits. Remaining bytes are ignored.
fn longs(data: &[u8]) -> Vec<u32> {
    let (longs, _) = data.as_chunks();
    longs.iter().copied().map(u32::from_be_bytes).collect()
}

/// Reads numbers that are stored in units of 1/100000. Returns `None` if their count is not `COUNT`.
fn parts<const COUNT: usize>(data: &[u8]) -> Option<[f64; COUNT]> {
    let fits = data.len() == 4 * COUNT;
    let longs = <[u32; COUNT]>::try_from(longs(data)).ok()?;
    fits.then(|| longs.map(|long| f64::from(long) / 1e5))
}

/// Contents of a frame control chunk (fcTL).
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    /// Position and size of the frame on the canvas.
    pub(super) place: Place,
    /// The time for which the frame is shown.
    pub(super) delay: Delay,
    /// What happens to the frame's area after the frame was shown.
    pub(super) disposal: Disposal,
    /// Whether the frame replaces the earlier pixels or is blended over them.
    pub(super) blend: Blend,
}

impl Control {
    /// Reads the data of the chunk; `None` if its length is wrong.
    pub(super) fn read(data: &[u8]) -> Option<Self> {
        let [numbers @ .., n0, n1, d0, d1, disposal, blend] = data else {
            return None;
        };
        let &[_, width, height, x, y] = &longs(numbers)[..] else {
            return None;
        };
        let per_second = match u16::from_be_bytes([*d0, *d1]) {
            0 => 100,
            per_second => per_second,
        };
        Some(Self {
            place: Place {
                x,
                y,
                width,
                height,
            },
            delay: Delay::played(
                u32::from(u16::from_be_bytes([*n0, *n1])),
                u32::from(per_second),
            ),
            disposal: match disposal {
                1 => Disposal::Clear,
                2 => Disposal::Restore,
                _ => Disposal::Keep,
            },
            blend: if *blend == 1 {
                Blend::Over
            } else {
                Blend::Replace
            },
        })
    }
}

/// Returns width and height in px, from the first chunk only.
pub(super) fn size(bytes: &[u8]) -> Result<(u32, u32)> {
    let header = Header::first(&mut Chunks::of(bytes)?)?;
    Ok((header.width, header.height))
}

/// Returns the number of bytes that belong to the image, and checks that they are complete: the file must contain its
/// end, and every critical chunk must match its checksum. This is checked in memory before pixels are inflated, so that
/// the inflater can stop at the last row instead of reading a stream that may continue for gigabytes.
///
/// A file without an end chunk is complete if it is cut off after its pixels, and no frame is missing.
pub(super) fn extent(bytes: &[u8]) -> Result<usize> {
    let mut chunks = Chunks::of(bytes)?;
    let mut pixels = false;
    let (mut frames, mut frame_limit) = (0, 0);
    let mut end = bytes.len() - chunks.rest.len();
    while let Some(chunk) = chunks.next() {
        let Ok(chunk) = chunk else {
            let mut needed = [b"IDAT", b"fdAT", b"fcTL"].into_iter();
            let is_needed = needed.any(|kind| chunks.is_inside(kind));
            pixels &= !is_needed;
            break;
        };
        if chunk.is_critical() && !chunk.is_sound() {
            let kind = String::from_utf8_lossy(&chunk.kind);
            return Err(Error::broken(
                NAME,
                format!("its {kind} chunk has a wrong checksum"),
            ));
        }
        end = bytes.len() - chunks.rest.len();
        match &chunk.kind {
            b"IEND" => return Ok(end),
            b"IDAT" => pixels = true,
            b"fcTL" => frames += 1,
            b"acTL" => {
                frame_limit = chunk
                    .data
                    .first_chunk()
                    .map_or(0, |four| u32::from_be_bytes(*four))
            }
            _ => {}
        }
    }
    match pixels && frames >= frame_limit {
        true => Ok(end),
        false => Err(cut_off()),
    }
}

/// Decoding time in ns per chunk, in addition to the time for its data.
const NANOS_PER_CHUNK: u64 = 250;

/// Number of chunks whose decoding time is not counted.
const FEW_CHUNKS: u64 = 10_000;

/// Bytes of a chunk besides its data.
const CHUNK_BYTES: u64 = 12;

/// The maximum width or height in a PNG, in px.
const MAX_SIDE: u32 = i32::MAX as u32;

pub(super) struct Chunk<'a> {
    pub(super) kind: [u8; 4],
    pub(super) data: &'a [u8],
    checksum: u32,
}

impl Chunk<'_> {
    /// Returns whether pixels depend on this chunk.
    fn is_critical(&self) -> bool {
        self.kind[0].is_ascii_uppercase() || matches!(&self.kind, b"tRNS" | b"fcTL" | b"fdAT")
    }

    /// Returns whether the chunk matches its checksum.
    fn is_sound(&self) -> bool {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.kind);
        hasher.update(self.data);
        hasher.finalize() == self.checksum
    }
}

/// Iterator over the chunks of a file, up to and including `IEND`. It ends after an error.
pub(super) struct Chunks<'a> {
    rest: &'a [u8],
    is_over: bool,
}

impl<'a> Chunks<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Result<Self> {
        let rest = bytes
            .strip_prefix(SIGNATURE)
            .ok_or_else(|| Error::broken(NAME, "it lacks the signature"))?;
        Ok(Self {
            rest,
            is_over: false,
        })
    }

    /// Returns whether the remaining bytes begin with a chunk of this kind, complete or not.
    fn is_inside(&self, kind: &[u8]) -> bool {
        self.rest.get(4..8) == Some(kind)
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over || self.rest.is_empty() {
            return None;
        }
        let Some((chunk, rest)) = split_chunk(self.rest) else {
            self.is_over = true;
            return Some(Err(cut_off()));
        };
        self.rest = rest;
        self.is_over = &chunk.kind == b"IEND";
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

fn cut_off() -> Error {
    Error::broken(NAME, "it is cut off")
}
