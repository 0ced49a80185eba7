//! ICO and CUR: of all entries the largest, and of those the deepest. Written with one, which is a PNG.

use std::collections::BTreeSet;

use andon_pixels::{
    Codec, Cost, Decode, Depth, Encode, Error, Format, Image, Info, Interrupt, Metadata, Model,
    Result, Scales, Traits,
};

use crate::bmp::{self, Dib};
use crate::bytes::{u16_le, u32_le};
use crate::guard;
use crate::png::Png;

/// The format's name, as errors and recipes say it.
const NAME: &str = "ico";

/// The ICO codec.
#[derive(Debug)]
pub(crate) struct Ico;

impl Codec for Ico {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &["cur"],
            media_type: "image/x-icon",
            revision: 1,
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let kind = matches!(head.get(..4), Some([0, 0, 1 | 2, 0]));
        // A byte of the first entry is always zero, and four zeros begin many files.
        kind && u16_le(head, 4).is_some_and(|count| count > 0) && head.get(9) == Some(&0)
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        match entry(bytes)? {
            Entry::Png(png) => Ok(Info {
                format: NAME,
                frames: 1,
                animation: None,
                ..Png.probe(png)?
            }),
            Entry::Bitmap(dib) => Ok(bmp::info(NAME, &dib)),
        }
    }

    fn decode(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        match entry(bytes)? {
            Entry::Png(png) => Png.decode(png, info, how),
            Entry::Bitmap(dib) => {
                guard::probed(dib.width, dib.height, info, how.limits)?;
                let metadata = guard::profile(dib.embedded_profile(), how)?;
                Ok(Image::read(dib.frame(how.interrupt)?, metadata, info.space))
            }
        }
    }

    /// Behind the last entry: where what it holds says that it ends, or else where the directory says so.
    fn end(&self, bytes: &[u8], how: &Decode<'_>) -> Result<usize> {
        let mut end = 0;
        // Each is looked at once, however many entries point to it.
        let mut seen = BTreeSet::new();
        for index in 0..entries(bytes) {
            let Some(data) = behind(bytes, index) else {
                return Err(Error::broken(NAME, "an entry is cut off"));
            };
            if !seen.insert(data.len()) {
                continue;
            }
            let length = match read(data) {
                Ok(Entry::Png(png)) => Png.extent(png, &Png.probe(png)?, how)?,
                Ok(Entry::Bitmap(dib)) => {
                    dib.frame(how.interrupt)?;
                    dib.end(told_length(bytes, index), how.interrupt)?
                }
                Err(_) => told_length(bytes, index).min(data.len()),
            };
            end = end.max(bytes.len() - data.len() + length);
        }
        Ok(end)
    }

    fn decode_cost(&self, bytes: u64, info: &Info, scales: Scales) -> Cost {
        let (png, bitmap) = (Png.decode_cost(bytes, info, scales), bmp::cost(bytes, info));
        Cost {
            nanos: png.nanos.max(bitmap.nanos),
            scratch: png.scratch.max(bitmap.scratch),
        }
    }

    fn accepts(&self, have: Traits, how: &Encode) -> Option<Traits> {
        let eight = Traits {
            model: Model::Rgb,
            depth: Depth::U8,
            ..have
        };
        Png.accepts(eight, how)
    }

    fn encode(&self, image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        let frame = image.frames.first();
        let (width, height) = frame.map_or((0, 0), |frame| (frame.width, frame.height));
        guard::at_most("ico side", width.max(height).into(), LONGEST)?;
        let plain = Image {
            metadata: Metadata::default(),
            ..image.clone()
        };
        let png = Png.encode(&plain, how, interrupt)?;
        // One entry; a side of 256 px is a 0. One plane of 32 bits, behind this header of 22 bytes.
        let mut file = vec![
            0,
            0,
            1,
            0,
            1,
            0,
            width as u8,
            height as u8,
            0,
            0,
            1,
            0,
            32,
            0,
        ];
        file.extend((png.len() as u32).to_le_bytes());
        file.extend(22_u32.to_le_bytes());
        file.extend(png);
        Ok(file)
    }

    fn encode_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
        Png.encode_cost(width, height, traits, how)
    }

    fn instead(&self, _info: &Info) -> Option<&'static str> {
        Some("png")
    }
}

/// The longest side of an icon, in px.
const LONGEST: u64 = 256;

/// What stands behind an entry of the directory.
enum Entry<'a> {
    Png(&'a [u8]),
    Bitmap(Dib<'a>),
}

/// Entries that are looked at.
const ENTRIES: usize = 256;

impl Entry<'_> {
    /// Pixels and bits of each.
    fn size(&self) -> Result<(u64, u16)> {
        match self {
            Self::Png(png) => Ok((Png.probe(png)?.pixels(), 32)),
            Self::Bitmap(dib) => Ok((u64::from(dib.width) * u64::from(dib.height), dib.bits)),
        }
    }
}

fn entries(bytes: &[u8]) -> usize {
    u16_le(bytes, 4).map_or(0, usize::from).min(ENTRIES)
}

fn read(data: &[u8]) -> Result<Entry<'_>> {
    match Png.sniff(data) {
        true => Ok(Entry::Png(data)),
        false => Dib::read(data, NAME).map(|dib| Entry::Bitmap(dib.of_icon())),
    }
}

/// The best entry that can be read. The directory's own sizes are bytes, and often wrong: what the pictures say counts.
fn entry(bytes: &[u8]) -> Result<Entry<'_>> {
    let mut first_error = None;
    let mut best: Option<((u64, u16), Entry<'_>)> = None;
    for data in (0..entries(bytes)).filter_map(|index| behind(bytes, index)) {
        let sized = read(data).and_then(|entry| Ok((entry.size()?, entry)));
        match sized {
            Ok((size, entry)) if best.as_ref().is_none_or(|(best, _)| size > *best) => {
                best = Some((size, entry));
            }
            Ok(_) => {}
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    match best {
        Some((_, entry)) => Ok(entry),
        None => Err(first_error.unwrap_or_else(|| Error::broken(NAME, "it holds no picture"))),
    }
}

/// How long the directory says that an entry is.
fn told_length(bytes: &[u8], index: usize) -> usize {
    u32_le(bytes, 6 + 16 * index + 8).map_or(0, |length| length as usize)
}

/// The bytes of an entry and whatever follows them: the length that the directory tells is often wrong.
fn behind(bytes: &[u8], index: usize) -> Option<&[u8]> {
    let at = u32_le(bytes.get(6 + 16 * index..)?.get(..16)?, 12)?;
    bytes.get(at as usize..)
}
