//! The representation of images in memory: planes, frames and images.

use std::ops::Range as Indices;
use std::sync::Arc;

use andon_recipe::Chroma;

use crate::buffers::{Buffer, Plain};
use crate::error::{Error, Result};
use crate::space::{Colour, Icc, Matrix, Range, Space};

/// A rectangle of samples in contiguous rows (stride = width).
///
/// Clones share the samples until one of them is written to, which then copies them: results of several sizes start
/// from one decoded image, and most of them only read it.
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

    /// Creates a grid of [`Buffer::overwritten`] samples: each must be written before it is read.
    #[must_use]
    pub(crate) fn overwritten(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            samples: Arc::new(Buffer::overwritten(width as usize * height as usize)),
        }
    }

    /// Creates `count` filled grids, each with its own samples from the start; clones would copy them on first write.
    #[must_use]
    pub fn several(count: usize, width: u32, height: u32, value: T) -> Vec<Self> {
        (0..count)
            .map(|_| Self::filled(width, height, value))
            .collect()
    }

    /// Creates a grid from existing samples.
    ///
    /// # Errors
    /// `Internal` when `samples` is not `width × height` long.
    pub fn from_samples(width: u32, height: u32, samples: Vec<T>) -> Result<Self> {
        Self::from_buffer(width, height, samples.into())
    }

    /// Creates a grid from the samples in a buffer.
    ///
    /// # Errors
    /// Those of `from_samples`.
    pub fn from_buffer(width: u32, height: u32, samples: Buffer<T>) -> Result<Self> {
        let (have, expected) = (samples.len(), width as usize * height as usize);
        if have != expected {
            let what = format!("a {width}×{height} grid has {expected} samples, not {have}");
            return Err(Error::Internal(what));
        }
        Ok(Self {
            width,
            height,
            samples: Arc::new(samples),
        })
    }

    /// Returns a grid of the same size with each sample mapped by `to`.
    #[inline(always)]
    #[must_use]
    pub fn map<U: Plain>(&self, to: impl Fn(T) -> U) -> Grid<U> {
        Grid {
            width: self.width,
            height: self.height,
            samples: Arc::new(self.samples.iter().map(|&sample| to(sample)).collect()),
        }
    }

    /// Copies the part of the grid within these columns and rows, cut to the grid's bounds.
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

    /// Returns all samples, row by row.
    #[must_use]
    pub fn samples(&self) -> &[T] {
        &self.samples
    }

    /// Returns all samples, row by row, for writing.
    pub fn samples_mut(&mut self) -> &mut [T] {
        Arc::make_mut(&mut self.samples).as_mut_slice()
    }

    /// Converts the grid into its samples, row by row.
    #[must_use]
    pub fn into_samples(self) -> Vec<T> {
        Arc::unwrap_or_clone(self.samples).into_vec()
    }

    /// Returns the samples of row `y`.
    #[must_use]
    pub fn row(&self, y: u32) -> &[T] {
        let start = y as usize * self.width as usize;
        &self.samples[start..start + self.width as usize]
    }

    /// Returns the samples of row `y`, for writing.
    pub fn row_mut(&mut self, y: u32) -> &mut [T] {
        let start = y as usize * self.width as usize;
        let end = start + self.width as usize;
        &mut self.samples_mut()[start..end]
    }
}

/// Bit depth of samples. Samples of more than 8 bits are stored as `u16` on one scale, whatever their depth: the 8-bit
/// level times 257, so that 65535 is full scale and chroma is centred on 32896. The depth tells how many of those bits
/// are significant; [`color::levels`](crate::color::levels) converts between code values and that scale.
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
    /// All depths.
    pub const ALL: [Self; 4] = [Self::U8, Self::U10, Self::U12, Self::U16];

    /// Returns the number of bits.
    #[must_use]
    pub fn bits(self) -> u8 {
        match self {
            Self::U8 => 8,
            Self::U10 => 10,
            Self::U12 => 12,
            Self::U16 => 16,
        }
    }

    /// Returns the size of a sample in memory, in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        if self == Self::U8 { 1 } else { 2 }
    }
}

/// The samples of one component of a frame, such as luma or red.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plane {
    /// 8-bit samples.
    U8(Grid<u8>),
    /// 16-bit samples.
    U16(Grid<u16>),
}

impl Plane {
    /// Creates a plane filled with one value; `value` is in the units of `depth`.
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

