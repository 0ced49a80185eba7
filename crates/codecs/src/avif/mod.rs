//! AVIF: planes coded as AV1 in a HEIF container, read and written without a colour conversion. libaom encodes and
//! rav1d decodes. [`crate::heif`] reads the container; this module writes it.

use andon_pixels::{
    AnimationDecoder, AnimationEncoder, Codec, Cost, Decode, Drawn, Encode, Encoder, Format, Frame,
    FrameReader, FrameWriter, GainHeader, GainMaps, GainParams, Head, Image, Info, Interrupt,
    Isolation, Result, Scales, Tags, Traits, Web,
};
use andon_recipe::{Arg, Word, options};

use crate::heif::{Boxes, Kind};

mod aom;
mod dav1d;
mod decode;
mod encode;
mod gain_map;
mod header;
mod movie;
mod obus;
mod tracks;
mod write;

use obus::NAME;

/// The AVIF codec.
#[derive(Debug)]
pub(crate) struct Avif;

/// Option for the bits per sample.
const DEPTH: Word = Word {
    args: &[Arg::choice("bits", &["8", "10", "12"]).help("bits per sample")],
    ..options::DEPTH
};

/// Option for the chroma subsampling.
const CHROMA: Word = Word {
    args: &[Arg::choice("subsampling", &["444", "422", "420"]).help("4:4:4 and so on")],
    ..options::CHROMA
};

impl Codec for Avif {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &[],
            media_type: "image/avif",
            revision: 5,
            web: Some(Web {
                everywhere: false,
                hdr: true,
                drawn: Drawn::Kept,
                lengths: Some([100, 100, 100, 100, 100, 100]),
            }),
        }
    }

    fn isolation(&self) -> Isolation {
        // libaom cannot be interrupted.
        Isolation {
            writes: true,
            ..Isolation::READS
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let Some(first) = Boxes::of(head).next() else {
            return false;
        };
        // The major brand, its version, and the compatible ones.
        let brands = first.data.chunks_exact(4).enumerate();
        let mut brands = brands.filter(|(index, _)| *index != 1);
        let is_avif = |brand: &[u8]| BRANDS.iter().any(|own| own == brand);
        &first.kind == b"ftyp" && brands.any(|(_, brand)| is_avif(brand))
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

    fn extent_cost(&self, bytes: u64, info: &Info) -> Cost {
        let cost = decode::cost(bytes, info);
        Cost {
            scratch: (cost.scratch)
                .saturating_add(info.pixels().saturating_mul(4 * info.depth.bytes() as u64)),
            ..cost
        }
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

    fn gain_maps(&self) -> Option<&dyn GainMaps> {
        Some(self)
    }
}

impl AnimationDecoder for Avif {
    /// Returns the traits of an animation's frames, which are those of the stored images, because each frame is a whole
    /// image and needs no composing. Returns `None` for still images.
    fn composed(&self, info: &Info) -> Option<Traits> {
        info.animation.map(|_| self.decoded(info, Scales::FULL))
    }

    fn open<'a>(
        &self,
        bytes: &'a [u8],
        info: &Info,
        how: &Decode<'a>,
    ) -> Result<Box<dyn FrameReader + 'a>> {
        Ok(Box::new(movie::Reader::open(bytes, info, how)?))
    }
}

impl GainMaps for Avif {
    fn gain_map(&self, bytes: &[u8], _info: &Info) -> Option<GainHeader> {
        gain_map::read(bytes)
    }

    fn decode_gain_map(&self, bytes: &[u8], how: &Decode<'_>) -> Result<Frame> {
        gain_map::decode(bytes, how)
    }
}

impl Encoder for Avif {
    fn holds_gain_map(&self, params: &GainParams) -> bool {
        params.iso.is_some()
    }

    fn options(&self) -> &'static [&'static Word] {
        &[
            &options::QUALITY,
            &options::LOSSLESS,
            &DEPTH,
            &CHROMA,
            &options::EFFORT,
        ]
    }

    fn accepts(&self, have: Traits, how: &Encode) -> Traits {
        encode::accepts(have, how)
    }

    fn encode(&self, image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        encode::encode(image, how, interrupt)
    }

    fn tags(&self) -> Tags {
        Tags::IccOrCodePoints
    }

    fn says_orientation(&self) -> bool {
        true
    }

    fn inherits_quality(&self) -> bool {
        true
    }

    fn encode_spread(&self, how: &Encode) -> u64 {
        // The default speeds are chosen so that even the most complex image is encoded in time.
        let was_asked_for = how.effort.is_some() || how.lossless;
        if was_asked_for { 3 } else { 1 }
    }

    fn encode_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
        encode::cost(width, height, traits, how)
    }

    fn animation(&self) -> Option<&dyn AnimationEncoder> {
        Some(self)
    }
}

impl AnimationEncoder for Avif {
    fn writer<'a>(
        &self,
        head: &Head,
        how: &Encode,
        interrupt: &'a dyn Interrupt,
    ) -> Result<Box<dyn FrameWriter + 'a>> {
        Ok(Box::new(encode::Writer::new(head, how, interrupt)?))
    }

    fn requested_as(&self) -> &'static str {
        NAME
    }

    /// Returns `false`, because some browsers whose Accept header lists AVIF show only the first image of a sequence.
    fn moves_everywhere(&self) -> bool {
        false
    }

    fn frame_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
        encode::moving_cost(width, height, traits, how)
    }
}

/// Brands of still images and of image sequences.
const BRANDS: [Kind; 2] = [*b"avif", *b"avis"];

#[cfg(test)]
mod conformance;
