//! Encodes planes to a PNG.

use std::borrow::Cow;
use std::io::Write;

use andon_pixels::{
    Cost, Depth, Encode, Error, Frame, Image, Interrupt, Model, Plane, Result, Traits,
};
use andon_recipe::{Arg, Word, options};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use png::{BitDepth, ColorType, DeflateCompression};

use super::adam7::Pass;
use super::animation::push_chunk;
use super::channels;
use super::filter::{Choice, Filter, Rows};
use super::header;
use super::palette::{self, Palette, pack};
use crate::guard;

/// Writes the first frame.
pub(super) fn encode(image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
    let frame = &image.frame;
    let reduced = match palette::most(how) {
        Some(_) if how.lossless => {
            return Err(Error::Recipe {
                piece: "lossless".to_owned(),
                why: format!(
                    "with:{} loses colours; leave one of them out",
                    palette::COLOURS.name
                ),
            });
        }
        Some(most) => Some(Palette::of(frame, most, interrupt)?),
        None if Settings::are_explicit(how) => None,
        None => Palette::by_default(frame, how, interrupt)?,
    };
    let color = match (frame.model, frame.alpha.is_some()) {
        _ if reduced.is_some() => ColorType::Indexed,
        (Model::Gray, false) => ColorType::Grayscale,
        (Model::Gray, true) => ColorType::GrayscaleAlpha,
        (Model::Rgb, false) => ColorType::Rgb,
        (Model::Rgb, true) => ColorType::Rgba,
        (model, _) => return Err(Error::Internal(format!("PNG was handed {model:?}"))),
    };
    let mut info = png::Info::with_size(frame.width, frame.height);
    info.color_type = color;
    info.bit_depth = match (&reduced, frame.depth()) {
        // The packed rows of interlaced passes would need padding to whole bytes, so these have 8 bits.
        (Some(palette), _) if !how.progressive => palette.bits(),
        (_, Depth::U8) => BitDepth::Eight,
        _ => BitDepth::Sixteen,
    };
    info.interlaced = how.progressive;
    info.icc_profile = image.metadata.icc.as_deref().map(Cow::Borrowed);
    info.exif_metadata = image.metadata.exif.as_deref().map(Cow::Borrowed);
    if let Some(palette) = &reduced {
        info.palette = Some(Cow::Borrowed(&palette.colours));
        info.trns = palette.transparency();
    }
    let frame = reduced.as_ref().map_or(frame, |palette| &palette.frame);

    let settings = match &reduced {
        Some(_) => Settings::of_indices(how),
        None if !Settings::are_explicit(how) && repeats(frame)? => Settings::of_flat(how),
        None => Settings::of(how),
    };
    let xmp = image.metadata.xmp.as_deref();
    let file = write(frame, info.clone(), xmp, settings, interrupt)?;
    // The fast compressor makes noise longer than the uncompressed pixels.
    let raw = frame.width as usize * frame.height as usize * info.bytes_per_pixel();
    if settings.level.is_none() && file.len() > raw {
        drop(file);
        return write(frame, info, xmp, NOISE, interrupt);
    }
    Ok(file)
}

/// Estimates the cost of encoding, which is proportional to the bytes of the samples. Measured with photos on one core.
pub(super) fn cost(width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
    let pixels = u64::from(width) * u64::from(height);
    let reduced = palette::most(how).is_some() || how.few_colours;
    let settings = match reduced {
        true => Settings::of_indices(how),
        false => Settings::of(how),
    };
    // Without a requested palette, every pixel may keep its colour.
    let pixel_bytes = match palette::most(how) {
        Some(_) => 1,
        None => channels(traits.model, traits.alpha) * traits.depth.bytes(),
    };
    let bytes = pixels * pixel_bytes as u64;
    let nanos = match settings.level {
        None => FAST_NANOS,
        Some(level) => LEVEL_NANOS[usize::from(level.min(9))],
    };
    let (fitting, tables) = match reduced {
        true => (
            pixels.min(COLOURS) * NANOS_PER_COLOUR + pixels * INDEX_NANOS,
            TABLE_BYTES,
        ),
        false => (0, 0),
    };
    Cost {
        nanos: bytes * nanos + fitting,
        // The result grows like a vector, up to twice its length. Noise is written twice, and passes are stored in
        // addition. Indices exist in two orders for a short time.
        scratch: bytes * 2 + DEFLATER_BYTES + tables,
    }
}

