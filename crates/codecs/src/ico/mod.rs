//! ICO and CUR. Of all entries, decodes the one with the most pixels; of several such entries, the one with the most
//! bits per pixel. Writes files with a single entry, a PNG.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use andon_pixels::{
    Codec, Cost, Decode, Depth, Encode, Encoder, Error, Format, Image, Info, Interrupt, Isolation,
    Metadata, Model, Result, Scales, Traits,
};

use crate::bmp::{self, Dib};
use crate::bytes::{u16_le, u32_le};
use crate::guard;
use crate::png::{self, Png, in_full_colour};

/// The format's name in errors and recipes.
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
            revision: 2,
            web: None,
        }
    }

    fn isolation(&self) -> Isolation {
        Isolation::READS
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let kind = matches!(head.get(..4), Some([0, 0, 1 | 2, 0]));
        // Four zeros at the beginning are not enough, because many files begin with them. One byte of the first entry
        // is always 0.
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
                guard::check_probed(dib.width, dib.height, info, how.limits)?;
                let metadata = guard::profile(dib.embedded_profile(), how)?;
                Ok(Image::read(dib.frame(how.interrupt)?, metadata, info.space))
            }
        }
    }

    /// Returns the offset behind the last entry: the end of the entry's own data or, where that is unknown, the end
    /// that the directory states. Entries are decoded up to a total of 2 × `LARGEST` pixels. Of further entries, only
    /// the structure is read.
    fn end(&self, bytes: &[u8], how: &Decode<'_>) -> Result<usize> {
        let mut end = 0;
        let mut unchecked = 2 * LARGEST;
        // Maximum total number of bytes to read, because entries must not overlap.
        let mut unread = bytes.len().saturating_mul(2);
        // Each image is checked once, even if several entries point to it.
        let mut visited = BTreeSet::new();
        for index in 0..entries(bytes) {
            let Some(data) = data_from(bytes, index) else {
                return Err(Error::broken(NAME, "an entry is cut off"));
            };
            if !visited.insert(data.len()) {
                continue;
            }
            let entry = Entry::read(data).ok();
            let is_read = entry.is_some();
            let size = entry.as_ref().and_then(|entry| entry.size().ok());
            let size = size.map(|(width, height, _)| pixels(width, height));
            let left = size.and_then(|size| unchecked.checked_sub(size));
            unchecked = left.unwrap_or(unchecked);
            let length = match (entry, left) {
                (Some(Entry::Png(png)), Some(_)) => Png.extent(png, &Png.probe(png)?, how)?,
                (Some(Entry::Png(png)), None) => png::end(png)?,
                (Some(Entry::Bitmap(dib)), Some(_)) => {
                    dib.frame(how.interrupt)?;
                    dib.end(stated_length(bytes, index), how.interrupt)?
                }
                _ => stated_length(bytes, index).min(data.len()),
            };
            let left = unread.checked_sub(if is_read { length } else { 0 });
            unread = left.ok_or_else(|| Error::broken(NAME, "its entries overlap"))?;
            end = end.max(bytes.len() - data.len() + length);
        }
        Ok(end)
    }

    /// Estimates the cost of `extent`, which also decodes entries other than the one to show.
    fn extent_cost(&self, bytes: u64, info: &Info) -> Cost {
        let one = self.decode_cost(bytes, info, Scales::FULL);
        let frame = 4 * info.pixels();
        // No entry is larger than the one to show, and each has its own bytes.
        let other_pixels = (entries_of(bytes) * info.pixels()).min(2 * LARGEST);
        Cost {
            nanos: one.nanos.saturating_add(other_pixels * NANOS_PER_PIXEL),
            scratch: one.scratch.saturating_add(frame),
        }
    }

    fn decode_cost(&self, bytes: u64, info: &Info, scales: Scales) -> Cost {
        let (png, bitmap) = (Png.decode_cost(bytes, info, scales), bmp::cost(bytes, info));
        Cost {
            nanos: png.nanos.max(bitmap.nanos),
            scratch: png.scratch.max(bitmap.scratch),
        }
    }

    fn instead(&self, _info: &Info) -> Option<&'static str> {
        Some("png")
    }

    fn encoder(&self) -> Option<&dyn Encoder> {
        Some(self)
    }
}

impl Encoder for Ico {
    fn accepts(&self, have: Traits, how: &Encode) -> Traits {
        let eight = Traits {
            model: Model::Rgb,
            depth: Depth::U8,
            ..have
        };
        Png.accepts(eight, how)
    }

