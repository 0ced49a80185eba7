//! The properties of a page of a TIFF, read from its directory.

use andon_pixels::{Depth, Error, Info, Model, Orientation, Result, Space};

use super::NAME;
use super::directory::{Directory, Numbers};

/// The properties of a page of a TIFF that can be decoded.
pub(super) struct Page<'a> {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Bits per sample, the same for all samples: 1 to 16.
    pub(super) bits: u32,
    /// Samples per pixel, including those that are ignored.
    pub(super) samples: usize,
    pub(super) colours: Colours,
    /// Kind of opacity, which is the sample after the colours; `None` if every pixel is opaque.
    pub(super) opacity: Option<Opacity>,
    pub(super) compression: u64,
    /// Whether the bits of each byte are in reverse order.
    pub(super) reversed: bool,
    pub(super) has_prediction: bool,
    pub(super) big_endian: bool,
    /// Whether each sample has separate strips or tiles.
    pub(super) planar: bool,
    /// Width and height of a strip or tile, in px.
    pub(super) chunk: (u32, u32),
    pub(super) tiled: bool,
    /// Offsets of the strips or tiles in the file.
    pub(super) offsets: Numbers<'a>,
    /// Lengths in bytes of the strips or tiles.
    pub(super) lengths: Option<Numbers<'a>>,
    pub(super) jpeg_tables: Option<&'a [u8]>,
    /// Whether CCITT Group 3 data is coded in two dimensions.
    pub(super) two_dimensional: bool,
    pub(super) profile: Option<&'a [u8]>,
    orientation: Orientation,
}

/// Relation of the colours to their opacity.
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
    /// CIE L*a*b* under D50. If `signed`, a* and b* are signed numbers (photometric interpretation `CIELab`), otherwise
    /// their zero is in the middle of the range (`ICCLab`).
    Lab {
        signed: bool,
    },
    /// Luma and chroma. `subsampling` is the number of luma samples per chroma sample, across and down.
    YCbCr {
        subsampling: (usize, usize),
    },
}

impl Colours {
    /// Returns the number of colour samples of a pixel.
    pub(super) fn samples(&self) -> usize {
        match self {
            Self::Gray { .. } | Self::Palette(_) => 1,
            Self::Rgb | Self::Lab { .. } | Self::YCbCr { .. } => 3,
            Self::Cmyk => 4,
        }
    }
}

