//! The properties of a page, read from its directory.

use andon_pixels::{Depth, Error, Info, Model, Orientation, Result, Space};

use super::NAME;
use super::directory::{Directory, Numbers};

/// A page of a kind that can be decoded.
pub(super) struct Page<'a> {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Bits per sample, the same for all: 1 to 16.
    pub(super) bits: u32,
    /// Samples per pixel, including those that are ignored.
    pub(super) samples: usize,
    pub(super) colours: Colours,
    /// Whether there is opacity, the sample after the colours, and whether colours are multiplied by it. `None`: every
    /// pixel is opaque.
    pub(super) opacity: Option<Opacity>,
    pub(super) compression: u64,
    /// Whether the bits of each byte are in reverse order.
    pub(super) reversed: bool,
    pub(super) predicted: bool,
    pub(super) big_endian: bool,
    /// Whether each sample has strips or tiles of its own.
    pub(super) planar: bool,
    /// Width and height of a strip or tile, in px.
    pub(super) chunk: (u32, u32),
    pub(super) tiled: bool,
    /// Offsets of the strips or tiles in the file. `lengths` are their lengths in bytes.
    pub(super) offsets: Numbers<'a>,
    pub(super) lengths: Option<Numbers<'a>>,
    pub(super) jpeg_tables: Option<&'a [u8]>,
    /// Whether CCITT Group 3 data is coded in two dimensions.
    pub(super) two_dimensional: bool,
    pub(super) profile: Option<&'a [u8]>,
    orientation: Orientation,
}

/// How colours relate to their opacity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Opacity {
    /// Colours are not multiplied by their opacity.
    Straight,
    /// Colours are multiplied by their opacity.
    Multiplied,
}

/// The meaning of the first samples of a pixel.
#[derive(PartialEq, Eq)]
pub(super) enum Colours {
    Gray {
        white_is_zero: bool,
    },
    Rgb,
    /// An index into a palette of red, green and blue.
    Palette(Vec<[u8; 3]>),
    Cmyk,
    /// CIE L*a*b* under D50. If `signed`, a* and b* are signed numbers, otherwise their zero is in the middle of the
    /// range (`ICC`).
    Lab {
        signed: bool,
    },
    /// Luma and chroma. `thinned` is the subsampling: luma samples per chroma sample, across and down.
    YCbCr {
        thinned: (usize, usize),
    },
}

impl Colours {
    /// Returns the number of samples of a pixel that hold colour.
    pub(super) fn samples(&self) -> usize {
        match self {
            Self::Gray { .. } | Self::Palette(_) => 1,
            Self::Rgb | Self::Lab { .. } | Self::YCbCr { .. } => 3,
            Self::Cmyk => 4,
        }
    }
}

