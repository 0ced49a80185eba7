//! PNG: every colour type and depth in, gray or RGB with optional alpha out.
//!
//! Headers and checksums are read here, chunk by chunk, because probing must not inflate anything and a
//! file that lacks its end must be refused; inflation and row filters are the `png` crate's.

use andon_pixels::{
    Codec, Cost, Decode, Depth, Encode, Error, Format, FrameReader, FrameWriter, Head, Image, Info,
    Interrupt, Model, Result, Scales, Tags, Traits,
};
use andon_recipe::{Word, options};

use crate::animation::composed;

mod adam7;
mod animation;
mod decode;
mod encode;
mod filter;
mod header;
mod palette;

/// The format's name, as errors and recipes say it.
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

    fn composed(&self, info: &Info) -> Option<Traits> {
        composed(info)
    }

    fn open<'a>(
        &self,
        bytes: &'a [u8],
        info: &Info,
        how: &Decode<'a>,
    ) -> Result<Box<dyn FrameReader + 'a>> {
        Ok(Box::new(animation::Reader::open(bytes, info, how)?))
    }

    /// An image that moves is asked for by its own name, for a PNG of another image is expected to stand still.
    fn animates(&self) -> Option<&'static str> {
        Some("apng")
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

    fn decode_cost(&self, bytes: u64, info: &Info, _scales: Scales) -> Cost {
        decode::cost(bytes, info)
    }

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

    fn accepts(&self, have: Traits, how: &Encode) -> Option<Traits> {
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
        Some(Traits {
            model,
            depth,
            ..have
        })
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

    /// Text takes longer than photographs, which the estimate is for.
    fn encode_spread(&self, how: &Encode) -> u64 {
        encode::spread(how)
    }

    fn encode_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
        encode::cost(width, height, traits, how)
    }
}

pub(crate) use encode::in_full_colour;

/// Width and height, by the first chunk alone.
pub(crate) fn size(bytes: &[u8]) -> Result<(u32, u32)> {
    header::size(bytes)
}

/// Where a file ends whose pixels are not looked at.
pub(crate) fn end(bytes: &[u8]) -> Result<usize> {
    header::extent(bytes)
}

/// Samples of one pixel, alpha counted.
fn channels(model: Model, alpha: bool) -> usize {
    model.planes() + usize::from(alpha)
}