    /// Size of a sample, in bytes.
    fn sample_bytes(&self) -> usize {
        match self {
            Self::U8(_) => 1,
            Self::U16(_) => 2,
        }
    }

    /// Returns the grid if its samples have 8 bits.
    #[must_use]
    pub fn as_u8(&self) -> Option<&Grid<u8>> {
        match self {
            Self::U8(grid) => Some(grid),
            Self::U16(_) => None,
        }
    }
}

/// Subsampling of chroma planes: one chroma sample spans `h` × `v` luma samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subsampling {
    /// Horizontal factor: 1, 2 or 4.
    pub h: u8,
    /// Vertical factor: 1, 2 or 4.
    pub v: u8,
}

impl Subsampling {
    /// 4:4:4: no subsampling.
    pub const NONE: Self = Self { h: 1, v: 1 };
    /// 4:2:0: half the resolution both ways.
    pub const C420: Self = Self { h: 2, v: 2 };

    /// Returns the size of a chroma plane for a luma plane of `width` × `height`, rounded up as in JPEG.
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

/// Colour model: the meaning of a frame's planes. In gray and RGB, 0 is black; in CMYK, 0 is no ink; chroma is centred
/// on 128 (8-bit samples) or 32896 (wider ones).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// One plane of luma.
    Gray,
    /// Three planes, the last two of which may be subsampled.
    YCbCr {
        /// Subsampling of Cb and Cr.
        sub: Subsampling,
        /// Value range of the samples.
        range: Range,
        /// Matrix that mixes luma and chroma from red, green and blue.
        matrix: Matrix,
    },
    /// Three planes: red, green and blue.
    Rgb,
    /// Four planes: cyan, magenta, yellow and black.
    Cmyk,
}

impl Model {
    /// JPEG's colour model: full-range BT.601 YCbCr.
    #[must_use]
    pub fn ycbcr(sub: Subsampling) -> Self {
        Self::YCbCr {
            sub,
            range: Range::Full,
            matrix: Matrix::Bt601,
        }
    }

    /// Returns the model without subsampling of its chroma.
    #[must_use]
    pub fn unthinned(self) -> Self {
        match self {
            Self::YCbCr { range, matrix, .. } => Self::YCbCr {
                sub: Subsampling::NONE,
                range,
                matrix,
            },
            model => model,
        }
    }

    /// Returns the model's name in one word: `gray`, `ycbcr`, `rgb` or `cmyk`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gray => "gray",
            Self::YCbCr { .. } => "ycbcr",
            Self::Rgb => "rgb",
            Self::Cmyk => "cmyk",
        }
    }

    /// Returns the number of colour planes, without alpha.
    #[must_use]
    pub fn planes(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::YCbCr { .. } | Self::Rgb => 3,
            Self::Cmyk => 4,
        }
    }

    /// Returns the size of plane `index` in a frame of `width` × `height`.
    #[must_use]
    pub fn plane_size(self, index: usize, width: u32, height: u32) -> (u32, u32) {
        match self {
            Self::YCbCr { sub, .. } if index > 0 => sub.chroma_size(width, height),
            _ => (width, height),
        }
    }
}

/// One frame of pixels: planes and their meaning. Alpha, if present, is straight (not premultiplied), full-size, and of
/// the planes' depth.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Colour model: the meaning of the planes.
    pub model: Model,
    /// Width of the full-size planes, in px.
    pub width: u32,
    /// Height of the full-size planes, in px.
    pub height: u32,
    /// The colour planes, `model.planes()` of them, each of `model.plane_size()`.
    pub planes: Vec<Plane>,
    /// Opacity of each px: 0 is transparent.
    pub alpha: Option<Plane>,
    /// The colour space of the samples, with the ICC profile if there is one.
    pub colour: Colour,
    depth: Depth,
}

impl Frame {
    /// Creates a frame from its parts: 8 or 16 bits per sample, as the planes have, and an unspecified colour space.
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
            let (have, expected) = (planes.len(), model.planes());
            let what = format!("{model:?} has {expected} planes, not {have}");
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