impl<'a> Page<'a> {
    pub(super) fn read(directory: &Directory<'a>) -> Result<Self> {
        let broken = |why: &str| Error::broken(NAME, why);
        let get = |tag, absent| directory.get(tag).unwrap_or(absent);
        let side = |tag| {
            u32::try_from(get(tag, 0))
                .ok()
                .filter(|side| (1..=MOST).contains(side))
        };
        let (Some(width), Some(height)) = (side(256), side(257)) else {
            return Err(broken("its size is impossible"));
        };
        let samples = get(277, 1);
        if !(1..=MOST_SAMPLES).contains(&samples) {
            return Err(unsupported(format!("{samples} samples for each pixel")));
        }
        let samples = samples as usize;
        let each = directory.numbers(258);
        let bits = each.and_then(|each| each.get(0)).unwrap_or(1);
        let mut each = each.into_iter().flat_map(Numbers::iter).take(samples);
        if each.any(|other| other != bits) {
            return Err(unsupported("samples of several depths".to_owned()));
        }
        match get(339, 1) {
            1 | 4 => {}
            2 => return Err(unsupported("signed samples".to_owned())),
            3 => return Err(unsupported("floating-point samples".to_owned())),
            _ => return Err(unsupported("complex samples".to_owned())),
        }
        if !(1..=16).contains(&bits) {
            return Err(unsupported(format!("samples of {bits} bits")));
        }
        let compression = get(259, 1);
        if !matches!(compression, 1..=5 | 7 | 8 | 32_773 | 32_946) {
            return Err(unsupported(format!("compression {compression}")));
        }
        let fax = matches!(compression, 2..=4);
        if fax && (bits != 1 || samples != 1) || compression == 7 && bits != 8 {
            return Err(broken("its depth contradicts its compression"));
        }
        let colours = colours(directory, bits as u32, get(262, u64::from(!fax)))?;
        let extra = directory.numbers(338);
        let opacity = match (samples.checked_sub(colours.samples()), extra) {
            (None, _) => return Err(broken("its colours lack samples")),
            (Some(0), _) => None,
            (Some(_), Some(extra)) => match extra.get(0) {
                Some(1) => Some(Opacity::Multiplied),
                Some(2) => Some(Opacity::Straight),
                _ => None,
            },
            (Some(_), None) => (colours == Colours::Rgb).then_some(Opacity::Straight),
        };
        let predicted = match get(317, 1) {
            2 if matches!(compression, 5 | 8 | 32_946) => true,
            2 if fax || compression == 7 => false,
            1 => false,
            2 => true,
            other => return Err(unsupported(format!("predictor {other}"))),
        };
        if predicted && !matches!(bits, 8 | 16) {
            return Err(unsupported(format!("a predictor of {bits} bits")));
        }
        let tiled = directory.get(322).is_some();
        let chunk = match tiled {
            true => (side(322), side(323)),
            false => {
                let rows = get(278, u64::from(height)).min(u64::from(height));
                (
                    Some(width),
                    u32::try_from(rows).ok().filter(|rows| *rows > 0),
                )
            }
        };
        let (Some(chunk_width), Some(chunk_height)) = chunk else {
            return Err(broken("its strips or tiles have an impossible size"));
        };
        // Some writers put the places of tiles where those of strips belong.
        let strips = || (directory.numbers(273), directory.numbers(279));
        let (offsets, lengths) = match directory.numbers(324) {
            Some(tiles) if tiled => (Some(tiles), directory.numbers(325)),
            _ => strips(),
        };
        // Some writers of uncompressed files left the lengths out.
        let offsets = offsets.ok_or_else(|| broken("it does not say where its pixels are"))?;
        // Which needs none: what is handed over is sRGB.
        let lab = matches!(colours, Colours::Lab { .. });
        let planar = get(284, 1) == 2 && samples > 1;
        if planar && matches!(colours, Colours::YCbCr { .. }) {
            return Err(unsupported("planes of luma and chroma".to_owned()));
        }
        let page = Self {
            width,
            height,
            bits: bits as u32,
            samples,
            colours,
            opacity,
            compression,
            reversed: get(266, 1) == 2,
            predicted,
            big_endian: directory.big_endian,
            planar,
            chunk: (chunk_width, chunk_height),
            tiled,
            offsets,
            lengths,
            jpeg_tables: jpeg_tables(directory)?,
            two_dimensional: get(292, 0) & 1 == 1,
            profile: directory
                .raw(34_675)
                .filter(|profile| !profile.is_empty() && !lab),
            orientation: Orientation::from_exif(get(274, 1) as u16),
        };
        match page.chunks() {
            chunks if chunks > MOST_CHUNKS => Err(broken(&format!(
                "{chunks} strips or tiles are more than {MOST_CHUNKS}"
            ))),
            _ => Ok(page),
        }
    }

    pub(super) fn info(&self) -> Info {
        let model = match self.colours {
            Colours::Gray { .. } => Model::Gray,
            Colours::Cmyk => Model::Cmyk,
            _ => Model::Rgb,
        };
        Info {
            depth: if self.bits > 8 && !matches!(self.colours, Colours::Palette(_)) {
                Depth::U16
            } else {
                Depth::U8
            },
            alpha: self.opacity.is_some(),
            space: match self.profile {
                Some(_) => Space::PROFILED,
                None => Space::UNSPECIFIED,
            },
            palette: matches!(self.colours, Colours::Palette(_)) || self.bits == 1,
            orientation: self.orientation,
            lossless: self.compression != 7,
            metadata: self.profile.is_some(),
            // A strip or tile, packed and unpacked, the planes of a JPEG, and the order in which they are read.
            decoder_bytes: (self.chunk_pixels().saturating_mul(self.samples as u64 * 4))
                .saturating_add(4 * self.chunks().min(MOST_CHUNKS))
                .saturating_add(1 << 20),
            decoder_nanos: self.chunks().min(MOST_CHUNKS) * NANOS_PER_CHUNK,
            ..Info::new(NAME, self.width, self.height, model)
        }
    }

