//! Planes, frames, images: what an image is in memory.

use std::ops::Range as Indices;
use std::sync::Arc;

use andon_recipe::Chroma;

use crate::buffers::{Buffer, Plain};
use crate::error::{Error, Result};
use crate::space::{Colour, Icc, Matrix, Range, Space};

/// A rectangle of samples in tight rows (stride = width).
///
/// A clone shares the samples and takes its own only when either is written to: results of several
/// sizes begin with one decoded image, and most of them only read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid<T: Plain> {
    width: u32,
    height: u32,
    samples: Arc<Buffer<T>>,
}

impl<T: Plain> Grid<T> {
    /// A grid filled with one value.
    #[must_use]
    pub fn filled(width: u32, height: u32, value: T) -> Self {
        Self {
            width,
            height,
            samples: Arc::new(Buffer::filled(width as usize * height as usize, value)),
        }
    }

    /// A grid of [`Buffer::overwritten`] samples: each must be written before it is handed on.
    #[must_use]
    pub(crate) fn overwritten(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            samples: Arc::new(Buffer::overwritten(width as usize * height as usize)),
        }
    }

    /// So many of them, each with samples of its own from the beginning: clones would copy them when they
    /// are first written to.
    #[must_use]
    pub fn several(count: usize, width: u32, height: u32, value: T) -> Vec<Self> {
        (0..count)
            .map(|_| Self::filled(width, height, value))
            .collect()
    }

    /// A grid around samples that exist already.
    ///
    /// # Errors
    /// `Internal` when `samples` is not `width × height` long.
    pub fn from_samples(width: u32, height: u32, samples: Vec<T>) -> Result<Self> {
        Self::from_buffer(width, height, samples.into())
    }

    /// A plane around samples in a buffer.
    ///
    /// # Errors
    /// As `from_samples`.
    pub fn from_buffer(width: u32, height: u32, samples: Buffer<T>) -> Result<Self> {
        let (have, wanted) = (samples.len(), width as usize * height as usize);
        if have != wanted {
            let what = format!("a {width}×{height} grid has {wanted} samples, not {have}");
            return Err(Error::Internal(what));
        }
        Ok(Self {
            width,
            height,
            samples: Arc::new(samples),
        })
    }

    /// A grid of the same size, each sample made from one of these.
    #[inline(always)]
    #[must_use]
    pub fn map<U: Plain>(&self, to: impl Fn(T) -> U) -> Grid<U> {
        Grid {
            width: self.width,
            height: self.height,
            samples: Arc::new(self.samples.iter().map(|&sample| to(sample)).collect()),
        }
    }

    /// What lies within these columns and rows.
    #[must_use]
    pub fn part(&self, columns: Indices<u32>, rows: Indices<u32>) -> Self {
        let within = |range: Indices<u32>, side: u32| range.start.min(side)..range.end.min(side);
        let (columns, rows) = (within(columns, self.width), within(rows, self.height));
        let mut samples = Buffer::with_capacity(columns.len() * rows.len());
        for row in rows.clone() {
            let row = self.row(row);
            samples.extend_from_slice(&row[columns.start as usize..columns.end as usize]);
        }
        Self {
            width: columns.len() as u32,
            height: rows.len() as u32,
            samples: Arc::new(samples),
        }
    }

    /// Width in samples.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in samples.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// All samples, row after row.
    #[must_use]
    pub fn samples(&self) -> &[T] {
        &self.samples
    }

    /// All samples, to be written.
    pub fn samples_mut(&mut self) -> &mut [T] {
        Arc::make_mut(&mut self.samples).as_mut_slice()
    }

    /// The samples themselves, the grid given up.
    #[must_use]
    pub fn into_samples(self) -> Vec<T> {
        Arc::unwrap_or_clone(self.samples).into_vec()
    }

    /// One row.
    #[must_use]
    pub fn row(&self, y: u32) -> &[T] {
        let start = y as usize * self.width as usize;
        &self.samples[start..start + self.width as usize]
    }

    /// One row, to be written.
    pub fn row_mut(&mut self, y: u32) -> &mut [T] {
        let start = y as usize * self.width as usize;
        let end = start + self.width as usize;
        &mut self.samples_mut()[start..end]
    }
}

