//! Reads a JPEG's header: everything before the first scan, and no pixel data.
//!
//! It interprets files as libjpeg does, so that both see the same image, and collects what libjpeg does not report:
//! where the metadata lie, the quantization tables as stored, and the shape of the first scan.

use std::ops::Range;

use crate::codes::{
    APP0, APP1, APP2, APP13, APP14, APP15, COM, DAC, DHT, DQT, DRI, EOI, JPG, RST0, RST7, SOF0,
    SOF1, SOF2, SOF3, SOF9, SOF10, SOF11, SOF15, SOI, SOS, TEM,
};
use crate::error::{Error, Feature, Result};
use crate::header::walk::{Segment, Walk, quantisation};
use crate::header::{mpf, quality};
use crate::segments;
use crate::tables::Table;

/// The contents of a JPEG's header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// Width in pixels, 1 to 65535.
    pub width: u32,
    /// Height in pixels, 1 to 65535.
    pub height: u32,
    /// Whether the image is progressive, with scans that refine each other (SOF2 or SOF10).
    pub progressive: bool,
    /// Whether the image uses arithmetic instead of Huffman coding (SOF9 or SOF10).
    pub arithmetic: bool,
    /// The 1, 3 or 4 components, in the frame's order.
    pub components: Vec<Component>,
    /// Whether there is a JFIF segment.
    pub jfif: bool,
    /// The colour transform that an Adobe segment declares.
    pub adobe: Option<u8>,
    /// Quantization tables defined before the first scan.
    pub(crate) tables: [Option<Table>; 4],
    /// Offset of the first scan's SOS marker (its 0xFF), in bytes.
    pub first_scan: usize,
    /// How many components the first scan has.
    pub first_scan_components: usize,
    /// Byte range of the first EXIF block, from its TIFF header on.
    pub exif: Option<Range<usize>>,
    /// The chunks of the ICC profile: for each, its number, the number of all chunks, and the byte range of its data.
    pub icc: Vec<(u8, u8, Range<usize>)>,
    /// Byte range of the first XMP packet.
    pub xmp: Option<Range<usize>>,
    /// Byte ranges of Photoshop's image resources, which contain the IPTC data sets and may be split over several
    /// segments.
    pub resources: Vec<Range<usize>>,
    /// Offset of the header of the MPF index (`Multi-Picture Format`), which lists further images in the file, in bytes.
    pub index: Option<usize>,
    /// Byte range of the ISO 21496-1 block, which in a gain map describes how to apply it.
    pub gain_map: Option<Range<usize>>,
    /// Whether there is metadata other than EXIF, ICC, JFIF and Adobe segments, such as XMP, IPTC or comments.
    pub other_metadata: bool,
}

/// One component of the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Component {
    /// The component's identifier in scans.
    pub id: u8,
    /// Horizontal sampling factor, 1 to 4.
    pub h: u8,
    /// Vertical sampling factor, 1 to 4.
    pub v: u8,
    /// Index of the component's quantization table, 0 to 3.
    pub table: u8,
}

impl Header {
    /// Returns the least number of bytes that the first component's blocks can take: a bit per block, or 0 for
    /// arithmetic coding.
    pub fn fewest_bytes(&self) -> u64 {
        let Some(first) = self.components.first().filter(|_| !self.arithmetic) else {
            return 0;
        };
        let blocks = |side: u32, factor_of_first: u8, factor: fn(&Component) -> u8| {
            let most = self.components.iter().map(factor).max().unwrap_or(1).max(1);
            (u64::from(side) * u64::from(factor_of_first)).div_ceil(8 * u64::from(most))
        };
        blocks(self.width, first.h, |it| it.h) * blocks(self.height, first.v, |it| it.v) / 8
    }

