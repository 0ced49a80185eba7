//! PSD and PSB. Decodes the merged image at the file's end, which Photoshop stores for other programs. Read only.

use andon_pixels::{
    Codec, Cost, Decode, Depth, Error, Format, Image, Info, Isolation, Model, Result, Scales, Space,
};

use crate::bytes::{u16_be, u32_be};
use crate::guard;

mod pixels;

/// The format's name in errors and recipes.
const NAME: &str = "psd";

/// The PSD codec.
#[derive(Debug)]
pub(crate) struct Psd;

impl Codec for Psd {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &["psb"],
            media_type: "image/vnd.adobe.photoshop",
            revision: 1,
            web: None,
        }
    }

    fn isolation(&self) -> Isolation {
        Isolation::READS
    }

    fn sniff(&self, head: &[u8]) -> bool {
        head.starts_with(b"8BPS\0\x01") || head.starts_with(b"8BPS\0\x02")
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        let header = Header::read(bytes)?;
        Ok(Info {
            model: match header.mode {
                Mode::Gray | Mode::Bitmap => Model::Gray,
                Mode::Rgb | Mode::Indexed => Model::Rgb,
                Mode::Cmyk => Model::Cmyk,
            },
            depth: if header.bits == 16 {
                Depth::U16
            } else {
                Depth::U8
            },
            alpha: header.alpha,
            space: match header.profile {
                Some(_) => Space::PROFILED,
                None => Space::UNSPECIFIED,
            },
            palette: header.mode == Mode::Indexed,
            lossless: true,
            metadata: header.profile.is_some(),
            ..Info::new(NAME, header.width, header.height, Model::Rgb)
        })
    }

    fn decode(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        let header = Header::read(bytes)?;
        guard::check_probed(header.width, header.height, info, how.limits)?;
        let frame = pixels::frame(&header, info, how.interrupt)?;
        let metadata = guard::profile(header.profile, how)?;
        Ok(Image::read(frame, metadata, info.space))
    }

    fn end(&self, bytes: &[u8], _how: &Decode<'_>) -> Result<usize> {
        let header = Header::read(bytes)?;
        let length = pixels::length(&header)?;
        Ok(bytes.len() - header.data.len() + length)
    }

    fn decode_cost(&self, bytes: u64, info: &Info, _scales: Scales) -> Cost {
        let samples = info.pixels().saturating_mul(info.model.planes() as u64 + 1);
        Cost {
            nanos: bytes.saturating_add(samples.saturating_mul(4)),
            scratch: u64::from(info.width) * 4,
        }
    }

    fn instead(&self, info: &Info) -> Option<&'static str> {
        Some(if info.alpha || info.palette {
            "png"
        } else {
            "jpeg"
        })
    }
}

/// How the samples of a pixel represent its colour.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Bitmap,
    Gray,
    Indexed,
    Rgb,
    Cmyk,
}

/// The properties of the file, which precede the merged image, and the bytes of that image.
struct Header<'a> {
    width: u32,
    height: u32,
    bits: u16,
    mode: Mode,
    /// Number of stored channels. Channels after the colours and opacity are masks.
    channels: usize,
    alpha: bool,
    /// The palette's 256 red values, followed by its 256 green and 256 blue ones.
    palette: &'a [u8],
    profile: Option<&'a [u8]>,
    run_lengths: bool,
    /// Whether the file is a PSB, in which row lengths have four bytes.
    large: bool,
    /// The merged image: the file from the row lengths on or, without compression, from the pixels on.
    data: &'a [u8],
}

impl<'a> Header<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self> {
        let cut_off = || Error::broken(NAME, "it is cut off");
        let unsupported = |what: String| Error::unsupported(NAME, what);
        let short = |at| u16_be(bytes, at).ok_or_else(cut_off);
        let large = short(4)? == 2;
        let channels = usize::from(short(12)?);
        let (height, width) = (
            u32_be(bytes, 14).ok_or_else(cut_off)?,
            u32_be(bytes, 18).ok_or_else(cut_off)?,
        );
        let most = if large { 300_000 } else { 30_000 };
        if !(1..=56).contains(&channels)
            || !(1..=most).contains(&width)
            || !(1..=most).contains(&height)
        {
            return Err(Error::broken(
                NAME,
                format!("{channels} channels of {width}×{height}"),
            ));
        }
        let (bits, mode) = (short(22)?, short(24)?);
        let (mode, colours) = match (mode, bits) {
            (0, 1) => (Mode::Bitmap, 1),
            (1 | 8, 8 | 16) => (Mode::Gray, 1),
            (2, 8) => (Mode::Indexed, 1),
            (3, 8 | 16) => (Mode::Rgb, 3),
            (4, 8 | 16) => (Mode::Cmyk, 4),
            _ => return Err(unsupported(format!("mode {mode} with {bits} bits"))),
        };
        if channels < colours {
            return Err(Error::broken(NAME, "its colours lack channels"));
        }
        let (palette, at) = block(bytes, 26, false).ok_or_else(cut_off)?;
        let (resources, at) = block(bytes, at, false).ok_or_else(cut_off)?;
        let (layers, at) = block(bytes, at, large).ok_or_else(cut_off)?;
        let run_lengths = match short(at)? {
            0 => false,
            1 => true,
            other => return Err(unsupported(format!("compression {other}"))),
        };
        if mode == Mode::Indexed && palette.len() < 768 {
            return Err(Error::broken(NAME, "its palette is cut off"));
        }
        // A negative number of layers means that the first channel after the colours is opacity.
        let count = u16_be(layers, if large { 8 } else { 4 }).map_or(0, |count| count as i16);
        Ok(Self {
            width,
            height,
            bits,
            mode,
            channels,
            alpha: channels > colours && count < 0,
            palette,
            profile: profile(resources),
            run_lengths,
            large,
            data: bytes.get(at + 2..).ok_or_else(cut_off)?,
        })
    }
}

/// Returns the content of the file section at offset `at`, without the length in four bytes (eight if `large`) with
/// which it begins, and the offset of its end. Returns `None` if it is cut off.
fn block(bytes: &[u8], at: usize, large: bool) -> Option<(&[u8], usize)> {
    let (length, begin) = match large {
        true => {
            let high = u64::from(u32_be(bytes, at)?);
            (high << 32 | u64::from(u32_be(bytes, at + 4)?), at + 8)
        }
        false => (u64::from(u32_be(bytes, at)?), at + 4),
    };
    let end = begin.checked_add(usize::try_from(length).ok()?)?;
    Some((bytes.get(begin..end)?, end))
}

/// Returns the ICC profile among the resource blocks.
fn profile(resources: &[u8]) -> Option<&[u8]> {
    let mut at = 0;
    while resources.get(at..at + 4)? == b"8BIM" {
        let id = u16_be(resources, at + 4)?;
        // A name with its length byte is padded to an even length, and so is the data.
        let name = (usize::from(*resources.get(at + 6)?) + 1).next_multiple_of(2);
        let (data, end) = block(resources, at + 6 + name, false)?;
        if id == ICC && !data.is_empty() {
            return Some(data);
        }
        at = end.next_multiple_of(2);
    }
    None
}

const ICC: u16 = 1039;