/// Bits of a sample. Samples of more than 8 bits are kept as `u16` on one scale, whatever their depth: the 8-bit
/// level times 257, so that 65535 is full and chroma is centred on 32896. The depth tells how many of those bits
/// mean something; [`color::levels`](crate::color::levels) brings code values to that scale and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Depth {
    /// 8 bits.
    U8,
    /// 10 bits.
    U10,
    /// 12 bits.
    U12,
    /// 16 bits.
    U16,
}

impl Depth {
    /// Every one of them.
    pub const ALL: [Self; 4] = [Self::U8, Self::U10, Self::U12, Self::U16];

    /// How many bits.
    #[must_use]
    pub fn bits(self) -> u8 {
        match self {
            Self::U8 => 8,
            Self::U10 => 10,
            Self::U12 => 12,
            Self::U16 => 16,
        }
    }

    /// Bytes of a sample in memory.
    #[must_use]
    pub fn bytes(self) -> usize {
        if self == Self::U8 { 1 } else { 2 }
    }
}

/// One plane of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plane {
    /// 8-bit samples.
    U8(Grid<u8>),
    /// 16-bit samples.
    U16(Grid<u16>),
}

impl Plane {
    /// A plane filled with one value; `value` is in the units of `depth`.
    #[must_use]
    pub fn filled(depth: Depth, width: u32, height: u32, value: u16) -> Self {
        match depth {
            Depth::U8 => Self::U8(Grid::filled(width, height, value.min(255) as u8)),
            _ => Self::U16(Grid::filled(width, height, value)),
        }
    }

    /// Width in samples.
    #[must_use]
    pub fn width(&self) -> u32 {
        match self {
            Self::U8(grid) => grid.width(),
            Self::U16(grid) => grid.width(),
        }
    }

    /// Height in samples.
    #[must_use]
    pub fn height(&self) -> u32 {
        match self {
            Self::U8(grid) => grid.height(),
            Self::U16(grid) => grid.height(),
        }
    }

    /// Bytes of a sample.
    fn sample_bytes(&self) -> usize {
        match self {
            Self::U8(_) => 1,
            Self::U16(_) => 2,
        }
    }

    /// The 8-bit grid, if it is one.
    #[must_use]
    pub fn as_u8(&self) -> Option<&Grid<u8>> {
        match self {
            Self::U8(grid) => Some(grid),
            Self::U16(_) => None,
        }
    }
}

/// How far chroma planes are thinned: one chroma sample spans `h` × `v` luma samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subsampling {
    /// Horizontal: 1, 2 or 4.
    pub h: u8,
    /// Vertical: 1, 2 or 4.
    pub v: u8,
}

impl Subsampling {
    /// 4:4:4: none.
    pub const NONE: Self = Self { h: 1, v: 1 };
    /// 4:2:0: half both ways.
    pub const C420: Self = Self { h: 2, v: 2 };

    /// The chroma plane's size for a luma plane of `width` × `height`: rounded up, as JPEG does.
    #[must_use]
    pub fn chroma_size(self, width: u32, height: u32) -> (u32, u32) {
        (
            width.div_ceil(u32::from(self.h)),
            height.div_ceil(u32::from(self.v)),
        )
    }
}

impl From<Chroma> for Subsampling {
    fn from(chroma: Chroma) -> Self {
        let (h, v) = match chroma {
            Chroma::C444 => (1, 1),
            Chroma::C422 => (2, 1),
            Chroma::C420 => (2, 2),
            Chroma::C440 => (1, 2),
            Chroma::C411 => (4, 1),
        };
        Self { h, v }
    }
}