    /// Reads a file's header up to the first scan.
    ///
    /// # Errors
    /// `Broken`, and `Unsupported` for the processes of T.81 that no browser reads.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let mut walk = Walk::new(bytes).ok_or(Error::Broken("it does not begin as one"))?;
        let mut header = Self::default();
        loop {
            let marker = walk.marker().ok_or(CUT_SHORT)?;
            match marker {
                SOI => {
                    return Err(Error::Broken("a second image begins inside its header"));
                }
                EOI => return Err(Error::Broken("it ends before its first scan")),
                TEM | RST0..=RST7 => continue,
                _ => {}
            }
            let at = walk.at() - 2;
            let segment = walk.segment().ok_or(CUT_SHORT)?;
            if segment.declared < 2 {
                return Err(Error::Broken(
                    "a segment is shorter than its own length field",
                ));
            }
            let data = segment.body;
            match marker {
                SOF0..=SOF15 if !matches!(marker, DHT | JPG | DAC) => header.frame(marker, data)?,
                DQT => quantisation(data, &mut header.tables)
                    .ok_or(Error::Broken("a quantization table is malformed"))?,
                DRI => drop(u16_at(data, 0)?),
                APP0..=APP15 | COM => header.application(marker, &segment),
                SOS => {
                    header.first_scan = at;
                    header.first_scan_components = usize::from(byte_at(data, 0)?);
                    return if header.components.is_empty() {
                        Err(Error::Broken("a scan comes before the frame"))
                    } else {
                        Ok(header)
                    };
                }
                _ => {}
            }
        }
    }

    /// Records the contents of an application segment or a comment.
    fn application(&mut self, marker: u8, segment: &Segment<'_>) {
        let (start, data) = (segment.start, segment.body);
        let end = start + data.len();
        match marker {
            APP0 => self.jfif |= data.len() >= 14 && data.starts_with(b"JFIF\0"),
            APP1 if data.starts_with(b"Exif\0") && data.len() > 6 => {
                self.exif.get_or_insert(start + 6..end);
            }
            // Up to one more than the format allows, from which `icc_profile` sees that the chunks are inconsistent.
            APP2 if data.starts_with(ICC) && data.len() >= 14 && self.icc.len() < MOST_PIECES => {
                self.icc.push((data[12], data[13], start + 14..end));
            }
            APP14 if data.len() >= 12 && data.starts_with(b"Adobe") => {
                self.adobe = Some(data[11]);
            }
            _ => {
                self.other_metadata = true;
                let data_after = |name: &[u8]| data.starts_with(name).then_some(start + name.len());
                match marker {
                    APP1 => {
                        let xmp = data_after(segments::XMP).map(|start| start..end);
                        self.xmp = self.xmp.take().or(xmp);
                    }
                    APP2 => {
                        self.index = self.index.or(data_after(mpf::SIGNATURE));
                        let map = data_after(segments::GAIN_MAP).map(|start| start..end);
                        self.gain_map = self.gain_map.take().or(map);
                    }
                    APP13 if self.resources.len() < MOST_PIECES => {
                        let resources = data_after(segments::RESOURCES).map(|start| start..end);
                        self.resources.extend(resources);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Whether the header is quick to read and is all that is needed to estimate the memory of a decoder: it has few
    /// segments, without gaps between them, and the frame is not a large progressive one, for which the scans must be
    /// counted, too.
    pub fn is_short(bytes: &[u8]) -> bool {
        let mut at = 2;
        let mut is_known = false;
        for _ in 0..FEW_SEGMENTS {
            let Some(&[0xff, marker, high, low]) = bytes.get(at..at + 4) else {
                return false;
            };
            match marker {
                SOS => return is_known,
                SOF0 | SOF1 => is_known = true,
                SOF2 => {
                    let Some(&[_, y1, y0, x1, x0]) = bytes.get(at + 4..at + 9) else {
                        return false;
                    };
                    let [height, width] = [[y1, y0], [x1, x0]].map(u16::from_be_bytes);
                    is_known = u32::from(height) * u32::from(width) <= FEW_PIXELS;
                }
                DHT | DQT | DRI | APP0..=APP15 | COM => {}
                _ => return false,
            }
            at += 2 + usize::from(u16::from_be_bytes([high, low]));
        }
        false
    }

    /// Returns the largest sampling factors, which are the width and height of an MCU in blocks.
    pub fn max_sampling(&self) -> (u8, u8) {
        self.components.iter().fold((1, 1), |(h, v), component| {
            (h.max(component.h), v.max(component.v))
        })
    }

    /// Whether a decoder must hold all coefficients of the image in memory before it can output the first pixel.
    pub fn holds_coefficients(&self) -> bool {
        self.progressive || self.first_scan_components < self.components.len()
    }

    /// Returns the size in bytes of all coefficients, including those of blocks beyond the image's edges.
    pub fn coefficient_bytes(&self) -> u64 {
        let (h, v) = self.max_sampling();
        let mcus = u64::from(self.width.div_ceil(8 * u32::from(h)))
            * u64::from(self.height.div_ceil(8 * u32::from(v)));
        let blocks: u64 = self
            .components
            .iter()
            .map(|component| u64::from(component.h) * u64::from(component.v))
            .sum();
        mcus * blocks * 64 * 2
    }

    /// Estimates the quality with which the file was written, if its quantization tables precede the first scan.
    pub fn quality(&self) -> Option<u8> {
        let table = |index: usize| {
            let component = self.components.get(index)?;
            self.tables[usize::from(component.table)].as_ref()
        };
        // If luma and chroma share one table (RGB, CMYK), it is judged as a luma table.
        let shared = self
            .components
            .get(1)
            .is_none_or(|second| second.table == self.components[0].table);
        let chroma = if shared { None } else { table(1) };
        Some(quality::estimate(table(0)?, chroma))
    }

    /// Whether the file has metadata besides an ICC profile.
    pub fn has_metadata(&self) -> bool {
        self.exif.is_some() || self.other_metadata
    }

    /// Assembles the ICC profile from its chunks. Returns `None` if a chunk is missing or inconsistent, as other
    /// readers do.
    pub fn icc_profile(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let count = self.icc.first()?.1;
        if self.icc.len() != usize::from(count) || self.icc.iter().any(|chunk| chunk.1 != count) {
            return None;
        }
        let mut profile = Vec::new();
        for number in 1..=count {
            let (_, _, range) = self.icc.iter().find(|chunk| chunk.0 == number)?;
            profile.extend_from_slice(bytes.get(range.clone())?);
        }
        (!profile.is_empty()).then_some(profile)
    }

    fn frame(&mut self, marker: u8, data: &[u8]) -> Result<()> {
        if !self.components.is_empty() {
            return Err(Error::Broken("it has two frames"));
        }
        match marker {
            SOF0 | SOF1 => {}
            SOF2 => self.progressive = true,
            SOF9 => self.arithmetic = true,
            SOF10 => (self.progressive, self.arithmetic) = (true, true),
            SOF3 | SOF11 => return Err(Error::Unsupported(Feature::Lossless)),
            _ => return Err(Error::Unsupported(Feature::Hierarchical)),
        }
        let precision = byte_at(data, 0)?;
        if precision != 8 {
            return Err(Error::Unsupported(Feature::Depth(precision)));
        }
        (self.height, self.width) = (u16_at(data, 1)?.into(), u16_at(data, 3)?.into());
        if self.width == 0 || self.height == 0 {
            return Err(Error::Broken("a side is 0"));
        }
        let count = byte_at(data, 5)?;
        if !matches!(count, 1 | 3 | 4) {
            return Err(Error::Unsupported(Feature::Components(count)));
        }
        if data.len() != 6 + 3 * usize::from(count) {
            return Err(Error::Broken("its frame header has the wrong length"));
        }
        for triple in data[6..].chunks_exact(3) {
            let component = Component {
                id: triple[0],
                h: triple[1] >> 4,
                v: triple[1] & 15,
                table: triple[2],
            };
            let sampling = 1..=4;
            if !sampling.contains(&component.h) || !sampling.contains(&component.v) {
                return Err(Error::Broken("a sampling factor is not 1 to 4"));
            }
            if component.table > 3 {
                return Err(Error::Broken("a component names a table above 3"));
            }
            self.components.push(component);
        }
        Ok(())
    }
}

fn byte_at(data: &[u8], at: usize) -> Result<u8> {
    data.get(at).copied().ok_or(TOO_SHORT)
}

fn u16_at(data: &[u8], at: usize) -> Result<u16> {
    Ok(u16::from_be_bytes([
        byte_at(data, at)?,
        byte_at(data, at + 1)?,
    ]))
}

const CUT_SHORT: Error = Error::Broken("it ends inside its header");
const TOO_SHORT: Error = Error::Broken("a segment is too short");

const ICC: &[u8] = b"ICC_PROFILE\0";

/// Maximum number of segments of an ICC profile or of image resources that are recorded: more than either can be split
/// into.
const MOST_PIECES: usize = 256;

/// Maximum number of segments of a header that is quick to read ([`Header::is_short`]).
const FEW_SEGMENTS: usize = 64;

/// Number of pixels up to which a progressive frame has at most 64 MiB of coefficients, whatever its components.
const FEW_PIXELS: u32 = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_photos_header_is_short_and_one_that_goes_on_and_on_is_not() {
        let sample = |name: &str| {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/jpeg/");
            std::fs::read(format!("{folder}{name}")).unwrap()
        };
        for name in ["420.jpg", "progressive-420.jpg", "icc-srgb.jpg", "cmyk.jpg"] {
            assert!(Header::is_short(&sample(name)), "{name}");
        }
        let image = sample("420.jpg");
        let behind_soi = |bytes: &[u8]| [&image[..2], bytes, &image[2..]].concat();
        let comment = [0xff, COM, 0, 2];
        assert!(Header::is_short(&behind_soi(&comment)));
        for bytes in [
            &comment.repeat(FEW_SEGMENTS)[..],
            &[0xff; 4],
            &[0xff, 0],
            &[0xff, RST0],
        ] {
            assert!(!Header::is_short(&behind_soi(bytes)), "{bytes:?}");
        }
        let mut progressive = sample("progressive-420.jpg");
        let frame = progressive.windows(2).position(|at| at == [0xff, SOF2]);
        let frame = frame.unwrap();
        progressive[frame + 5..frame + 9].copy_from_slice(&[0xff; 4]);
        assert!(
            !Header::is_short(&progressive),
            "its scans are looked through"
        );
        for end in 0..frame {
            assert!(!Header::is_short(&progressive[..end]));
        }
    }
}