/// Returns settings for images that must not get a palette by default, because they are parts of a file or have a fixed
/// depth. If the request sets neither the filter nor the compression, the returned settings name the default filter: an
/// explicit filter prevents the palette.
pub(crate) fn in_full_colour(how: &Encode) -> Encode {
    let mut full = how.clone();
    if !Settings::are_explicit(how) {
        let usual = "adaptive".to_owned();
        full.options.insert(FILTER.name.to_owned(), usual);
    }
    full
}

/// Returns the ratio of the maximum to the estimated encoding time. Without settings for filter or compression, flat
/// images are compressed by zlib instead of the fast compressor.
pub(super) fn spread(how: &Encode) -> u64 {
    match Settings::of(how).level {
        None if !Settings::are_explicit(how) => 3,
        _ => 1,
    }
}

/// Maximum number of distinct colours that are counted when a palette is fitted, with four bits for each channel.
const COLOURS: u64 = 1 << 16;
const NANOS_PER_COLOUR: u64 = 300;
/// Time to find the palette index of a pixel, in ns.
const INDEX_NANOS: u64 = 40;
/// Memory in bytes for the cells of the histogram, and for the cached indices of colours.
const TABLE_BYTES: u64 = 12 << 20;

const FAST_NANOS: u64 = 4;
const LEVEL_NANOS: [u64; 10] = [4, 6, 12, 16, 25, 28, 35, 50, 120, 150];
const DEFLATER_BYTES: u64 = 1 << 20;

/// Compression level, and choice of filters. `level: None` means the fast compressor made for PNG rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Settings {
    level: Option<u8>,
    choice: Choice,
}

impl Settings {
    /// Returns the level and filter of the options, or otherwise those that the effort implies.
    fn of(how: &Encode) -> Self {
        let level = match Self::level(how) {
            // Interlaced rows are filtered by our own code, and are always compressed by zlib. Level 2 is the best of
            // its fast levels.
            None if how.progressive => Some(2),
            level => level,
        };
        let usual = match how.effort {
            Some(0) => Choice::Fixed(Filter::Up),
            _ => Choice::SmallestSum,
        };
        Self {
            level,
            choice: Self::explicit_filter(how).unwrap_or(usual),
        }
    }

    /// Returns the settings for palette indices. Filtering does not help, because neighbouring indices are unrelated.
    /// zlib helps, because rows repeat.
    fn of_indices(how: &Encode) -> Self {
        Self {
            level: Self::level(how).or(Some(PALETTE_LEVEL)),
            choice: Self::explicit_filter(how).unwrap_or(Choice::Fixed(Filter::None)),
        }
    }

    /// Returns the default settings for flat drawings. Text contains repetitions, which filtering would hide.
    fn of_flat(how: &Encode) -> Self {
        Self {
            level: Self::level(how).or(Some(FLAT_LEVEL)),
            choice: Choice::Fixed(Filter::None),
        }
    }

    /// Returns whether the request sets the filter or the compression. An effort of 0 counts as well, because it
    /// implies the fast compressor.
    fn are_explicit(how: &Encode) -> bool {
        how.effort == Some(0) || how.option(&LEVEL).is_some() || how.option(&FILTER).is_some()
    }

    fn level(how: &Encode) -> Option<u8> {
        let level = how.option(&LEVEL).and_then(|text| text.parse().ok());
        // zlib's level 1 is both slower and larger than the fast compressor.
        level.or(how
            .effort
            .filter(|effort| *effort > 1)
            .map(|effort| effort.min(9)))
    }

