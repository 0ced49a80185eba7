//! HEIC: HEVC in a HEIF container, as written by phones. It is read but not written, and only by builds with the
//! feature `heic`. The decoder's licence is free, but HEVC is patented. Therefore the published server recognises the
//! format and reports that it cannot read it, unless the package `andon-heic` is installed: this provides worker
//! processes of another program, which has the feature.

use andon_pixels::{Codec, Cost, Decode, Format, Image, Info, Isolation, Result, Scales};

use crate::heif::Boxes;

#[cfg(feature = "heic")]
mod decode;
#[cfg(not(feature = "heic"))]
#[path = "refused.rs"]
mod decode;

/// The format's name, as used in errors and recipes.
pub(crate) const NAME: &str = "heic";

/// The HEIC codec.
#[derive(Debug)]
pub(crate) struct Heic;

impl Codec for Heic {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &["heif", "hif"],
            media_type: "image/heic",
            revision: 2,
            web: None,
        }
    }

    fn isolation(&self) -> Isolation {
        Isolation::READS
    }

    fn sniff(&self, head: &[u8]) -> bool {
        Boxes::of(head).next().is_some_and(|first| {
            let mut brands = first.data.chunks_exact(4);
            &first.kind == b"ftyp" && brands.any(|brand| BRANDS.contains(&brand))
        })
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        decode::probe(bytes)
    }

    fn decode(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        decode::decode(bytes, info, how)
    }

    fn decode_cost(&self, _bytes: u64, info: &Info, _scales: Scales) -> Cost {
        let planes = info.model.planes() as u64 + u64::from(info.alpha);
        // A header may state any size, so the multiplication must not overflow.
        let samples = info
            .pixels()
            .saturating_mul(planes * info.depth.bytes() as u64);
        Cost {
            nanos: info.pixels().saturating_mul(NANOS_PER_PIXEL),
            // The decoder's planes, and a separate tile while a grid is composed.
            scratch: samples.saturating_add(TILE_BYTES),
        }
    }

    fn instead(&self, info: &Info) -> Option<&'static str> {
        Some(if info.alpha { "png" } else { "jpeg" })
    }
}

/// Brands of files coded as HEVC: still images and sequences.
const BRANDS: [&[u8]; 6] = [b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx"];

/// Nanoseconds of decoding per pixel. This is an estimate: photos from phones take half a second for 12 megapixels.
const NANOS_PER_PIXEL: u64 = 40;

const TILE_BYTES: u64 = 4 << 20;