/// What the planes mean. Sample values follow these conventions: Gray, RGB: 0 is black; CMYK: 0 is no
/// ink; chroma is centred on 128 (8-bit) or 32896 (wider).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// One plane.
    Gray,
    /// Three planes, the last two perhaps thinned.
    YCbCr {
        /// Thinning of Cb and Cr.
        sub: Subsampling,
        /// Value range.
        range: Range,
        /// How they are mixed from red, green and blue.
        matrix: Matrix,
    },
    /// Three planes.
    Rgb,
    /// Four planes.
    Cmyk,
}

impl Model {
    /// JPEG's own model.
    #[must_use]
    pub fn ycbcr(sub: Subsampling) -> Self {
        Self::YCbCr {
            sub,
            range: Range::Full,
            matrix: Matrix::Bt601,
        }
    }

    /// One word: `gray`, `ycbcr`, `rgb` or `cmyk`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gray => "gray",
            Self::YCbCr { .. } => "ycbcr",
            Self::Rgb => "rgb",
            Self::Cmyk => "cmyk",
        }
    }

    /// How many colour planes (alpha not counted).
    #[must_use]
    pub fn planes(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::YCbCr { .. } | Self::Rgb => 3,
            Self::Cmyk => 4,
        }
    }

    /// The size of plane `index` in a frame of `width` × `height`.
    #[must_use]
    pub fn plane_size(self, index: usize, width: u32, height: u32) -> (u32, u32) {
        match self {
            Self::YCbCr { sub, .. } if index > 0 => sub.chroma_size(width, height),
            _ => (width, height),
        }
    }
}

/// One image: planes and what they mean. Alpha, when there, is straight (not premultiplied), full
/// size, and of the planes' depth.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// What the planes mean.
    pub model: Model,
    /// Width of the full-size planes.
    pub width: u32,
    /// Height of the full-size planes.
    pub height: u32,
    /// The colour planes, `model.planes()` of them, each of `model.plane_size()`.
    pub planes: Vec<Plane>,
    /// Opacity: 0 is transparent.
    pub alpha: Option<Plane>,
    /// The colour space in which the samples are light.
    pub colour: Colour,
    depth: Depth,
}

impl Frame {
    /// A frame from its parts, of 8 or 16 bits and in no particular space.
    ///
    /// # Errors
    /// `Internal` when planes are missing, of the wrong size, or of different depths.
    pub fn new(
        model: Model,
        width: u32,
        height: u32,
        planes: Vec<Plane>,
        alpha: Option<Plane>,
    ) -> Result<Self> {
        let Some(first) = planes.first().filter(|_| planes.len() == model.planes()) else {
            let (have, wanted) = (planes.len(), model.planes());
            let what = format!("{model:?} has {wanted} planes, not {have}");
            return Err(Error::Internal(what));
        };
        let sized = |index| model.plane_size(index, width, height);
        let colours = (0..)
            .zip(&planes)
            .map(|(index, plane)| (plane, sized(index)));
        for (plane, size) in colours.chain(alpha.iter().map(|plane| (plane, (width, height)))) {
            let have = (plane.width(), plane.height());
            if have != size || plane.sample_bytes() != first.sample_bytes() {
                return Err(Error::Internal(format!(
                    "a plane of {}×{} samples of {} bytes, instead of {}×{} of {}, in a {width}×{height} {model:?} frame",
                    have.0,
                    have.1,
                    plane.sample_bytes(),
                    size.0,
                    size.1,
                    first.sample_bytes(),
                )));
            }
        }
        let depth = match first {
            Plane::U8(_) => Depth::U8,
            Plane::U16(_) => Depth::U16,
        };
        Ok(Self {
            model,
            width,
            height,
            planes,
            alpha,
            colour: Colour::default(),
            depth,
        })
    }

    /// A frame of full-size planes; one more than the model has is its opacity.
    ///
    /// # Errors
    /// See [`Frame::new`].
    pub fn of_planes(model: Model, mut planes: Vec<Plane>) -> Result<Self> {
        let transparent = planes.len() > model.planes();
        let alpha = if transparent { planes.pop() } else { None };
        let size = planes
            .first()
            .map_or((0, 0), |plane| (plane.width(), plane.height()));
        Self::new(model, size.0, size.1, planes, alpha)
    }

