//! Decoding of AVIF files to planes.

use andon_pixels::buffers::Plain;
use andon_pixels::{
    Cost, Decode, Error, Frame, FrameReader, Grid, Image, Info, Interrupt, Matrix, Model, Plane,
    Range, Result, color::levels,
};

use super::NAME;
use super::dav1d::{DecodedImage, Decoder, Layout, Row};
use super::header::{Coded, Crop, Header, Meaning, Mix, depth};
use super::movie::Reader;
use crate::guard;
use crate::heif::{Boxes, Items};

/// Decodes the still image, or the first frame of a sequence.
pub(super) fn decode(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
    let header = Header::read(bytes)?;
    if header.movie.is_some() {
        let mut reader = Reader::open(bytes, info, how)?;
        let first = reader.next()?;
        let first = first.ok_or_else(|| Error::broken(NAME, "it has no images"))?;
        return Ok(Image::read(first.frame, reader.metadata(), header.space()));
    }
    let (width, height) = header.size();
    guard::check_probed(width, height, info, how.limits)?;
    let metadata = guard::read_metadata(how, |most| header.metadata(most))?;
    Ok(Image::read(pixels(&header, how)?, metadata, header.space()))
}

/// Decodes the pixels of a still image.
pub(super) fn pixels(header: &Header<'_>, how: &Decode<'_>) -> Result<Frame> {
    guard::size(header.colour.width, header.colour.height, how.limits)?;
    let colour = Canvas::decode(&header.items, &header.colour, how.interrupt)?;
    let alpha = match &header.alpha {
        Some(coded) => Some(Canvas::decode(&header.items, coded, how.interrupt)?),
        None => None,
    };
    guard::check_interrupt(how.interrupt)?;
    frame(header, colour, alpha)
}

