//! GIF. Reads frames, composed on their logical screen, and writes images with fitted palettes.
//!
//! A frame that is smaller than its screen gets transparent surroundings, so the coordinates of a crop count from the
//! corner of the screen, not of the frame. ImageMagick would return the bare frame and its offset, but browsers show
//! the screen.

use andon_pixels::{
    AnimationDecoder, AnimationEncoder, Codec, Cost, Decode, Depth, Drawn, Encode, Encoder, Format,
    FrameReader, FrameWriter, Head, Image, Info, Interrupt, Model, Result, Scales, Traits, Web,
};
use andon_recipe::{Word, options};

mod decode;
mod encode;
mod header;
mod lzw;
mod palette;
mod rows;

/// The format's name, as used in errors and recipes.
const NAME: &str = "gif";

/// The GIF codec.
#[derive(Debug)]
pub(crate) struct Gif;

impl Codec for Gif {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &[],
            media_type: "image/gif",
            revision: 2,
            web: Some(Web {
                everywhere: true,
                hdr: false,
                drawn: Drawn::Kept,
                lengths: None,
            }),
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        header::VERSIONS
            .iter()
            .any(|version| head.starts_with(version))
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        Ok(header::Header::read(bytes)?.info())
    }

    fn decode(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        decode::decode(bytes, info, how)
    }

    fn salvage(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        decode::salvage(bytes, info, how)
    }

    fn extent(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<usize> {
        decode::extent(bytes, info, how)
    }

    fn end_marker(&self) -> &'static [u8] {
        &[header::TRAILER]
    }

    fn extent_cost(&self, bytes: u64, info: &Info) -> Cost {
        decode::extent_cost(bytes, info)
    }

    fn decode_cost(&self, bytes: u64, info: &Info, _scales: Scales) -> Cost {
        decode::cost(bytes, info)
    }

    fn encoder(&self) -> Option<&dyn Encoder> {
        Some(self)
    }

    fn animation(&self) -> Option<&dyn AnimationDecoder> {
        Some(self)
    }
}

impl AnimationDecoder for Gif {
    fn open<'a>(
        &self,
        bytes: &'a [u8],
        info: &Info,
        how: &Decode<'a>,
    ) -> Result<Box<dyn FrameReader + 'a>> {
        Ok(Box::new(decode::Reader::open(bytes, info, how)?))
    }
}

impl Encoder for Gif {
    fn options(&self) -> &'static [&'static Word] {
        &[&options::PROGRESSIVE]
    }

    fn accepts(&self, have: Traits, _how: &Encode) -> Traits {
        Traits {
            model: Model::Rgb,
            depth: Depth::U8,
            ..have
        }
    }

    fn encode(&self, image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        encode::encode(image, how, interrupt)
    }

    fn encode_cost(&self, width: u32, height: u32, _traits: Traits, _how: &Encode) -> Cost {
        encode::cost(width, height)
    }

    fn animation(&self) -> Option<&dyn AnimationEncoder> {
        Some(self)
    }
}

impl AnimationEncoder for Gif {
    fn requested_as(&self) -> &'static str {
        NAME
    }

    fn writer<'a>(
        &self,
        head: &Head,
        _how: &Encode,
        interrupt: &'a dyn Interrupt,
    ) -> Result<Box<dyn FrameWriter + 'a>> {
        Ok(Box::new(encode::Writer::new(head, interrupt)?))
    }

    fn frame_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
        self.encode_cost(width, height, traits, how)
    }
}
