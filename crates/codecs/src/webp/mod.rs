//! WebP: lossy images are read and written as planes in their stored form (4:2:0, limited range), lossless images as
//! RGB. libwebp encodes and decodes the bitstream; this module reads and writes the container.

use andon_pixels::{
    AnimationDecoder, AnimationEncoder, Codec, Cost, Decode, Depth, Drawn, Encode, Encoder, Format,
    FrameReader, FrameWriter, Head, Image, Info, Interrupt, Isolation, Matrix, Model, Range,
    Result, Scale, Scales, Subsampling, Tags, Traits, Web,
};
use andon_recipe::{Word, options};

mod decode;
mod encode;
mod ffi;
mod groups;
mod header;
mod riff;

/// The format's name in errors and recipes.
const NAME: &str = "webp";

/// The colour model in which lossy WebP stores images.
const LOSSY: Model = Model::YCbCr {
    sub: Subsampling::C420,
    range: Range::Limited,
    matrix: Matrix::Bt601,
};

/// The maximum width and height of an image in the format, in px.
const MAX_SIDE: u32 = 16_383;

/// The WebP codec.
#[derive(Debug)]
pub(crate) struct Webp;

impl Codec for Webp {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &[],
            media_type: "image/webp",
            revision: 3,
            web: Some(Web {
                everywhere: false,
                hdr: false,
                drawn: Drawn::Lossless,
                lengths: Some([100, 115, 122, 134, 155, 150]),
            }),
        }
    }

    fn isolation(&self) -> Isolation {
        // Our own code reads headers, and calls libwebp only for the size in a frame's first bytes.
        Isolation {
            headers: false,
            ..Isolation::READS
        }
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

    /// Returns the scales at which an image can be decoded. libwebp scales every plane to a whole number of samples,
    /// while the planner assumes, as in JPEG, that the last sample may extend beyond the edge. Both sizes agree only if
    /// the sides of all planes are divisible by the scale. Scaling saves no decoding, only memory and resampling.
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

    fn encoder(&self) -> Option<&dyn Encoder> {
        Some(self)
    }

    fn animation(&self) -> Option<&dyn AnimationDecoder> {
        Some(self)
    }
}

impl AnimationDecoder for Webp {
    fn open<'a>(
        &self,
        bytes: &'a [u8],
        info: &Info,
        how: &Decode<'a>,
    ) -> Result<Box<dyn FrameReader + 'a>> {
        Ok(Box::new(decode::Reader::open(bytes, info, how)?))
    }
}

impl Encoder for Webp {
    fn options(&self) -> &'static [&'static Word] {
        &[
            &options::QUALITY,
            &options::LOSSLESS,
            &options::EFFORT,
            &encode::NEAR_LOSSLESS,
        ]
    }

    fn accepts(&self, have: Traits, how: &Encode) -> Traits {
        Traits {
            model: if encode::is_lossless(how) {
                Model::Rgb
            } else {
                LOSSY
            },
            depth: Depth::U8,
            ..have
        }
    }

    fn encode(&self, image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        encode::encode(image, how, interrupt)
    }

    fn tags(&self) -> Tags {
        Tags::Icc
    }

    fn inherits_quality(&self) -> bool {
        true
    }

    fn encode_cost(&self, width: u32, height: u32, _traits: Traits, how: &Encode) -> Cost {
        encode::cost(width, height, how)
    }

    fn animation(&self) -> Option<&dyn AnimationEncoder> {
        Some(self)
    }
}

impl AnimationEncoder for Webp {
    fn requested_as(&self) -> &'static str {
        NAME
    }

    fn writer<'a>(
        &self,
        head: &Head,
        how: &Encode,
        interrupt: &'a dyn Interrupt,
    ) -> Result<Box<dyn FrameWriter + 'a>> {
        Ok(Box::new(encode::Writer::new(head, how, interrupt)?))
    }

    fn frame_cost(&self, width: u32, height: u32, _traits: Traits, how: &Encode) -> Cost {
        encode::moving_cost(width, height, how)
    }
}