    /// This frame, whose samples have `depth` significant bits.
    ///
    /// # Errors
    /// `Internal` when samples of that depth are kept in another size than these are.
    pub fn with_depth(mut self, depth: Depth) -> Result<Self> {
        if depth.bytes() != self.depth.bytes() {
            let what = format!("{depth:?} in samples of {} bytes", self.depth.bytes());
            return Err(Error::Internal(what));
        }
        self.depth = depth;
        Ok(self)
    }

    /// This frame in another colour space.
    #[must_use]
    pub fn with_colour(mut self, colour: impl Into<Colour>) -> Self {
        self.colour = colour.into();
        self
    }

    /// Bits of the samples.
    #[must_use]
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// What it is, without its pixels.
    #[must_use]
    pub fn traits(&self) -> Traits {
        Traits {
            model: self.model,
            depth: self.depth,
            alpha: self.alpha.is_some(),
            space: self.colour.space,
        }
    }
}

/// What a frame is, without its pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Traits {
    /// Model of the planes.
    pub model: Model,
    /// Bits of a sample.
    pub depth: Depth,
    /// Is there an alpha plane?
    pub alpha: bool,
    /// The space of the colours.
    pub space: Space,
}

impl Traits {
    /// Opaque, in no particular space.
    #[must_use]
    pub fn new(model: Model, depth: Depth) -> Self {
        Self {
            model,
            depth,
            alpha: false,
            space: Space::UNSPECIFIED,
        }
    }
}

/// What travels beside the pixels in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The ICC profile, whole: what a frame's [`Colour`] holds while it is worked on.
    pub icc: Option<Icc>,
    /// The EXIF block from its TIFF header on (no `Exif\0\0`).
    pub exif: Option<Vec<u8>>,
    /// IPTC's data sets, as they stand in Photoshop's resource 0x0404.
    pub iptc: Option<Vec<u8>>,
    /// The XMP packet.
    pub xmp: Option<Vec<u8>>,
}

/// A decoded image: one frame, or several of an animation with their delays.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The frames, at least one, all of one size and model.
    pub frames: Vec<Frame>,
    /// How long each frame stays, in milliseconds; empty for a still image.
    pub delays: Vec<u32>,
    /// Profiles.
    pub metadata: Metadata,
    /// What makes it brighter where that can be shown: for the encoder. Codecs decode it apart.
    pub gain_map: Option<Box<GainMap>>,
}

/// How a gain map acts, as files say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GainParams {
    /// By ISO 21496-1, from the minimum version on. `None` for maps that it cannot describe.
    pub iso: Option<Arc<[u8]>>,
    /// By the XMP packet of a JPEG that is the map.
    pub xmp: Option<Arc<[u8]>>,
}

/// A gain map: a second, usually smaller image that says how much brighter each place is on a screen that can show it
/// (ISO 21496-1, Ultra HDR, Apple's HDR gain map). It goes where its image goes, and is ready to be written beside its image.
#[derive(Clone, Debug, PartialEq)]
pub struct GainMap {
    /// Its samples. They are no colours: no profile applies to them.
    pub frame: Frame,
    /// The quality to write it at: what it was written with before, if that is known.
    pub quality: Option<u8>,
    /// The parameters by which the map brightens the image.
    pub params: GainParams,
}

impl Image {
    /// A still image out of a file: its colours are in `space`, by the profile among the metadata if it has one.
    #[must_use]
    pub fn read(frame: Frame, metadata: Metadata, space: Space) -> Self {
        let icc = metadata.icc.clone().filter(|_| space.profiled);
        Self {
            metadata,
            ..Self::still(frame.with_colour(Colour { space, icc }))
        }
    }