    fn explicit_filter(how: &Encode) -> Option<Choice> {
        how.option(&FILTER).map(choice_named)
    }

    fn deflate(self) -> DeflateCompression {
        self.level.map_or(
            DeflateCompression::FdeflateUltraFast,
            DeflateCompression::Level,
        )
    }

    fn filter(self) -> png::Filter {
        match self.choice {
            Choice::Fixed(Filter::None) => png::Filter::NoFilter,
            Choice::Fixed(Filter::Sub) => png::Filter::Sub,
            Choice::Fixed(Filter::Up) => png::Filter::Up,
            Choice::Fixed(Filter::Average) => png::Filter::Avg,
            Choice::Fixed(Filter::Paeth) => png::Filter::Paeth,
            Choice::SmallestSum => png::Filter::Adaptive,
        }
    }
}

/// zlib level for palette indices.
const PALETTE_LEVEL: u8 = 6;

/// zlib level for flat images.
const FLAT_LEVEL: u8 = 6;

/// Returns whether unfiltered rows compress better, as those of text do. A sample of rows is compressed both ways, but
/// only if many pixels equal their neighbours, which is rare in photos.
fn repeats(frame: &Frame) -> Result<bool> {
    if flat_share(frame) < LEAST_FLAT {
        return Ok(false);
    }
    let pixel_bytes = channels(frame.model, frame.alpha.is_some()) * frame.depth().bytes();
    let row_bytes = frame.width as usize * pixel_bytes;
    let rows = (TRIED_BYTES / TRIED_BANDS as usize / row_bytes.max(1)).max(1) as u32;
    let packed_length = |choice| {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::new(u32::from(FLAT_LEVEL)));
        let mut rows_filter = Rows::new(choice, pixel_bytes, row_bytes);
        let mut row = Vec::new();
        for band in 0..TRIED_BANDS {
            let middle = u64::from(frame.height) * u64::from(2 * band + 1);
            let first = (middle / u64::from(2 * TRIED_BANDS)) as u32;
            for y in first..frame.height.min(first.saturating_add(rows)) {
                gather(frame, Pass::WHOLE, y, &mut row);
                zlib.write_all(rows_filter.filter(&row)).map_err(internal)?;
            }
        }
        Ok::<_, Error>(zlib.finish().map_err(internal)?.len())
    };
    Ok(packed_length(Choice::Fixed(Filter::None))? < packed_length(Choice::SmallestSum)?)
}

/// Returns the share of pixels that equal the one to their left, in a sample of rows.
fn flat_share(frame: &Frame) -> f64 {
    let step = frame.height.div_ceil(FLAT_ROWS).max(1) as usize;
    let planes: Vec<_> = frame.planes.iter().chain(&frame.alpha).collect();
    let mut equals_left = Vec::new();
    let (mut equal_count, mut total) = (0, 0);
    for y in (0..frame.height).step_by(step) {
        equals_left.clear();
        equals_left.resize(frame.width.saturating_sub(1) as usize, true);
        for plane in &planes {
            match plane {
                Plane::U8(grid) => keep_equal(&mut equals_left, grid.row(y)),
                Plane::U16(grid) => keep_equal(&mut equals_left, grid.row(y)),
            }
        }
        equal_count += equals_left
            .iter()
            .filter(|equals_left| **equals_left)
            .count();
        total += equals_left.len();
    }
    equal_count as f64 / f64::from(u32::try_from(total).unwrap_or(u32::MAX).max(1))
}

fn keep_equal<T: PartialEq>(equals_left: &mut [bool], row: &[T]) {
    for (equals_left, pair) in equals_left.iter_mut().zip(row.windows(2)) {
        *equals_left &= pair[0] == pair[1];
    }
}

/// Maximum number of rows that are sampled to estimate how flat an image is.
const FLAT_ROWS: u32 = 128;

