//! RAW files of cameras (CR2, NEF, ARW, DNG, RAF and others with the structure of a TIFF). Decodes the largest JPEG
//! preview that they contain. Sensor data is not developed. Read only.

use andon_pixels::{
    Codec, Cost, Decode, Error, Format, Image, Info, Isolation, Orientation, Result, Scale, Scales,
    Traits,
};

use crate::bytes::u32_be;
use crate::jpeg::Jpeg;
use crate::tiff::{Directory, Numbers, end};

/// The format's name in errors and recipes.
const NAME: &str = "raw";

/// The codec for RAW files of cameras.
#[derive(Debug)]
pub(crate) struct Raw;

impl Codec for Raw {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &["cr2", "nef", "arw", "dng", "raf", "pef", "srw"],
            media_type: "image/x-dcraw",
            revision: 1,
            web: None,
        }
    }

    fn isolation(&self) -> Isolation {
        Isolation::READS
    }

    fn sniff(&self, head: &[u8]) -> bool {
        head.starts_with(RAF)
            || TIFF.iter().any(|magic| head.starts_with(magic))
                && (head.get(8..10) == Some(b"CR") || directories(head).iter().any(is_of_sensor))
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        let (info, _) = preview(bytes)?;
        Ok(info)
    }

    fn decode(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        Jpeg.decode(preview(bytes)?.1, info, how)
    }

    fn end(&self, bytes: &[u8], _how: &Decode<'_>) -> Result<usize> {
        if !bytes.starts_with(RAF) {
            return end(bytes);
        }
        let last = RAF_PARTS
            .iter()
            .filter_map(
                |at| Some(u32_be(bytes, *at)?.checked_add(u32_be(bytes, at + 4)?)? as usize),
            )
            .max();
        last.filter(|end| *end <= bytes.len())
            .ok_or_else(|| Error::broken(NAME, "it is cut off"))
    }

    fn scales(&self, info: &Info) -> &'static [Scale] {
        Jpeg.scales(info)
    }

    fn splits_chroma(&self, info: &Info, luma: Scale) -> bool {
        Jpeg.splits_chroma(info, luma)
    }

    fn decoded(&self, info: &Info, scales: Scales) -> Traits {
        Jpeg.decoded(info, scales)
    }

    /// Estimates the cost of decoding the preview, whose length is assumed to be that of the file, but at most one byte
    /// per pixel. Most of the file is sensor data, which is not decoded.
    fn decode_cost(&self, bytes: u64, info: &Info, scales: Scales) -> Cost {
        Jpeg.decode_cost(bytes.min(info.pixels()), info, scales)
    }

    fn instead(&self, _info: &Info) -> Option<&'static str> {
        Some("jpeg")
    }
}

/// Magic bytes of Fujifilm's RAF files.
const RAF: &[u8] = b"FUJIFILMCCD-RAW ";

/// Offsets in a RAF file's header at which the offset and length of a part are stored: first those of the JPEG, then
/// those of sensor data.
const RAF_PARTS: [usize; 3] = [84, 92, 100];

const TIFF: [&[u8]; 2] = [b"II*\0", b"MM\0*"];

/// Returns the largest JPEG that can be read, and its header with the orientation of the camera.
fn preview(bytes: &[u8]) -> Result<(Info, &[u8])> {
    let read = |jpeg| Some((Jpeg.probe(jpeg).ok()?, jpeg));
    let (camera_orientation, previews) = match bytes.starts_with(RAF) {
        true => (
            None,
            part(bytes, u32_be(bytes, 84), u32_be(bytes, 88))
                .into_iter()
                .collect(),
        ),
        false => {
            let directories = directories(bytes);
            let camera_orientation = directories.first().and_then(|first| first.get(ORIENTATION));
            let previews: Vec<&[u8]> = directories.iter().filter_map(jpeg).collect();
            (camera_orientation, previews)
        }
    };
    let best = previews
        .into_iter()
        .filter_map(read)
        .max_by_key(|(info, _)| info.pixels());
    let (info, jpeg) = best.ok_or_else(|| {
        Error::unsupported(NAME, "samples of a sensor without a JPEG as a preview")
    })?;
    let orientation = match camera_orientation {
        Some(camera_orientation) if info.orientation.is_upright() => {
            Orientation::from_exif(camera_orientation as u16)
        }
        _ => info.orientation,
    };
    let info = Info {
        format: NAME,
        orientation,
        ..info
    };
    Ok((info, jpeg))
}

/// Returns the directories of a file with the structure of a TIFF, including their subdirectories. Unreadable ones are
/// skipped.
fn directories(bytes: &[u8]) -> Vec<Directory<'_>> {
    let mut directories = Vec::new();
    let mut queue = vec![None];
    let mut visited = Vec::new();
    while let Some(at) = queue.pop() {
        let Ok(directory) = Directory::at(bytes, at) else {
            continue;
        };
        let children = directory.numbers(SUB_DIRECTORIES).into_iter();
        let children = children.flat_map(Numbers::iter).take(DIRECTORIES);
        let next = directory.next.filter(|next| *next != 0);
        for at in children.chain(next).map(Some) {
            if visited.len() < DIRECTORIES && !visited.contains(&at) {
                visited.push(at);
                queue.push(at);
            }
        }
        directories.push(directory);
    }
    directories
}

/// Maximum number of directories that are read, more than any camera writes.
const DIRECTORIES: usize = 32;

const COMPRESSION: u16 = 259;
const PHOTOMETRIC: u16 = 262;
const STRIPS: (u16, u16) = (273, 279);
const ORIENTATION: u16 = 274;
const SUB_DIRECTORIES: u16 = 330;
const JPEG: (u16, u16) = (513, 514);

/// Whether the directory describes sensor data, either from a colour filter array (CFA) or as linear samples.
fn is_of_sensor(directory: &Directory<'_>) -> bool {
    matches!(directory.get(PHOTOMETRIC), Some(32_803 | 34_892))
}

/// Returns the JPEG to which a directory points, with the JPEG tags or as a single strip.
fn jpeg<'a>(directory: &Directory<'a>) -> Option<&'a [u8]> {
    let strip = matches!(directory.get(COMPRESSION), Some(6 | 7))
        && directory
            .numbers(STRIPS.0)
            .is_some_and(|strips| strips.len() == 1);
    let (at, length) = match directory.get(JPEG.0) {
        Some(_) => JPEG,
        None if strip => STRIPS,
        None => return None,
    };
    part(directory.bytes, directory.get(at), directory.get(length))
}

/// Returns `length` bytes of a file, starting at offset `at`. Returns `None` if one of the two is missing or they
/// exceed the file.
fn part<N: TryInto<usize>>(bytes: &[u8], at: Option<N>, length: Option<N>) -> Option<&[u8]> {
    let (at, length) = (at?.try_into().ok()?, length?.try_into().ok()?);
    bytes.get(at..)?.get(..length)
}