    /// A still image without metadata.
    #[must_use]
    pub fn still(frame: Frame) -> Self {
        Self {
            frames: vec![frame],
            delays: Vec::new(),
            metadata: Metadata::default(),
            gain_map: None,
        }
    }

    /// Bytes of all samples.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let planes = self
            .frames
            .iter()
            .flat_map(|frame| frame.planes.iter().chain(&frame.alpha));
        let sizes = planes.map(|plane| match plane {
            Plane::U8(grid) => grid.samples().len(),
            Plane::U16(grid) => 2 * grid.samples().len(),
        });
        sizes.sum::<usize>() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_shares_its_samples_until_either_is_written_to() {
        let mut grid = Grid::filled(3, 2, 7);
        let clone = grid.clone();
        assert_eq!(grid.samples().as_ptr(), clone.samples().as_ptr());
        grid.row_mut(1)[0] = 8;
        assert_eq!(grid.samples(), [7, 7, 7, 8, 7, 7]);
        assert_eq!(clone.samples(), [7; 6]);
        assert_eq!(clone.into_samples(), [7; 6]);
    }

    #[test]
    fn planes_that_do_not_fit_are_refused_with_their_sizes() {
        let message = |made: Result<Frame>| made.expect_err("another shape").to_string();
        let plane = |depth, side| Plane::filled(depth, side, side, 0);
        let frame = |planes, alpha| Frame::new(Model::Rgb, 4, 4, planes, alpha);
        let whole = || vec![plane(Depth::U8, 4); 3];
        assert!(frame(whole(), Some(plane(Depth::U8, 4))).is_ok());
        assert!(message(frame(whole()[..2].to_vec(), None)).contains("3 planes, not 2"));
        assert!(message(frame(whole(), Some(plane(Depth::U8, 3)))).contains("3×3"));
        assert!(message(frame(whole(), Some(plane(Depth::U16, 4)))).contains("of 2 bytes"));
        let grid = Grid::from_samples(2, 3, vec![0_u8; 5]);
        let message = grid.expect_err("a sample is missing").to_string();
        assert!(
            message.contains("2×3 grid has 6 samples, not 5"),
            "{message}"
        );
        let deeper = frame(whole(), None).unwrap().with_depth(Depth::U10);
        let message = deeper.expect_err("bytes hold 8 bits").to_string();
        assert!(message.contains("U10 in samples of 1 bytes"), "{message}");
    }

    #[test]
    fn one_plane_more_than_the_model_has_is_opacity() {
        let planes = |count| vec![Plane::filled(Depth::U8, 4, 3, 0); count];
        let of = |count| Frame::of_planes(Model::Rgb, planes(count));
        assert_eq!(of(3).unwrap().alpha, None);
        let frame = of(4).unwrap();
        assert_eq!((frame.width, frame.height), (4, 3));
        assert_eq!((frame.planes.len(), frame.alpha), (3, planes(1).pop()));
        assert!([0, 2, 5].into_iter().all(|count| of(count).is_err()));
    }

    #[test]
    fn a_part_of_a_grid_ends_where_the_grid_does() {
        let grid = Grid::from_samples(3, 2, vec![1, 2, 3, 4, 5, 6]).unwrap();
        let part = grid.part(1..3, 1..2);
        assert_eq!(
            (part.width(), part.height(), part.samples()),
            (2, 1, &[5, 6][..])
        );
        assert_eq!(grid.part(2..9, 0..9).samples(), [3, 6]);
        assert_eq!(grid.part(7..9, 0..2).samples().len(), 0);
    }

    #[test]
    fn several_grids_have_samples_of_their_own_from_the_beginning() {
        let mut grids = Grid::several(2, 3, 2, 7);
        let before: Vec<_> = grids.iter().map(|grid| grid.samples().as_ptr()).collect();
        assert_ne!(before[0], before[1]);
        for (grid, before) in grids.iter_mut().zip(before) {
            assert_eq!(grid.samples_mut().as_ptr(), before, "it was copied");
        }
    }
}
