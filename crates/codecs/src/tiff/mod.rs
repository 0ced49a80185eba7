//! TIFF: reads the first page, in strips or tiles, of up to 16 bits. Writes deflated strips.
//!
//! Our own code reads directories, and crates decompress one strip or tile at a time. The crate `tiff` (0.11.3, which
//! `image` uses) cannot replace this code without a loss of supported files, as its source shows:
//!
//! - It does not read palettes, L*a*b* with photometric interpretation 8, faxes except Group 4, subsampled chroma
//!   outside JPEG, fill order 2, or the LZW variant of the earliest writers (`colortype`, `create_reader`,
//!   `readout_for_size`).
//! - It rejects pages without lengths of strips, without a photometric interpretation, and with the offsets of tiles in
//!   the tags of strips (`from_reader`).
//! - It decodes a JPEG at the size in the JPEG's own header before it compares this with the strip's size: a page of
//!   64×64 px takes the memory of 118 megapixels (see the test `hostile`). It uses `zune-jpeg`, whose samples differ
//!   from those of this codec's current results.
//! - It unpacks strips with the same bytes once for each of them, and cannot be interrupted within a strip.
//! - It does not report where a file ends ([`end`]), and RAW files need directories, too, so both would still be needed.

use andon_pixels::{
    Bound, Codec, Cost, Decode, Encode, Encoder, Format, Image, Info, Interrupt, Isolation, Result,
    Scales, Space, Tags, Traits,
};

use crate::guard;

/// Time in ns per byte for horizontal differencing and deflating, measured on one core.
const NANOS_PER_BYTE: u64 = 20;

mod directory;
mod encode;
mod extent;
mod lab;
mod page;
mod pixels;
mod sources;
mod unpack;

pub(crate) use directory::{Directory, Numbers};
pub(crate) use extent::end;
use page::Page;

/// The format's name in errors and recipes.
const NAME: &str = "tiff";

/// The TIFF codec.
#[derive(Debug)]
pub(crate) struct Tiff;

impl Codec for Tiff {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &["tif"],
            media_type: "image/tiff",
            revision: 2,
            web: None,
        }
    }

    fn isolation(&self) -> Isolation {
        Isolation::READS
    }

    fn sniff(&self, head: &[u8]) -> bool {
        [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"]
            .iter()
            .any(|magic| head.starts_with(*magic))
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        let page = Page::read(&Directory::first(bytes)?)?;
        Ok(page.info())
    }

    fn decode(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        let directory = Directory::first(bytes)?;
        let page = Page::read(&directory)?;
        guard::check_probed(page.width, page.height, info, how.limits)?;
        guard::at_most(Bound::PIXELS, page.chunk_pixels(), how.limits.pixels)?;
        let frame = pixels::frame(bytes, &page, how)?;
        let profile = page.profile.filter(|_| info.space == Space::PROFILED);
        Ok(Image::read(
            frame,
            guard::profile(profile, how)?,
            info.space,
        ))
    }

    fn end(&self, bytes: &[u8], _how: &Decode<'_>) -> Result<usize> {
        end(bytes)
    }

    fn decode_cost(&self, bytes: u64, info: &Info, _scales: Scales) -> Cost {
        let samples = info.pixels().saturating_mul(info.model.planes() as u64 + 1);
        Cost {
            nanos: bytes
                .saturating_mul(4)
                .saturating_add(samples.saturating_mul(6))
                .saturating_add(info.decoder_nanos),
            scratch: info.decoder_bytes,
        }
    }

    /// Returns the format to write if a request names none: `png` for images with opacity or few colours, which are not
    /// photos, and `jpeg` for others.
    fn instead(&self, info: &Info) -> Option<&'static str> {
        Some(if info.alpha || info.palette {
            "png"
        } else {
            "jpeg"
        })
    }

    fn encoder(&self) -> Option<&dyn Encoder> {
        Some(self)
    }
}

impl Encoder for Tiff {
    fn accepts(&self, have: Traits, _how: &Encode) -> Traits {
        encode::accepts(have)
    }

    fn encode(&self, image: &Image, _how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        encode::encode(image, interrupt)
    }

    fn tags(&self) -> Tags {
        Tags::Icc
    }

    fn encode_cost(&self, width: u32, height: u32, traits: Traits, _how: &Encode) -> Cost {
        let samples = traits.model.planes() as u64 + u64::from(traits.alpha);
        let bytes = u64::from(width) * u64::from(height) * samples * traits.depth.bytes() as u64;
        Cost {
            nanos: bytes * NANOS_PER_BYTE,
            scratch: bytes,
        }
    }
}