    fn encode(&self, image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        let (width, height) = (image.frame.width, image.frame.height);
        guard::side(NAME, width, height, LONGEST)?;
        let plain = Image {
            metadata: Metadata::default(),
            ..image.clone()
        };
        let png = Png.encode(&plain, &in_full_colour(how), interrupt)?;
        // A header of 22 bytes for one entry with one plane of 32 bits. A side of 256 px is stored as 0.
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
}

/// Maximum side of an icon that is written, in px.
const LONGEST: u64 = 256;

/// The image that an entry of the directory points to.
enum Entry<'a> {
    Png(&'a [u8]),
    Bitmap(Dib<'a>),
}

/// Maximum number of directory entries that are read.
const ENTRIES: usize = 256;

/// Maximum number of entries that are tried, in descending order of size, until one can be read.
const TRIES: usize = 8;

/// Maximum side of an icon that is read, in px: sixteen times what the directory can express.
const MOST_SIDE: u32 = 4096;

/// Estimated time per pixel, in ns, for checking entries that are not shown.
const NANOS_PER_PIXEL: u64 = 14;

/// Returns the maximum number of entries in a file of `bytes` bytes, at most `ENTRIES`.
fn entries_of(bytes: u64) -> u64 {
    (bytes / LEAST_ENTRY_BYTES).min(ENTRIES as u64)
}

/// Bytes of a directory entry (16) and of the smallest image (40).
const LEAST_ENTRY_BYTES: u64 = 16 + 40;

/// Maximum number of pixels of an icon that is read.
const LARGEST: u64 = MOST_SIDE as u64 * MOST_SIDE as u64;

impl<'a> Entry<'a> {
    fn read(data: &'a [u8]) -> Result<Self> {
        match Png.sniff(data) {
            true => Ok(Self::Png(data)),
            false => Dib::read(data, NAME).map(|dib| Self::Bitmap(dib.of_icon())),
        }
    }

    /// Returns the width and height in px and the bits per pixel from the image's own header (32 bits for a PNG).
    fn size(&self) -> Result<(u32, u32, u16)> {
        match self {
            Self::Png(png) => png::size(png).map(|(width, height)| (width, height, 32)),
            Self::Bitmap(dib) => Ok((dib.width, dib.height, dib.bits)),
        }
    }
}

fn pixels(width: u32, height: u32) -> u64 {
    u64::from(width) * u64::from(height)
}

fn entries(bytes: &[u8]) -> usize {
    u16_le(bytes, 4).map_or(0, usize::from).min(ENTRIES)
}

/// Returns the best entry that can be read. Sizes are read from the images themselves, because those in the directory
/// are single bytes and often wrong.
fn entry(bytes: &[u8]) -> Result<Entry<'_>> {
    let mut first_error = None;
    let mut sized = Vec::new();
    let mut visited = BTreeSet::new();
    let all = (0..entries(bytes)).filter_map(|index| data_from(bytes, index));
    for data in all.filter(|data| visited.insert(data.len())) {
        match Entry::read(data).and_then(|entry| Ok((entry.size()?, entry))) {
            Ok(((width, height, _), _)) if width.max(height) > MOST_SIDE => {
                let what = format!(
                    "an icon of {width}×{height} px (up to {MOST_SIDE} px a side are read)"
                );
                return Err(Error::unsupported(NAME, what));
            }
            Ok(((width, height, bits), entry)) => {
                sized.push(((pixels(width, height), bits), entry))
            }
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    // The sort is stable, so the first of several equal entries comes first.
    sized.sort_by_key(|(size, _)| Reverse(*size));
    for (_, entry) in sized.into_iter().take(TRIES) {
        match entry {
            // So far only the size in its header has been read.
            Entry::Png(png) => match Png.probe(png) {
                Ok(_) => return Ok(Entry::Png(png)),
                Err(error) => first_error = first_error.or(Some(error)),
            },
            Entry::Bitmap(dib) => return Ok(Entry::Bitmap(dib)),
        }
    }
    Err(first_error.unwrap_or_else(|| Error::broken(NAME, "it holds no image")))
}

/// Returns the length of an entry in bytes that the directory states.
fn stated_length(bytes: &[u8], index: usize) -> usize {
    u32_le(bytes, 6 + 16 * index + 8).map_or(0, |length| length as usize)
}

/// Returns the bytes from the beginning of an entry to the end of the file, because the length in the directory is
/// often wrong.
fn data_from(bytes: &[u8], index: usize) -> Option<&[u8]> {
    let at = u32_le(bytes.get(6 + 16 * index..)?.get(..16)?, 12)?;
    bytes.get(at as usize..)
}