/// Returns the offset in bytes at which the image ends. This is the end of its last box, before the first box of a type
/// that AVIF files do not contain at the top level.
///
/// # Errors
/// `Broken` if a box of the image is cut off. Errors of decoding the bytes before the returned offset, except `Limit`
/// and `Unsupported`.
pub(super) fn extent(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<usize> {
    let is_known = |kind: &[u8; 4]| {
        matches!(
            kind,
            b"ftyp"
                | b"meta"
                | b"mdat"
                | b"moov"
                | b"free"
                | b"skip"
                | b"wide"
                | b"uuid"
                | b"udta"
                | b"idat"
        )
    };
    let mut boxes = Boxes::of(bytes).take_while(|part| is_known(&part.kind));
    let end = boxes.try_fold(0, |_, part| part.whole.then_some(part.end));
    let end = end.ok_or_else(|| Error::broken(NAME, "it is cut off"))?;
    match decode(&bytes[..end], info, how) {
        Ok(_) | Err(Error::Limit { .. } | Error::Unsupported { .. }) => Ok(end),
        Err(error) => Err(error),
    }
}

/// Returns the cost of decoding, measured with photos on one core. The memory is rav1d's own image and its data per
/// block, in addition to the planes.
pub(super) fn cost(bytes: u64, info: &Info) -> Cost {
    let pixels = info.pixels();
    let parts = if info.alpha { 2 } else { 1 };
    // A header may state any size, so multiplication must not overflow. The limits are checked later.
    let planes = pixels.saturating_mul(SCRATCH * info.depth.bytes() as u64);
    Cost {
        nanos: (bytes * NANOS_PER_BYTE)
            .saturating_add(pixels.saturating_mul(parts * NANOS_PER_PIXEL))
            .saturating_add(info.decoder_nanos),
        scratch: planes.saturating_add(info.decoder_bytes + DECODER_BYTES),
    }
}

/// Decoding time in ns per byte of the file, in addition to [`NANOS_PER_PIXEL`]. Measured with six photos at 400 and
/// 1200 px, with 0.07 to 0.22 bytes per px. Decoding took 7 to 25 ns per px. The estimate from both constants is within
/// 20 % of the measured time, except for the photo with the shortest time.
const NANOS_PER_BYTE: u64 = 90;
/// Decoding time in ns per pixel, in addition to [`NANOS_PER_BYTE`].
pub(super) const NANOS_PER_PIXEL: u64 = 4;
/// Scratch memory of the decoder in bytes per pixel for 8-bit samples. Samples of more than 8 bits take twice as much.
const SCRATCH: u64 = 5;
const DECODER_BYTES: u64 = 6 << 20;

/// Planes of code values, as the bitstream stores them.
pub(super) struct Canvas {
    pub(super) layout: Layout,
    pub(super) bits: u8,
    pub(super) full_range: bool,
    pub(super) planes: Vec<Plane>,
}

impl Canvas {
    /// Decodes all tiles of an image and copies each to its place on the canvas.
    pub(super) fn decode(
        items: &Items<'_>,
        coded: &Coded,
        interrupt: &dyn Interrupt,
    ) -> Result<Self> {
        let mut canvas: Option<Self> = None;
        for tiles in coded.sources(items)? {
            guard::check_interrupt(interrupt)?;
            let Some(tile) = tiles.first().and_then(|first| coded.tiles.get(*first)) else {
                continue;
            };
            let data = items.data(tile.item, false)?;
            let mut decoder = Decoder::open(tile.pixels(), tile.point, tile.layer.is_some())?;
            let image = decoder.image(&data, tile.layer, interrupt)?;
            if image.size() != (tile.width, tile.height) {
                return Err(Error::broken(NAME, "its bitstream is of another size"));
            }
            let canvas =
                canvas.get_or_insert_with(|| Self::empty(coded.width, coded.height, &image));
            for index in tiles {
                let x = index as u32 % coded.columns * tile.width;
                let y = index as u32 / coded.columns * tile.height;
                canvas.put(&image, x, y)?;
            }
        }
        canvas.ok_or_else(|| Error::broken(NAME, "it has no tiles"))
    }

    /// Creates a canvas of the given size in px for the whole image, with the layout and depth of one of its tiles.
    pub(super) fn empty(width: u32, height: u32, image: &DecodedImage) -> Self {
        let layout = image.layout();
        let plane = |index| {
            let (across, down) = layout.spans(index);
            let (width, height) = (width.div_ceil(across), height.div_ceil(down));
            Plane::filled(depth(image.bits()), width, height, 0)
        };
        Self {
            layout,
            bits: image.bits(),
            full_range: image.full_range(),
            planes: (0..layout.planes()).map(plane).collect(),
        }
    }

    /// Copies a decoded image to the canvas, with its top left corner at (`x`, `y`) in px. Pixels beyond the edges of
    /// the canvas are left out.
    pub(super) fn put(&mut self, image: &DecodedImage, x: u32, y: u32) -> Result<()> {
        if (image.layout(), image.bits()) != (self.layout, self.bits) {
            return Err(Error::broken(NAME, "its tiles are not of one kind"));
        }
        for (index, plane) in self.planes.iter_mut().enumerate() {
            let (across, down) = self.layout.spans(index);
            if !x.is_multiple_of(across) || !y.is_multiple_of(down) {
                return Err(Error::broken(
                    NAME,
                    "its tiles begin between chroma samples",
                ));
            }
            let (x, y) = (x / across, y / down);
            let rows = image.size().1.div_ceil(down);
            for (from, to) in (y..plane.height()).take(rows as usize).enumerate() {
                match (image.row(index, from as u32), &mut *plane) {
                    (Row::U8(row), Plane::U8(grid)) => copy(row, grid.row_mut(to), x),
                    (Row::U16(row), Plane::U16(grid)) => copy(row, grid.row_mut(to), x),
                    _ => return Err(Error::Internal("rows of two depths".to_owned())),
                }
            }
        }
        Ok(())
    }
}

fn copy<T: Copy>(from: &[T], to: &mut [T], x: u32) {
    let to = to.get_mut(x as usize..).unwrap_or_default();
    let length = from.len().min(to.len());
    to[..length].copy_from_slice(&from[..length]);
}

/// Creates a frame from code values: cropped, with straight opacity, and with samples of more than 8 bits converted to
/// the 16-bit scale of frames.
pub(super) fn frame(header: &Header<'_>, colour: Canvas, alpha: Option<Canvas>) -> Result<Frame> {
    if (colour.layout, colour.bits) != (header.sequence.layout, header.sequence.bits) {
        return Err(Error::broken(
            NAME,
            "its bitstream is not what its header says",
        ));
    }
    let (width, height) = header.size();
    let model = header.model();
    let alpha = alpha.map(|alpha| opacity(alpha, header)).transpose()?;
    let mut planes = Vec::with_capacity(3);
    for (index, plane) in colour.planes.into_iter().enumerate() {
        let spans = colour.layout.spans(index);
        let size = model.plane_size(index, width, height);
        let plane = match header.crop {
            None if size == (plane.width(), plane.height()) => plane,
            crop => {
                let crop = crop.unwrap_or(Crop::all(&header.colour));
                match size == (width, height) {
                    true => crop_plane(&plane, crop, spans)?,
                    false => crop_plane(&plane, crop.subsample(spans), (1, 1))?,
                }
            }
        };
        planes.push(to_frame_scale(plane, colour.bits, header.meaning, index));
    }
    if let Meaning::Foreign(mix, range) = header.meaning {
        planes = to_rgb(&planes, mix, range);
    }
    if let (true, Some(alpha)) = (header.premultiplied, &alpha) {
        for (index, plane) in planes.iter_mut().enumerate() {
            straighten(plane, alpha, model, index);
        }
    }
    Frame::new(model, width, height, planes, alpha)?.with_depth(header.depth())
}

impl Crop {
    /// Converts the crop from pixels to samples of a plane in which a sample spans `across` × `down` pixels.
    fn subsample(self, (across, down): (u32, u32)) -> Self {
        Self {
            x: self.x / across,
            y: self.y / down,
            width: self.width.div_ceil(across),
            height: self.height.div_ceil(down),
        }
    }
}

/// Returns the part of a plane that `crop`, in pixels, covers. A sample of the plane spans `across` × `down` pixels.
fn crop_plane(plane: &Plane, crop: Crop, (across, down): (u32, u32)) -> Result<Plane> {
    fn part<T: Plain>(grid: &Grid<T>, crop: Crop, (across, down): (u32, u32)) -> Result<Grid<T>> {
        let mut samples = Vec::with_capacity(crop.width as usize * crop.height as usize);
        for y in crop.y..crop.y + crop.height {
            let row = grid.row(y / down);
            samples.extend((crop.x..crop.x + crop.width).map(|x| row[(x / across) as usize]));
        }
        Grid::from_samples(crop.width, crop.height, samples)
    }
    match plane {
        Plane::U8(grid) => part(grid, crop, (across, down)).map(Plane::U8),
        Plane::U16(grid) => part(grid, crop, (across, down)).map(Plane::U16),
    }
}

/// Converts the code values of a plane to samples of a frame: those of more than 8 bits to the 16-bit scale, and those
/// of gray images to full range.
fn to_frame_scale(plane: Plane, bits: u8, meaning: Meaning, index: usize) -> Plane {
    let (range, chroma, to_full_range) = match meaning {
        Meaning::Gray(range) => (range, false, true),
        Meaning::Foreign(_, range) => (range, index > 0, false),
        Meaning::Mixed(_, range, Matrix::Identity) => (range, false, false),
        Meaning::Mixed(_, range, _) => (range, index > 0, false),
    };
    rescale(plane, bits, range, chroma, to_full_range)
}

/// Converts code values of more than 8 bits to the 16-bit scale of frames, and code values of any depth to full range
/// if `to_full_range` is set.
fn rescale(plane: Plane, bits: u8, range: Range, chroma: bool, to_full_range: bool) -> Plane {
    let to_full_range = to_full_range && range == Range::Limited;
    let widen = |level: f64, unit: f64| match to_full_range {
        true => ((level - 16.0 * unit) * 255.0 / 219.0).clamp(0.0, 255.0 * unit),
        false => level,
    };
    match plane {
        Plane::U8(grid) if !to_full_range => Plane::U8(grid),
        Plane::U8(mut grid) => {
            let table: Vec<u8> = (0..=255)
                .map(|code| widen(f64::from(code), 1.0).round() as u8)
                .collect();
            for sample in grid.samples_mut() {
                *sample = table[usize::from(*sample)];
            }
            Plane::U8(grid)
        }
        Plane::U16(mut grid) => {
            let level = |code| f64::from(levels::from_code(code, depth(bits), range, chroma));
            let codes = 0..1_u16 << bits.min(15);
            let table: Vec<u16> = codes
                .map(|code| widen(level(code), 257.0).round() as u16)
                .collect();
            let last = table.len() - 1;
            for sample in grid.samples_mut() {
                *sample = table[usize::from(*sample).min(last)];
            }
            Plane::U16(grid)
        }
    }
}

/// Returns the opacity plane, cropped and converted to the depth of the colours.
fn opacity(alpha: Canvas, header: &Header<'_>) -> Result<Plane> {
    let range = if alpha.full_range {
        Range::Full
    } else {
        Range::Limited
    };
    let Some(plane) = alpha.planes.into_iter().next() else {
        return Ok(Plane::filled(header.depth(), 0, 0, 0));
    };
    let plane = match header.crop {
        Some(crop) => crop_plane(&plane, crop, (1, 1))?,
        None => plane,
    };
    let plane = rescale(plane, alpha.bits, range, false, true);
    Ok(match (plane, header.depth().bytes()) {
        (Plane::U8(grid), 2) => Plane::U16(grid.map(|sample| u16::from(sample) * 257)),
        (Plane::U16(grid), 1) => {
            Plane::U8(grid.map(|sample| ((u32::from(sample) + 128) / 257) as u8))
        }
        (plane, _) => plane,
    })
}

/// Computes red, green and blue from luma and two colour differences. All planes have the same size.
fn to_rgb(planes: &[Plane], mix: Mix, range: Range) -> Vec<Plane> {
    let (zero, luma, chroma) = match range {
        Range::Full => (0.0, 1.0, 1.0),
        Range::Limited => (16.0, 255.0 / 219.0, 255.0 / 224.0),
    };
    let colours = |y: f64, first: f64, second: f64, unit: f64| {
        let y = (y - zero * unit) * luma;
        let [first, second] = [first, second].map(|sample| (sample - 128.0 * unit) * chroma);
        let colours = match mix {
            Mix::YCgCo => [y - first + second, y + first, y - first - second],
            Mix::Shares(red, blue) => {
                let (b, r) = (2.0 * (1.0 - blue) * first, 2.0 * (1.0 - red) * second);
                let green = 1.0 - red - blue;
                [y + r, y - (blue * b + red * r) / green, y + b]
            }
        };
        colours.map(|value| value.round().clamp(0.0, 255.0 * unit))
    };
    match planes {
        [Plane::U8(y), Plane::U8(first), Plane::U8(second)] => {
            let planes = coloured([y, first, second], |[y, first, second]| {
                colours(y.into(), first.into(), second.into(), 1.0).map(|value| value as u8)
            });
            planes.map(Plane::U8).into()
        }
        [Plane::U16(y), Plane::U16(first), Plane::U16(second)] => {
            let planes = coloured([y, first, second], |[y, first, second]| {
                colours(y.into(), first.into(), second.into(), 257.0).map(|value| value as u16)
            });
            planes.map(Plane::U16).into()
        }
        _ => planes.to_vec(),
    }
}

fn coloured<T: Plain>(planes: [&Grid<T>; 3], colours: impl Fn([T; 3]) -> [T; 3]) -> [Grid<T>; 3] {
    let mut rgb = planes.map(Clone::clone);
    let [r, g, b] = rgb.each_mut().map(Grid::samples_mut);
    for ((r, g), b) in r.iter_mut().zip(g).zip(b) {
        [*r, *g, *b] = colours([*r, *g, *b]);
    }
    rgb
}

/// Converts premultiplied samples to straight ones by dividing them by the opacity. Chroma is divided by the mean
/// opacity of the pixels that a sample spans.
fn straighten(plane: &mut Plane, alpha: &Plane, model: Model, index: usize) {
    let (sub, zero) = match model {
        Model::YCbCr { sub, range, matrix } => {
            let is_difference = index > 0 && matrix != Matrix::Identity;
            let zero = match (is_difference, range) {
                (true, _) => 128.0,
                (false, Range::Limited) => 16.0,
                (false, Range::Full) => 0.0,
            };
            let thin = index > 0;
            (
                if thin {
                    (u32::from(sub.h), u32::from(sub.v))
                } else {
                    (1, 1)
                },
                zero,
            )
        }
        _ => ((1, 1), 0.0),
    };
    let (width, height) = (alpha.width(), alpha.height());
    let opacity = |x: u32, y: u32| {
        let (mut sum, mut count) = (0.0, 0.0);
        for y in y * sub.1..((y + 1) * sub.1).min(height) {
            for x in x * sub.0..((x + 1) * sub.0).min(width) {
                sum += match alpha {
                    Plane::U8(grid) => f64::from(grid.row(y)[x as usize]) / 255.0,
                    Plane::U16(grid) => f64::from(grid.row(y)[x as usize]) / 65_535.0,
                };
                count += 1.0;
            }
        }
        sum / f64::max(count, 1.0)
    };
    let straight = |sample: f64, zero: f64, alpha: f64, most: f64| match alpha {
        0.0 => zero,
        alpha => ((sample - zero) / alpha + zero).round().clamp(0.0, most),
    };
    match plane {
        Plane::U8(grid) => {
            for y in 0..grid.height() {
                for (x, sample) in (0..).zip(grid.row_mut(y)) {
                    *sample = straight(f64::from(*sample), zero, opacity(x, y), 255.0) as u8;
                }
            }
        }
        Plane::U16(grid) => {
            for y in 0..grid.height() {
                for (x, sample) in (0..).zip(grid.row_mut(y)) {
                    let zero = zero * 257.0;
                    *sample = straight(f64::from(*sample), zero, opacity(x, y), 65_535.0) as u16;
                }
            }
        }
    }
}