    /// Returns the number of strips or tiles across and down.
    pub(super) fn grid(&self) -> (u32, u32) {
        (
            self.width.div_ceil(self.chunk.0),
            self.height.div_ceil(self.chunk.1),
        )
    }

    /// Returns the number of strips or tiles that are read. Planes of samples that are ignored do not count.
    pub(super) fn chunks(&self) -> u64 {
        let (across, down) = self.grid();
        let kept = self.colours.samples() + usize::from(self.opacity.is_some());
        let layers = if self.planar { kept as u64 } else { 1 };
        u64::from(across) * u64::from(down) * layers
    }

    /// Whether strips or tiles are compressed, so that their length differs from that of their pixels.
    pub(super) fn is_packed(&self) -> bool {
        self.compression != 1
    }

    /// Returns the number of pixels in a strip or tile.
    pub(super) fn chunk_pixels(&self) -> u64 {
        u64::from(self.chunk.0) * u64::from(self.chunk.1)
    }
}

/// Returns the tables that the JPEGs of strips or tiles share. They are put before each of them for decoding. Refuses
/// tables that are too long.
fn jpeg_tables<'a>(directory: &Directory<'a>) -> Result<Option<&'a [u8]>> {
    let tables = directory.raw(347);
    match tables {
        Some(tables) if tables.len() > MOST_TABLE_BYTES => Err(Error::broken(
            NAME,
            format!("its JPEG tables have {} bytes", tables.len()),
        )),
        tables => Ok(tables),
    }
}

/// Maximum length of shared JPEG tables in bytes. Four quantization tables and eight Huffman tables take less than half
/// of it.
const MOST_TABLE_BYTES: usize = 8 << 10;

/// Maximum number of strips or tiles: as many as 120 megapixels have in tiles of 8 × 8 px.
const MOST_CHUNKS: u64 = 1 << 21;

/// Time in ns for finding a strip or tile and setting up its decoder.
const NANOS_PER_CHUNK: u64 = 1000;

/// Longest side that is accepted, in px.
const MOST: u32 = 1 << 30;

/// Maximum number of samples per pixel.
const MOST_SAMPLES: u64 = 16;

fn colours(directory: &Directory<'_>, bits: u32, photometric: u64) -> Result<Colours> {
    Ok(match photometric {
        0 => Colours::Gray {
            white_is_zero: true,
        },
        1 => Colours::Gray {
            white_is_zero: false,
        },
        2 => Colours::Rgb,
        3 if bits <= 8 => {
            let count = 1 << bits;
            let map = directory.numbers(320).into_iter().flat_map(Numbers::iter);
            let map: Vec<u64> = map.take(3 * count).collect();
            if map.len() < 3 * count {
                return Err(Error::broken(NAME, "its palette is cut off"));
            }
            // Some writers took bytes for the words that they should be.
            let shift = if map.iter().all(|value| *value < 256) {
                0
            } else {
                8
            };
            let colour = |index: usize| {
                [0, 1, 2].map(|channel| (map[channel * count + index] >> shift) as u8)
            };
            Colours::Palette((0..count).map(colour).collect())
        }
        5 => Colours::Cmyk,
        8 | 9 if matches!(bits, 8 | 16) => Colours::Lab {
            signed: photometric == 8,
        },
        6 if bits == 8 => {
            let thinned = match directory.numbers(530) {
                Some(thinned) if thinned.len() == 2 => thinned.get(0).zip(thinned.get(1)),
                Some(_) => None,
                None => Some((2, 2)),
            };
            match thinned {
                Some((h @ (1 | 2 | 4), v @ (1 | 2 | 4))) => Colours::YCbCr {
                    thinned: (h as usize, v as usize),
                },
                _ => return Err(Error::broken(NAME, "its chroma is thinned impossibly")),
            }
        }
        other => {
            return Err(unsupported(format!(
                "colours of kind {other} at {bits} bits"
            )));
        }
    })
}

pub(super) fn unsupported(what: String) -> Error {
    Error::Unsupported { format: NAME, what }
}