/// Minimum share of pixels equal to the one to their left from which unfiltered rows are tried.
const LEAST_FLAT: f64 = 0.2;

/// Total bytes of the rows that are compressed as a trial, in [`TRIED_BANDS`] bands.
const TRIED_BYTES: usize = 48 << 10;
/// Number of bands of rows that are compressed as a trial.
const TRIED_BANDS: u32 = 3;

/// Option for the bits per sample, limited to the depths that this encoder writes.
pub(super) const DEPTH: Word = Word {
    args: &[Arg::choice("bits", &["8", "16"]).help("bits per sample")],
    ..options::DEPTH
};

/// Option for zlib's compression level.
pub(super) const LEVEL: Word = Word {
    name: "level",
    args: &[Arg::whole("level", 1, 9).help("zlib's compression level")],
    help: "how hard to compress; absent: by effort, or by a fast compressor made for images",
    example: "with:level:6",
};

/// Option for the filter of rows.
pub(super) const FILTER: Word = Word {
    name: "filter",
    args: &[Arg::choice(
        "filter",
        &["none", "sub", "up", "average", "paeth", "adaptive"],
    )
    .help("adaptive: chosen for each row")],
    help: "how rows are filtered before they are compressed; absent: by effort",
    example: "with:filter:paeth",
};

fn choice_named(filter: &str) -> Choice {
    match filter {
        "none" => Choice::Fixed(Filter::None),
        "sub" => Choice::Fixed(Filter::Sub),
        "up" => Choice::Fixed(Filter::Up),
        "average" => Choice::Fixed(Filter::Average),
        "paeth" => Choice::Fixed(Filter::Paeth),
        _ => Choice::SmallestSum,
    }
}

/// Settings for noise: zlib stores incompressible data without compression, except at level 1, which never checks.
const NOISE: Settings = Settings {
    level: Some(2),
    choice: Choice::Fixed(Filter::None),
};

fn write(
    frame: &Frame,
    info: png::Info<'_>,
    xmp: Option<&[u8]>,
    settings: Settings,
    interrupt: &dyn Interrupt,
) -> Result<Vec<u8>> {
    let (interlaced, bits) = (info.interlaced, info.bit_depth);
    let has_palette = info.palette.is_some();
    let mut out = Vec::new();
    let mut encoder = png::Encoder::with_info(&mut out, info).map_err(internal)?;
    encoder.set_deflate_compression(settings.deflate());
    encoder.set_filter(settings.filter());
    let mut writer = encoder.write_header().map_err(internal)?;
    if let Some(xmp) = xmp {
        // Not compressed, no language, no translated keyword.
        let text = [header::XMP, &[0; 4], xmp].concat();
        writer
            .write_chunk(png::chunk::iTXt, &text)
            .map_err(internal)?;
    }
    let code_points = code_points(frame);
    if let Some(code_points) = code_points.filter(|_| !has_palette) {
        writer
            .write_chunk(png::chunk::cICP, &code_points)
            .map_err(internal)?;
    }
    if interlaced {
        write_interlaced(frame, settings, writer, interrupt)?;
    } else {
        write_rows(frame, bits, writer, interrupt)?;
    }
    // The chunk must precede the palette, which the crate writes with the header, so it is inserted after `IHDR`.
    if let Some(code_points) = code_points.filter(|_| has_palette) {
        let mut chunk = Vec::new();
        push_chunk(&mut chunk, *b"cICP", &code_points);
        out.splice(HEADER_BYTES..HEADER_BYTES, chunk);
    }
    Ok(out)
}

/// Total length in bytes of the signature and the first chunk, `IHDR`, which are the same in every file.
const HEADER_BYTES: usize = 8 + 25;

/// Returns the code points of the colours, as RGB in full range. Returns `None` for sRGB, and for colours that a
/// profile describes.
fn code_points(frame: &Frame) -> Option<[u8; 4]> {
    let space = frame.colour.space;
    let is_needed = !space.is_srgb() && !space.profiled;
    is_needed.then(|| [space.primaries.code(), space.transfer.code(), 0, 1])
}