impl<'a> Page<'a> {
    /// Reads the properties of the page that a directory describes.
    ///
    /// # Errors
    /// `Broken` for contradictory properties, `Unsupported` for pages that cannot be decoded.
    pub(super) fn read(directory: &Directory<'a>) -> Result<Self> {
        let side = |tag| side(directory, tag);
        let (Some(width), Some(height)) = (side(256), side(257)) else {
            return Err(broken("its size is impossible"));
        };
        let (samples, bits) = samples(directory)?;
        let compression = compression(directory, samples, bits)?;
        let colours = colours(directory, bits, compression)?;
        let opacity = opacity(directory, samples, &colours)?;
        let has_prediction = has_prediction(directory, bits, compression)?;
        let tiled = directory.get(322).is_some();
        let chunk = chunk(directory, tiled, (width, height))
            .ok_or_else(|| broken("its strips or tiles have an impossible size"))?;
        // Some writers store the offsets of tiles in the tags of strips.
        let tiles = directory.numbers(324).filter(|_| tiled);
        let lengths = if tiles.is_some() { 325 } else { 279 };
        let offsets = tiles.or_else(|| directory.numbers(273));
        let offsets = offsets.ok_or_else(|| broken("it does not say where its pixels are"))?;
        let planar = directory.get_or(284, 1) == 2 && samples > 1;
        if planar && matches!(colours, Colours::YCbCr { .. }) {
            return Err(unsupported("planes of luma and chroma".to_owned()));
        }
        // L*a*b* is converted to sRGB, which needs no profile.
        let lab = matches!(colours, Colours::Lab { .. });
        let profile = directory.raw(34_675);
        let page = Self {
            width,
            height,
            bits,
            samples,
            opacity,
            compression,
            reversed: directory.get_or(266, 1) == 2,
            has_prediction,
            big_endian: directory.big_endian,
            planar,
            chunk,
            tiled,
            offsets,
            // Some writers of uncompressed files leave out the lengths.
            lengths: directory.numbers(lengths),
            jpeg_tables: jpeg_tables(directory)?,
            two_dimensional: directory.get_or(292, 0) & 1 == 1,
            profile: profile.filter(|profile| !profile.is_empty() && !lab),
            orientation: Orientation::from_exif(directory.get_or(274, 1) as u16),
            colours,
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
            // A packed and an unpacked strip or tile, the planes of a JPEG, and the order in which strips or tiles are
            // read.
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

    /// Returns the number of strips or tiles to read, without those of ignored samples in separate planes.
    pub(super) fn chunks(&self) -> u64 {
        let (across, down) = self.grid();
        let used_samples = self.colours.samples() + usize::from(self.opacity.is_some());
        let layers = if self.planar { used_samples as u64 } else { 1 };
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

/// Returns the length in px of a side of the page or of a tile, or `None` if it is invalid.
fn side(directory: &Directory<'_>, tag: u16) -> Option<u32> {
    let side = u32::try_from(directory.get(tag)?).ok();
    side.filter(|side| (1..=MOST).contains(side))
}

/// Returns width and height in px of the strips or tiles of a page of this size, or `None` if they are invalid.
fn chunk(
    directory: &Directory<'_>,
    tiled: bool,
    (width, height): (u32, u32),
) -> Option<(u32, u32)> {
    if tiled {
        return side(directory, 322).zip(side(directory, 323));
    }
    let rows = directory.get_or(278, height.into()).min(height.into());
    (rows > 0).then_some((width, rows as u32))
}

/// Returns the number of samples per pixel, and the bits of each.
fn samples(directory: &Directory<'_>) -> Result<(usize, u32)> {
    let samples = directory.get_or(277, 1);
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
    match directory.get_or(339, 1) {
        1 | 4 if (1..=16).contains(&bits) => Ok((samples, bits as u32)),
        1 | 4 => Err(unsupported(format!("samples of {bits} bits"))),
        2 => Err(unsupported("signed samples".to_owned())),
        3 => Err(unsupported("floating-point samples".to_owned())),
        _ => Err(unsupported("complex samples".to_owned())),
    }
}

/// Returns the value of the `Compression` tag, after checking that it is supported for samples of this number and
/// depth.
fn compression(directory: &Directory<'_>, samples: usize, bits: u32) -> Result<u64> {
    let compression = directory.get_or(259, 1);
    match compression {
        2..=4 if bits != 1 || samples != 1 => {}
        7 if bits != 8 => {}
        1..=5 | 7 | 8 | 32_773 | 32_946 => return Ok(compression),
        _ => return Err(unsupported(format!("compression {compression}"))),
    }
    Err(broken("its depth contradicts its compression"))
}

/// Returns the relation of the colours to their opacity, or `None` if no sample is opacity.
fn opacity(
    directory: &Directory<'_>,
    samples: usize,
    colours: &Colours,
) -> Result<Option<Opacity>> {
    let extra = directory.numbers(338).map(|extra| extra.get(0));
    Ok(match (samples.checked_sub(colours.samples()), extra) {
        (None, _) => return Err(broken("its colours lack samples")),
        (Some(0), _) => None,
        (_, Some(Some(1))) => Some(Opacity::Multiplied),
        (_, Some(Some(2))) => Some(Opacity::Straight),
        (_, Some(_)) => None,
        (_, None) => (*colours == Colours::Rgb).then_some(Opacity::Straight),
    })
}

/// Returns whether rows contain differences between neighbouring samples.
fn has_prediction(directory: &Directory<'_>, bits: u32, compression: u64) -> Result<bool> {
    match directory.get_or(317, 1) {
        1 => Ok(false),
        2 if matches!(compression, 2..=4 | 7) => Ok(false),
        2 if matches!(bits, 8 | 16) => Ok(true),
        2 => Err(unsupported(format!("a predictor of {bits} bits"))),
        other => Err(unsupported(format!("predictor {other}"))),
    }
}

/// Returns the tables that the JPEGs of strips or tiles share. They are prepended to each JPEG for decoding.
///
/// # Errors
/// `Broken` if the tables have more than [`MOST_TABLE_BYTES`] bytes.
fn jpeg_tables<'a>(directory: &Directory<'a>) -> Result<Option<&'a [u8]>> {
    match directory.raw(347) {
        Some(tables) if tables.len() > MOST_TABLE_BYTES => Err(broken(&format!(
            "its JPEG tables have {} bytes",
            tables.len()
        ))),
        tables => Ok(tables),
    }
}

/// Maximum length of shared JPEG tables in bytes. Four quantization tables and eight Huffman tables take less than half
/// of it.
const MOST_TABLE_BYTES: usize = 8 << 10;

/// Maximum number of strips or tiles: that of 120 megapixels in tiles of 8 × 8 px.
const MOST_CHUNKS: u64 = 1 << 21;

/// Time in ns for finding a strip or tile and setting up its decoder.
const NANOS_PER_CHUNK: u64 = 1000;

/// Maximum length of a side of a page or of a tile, in px.
const MOST: u32 = 1 << 30;

/// Maximum number of samples per pixel.
const MOST_SAMPLES: u64 = 16;

/// Returns the meaning of the first samples of a pixel.
fn colours(directory: &Directory<'_>, bits: u32, compression: u64) -> Result<Colours> {
    // Fax data without this tag is black on white.
    let absent = u64::from(!matches!(compression, 2..=4));
    Ok(match directory.get_or(262, absent) {
        white @ (0 | 1) => Colours::Gray {
            white_is_zero: white == 0,
        },
        2 => Colours::Rgb,
        3 if bits <= 8 => Colours::Palette(palette(directory, 1 << bits)?),
        5 => Colours::Cmyk,
        lab @ (8 | 9) if matches!(bits, 8 | 16) => Colours::Lab { signed: lab == 8 },
        6 if bits == 8 => {
            let subsampling = match directory.numbers(530) {
                Some(subsampling) if subsampling.len() == 2 => {
                    subsampling.get(0).zip(subsampling.get(1))
                }
                Some(_) => None,
                None => Some((2, 2)),
            };
            match subsampling {
                Some((h @ (1 | 2 | 4), v @ (1 | 2 | 4))) => Colours::YCbCr {
                    subsampling: (h as usize, v as usize),
                },
                _ => return Err(broken("its chroma is thinned impossibly")),
            }
        }
        other => {
            return Err(unsupported(format!(
                "colours of kind {other} at {bits} bits"
            )));
        }
    })
}

/// Returns the `count` colours of the palette.
fn palette(directory: &Directory<'_>, count: usize) -> Result<Vec<[u8; 3]>> {
    let map = directory.numbers(320).into_iter().flat_map(Numbers::iter);
    let map: Vec<u64> = map.take(3 * count).collect();
    if map.len() < 3 * count {
        return Err(broken("its palette is cut off"));
    }
    // Some writers store 8-bit values in place of 16-bit values.
    let is_bytes = map.iter().all(|value| *value < 256);
    let shift = if is_bytes { 0 } else { 8 };
    let channel = |channel: usize, index: usize| (map[channel * count + index] >> shift) as u8;
    let colour = |index| [0, 1, 2].map(|at| channel(at, index));
    Ok((0..count).map(colour).collect())
}

/// Creates the error for a page of a TIFF with contradictory properties.
pub(super) fn broken(why: &str) -> Error {
    Error::broken(NAME, why)
}

/// Creates the error for a page of a TIFF that may be valid, but cannot be decoded.
pub(super) fn unsupported(what: String) -> Error {
    Error::unsupported(NAME, what)
}
