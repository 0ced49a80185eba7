//! HEVC decoding with hpvcd, which also reads the container. Returns planes as stored, before orientation is applied.

use std::iter;

use andon_pixels::buffers::Plain;
use andon_pixels::{
    Bound, Decode, Depth, Error, Frame, Grid, Image, Info, Matrix, Metadata, Model, Orientation,
    Plane, Primaries, Range, Result, Space, Subsampling, Transfer, color::levels,
};
use hpvcd::{
    BitDepth, ChromaFormat, CleanAperture, ColorMetadata, DecodeError, Decoder, HeicSettings,
    ImageInfo, ParseLimits, PlanarImage, PlaneBuffer, SamplePlane, YuvBuffer,
};

use super::NAME;
use crate::guard;

/// Reads the properties of an image from the boxes and the sequence header only.
pub(super) fn probe(bytes: &[u8]) -> Result<Info> {
    let any_size = ParseLimits {
        max_dimension: u32::MAX,
        max_pixels: u64::MAX,
        ..ParseLimits::new()
    };
    let header = hpvcd::read_heic_info_with_limits(bytes, &any_size).map_err(error)?;
    let model = model(&header)?;
    let window = Window::of(
        &header.clean_aperture,
        (header.coded_width, header.coded_height),
        model,
    )?;
    Ok(Info {
        depth: depth(header.bit_depth),
        alpha: header.has_alpha,
        space: space(&header.color, model),
        orientation: orientation(header.orientation),
        metadata: header.has_exif,
        ..Info::new(NAME, window.width, window.height, model)
    })
}

pub(super) fn decode(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
    let limits = ParseLimits {
        max_dimension: how.limits.side,
        max_pixels: how.limits.pixels,
        max_exif_size: usize::try_from(how.limits.metadata_bytes).unwrap_or(usize::MAX),
        ..ParseLimits::new()
    };
    guard::size(info.width, info.height, how.limits)?;
    let settings = HeicSettings::new()
        .with_threads(1)
        .with_limits(limits)
        .with_decode_gain_map(false)
        .with_decode_alpha(info.alpha);
    guard::check_interrupt(how.interrupt)?;
    let image = Decoder::from_settings(settings)
        .decode_yuv(bytes)
        .map_err(error)?;
    guard::check_interrupt(how.interrupt)?;
    let coded = (image.width() as u32, image.height() as u32);
    let window = Window::of(&image.clean_aperture, coded, info.model)?;
    if (window.width, window.height) != (info.width, info.height)
        || depth(image.bit_depth) != info.depth
    {
        return Err(Error::broken(
            NAME,
            "its bitstream is not what its header says",
        ));
    }
    let planes = window.colours(&image.planes, info)?;
    let alpha = match image.alpha.filter(|_| info.alpha) {
        Some(plane) if (plane.width() as u32, plane.height() as u32) != coded => {
            return Err(Error::broken(
                NAME,
                "its opacity has another size than its colours",
            ));
        }
        Some(plane) => Some(window.opacity(&plane, info.depth)?),
        None if info.alpha => return Err(Error::broken(NAME, "its opacity is missing")),
        None => None,
    };
    let mut metadata = Metadata::default();
    if how.keep_metadata {
        metadata.icc = image.color.icc.map(Into::into);
        metadata.exif = image.exif;
    }
    let frame = Frame::new(info.model, info.width, info.height, planes, alpha)?;
    Ok(Image::read(
        frame.with_depth(info.depth)?,
        metadata,
        info.space,
    ))
}

/// The visible part of the coded image, in pixels.
struct Window {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

impl Window {
    /// Returns the part of the image that a clean aperture (ISO 14496-12, 12.1.4) describes, or the whole image if
    /// there is none. The offset in an aperture is the distance of its centre from the image's centre.
    fn of(
        aperture: &Option<CleanAperture>,
        (width, height): (u32, u32),
        model: Model,
    ) -> Result<Self> {
        let unsupported = || Error::unsupported(NAME, "a clean aperture between samples");
        let Some(aperture) = aperture else {
            return Ok(Self {
                x: 0,
                y: 0,
                width,
                height,
            });
        };
        let side = |coded: u32, (n, d): (u32, u32), (off, off_d): (i32, u32), step: u32| {
            let length = (d != 0 && n % d == 0).then(|| n / d)?;
            let spare = i64::from(coded.checked_sub(length)?);
            let doubled = 2 * i64::from(off);
            let is_whole = off_d != 0 && doubled % i64::from(off_d) == 0;
            let begin = is_whole.then(|| spare + doubled / i64::from(off_d))?;
            let begin = u32::try_from(begin / 2).ok().filter(|_| begin % 2 == 0)?;
            let fits = length > 0 && begin % step == 0 && begin.checked_add(length)? <= coded;
            fits.then_some((begin, length))
        };
        let (across, down) = spans(model, 1);
        let (x, width) = side(
            width,
            (aperture.width_n, aperture.width_d),
            (aperture.horiz_off_n, aperture.horiz_off_d),
            across,
        )
        .ok_or_else(unsupported)?;
        let (y, height) = side(
            height,
            (aperture.height_n, aperture.height_d),
            (aperture.vert_off_n, aperture.vert_off_d),
            down,
        )
        .ok_or_else(unsupported)?;
        Ok(Self {
            x,
            y,
            width,
            height,
        })
    }

