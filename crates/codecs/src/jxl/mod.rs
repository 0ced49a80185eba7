//! JPEG XL: read by the decoder that browsers use.

use andon_pixels::{
    Codec, Cost, Decode, Encode, Error, FrameReader, Image, Info, Interrupt, Result, Scales, Traits,
};

mod boxes;
mod colour;
mod decode;
mod header;

/// The format's name, as errors and recipes say it.
const NAME: &str = "jxl";

/// The JPEG XL codec.
#[derive(Debug)]
pub(crate) struct Jxl;

impl Codec for Jxl {
    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    fn media_type(&self) -> &'static str {
        "image/jxl"
    }

    fn revision(&self) -> u32 {
        1
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

    fn accepts(&self, _have: Traits, _how: &Encode) -> Option<Traits> {
        None
    }

    fn encode(&self, _image: &Image, _how: &Encode, _interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        Err(Error::Internal("JPEG XL is not written".to_owned()))
    }

    fn encode_cost(&self, _width: u32, _height: u32, _traits: Traits, _how: &Encode) -> Cost {
        Cost::default()
    }
}

/// What the decoder says is the file's fault.
fn broken(error: jxl::error::Error) -> Error {
    Error::broken(NAME, error.to_string())
}
