//! The container of a JPEG XL codestream: boxes, each with a length, a four-letter name, and data.

use std::io::Read;

use andon_pixels::{Error, Result};
use brotli_decompressor::Decompressor;

use super::NAME;
use crate::{exif, guard};

/// The bytes with which every container begins. A file may also be a codestream without a container.
pub(super) const SIGNATURE: &[u8] = b"\0\0\0\x0cJXL \r\n\x87\n";

/// Contents of a container besides the codestream.
#[derive(Debug, Default)]
pub(super) struct Container<'a> {
    exif: Option<Packed<'a>>,
    xmp: Option<Packed<'a>>,
    /// The gain map, which makes the image brighter on HDR displays.
    pub(super) gain_map: Option<&'a [u8]>,
    /// Whether the file contains the data to reconstruct the JPEG from which it was made.
    pub(super) jpeg: bool,
    /// Whether there is any metadata.
    pub(super) metadata: bool,
    /// Offset of the end of the last box with a known meaning; 0 if there is none.
    pub(super) end: usize,
}

/// Data of a box, which may be compressed with Brotli.
#[derive(Clone, Copy, Debug)]
struct Packed<'a> {
    data: &'a [u8],
    brotli: bool,
}

/// Maximum number of boxes. Files have a few boxes, and at most one `jxlp` for every few frames.
const MOST_BOXES: usize = 20_000;

impl<'a> Container<'a> {
    /// Reads the boxes of a file; if it is truncated, those that are present.
    pub(super) fn read(file: &'a [u8]) -> Result<Self> {
        let mut container = Self::default();
        if !file.starts_with(SIGNATURE) {
            return Ok(container);
        }
        for (count, part) in (Boxes { file, at: 0 }).enumerate() {
            if count == MOST_BOXES {
                let why = format!("it has more than {MOST_BOXES} boxes");
                return Err(Error::broken(NAME, why));
            }
            container.take(&part);
        }
        Ok(container)
    }

    fn take(&mut self, part: &Part<'a>) {
        let brotli = &part.name == b"brob";
        let (name, data) = match part.data.split_first_chunk() {
            Some((name, data)) if brotli => (*name, data),
            _ => (part.name, part.data),
        };
        match &name {
            b"Exif" => {
                self.exif.get_or_insert(Packed { data, brotli });
                self.metadata = true;
            }
            b"jhgm" => {
                self.gain_map = self.gain_map.or((!brotli).then_some(data));
                self.metadata = true;
            }
            b"xml " => {
                self.xmp.get_or_insert(Packed { data, brotli });
                self.metadata = true;
            }
            b"jumb" => self.metadata = true,
            b"jbrd" => self.jpeg = true,
            b"JXL " | b"ftyp" | b"jxll" | b"jxli" | b"jxlc" | b"jxlp" => {}
            _ => return,
        }
        self.end = part.end;
    }

    /// Returns the EXIF block, beginning with its TIFF header. A block that cannot be unpacked is left out, because the
    /// pixels are complete without it.
    pub(super) fn exif(&self, limit: u64) -> Result<Option<Vec<u8>>> {
        let data = Packed::read(self.exif, limit)?;
        // The first four bytes are the offset of the block from the end of this number.
        let tiff = data.as_ref().and_then(|data| {
            let (offset, rest) = data.split_first_chunk()?;
            rest.get(u32::from_be_bytes(*offset) as usize..)
        });
        Ok(tiff.map(|tiff| exif::without_prefix(tiff).to_vec()))
    }

    /// Returns the XMP packet. A packet that cannot be unpacked is left out, because the pixels are complete without
    /// it.
    pub(super) fn xmp(&self, limit: u64) -> Result<Option<Vec<u8>>> {
        Packed::read(self.xmp, limit)
    }
}

impl Packed<'_> {
    fn read(data: Option<Self>, limit: u64) -> Result<Option<Vec<u8>>> {
        let Some(Self { data, brotli }) = data else {
            return Ok(None);
        };
        if !brotli {
            guard::metadata(data.len(), limit)?;
            return Ok(Some(data.to_vec()));
        }
        let mut unpacked_data = Vec::new();
        let unpacker = Decompressor::new(data, 4096);
        let most = limit.saturating_add(5);
        let read = unpacker.take(most).read_to_end(&mut unpacked_data);
        guard::metadata(unpacked_data.len(), limit)?;
        Ok(read.is_ok().then_some(unpacked_data))
    }
}

struct Part<'a> {
    name: [u8; 4],
    /// Data of the box, or only their beginning if the file is cut off.
    data: &'a [u8],
    /// Offset of the next box.
    end: usize,
}

struct Boxes<'a> {
    file: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Boxes<'a> {
    type Item = Part<'a>;

    /// Returns the next box, or `None` where no box can begin.
    fn next(&mut self) -> Option<Part<'a>> {
        let (size, rest) = self.file.get(self.at..)?.split_first_chunk()?;
        let (name, rest) = rest.split_first_chunk()?;
        let (length, data) = match u32::from_be_bytes(*size) {
            0 => (rest.len(), rest),
            1 => {
                let (long, rest) = rest.split_first_chunk()?;
                let length = usize::try_from(u64::from_be_bytes(*long)).ok()?;
                (length.checked_sub(16)?, rest)
            }
            short => ((short as usize).checked_sub(8)?, rest),
        };
        let start = self.file.len() - data.len();
        self.at = start.saturating_add(length).min(self.file.len());
        Some(Part {
            name: *name,
            data: &self.file[start..self.at],
            end: self.at,
        })
    }
}