    /// Returns the parts of the colour planes inside the window.
    fn colours(&self, planes: &YuvBuffer, info: &Info) -> Result<Vec<Plane>> {
        let range = match info.model {
            Model::YCbCr { range, .. } => range,
            _ => Range::Full,
        };
        match planes {
            YuvBuffer::U8(planes) => all(planes)
                .map(|(index, plane)| self.section(plane, info.model, index, u8::clone))
                .map(|grid| grid.map(Plane::U8))
                .collect(),
            YuvBuffer::U16(planes) => all(planes)
                .map(|(index, plane)| {
                    let level = |code: &u16| levels::from_code(*code, info.depth, range, index > 0);
                    self.section(plane, info.model, index, level)
                })
                .map(|grid| grid.map(Plane::U16))
                .collect(),
        }
    }

    /// Returns the part of the opacity plane inside the window.
    fn opacity(&self, plane: &SamplePlane, depth: Depth) -> Result<Plane> {
        match plane {
            SamplePlane::U8(plane) if depth == Depth::U8 => {
                Ok(Plane::U8(self.section(plane, Model::Gray, 0, u8::clone)?))
            }
            SamplePlane::U16(plane) if depth != Depth::U8 => {
                let level = |code: &u16| levels::from_code(*code, depth, Range::Full, false);
                Ok(Plane::U16(self.section(plane, Model::Gray, 0, level)?))
            }
            _ => Err(Error::unsupported(
                NAME,
                "opacity of another depth than its colours",
            )),
        }
    }

    /// Returns the part of a plane inside the window, with `level` applied to every sample.
    fn section<T: Copy, S: Plain>(
        &self,
        plane: &PlaneBuffer<T>,
        model: Model,
        index: usize,
        level: impl Fn(&T) -> S + Copy,
    ) -> Result<Grid<S>> {
        let (across, down) = spans(model, index);
        let (width, height) = (self.width.div_ceil(across), self.height.div_ceil(down));
        let (x, y) = ((self.x / across) as usize, (self.y / down) as usize);
        let rows = plane.rows().skip(y).take(height as usize);
        let samples = rows.flat_map(|row| row.iter().skip(x).take(width as usize).map(level));
        Grid::from_buffer(width, height, samples.collect())
    }
}

/// Returns the colour planes, each with its index.
fn all<T>(planes: &PlanarImage<T>) -> impl Iterator<Item = (usize, &PlaneBuffer<T>)> {
    let chroma = planes.cb.iter().chain(&planes.cr);
    iter::once(&planes.y).chain(chroma).enumerate()
}

/// Returns the number of pixels that a sample of a plane spans, across and down.
fn spans(model: Model, index: usize) -> (u32, u32) {
    match model {
        Model::YCbCr { sub, .. } if index > 0 => (sub.h.into(), sub.v.into()),
        _ => (1, 1),
    }
}

/// Returns the colour model of the coded planes.
fn model(header: &ImageInfo) -> Result<Model> {
    let points = header.color.color_encoding();
    let sub = match header.chroma {
        ChromaFormat::Monochrome => return Ok(Model::Gray),
        chroma => Subsampling {
            h: chroma.sub_w() as u8,
            v: chroma.sub_h() as u8,
        },
    };
    let matrix =
        Matrix::from_code(points.matrix as u8).filter(|matrix| *matrix != Matrix::Identity);
    let matrix = matrix
        .ok_or_else(|| Error::unsupported(NAME, format!("the matrix {:?}", points.matrix)))?;
    let range = match points.full_range {
        true => Range::Full,
        false => Range::Limited,
    };
    Ok(Model::YCbCr { sub, range, matrix })
}

/// Returns the colour space. An ICC profile takes precedence over code points.
fn space(color: &ColorMetadata, model: Model) -> Space {
    match &color.icc {
        Some(icc) => Space::of_profile(
            icc,
            if model == Model::Gray {
                model
            } else {
                Model::Rgb
            },
        ),
        None => Space {
            primaries: Primaries::from_code(color.color_encoding().primaries as u8),
            transfer: Transfer::from_code(color.color_encoding().transfer as u8).shown(),
            profiled: false,
        },
    }
}

fn depth(bits: BitDepth) -> Depth {
    match bits {
        BitDepth::Eight => Depth::U8,
        BitDepth::Ten => Depth::U10,
        BitDepth::Twelve => Depth::U12,
    }
}

fn orientation(orientation: hpvcd::Orientation) -> Orientation {
    let all = 1..=8;
    let exif = all
        .into_iter()
        .find(|exif| hpvcd::Orientation::from_exif(*exif) == orientation);
    Orientation::from_exif(exif.unwrap_or(1))
}

fn error(error: DecodeError) -> Error {
    match error {
        DecodeError::LimitExceeded { what, value, limit } => Error::Limit {
            bound: Bound::of_format(NAME, what, "bytes"),
            value,
            limit,
        },
        DecodeError::BadDimensions { .. }
        | DecodeError::NotHeif
        | DecodeError::TruncatedBox(_)
        | DecodeError::MissingBox(_)
        | DecodeError::Bitstream(_)
        | DecodeError::CabacDesync
        | DecodeError::ParamSet(_) => Error::broken(NAME, error.to_string()),
        other => Error::unsupported(NAME, other.to_string()),
    }
}
