//! PNG: reads every colour type and depth, and writes gray or RGB with optional alpha.
//!
//! Our own code reads headers and checksums, chunk by chunk, because probing must not inflate anything and an
//! incomplete file must be rejected. The `png` crate inflates data and applies row filters.

use andon_pixels::{
    AnimationDecoder, AnimationEncoder, Codec, Cost, Decode, Depth, Drawn, Encode, Encoder, Error,
    Format, FrameReader, FrameWriter, Head, Image, Info, Interrupt, Model, Result, Scales, Tags,
    Traits, Web,
};
use andon_recipe::{Word, options};

mod adam7;
mod animation;
mod decode;
mod encode;
mod filter;
mod header;
mod palette;

/// The format's name, as used in errors and recipes.
const NAME: &str = "png";

/// The PNG codec.
#[derive(Debug)]
pub(crate) struct Png;

impl Codec for Png {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &["apng"],
            media_type: "image/png",
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
        head.starts_with(header::SIGNATURE)
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
        header::END
    }

    fn extent_cost(&self, bytes: u64, info: &Info) -> Cost {
        decode::cost(bytes, info)
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

impl AnimationDecoder for Png {
    fn open<'a>(
        &self,
        bytes: &'a [u8],
        info: &Info,
        how: &Decode<'a>,
    ) -> Result<Box<dyn FrameReader + 'a>> {
        Ok(Box::new(animation::Reader::open(bytes, info, how)?))
    }
}

impl Encoder for Png {
    fn options(&self) -> &'static [&'static Word] {
        &[
            &options::LOSSLESS,
            &encode::DEPTH,
            &options::PROGRESSIVE,
            &options::EFFORT,
            &encode::LEVEL,
            &encode::FILTER,
            &palette::COLOURS,
        ]
    }

    fn accepts(&self, have: Traits, how: &Encode) -> Traits {
        let reduced = palette::most(how).is_some();
        let model = match have.model {
            Model::Gray if !reduced => Model::Gray,
            _ => Model::Rgb,
        };
        let depth = match how.depth.unwrap_or(have.depth) {
            _ if reduced => Depth::U8,
            Depth::U8 => Depth::U8,
            _ => Depth::U16,
        };
        Traits {
            model,
            depth,
            ..have
        }
    }

    fn encode(&self, image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        encode::encode(image, how, interrupt)
    }

    fn says_orientation(&self) -> bool {
        true
    }

    fn tags(&self) -> Tags {
        Tags::IccAndCodePoints
    }

    /// Returns the ratio of the maximum to the estimated encoding time. The estimate is based on photos; text takes
    /// longer.
    fn encode_spread(&self, how: &Encode) -> u64 {
        encode::spread(how)
    }

    fn encode_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
        encode::cost(width, height, traits, how)
    }

    fn animation(&self) -> Option<&dyn AnimationEncoder> {
        Some(self)
    }
}

impl AnimationEncoder for Png {
    /// Returns the alias `apng`: an animation has to be requested by that name, because a PNG made from another image
    /// is expected to be still.
    fn requested_as(&self) -> &'static str {
        "apng"
    }

    fn writer<'a>(
        &self,
        head: &Head,
        how: &Encode,
        interrupt: &'a dyn Interrupt,
    ) -> Result<Box<dyn FrameWriter + 'a>> {
        if palette::most(how).is_some() {
            return Err(Error::Recipe {
                piece: format!("with:{}", palette::COLOURS.name),
                why: "an animated PNG has one palette for all frames, which is not fitted here; ask for as:gif, or for \
                      one frame"
                    .to_owned(),
            });
        }
        Ok(Box::new(animation::Writer::new(head, how, interrupt)))
    }

    fn frame_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
        self.encode_cost(width, height, traits, how)
    }
}

pub(crate) use encode::in_full_colour;

/// Returns width and height in px, from the first chunk only.
pub(crate) fn size(bytes: &[u8]) -> Result<(u32, u32)> {
    header::size(bytes)
}

/// Returns the offset in bytes at which a PNG ends, without decoding its pixels.
pub(crate) fn end(bytes: &[u8]) -> Result<usize> {
    header::extent(bytes)
}

/// Returns the number of samples per pixel, including alpha.
fn channels(model: Model, alpha: bool) -> usize {
    model.planes() + usize::from(alpha)
}