fn write_rows(
    frame: &Frame,
    bits: BitDepth,
    mut writer: png::Writer<&mut Vec<u8>>,
    interrupt: &dyn Interrupt,
) -> Result<()> {
    let mut stream = writer
        .stream_writer_with_size(IDAT_BYTES)
        .map_err(internal)?;
    let mut row = Vec::new();
    for y in 0..frame.height {
        if y % BAND_ROWS == 0 {
            guard::check_interrupt(interrupt)?;
        }
        gather(frame, Pass::WHOLE, y, &mut row);
        if (bits as u8) < 8 {
            row = pack(&row, bits);
        }
        stream.write_all(&row).map_err(internal)?;
    }
    stream.finish().map_err(internal)?;
    writer.finish().map_err(internal)
}

/// Writes an interlaced image. The `png` crate writes the chunks but does not support interlacing, so this function
/// makes the zlib stream.
fn write_interlaced(
    frame: &Frame,
    settings: Settings,
    mut writer: png::Writer<&mut Vec<u8>>,
    interrupt: &dyn Interrupt,
) -> Result<()> {
    let level = settings.level.map_or(Compression::fast(), |level| {
        Compression::new(u32::from(level))
    });
    let mut zlib = ZlibEncoder::new(Vec::new(), level);
    let pixel_bytes = channels(frame.model, frame.alpha.is_some()) * frame.depth().bytes();
    let mut row = Vec::new();
    for pass in Pass::ADAM7 {
        let row_bytes = pass.columns(frame.width) as usize * pixel_bytes;
        let mut rows = Rows::new(settings.choice, pixel_bytes, row_bytes);
        for y in pass.rows(frame.width, frame.height) {
            guard::check_interrupt(interrupt)?;
            gather(frame, pass, y, &mut row);
            zlib.write_all(rows.filter(&row)).map_err(internal)?;
        }
    }
    let stream = zlib.finish().map_err(internal)?;
    for part in stream.chunks(IDAT_BYTES) {
        writer
            .write_chunk(png::chunk::IDAT, part)
            .map_err(internal)?;
    }
    writer.finish().map_err(internal)
}

const BAND_ROWS: u32 = 16;
const IDAT_BYTES: usize = 64 << 10;

/// Collects one line of a pass from the planes, interleaved and big-endian.
fn gather(frame: &Frame, pass: Pass, y: u32, out: &mut Vec<u8>) {
    let channels = channels(frame.model, frame.alpha.is_some());
    let sample_bytes = frame.depth().bytes();
    let pixel_bytes = channels * sample_bytes;
    let (from, step) = (pass.x as usize, pass.dx as usize);
    out.resize(pass.columns(frame.width) as usize * pixel_bytes, 0);
    for (channel, plane) in frame.planes.iter().chain(&frame.alpha).enumerate() {
        let pixels = out.chunks_exact_mut(pixel_bytes);
        match plane {
            Plane::U8(grid) if step == 1 => {
                for (pixel, &sample) in pixels.zip(&grid.row(y)[from..]) {
                    pixel[channel] = sample;
                }
            }
            Plane::U8(grid) => {
                for (pixel, &sample) in pixels.zip(grid.row(y)[from..].iter().step_by(step)) {
                    pixel[channel] = sample;
                }
            }
            Plane::U16(grid) => {
                for (pixel, &sample) in pixels.zip(grid.row(y)[from..].iter().step_by(step)) {
                    pixel[channel * 2..][..2].copy_from_slice(&sample.to_be_bytes());
                }
            }
        }
    }
}

/// Converts an error of the encoder: writing to memory fails only when the encoder is used incorrectly.
fn internal(error: impl std::fmt::Display) -> Error {
    Error::Internal(format!("PNG encoder: {error}"))
}
