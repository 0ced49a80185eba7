//! WebP: lossy pictures in and out as the planes they are stored in (4:2:0, limited range), lossless
//! ones as RGB. libwebp does the coding; the container around it is read and written here.

use andon_pixels::{
    Codec, Cost, Decode, Depth, Encode, Image, Info, Interrupt, Model, Range, Result, Scale,
    Scales, Subsampling, Traits,
};

mod decode;
mod encode;
mod ffi;
mod header;
mod riff;

/// The format's name, as errors and recipes say it.
const NAME: &str = "webp";

/// What lossy WebP stores.
const LOSSY: Model = Model::YCbCr {
    sub: Subsampling::C420,
    range: Range::Limited,
};

/// The longest side the format can hold, in px.
const MAX_SIDE: u32 = 16_383;

/// The WebP codec.
#[derive(Debug)]
pub(crate) struct Webp;

impl Codec for Webp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    fn media_type(&self) -> &'static str {
        "image/webp"
    }

    fn revision(&self) -> u32 {
        1
    }

    fn sniff(&self, head: &[u8]) -> bool {
        head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP")
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        Ok(header::Header::read(bytes)?.info())
    }

    fn decode(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        decode::decode(bytes, info, how)
    }

    /// libwebp stretches every plane to a whole number of samples, where JPEG lets the last one reach
    /// over the edge, as planners expect. Only where both planes divide evenly are the two the same.
    /// No decoding is saved, but memory and resampling are.
    fn scales(&self, info: &Info) -> &'static [Scale] {
        if info.model != LOSSY {
            return &[Scale::FULL];
        }
        match (info.width | info.height).trailing_zeros() {
            0 | 1 => &[Scale::FULL],
            2 => &[Scale::HALF, Scale::FULL],
            3 => &[Scale::QUARTER, Scale::HALF, Scale::FULL],
            _ => &[Scale::EIGHTH, Scale::QUARTER, Scale::HALF, Scale::FULL],
        }
    }

    fn extent(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<usize> {
        decode::extent(bytes, info, how)
    }

    fn extent_cost(&self, bytes: u64, info: &Info) -> Cost {
        decode::extent_cost(bytes, info)
    }

    fn decode_cost(&self, bytes: u64, info: &Info, scales: Scales) -> Cost {
        decode::cost(bytes, info, scales)
    }

    fn accepts(&self, have: Traits, how: &Encode) -> Option<Traits> {
        Some(Traits {
            model: if is_lossless(how) { Model::Rgb } else { LOSSY },
            depth: Depth::U8,
            alpha: have.alpha,
        })
    }

    fn encode(&self, image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        encode::encode(image, how, interrupt)
    }

    fn inherits_quality(&self) -> bool {
        true
    }

    fn encode_cost(&self, width: u32, height: u32, _traits: Traits, how: &Encode) -> Cost {
        encode::cost(width, height, how)
    }
}

/// Quality 100 asks for lossless, as ImageMagick has it.
fn is_lossless(how: &Encode) -> bool {
    how.quality.is_some_and(|quality| quality >= 100)
}
