//! TIFF: the first page, in strips or tiles, of up to 16 bits. Only read.
//!
//! The crates for this expand a page in one piece, and panic on some that contradict themselves; here the directory is
//! our own and they unpack one strip or tile at a time.

use andon_pixels::{Codec, Cost, Decode, Format, Image, Info, Result, Scales, Space};

use crate::guard;

mod directory;
mod extent;
mod lab;
mod page;
mod pixels;
mod unpack;

pub(crate) use directory::Directory;
pub(crate) use extent::end;
use page::Page;

/// The format's name, as errors and recipes say it.
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
            revision: 1,
        }
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
        guard::probed(page.width, page.height, info, how.limits)?;
        guard::at_most("pixels", page.chunk_pixels(), how.limits.pixels)?;
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
                .saturating_add(samples.saturating_mul(6)),
            scratch: info.decoder_bytes,
        }
    }

    /// What has opacity or few colours is no photograph.
    fn instead(&self, info: &Info) -> Option<&'static str> {
        Some(if info.alpha || info.palette {
            "png"
        } else {
            "jpeg"
        })
    }
}