    /// Creates a frame from full-size planes. If there is one plane more than the model has, the last one is alpha.
    ///
    /// # Errors
    /// Those of [`Frame::new`]: `Internal` when planes are missing, of the wrong size, or of different depths.
    pub fn of_planes(model: Model, mut planes: Vec<Plane>) -> Result<Self> {
        let transparent = planes.len() > model.planes();
        let alpha = if transparent { planes.pop() } else { None };
        let size = planes
            .first()
            .map_or((0, 0), |plane| (plane.width(), plane.height()));
        Self::new(model, size.0, size.1, planes, alpha)
    }

    /// Declares that the samples of this frame have `depth` significant bits.
    ///
    /// # Errors
    /// `Internal` when samples of that depth take another number of bytes than those of the frame.
    pub fn with_depth(mut self, depth: Depth) -> Result<Self> {
        if depth.bytes() != self.depth.bytes() {
            let what = format!("{depth:?} in samples of {} bytes", self.depth.bytes());
            return Err(Error::Internal(what));
        }
        self.depth = depth;
        Ok(self)
    }

    /// Declares another colour space for this frame; samples stay as they are.
    #[must_use]
    pub fn with_colour(mut self, colour: impl Into<Colour>) -> Self {
        self.colour = colour.into();
        self
    }

    /// Returns the bit depth of the samples.
    #[must_use]
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// Returns the frame's traits: its description without its pixels.
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

/// Description of a frame without its pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Traits {
    /// Colour model of the planes.
    pub model: Model,
    /// Bit depth of the samples.
    pub depth: Depth,
    /// Whether there is an alpha plane.
    pub alpha: bool,
    /// Colour space of the samples.
    pub space: Space,
}

impl Traits {
    /// Traits of an opaque frame with an unspecified colour space.
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

/// Metadata of an image file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The complete ICC profile, as read from a file or to be written to one. Stages use the profile in the frame's
    /// [`Colour`] instead.
    pub icc: Option<Icc>,
    /// The EXIF block, starting at its TIFF header (without `Exif\0\0`).
    pub exif: Option<Vec<u8>>,
    /// The IPTC data sets, as stored in Photoshop's resource 0x0404.
    pub iptc: Option<Vec<u8>>,
    /// The XMP packet.
    pub xmp: Option<Vec<u8>>,
}

/// A decoded image, or one frame of an animation.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The pixels.
    pub frame: Frame,
    /// ICC profile, EXIF, IPTC and XMP of the image.
    pub metadata: Metadata,
    /// The gain map that brightens the image on HDR screens, for the encoder to write. Codecs decode it separately.
    pub gain_map: Option<Box<GainMap>>,
    /// The characters of a drawing's text for which no font has a glyph, each once.
    pub undrawn: Vec<char>,
}

/// Parameters of a gain map, in the forms in which files store them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GainParams {
    /// The metadata of ISO 21496-1, beginning with its field for the minimum version; `None` for maps that ISO 21496-1
    /// cannot describe.
    pub iso: Option<Arc<[u8]>>,
    /// The XMP packet of the gain map's own JPEG; `None` if the map is stored in another format or its JPEG has no XMP.
    pub xmp: Option<Arc<[u8]>>,
}

/// A gain map: a second, usually smaller image that tells how much brighter each place is on a screen that can show it
/// (ISO 21496-1, Ultra HDR, Apple's HDR gain map). It undergoes the same geometry as its image and is ready to be
/// written together with it.
#[derive(Clone, Debug, PartialEq)]
pub struct GainMap {
    /// Samples of the gain map. They are not colours, so no profile applies to them.
    pub frame: Frame,
    /// The quality to encode the map at: the one it was encoded with before, if known.
    pub quality: Option<u8>,
    /// The parameters that control how the map brightens the image.
    pub params: GainParams,
}

impl Image {
    /// Creates a still image read from a file. Its colours are in `space`, and if `space` is profiled, by the ICC
    /// profile in the metadata.
    #[must_use]
    pub fn read(frame: Frame, metadata: Metadata, space: Space) -> Self {
        let icc = metadata.icc.clone().filter(|_| space.profiled);
        Self {
            metadata,
            ..Self::still(frame.with_colour(Colour { space, icc }))
        }
    }

    /// Creates a still image without metadata.
    #[must_use]
    pub fn still(frame: Frame) -> Self {
        Self {
            frame,
            metadata: Metadata::default(),
            gain_map: None,
            undrawn: Vec::new(),
        }
    }

    /// Returns the size of all samples in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let planes = self.frame.planes.iter().chain(&self.frame.alpha);
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
