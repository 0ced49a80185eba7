//! JPEG XL: read by jxl-rs, the decoder of browsers, and written by libjxl.

use andon_pixels::{
    AnimationDecoder, AnimationEncoder, Codec, Cost, Decode, Drawn, Encode, Encoder, Error, Format,
    Frame, FrameReader, FrameWriter, GainHeader, GainMaps, GainParams, Head, Image, Info,
    Interrupt, Isolation, Model, Recoder, Result, Scales, Tags, Traits, Web,
};
use andon_recipe::{Word, options};

mod boxes;
mod colour;
mod decode;
mod encode;
mod ffi;
mod gain_map;
mod header;
mod recode;
mod runner;

/// The format's name, as used in errors and recipes.
const NAME: &str = "jxl";

/// The format that can be converted to JPEG XL and back without loss.
const JPEG: &str = "jpeg";

/// The JPEG XL codec.
#[derive(Debug)]
pub(crate) struct Jxl;

impl Codec for Jxl {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &[],
            media_type: "image/jxl",
            revision: 2,
            web: Some(Web {
                everywhere: false,
                hdr: false,
                drawn: Drawn::Shifted,
                lengths: Some([129, 178, 133, 130, 133, 116]),
            }),
        }
    }

    fn isolation(&self) -> Isolation {
        Isolation::READS
    }

    fn sniff(&self, head: &[u8]) -> bool {
        head.starts_with(&[0xff, 0x0a]) || head.starts_with(boxes::SIGNATURE)
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        Ok(header::Header::read(bytes)?.info())
    }

    fn decode(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        decode::decode(bytes, info, how)
    }

    fn extent(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<usize> {
        decode::extent(bytes, info, how)
    }

    fn extent_cost(&self, _bytes: u64, info: &Info) -> Cost {
        let one = decode::cost(info);
        let samples = info.model.planes() as u64 + u64::from(info.alpha);
        Cost {
            scratch: one.scratch + info.pixels() * samples * info.depth.bytes() as u64,
            ..one
        }
    }

    fn decode_cost(&self, _bytes: u64, info: &Info, _scales: Scales) -> Cost {
        decode::cost(info)
    }

    fn encoder(&self) -> Option<&dyn Encoder> {
        Some(self)
    }

    fn animation(&self) -> Option<&dyn AnimationDecoder> {
        Some(self)
    }

    fn gain_maps(&self) -> Option<&dyn GainMaps> {
        Some(self)
    }

    fn recoder(&self) -> Option<&dyn Recoder> {
        Some(self)
    }
}

impl AnimationDecoder for Jxl {
    fn composed(&self, info: &Info) -> Option<Traits> {
        info.animation.map(|animation| Traits {
            alpha: animation.alpha,
            space: info.space,
            ..Traits::new(info.model, info.depth)
        })
    }

    fn open<'a>(
        &self,
        bytes: &'a [u8],
        info: &Info,
        how: &Decode<'a>,
    ) -> Result<Box<dyn FrameReader + 'a>> {
        Ok(Box::new(decode::Reader::open(bytes, info, how)?))
    }
}

impl GainMaps for Jxl {
    fn gain_map(&self, bytes: &[u8], _info: &Info) -> Option<GainHeader> {
        gain_map::read(bytes)
    }

    fn decode_gain_map(&self, bytes: &[u8], how: &Decode<'_>) -> Result<Frame> {
        gain_map::decode(bytes, how)
    }
}

impl Recoder for Jxl {
    fn recodes(&self, bytes: &[u8], info: &Info, to: &str) -> bool {
        recode::recodes(bytes, info, to)
    }

    fn recode(
        &self,
        bytes: &[u8],
        info: &Info,
        to: &str,
        how: &Decode<'_>,
    ) -> Result<Option<Vec<u8>>> {
        recode::recode(bytes, info, to, how)
    }

    fn recode_cost(&self, bytes: u64, info: &Info) -> Cost {
        recode::cost(bytes, info)
    }
}

impl Encoder for Jxl {
    fn holds_gain_map(&self, params: &GainParams) -> bool {
        params.iso.is_some()
    }

    fn options(&self) -> &'static [&'static Word] {
        &[
            &options::QUALITY,
            &options::LOSSLESS,
            &options::DEPTH,
            &options::EFFORT,
        ]
    }

    fn accepts(&self, have: Traits, how: &Encode) -> Traits {
        Traits {
            model: match have.model {
                Model::Gray => Model::Gray,
                _ => Model::Rgb,
            },
            depth: how.depth.unwrap_or(have.depth),
            ..have
        }
    }

    fn encode(&self, image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        encode::encode(image, how, interrupt)
    }

    fn tags(&self) -> Tags {
        Tags::IccOrCodePoints
    }

    fn inherits_quality(&self) -> bool {
        true
    }

    fn encode_spread(&self, _how: &Encode) -> u64 {
        2
    }

    fn encode_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
        encode::cost(width, height, traits, how)
    }

    fn animation(&self) -> Option<&dyn AnimationEncoder> {
        Some(self)
    }
}

impl AnimationEncoder for Jxl {
    fn requested_as(&self) -> &'static str {
        NAME
    }

    /// Returns `false`: Safari shows only the first frame, and sends the same `Accept` header as browsers that show all
    /// frames.
    fn moves_everywhere(&self) -> bool {
        false
    }

    fn writer<'a>(
        &self,
        head: &Head,
        how: &Encode,
        interrupt: &'a dyn Interrupt,
    ) -> Result<Box<dyn FrameWriter + 'a>> {
        Ok(Box::new(encode::Writer::new(head, how, interrupt)?))
    }

    fn frame_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
        self.encode_cost(width, height, traits, how)
    }
}

/// Converts an error of the decoder to `Broken`, because the file is its cause.
fn broken(error: jxl::error::Error) -> Error {
    Error::broken(NAME, error.to_string())
}
