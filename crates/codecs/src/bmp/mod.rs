//! BMP. Reads all depths, palettes, bit fields and run lengths, with headers from OS/2 1 to version 5 of Windows.
//! Writes 24 or 32 bits.

use andon_pixels::{
    Codec, Cost, Decode, Encode, Encoder, Error, Format, Image, Info, Interrupt, Model, Result,
    Scales, Space, Traits,
};

use crate::bytes::u32_le;
use crate::guard;

mod encode;
mod header;
mod pixels;
mod runs;

pub(crate) use header::Dib;

/// The format's name, as used in errors and recipes.
const NAME: &str = "bmp";

/// Bytes of the file header, which precedes the bitmap's own header.
const FILE_HEADER: usize = 14;

/// The BMP codec.
#[derive(Debug)]
pub(crate) struct Bmp;

impl Codec for Bmp {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &["dib"],
            media_type: "image/bmp",
            revision: 2,
            web: None,
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        // The two letters `BM` are not enough, because many texts begin with them.
        let header = u32_le(head, FILE_HEADER).is_some_and(|length| (12..=124).contains(&length));
        head.starts_with(b"BM") && header
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        Ok(info(NAME, &dib(bytes)?))
    }

    fn decode(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        let dib = dib(bytes)?;
        guard::check_probed(dib.width, dib.height, info, how.limits)?;
        let frame = dib.frame(how.interrupt)?;
        let metadata = guard::profile(dib.embedded_profile(), how)?;
        Ok(Image::read(frame, metadata, info.space))
    }

    fn end(&self, bytes: &[u8], how: &Decode<'_>) -> Result<usize> {
        Ok(FILE_HEADER + dib(bytes)?.end(0, how.interrupt)?)
    }

    fn decode_cost(&self, bytes: u64, info: &Info, _scales: Scales) -> Cost {
        cost(bytes, info)
    }

    /// Returns the format to write if none is requested: PNG, since few BMP files are photos.
    fn instead(&self, _info: &Info) -> Option<&'static str> {
        Some("png")
    }

    fn encoder(&self) -> Option<&dyn Encoder> {
        Some(self)
    }
}

impl Encoder for Bmp {
    fn accepts(&self, have: Traits, _how: &Encode) -> Traits {
        encode::accepts(have)
    }

    fn encode(&self, image: &Image, _how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        encode::encode(image, interrupt)
    }

    fn encode_cost(&self, width: u32, height: u32, traits: Traits, _how: &Encode) -> Cost {
        let length = encode::length(width, height, traits.alpha);
        Cost {
            nanos: length * NANOS_PER_BYTE,
            scratch: length,
        }
    }
}

/// Nanoseconds of encoding per byte of the file, including the collection from planes. Measured on one core.
const NANOS_PER_BYTE: u64 = 2;

fn dib(bytes: &[u8]) -> Result<Dib<'_>> {
    let cut_off = || Error::broken(NAME, "it is cut off");
    let pixels = u32_le(bytes, 10).ok_or_else(cut_off)? as usize;
    let rest = bytes.get(FILE_HEADER..).ok_or_else(cut_off)?;
    let mut dib = Dib::read(rest, NAME)?;
    // The offset from the header on. Pixels cannot begin before the palette ends.
    let at = pixels.checked_sub(FILE_HEADER).unwrap_or(dib.pixels_at);
    if at >= dib.palette_at {
        dib.pixels_at = at;
    }
    Ok(dib)
}

/// Returns the properties that a bitmap's header states, for BMP and ICO alike.
pub(crate) fn info(format: &'static str, dib: &Dib<'_>) -> Info {
    Info {
        alpha: dib.has_alpha(),
        space: if dib.embedded_profile().is_some() {
            Space::PROFILED
        } else {
            Space::UNSPECIFIED
        },
        palette: dib.bits <= 8,
        lossless: true,
        metadata: dib.embedded_profile().is_some(),
        ..Info::new(format, dib.width, dib.height, Model::Rgb)
    }
}

/// Estimates the cost of decoding: a time per pixel, measured with 24-bit photos, plus a time per byte of the file for
/// run-length decoding.
pub(crate) fn cost(bytes: u64, info: &Info) -> Cost {
    Cost {
        nanos: bytes + info.pixels().saturating_mul(5),
        // A row of colours or, for run lengths, the indices of all pixels.
        scratch: info.pixels().saturating_add(u64::from(info.width) * 4),
    }
}
