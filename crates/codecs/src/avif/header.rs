//! The header of an AVIF file: the coded images that make up the shown image, and how to process them.

use std::collections::BTreeMap;

use andon_pixels::{
    Depth, Error, Info, Matrix, Metadata, Model, Orientation, Primaries, Range, Result, Space,
    Subsampling, Transfer,
};
use andon_recipe::{Flip, Turn};

use super::NAME;
use super::dav1d::{Layout, Sequence};
use super::decode::NANOS_PER_PIXEL;
use super::movie::Movie;
use super::obus;
use crate::heif::{Boxes, Fields, Items, Property};

/// The properties of a file, read before pixels are decoded: a still image, or a sequence of images.
#[derive(Debug)]
pub(super) struct Header<'a> {
    pub(super) items: Items<'a>,
    /// The image sequence, if the file is one. Its images are in tracks, and none is an item.
    pub(super) movie: Option<Movie<'a>>,
    pub(super) colour: Coded,
    pub(super) alpha: Option<Coded>,
    /// Whether the colours are premultiplied by opacity.
    pub(super) premultiplied: bool,
    pub(super) sequence: Sequence,
    pub(super) meaning: Meaning,
    pub(super) crop: Option<Crop>,
    /// The amount of decoding for each shown image.
    work: Work,
    orientation: Orientation,
    space: Space,
    icc: Option<&'a [u8]>,
    exif: Option<u32>,
    xmp: Option<u32>,
}

/// An image that consists of one coded item or of a grid of them.
#[derive(Debug, PartialEq)]
pub(super) struct Coded {
    /// Width of the whole image, in px.
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) columns: u32,
    /// The coded items, row after row.
    pub(super) tiles: Vec<Tile>,
}

/// One coded item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tile {
    pub(super) item: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) point: u8,
    pub(super) layer: Option<u8>,
}

/// The amount of decoding that an image takes.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    /// Pixels of all coded frames, including hidden ones.
    pixels: u64,
    /// Number of bitstreams, each of which needs its own decoder.
    bitstreams: u64,
    /// Pixels of the reference frames that a decoder keeps in memory.
    kept_pixels: u64,
}

impl Work {
    fn and(self, other: Self) -> Self {
        Self {
            pixels: self.pixels.saturating_add(other.pixels),
            bitstreams: self.bitstreams + other.bitstreams,
            // The decoder of the colours has been closed when opacity is decoded.
            kept_pixels: self.kept_pixels.max(other.kept_pixels),
        }
    }
}

/// How to interpret the code values of the colour planes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    Gray(Range),
    Mixed(Subsampling, Range, Matrix),
    /// Luma and chroma in a form that frames do not support. The decoder converts them to red, green and blue.
    Foreign(Mix, Range),
}

/// Luma and chroma forms that frames do not support.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mix {
    /// Luma, green difference, orange difference.
    YCgCo,
    /// Luma that weights red and blue by these two factors and green by the rest, with the chroma differences B − Y and
    /// R − Y.
    Shares(f64, f64),
}

/// A rectangle of the coded image, in px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crop {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// Number of reference frames that an AV1 decoder keeps in memory.
const REFERENCES: u64 = 8;

/// Nanoseconds to open a decoder and to read everything before the first sample.
const NANOS_PER_BITSTREAM: u64 = 100_000;

/// Smallest side in px of a tile in a grid of several tiles (MIAF).
const SMALLEST_TILE: u32 = 64;

impl<'a> Header<'a> {
    /// Reads the whole header, without decoding pixels.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let meta = Boxes::of(bytes).find(|part| &part.kind == b"meta");
        let items = meta.map(|meta| Items::read(bytes, meta.data, NAME));
        match Movie::of(bytes)? {
            Some(movie) => {
                let items = items.transpose()?.unwrap_or_default();
                Self::of_movie(movie, items)
            }
            None => Self::of_still(items.ok_or_else(|| broken("it has no description"))??),
        }
    }

    /// Reads the header of the primary item.
    pub(super) fn of_still(items: Items<'a>) -> Result<Self> {
        let primary = items.primary;
        let primary = primary.ok_or_else(|| broken("it says no primary item"))?;
        let colour = Coded::read(&items, primary)?;
        let alphas = alphas(&items);
        let (alpha_item, alpha) = match alphas.get(&primary) {
            Some(&item) => (Some(item), Some(Coded::read(&items, item)?)),
            None => (None, colour.alphas(&items, &alphas)?),
        };
        if let Some(alpha) = &alpha
            && (alpha.width, alpha.height) != (colour.width, colour.height)
        {
            return Err(unsupported("opacity of another size than its colours"));
        }
        let premultiplied = alpha_item
            .is_some_and(|alpha| items.references(primary, b"prem").any(|to| to == alpha));
        let sequence = colour.sequence(&items)?;
        let mut work = colour.work(&items)?;
        if let Some(alpha) = &alpha {
            work = work.and(alpha.work(&items)?);
        }
        let properties = items.properties(primary)?.collect();
        let mut header = Self::assemble(items, sequence, colour, properties)?;
        (header.alpha, header.premultiplied, header.work) = (alpha, premultiplied, work);
        Ok(header)
    }

    /// Reads the header of an image sequence from its tracks. Items in the same file belong to the first image.
    fn of_movie(movie: Movie<'a>, items: Items<'a>) -> Result<Self> {
        let (width, height) = movie.colour.size;
        let whole = || Coded {
            width,
            height,
            columns: 1,
            tiles: Vec::new(),
        };
        let sequence = Sequence::read(movie.first());
        let sequence = sequence.ok_or_else(|| broken("it has no sequence header"))?;
        let properties = movie.colour.properties.clone();
        let mut header = Self::assemble(items, sequence, whole(), properties)?;
        if let Some(alpha) = &movie.alpha {
            header.alpha = Some(whole());
            header.premultiplied = movie.colour.premultiplied_by == Some(alpha.id);
        }
        let (pixels, (images, _)) = (movie.work()?, movie.frames());
        let coded = header.colour.pixels();
        header.work = Work {
            pixels,
            bitstreams: 1,
            kept_pixels: if images > 1 || pixels > 2 * coded {
                REFERENCES * coded
            } else {
                0
            },
        };
        header.movie = Some(movie);
        Ok(header)
    }

    /// Creates a header from a sequence header, the coded image and its properties.
    fn assemble(
        items: Items<'a>,
        sequence: Sequence,
        colour: Coded,
        properties: Vec<Property<'a>>,
    ) -> Result<Self> {
        let mut points = None;
        let mut icc = None;
        let mut crop = None;
        let mut orientation = Orientation::default();
        for property in properties {
            match property {
                Property::CodePoints(primaries, transfer, matrix, full) => {
                    points = Some((primaries, transfer, matrix, full));
                }
                Property::Profile(profile) => icc = Some(profile),
                Property::Crop(fractions) => crop = Some(Crop::read(fractions, &colour)?),
                Property::Rotation(quarters) => orientation = turn(orientation, quarters),
                Property::Mirror(0) => orientation = orientation.flipped(Flip::Vertical),
                Property::Mirror(_) => orientation = orientation.flipped(Flip::Horizontal),
                _ => {}
            }
        }
        let (primaries, transfer, matrix, full) = points.unwrap_or((
            sequence.primaries.into(),
            sequence.transfer.into(),
            sequence.matrix.into(),
            sequence.full_range,
        ));
        let code = |point: u16| u8::try_from(point).unwrap_or(2);
        let space = match icc {
            Some(icc) => Space::of_profile(icc, profile_model(sequence.layout)),
            None => Space {
                primaries: Primaries::from_code(code(primaries)),
                transfer: Transfer::from_code(code(transfer)).shown(),
                profiled: false,
            },
        };
        let assemble = |kind: &[u8; 4]| {
            let mut all = items.referring(items.primary?, b"cdsc");
            all.find(|item| items.kind(*item).as_ref() == Some(kind))
        };
        Ok(Self {
            premultiplied: false,
            work: Work::default(),
            meaning: Meaning::of(sequence.layout, full, code(matrix), code(primaries))?,
            crop: crop.filter(|crop| *crop != Crop::all(&colour)),
            orientation,
            space,
            icc,
            exif: assemble(b"Exif"),
            xmp: assemble(b"mime"),
            sequence,
            colour,
            alpha: None,
            items,
            movie: None,
        })
    }

    /// Returns width and height in px of the image after cropping and before its orientation is applied.
    pub(super) fn size(&self) -> (u32, u32) {
        match self.crop {
            Some(crop) => (crop.width, crop.height),
            None => (self.colour.width, self.colour.height),
        }
    }

    /// Returns the model of the decoded frame.
    pub(super) fn model(&self) -> Model {
        match self.meaning {
            Meaning::Gray(_) => Model::Gray,
            Meaning::Foreign(..) => Model::Rgb,
            Meaning::Mixed(sub, range, matrix) => {
                let parts = self.crop.is_some_and(|crop| {
                    crop.x % u32::from(sub.h) != 0 || crop.y % u32::from(sub.v) != 0
                });
                Model::YCbCr {
                    // A crop whose edges lie between chroma samples is decoded to full-resolution chroma.
                    sub: if parts { Subsampling::NONE } else { sub },
                    range,
                    matrix,
                }
            }
        }
    }

    /// Returns the bit depth of the colour samples.
    pub(super) fn depth(&self) -> Depth {
        depth(self.sequence.bits)
    }

    /// Converts the header to the format-independent `Info`.
    pub(super) fn info(&self) -> Info {
        let (width, height) = self.size();
        let coded = self.colour.pixels();
        let visible_pixels = u64::from(width) * u64::from(height);
        let planes = 4 * self.depth().bytes() as u64;
        let (frames, animation) = match &self.movie {
            Some(movie) => movie.frames(),
            None => (1, None),
        };
        // The cost that the size alone suggests.
        let expected = visible_pixels * if self.alpha.is_some() { 2 } else { 1 };
        let hidden_pixels = self.work.pixels.saturating_sub(expected);
        Info {
            depth: self.depth(),
            alpha: self.alpha.is_some(),
            space: self.space,
            frames,
            animation,
            orientation: self.orientation,
            metadata: self.exif.is_some() || self.xmp.is_some(),
            // Pixels outside the crop are decoded all the same, and reference frames stay in memory.
            decoder_bytes: (coded - visible_pixels.min(coded))
                .saturating_add(self.work.kept_pixels)
                .saturating_mul(planes),
            decoder_nanos: (hidden_pixels.saturating_mul(NANOS_PER_PIXEL))
                .saturating_add(self.work.bitstreams.saturating_sub(1) * NANOS_PER_BITSTREAM),
            ..Info::new(NAME, width, height, self.model())
        }
    }

    /// Reads the ICC profile, Exif and XMP, each of which may have up to `most` bytes.
    pub(super) fn metadata(&self, most: u64) -> Result<Metadata> {
        let exif = match self.exif {
            Some(item) => exif_of(&self.items.data(item, false)?),
            None => None,
        };
        let xmp = match self.xmp {
            Some(item) => Some(self.items.data(item, false)?.into_owned()),
            None => None,
        };
        let blocks = self.icc.iter().copied();
        for block in blocks.chain(exif.as_deref()).chain(xmp.as_deref()) {
            crate::guard::metadata(block.len(), most)?;
        }
        Ok(Metadata {
            icc: self.icc.map(Into::into),
            exif,
            xmp,
            ..Metadata::default()
        })
    }

    /// Returns the colour space.
    pub(super) fn space(&self) -> Space {
        self.space
    }
}

pub(super) fn depth(bits: u8) -> Depth {
    match bits {
        8 => Depth::U8,
        10 => Depth::U10,
        _ => Depth::U12,
    }
}

fn broken(why: &str) -> Error {
    Error::broken(NAME, why)
}

fn unsupported(what: &str) -> Error {
    Error::unsupported(NAME, what)
}

/// Returns the model of the colours that an ICC profile describes for an image of this layout.
fn profile_model(layout: Layout) -> Model {
    match layout {
        Layout::Gray => Model::Gray,
        _ => Model::Rgb,
    }
}

/// Turns an orientation anticlockwise by a number of quarter turns.
fn turn(orientation: Orientation, quarters: u8) -> Orientation {
    match quarters {
        1 => orientation.then(Turn::R270),
        2 => orientation.then(Turn::R180),
        3 => orientation.then(Turn::R90),
        _ => orientation,
    }
}

/// Returns the TIFF block of an Exif item, whose first four bytes give the number of bytes to skip.
fn exif_of(item: &[u8]) -> Option<Vec<u8>> {
    let (skipped, rest) = item.split_first_chunk()?;
    let tiff = rest.get(u32::from_be_bytes(*skipped) as usize..)?;
    Some(crate::exif::without_prefix(tiff).to_vec())
}

/// Returns the opacity items, keyed by the items whose opacity they are.
fn alphas(items: &Items<'_>) -> BTreeMap<u32, u32> {
    let is_alpha = |item: u32| {
        items.properties(item).is_ok_and(|mut properties| {
            properties.any(
                |property| matches!(property, Property::Auxiliary(kind) if ALPHA.contains(&kind)),
            )
        })
    };
    let mut is_alpha_cache = BTreeMap::new();
    let mut alphas = BTreeMap::new();
    for (from, to) in items.all_references(b"auxl") {
        if *is_alpha_cache.entry(from).or_insert_with(|| is_alpha(from)) {
            alphas.entry(to).or_insert(from);
        }
    }
    alphas
}

/// The auxiliary types that mark an image as opacity.
pub(super) const ALPHA: [&[u8]; 2] = [
    b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha",
    b"urn:mpeg:hevc:2015:auxid:1",
];

impl Coded {
    fn read(items: &Items<'_>, item: u32) -> Result<Self> {
        match items.kind(item).as_ref() {
            Some(b"av01") => {
                let tile = Tile::read(items, item)?;
                Ok(Self {
                    width: tile.width,
                    height: tile.height,
                    columns: 1,
                    tiles: vec![tile],
                })
            }
            Some(b"grid") => Self::grid(items, item),
            Some(kind) => Err(unsupported(&format!("items of {}", kind.escape_ascii()))),
            None => Err(broken("an item is missing")),
        }
    }

    fn grid(items: &Items<'_>, item: u32) -> Result<Self> {
        let data = items.data(item, false)?;
        let mut fields = Fields::of(&data, NAME);
        fields.u8()?;
        let long = fields.u8()? & 1 != 0;
        let rows = u32::from(fields.u8()?) + 1;
        let columns = u32::from(fields.u8()?) + 1;
        let (width, height) = (fields.long_if(long)?, fields.long_if(long)?);
        let grid = Self {
            width,
            height,
            columns,
            tiles: tiles(items, items.references(item, b"dimg"))?,
        };
        grid.check(rows)?;
        Ok(grid)
    }

    /// Checks that the tiles have one size and cover the whole image, and that none lies outside it.
    fn check(&self, rows: u32) -> Result<()> {
        let tile = self.tiles.first();
        let (width, height) = tile.map_or((0, 0), |tile| (tile.width, tile.height));
        let covers = |count: u32, side: u32, whole: u32| {
            let all = u64::from(count) * u64::from(side);
            all >= u64::from(whole) && all < u64::from(whole) + u64::from(side)
        };
        let has_tile_size = |tile: &Tile| (tile.width, tile.height) == (width, height);
        let is_grid = self.columns * rows > 1;
        if self.tiles.len() as u64 != u64::from(self.columns) * u64::from(rows)
            || !self.tiles.iter().all(has_tile_size)
            || !covers(self.columns, width, self.width)
            || !covers(rows, height, self.height)
            || (is_grid && width.min(height) < SMALLEST_TILE)
        {
            return Err(broken("its tiles do not fit its size"));
        }
        Ok(())
    }

    /// Returns the opacity as a grid if every tile has an opacity item of its own.
    fn alphas(&self, items: &Items<'_>, alphas: &BTreeMap<u32, u32>) -> Result<Option<Self>> {
        if self.tiles.len() < 2 {
            return Ok(None);
        }
        let all = self
            .tiles
            .iter()
            .map(|tile| alphas.get(&tile.item).copied());
        let Some(all) = all.collect::<Option<Vec<u32>>>() else {
            return Ok(None);
        };
        let alpha = Self {
            tiles: tiles(items, all)?,
            ..*self
        };
        alpha.check(self.tiles.len() as u32 / self.columns)?;
        Ok(Some(alpha))
    }

    /// Returns the number of pixels of the whole image.
    fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Groups the indices of tiles with identical bytes, so that each group is decoded only once.
    pub(super) fn sources(&self, items: &Items<'_>) -> Result<Vec<Vec<usize>>> {
        let mut source_numbers = BTreeMap::new();
        let mut sources: Vec<Vec<usize>> = Vec::new();
        for (index, tile) in self.tiles.iter().enumerate() {
            let place = items.place(tile.item);
            let place = place.ok_or_else(|| broken("an item is missing"))?;
            let source = *source_numbers
                .entry((place, tile.point, tile.layer))
                .or_insert(sources.len());
            match sources.get_mut(source) {
                Some(tiles) => tiles.push(index),
                None => sources.push(vec![index]),
            }
        }
        Ok(sources)
    }

    /// Returns the amount of decoding for the image.
    ///
    /// # Errors
    /// `Broken` if an item contains more frames or OBUs than any encoder writes for an image, or if the items overlap
    /// so much that their total length exceeds twice that of the file.
    fn work(&self, items: &Items<'_>) -> Result<Work> {
        let mut work = Work::default();
        let mut bytes = 0;
        for tiles in self.sources(items)? {
            let Some(tile) = tiles.first().and_then(|first| self.tiles.get(*first)) else {
                continue;
            };
            let data = items.data(tile.item, true)?;
            bytes += data.len();
            if bytes > 2 * items.file_length() {
                return Err(broken("its items overlap in the file"));
            }
            let frames = u64::from(obus::Work::of(&data)?.frames);
            let references = if frames > 1 {
                frames.min(REFERENCES)
            } else {
                0
            };
            work = work.and(Work {
                pixels: tile.pixels().saturating_mul(frames),
                bitstreams: 1,
                kept_pixels: tile.pixels().saturating_mul(references),
            });
        }
        Ok(work)
    }

    /// Reads the sequence header of the first item.
    fn sequence(&self, items: &Items<'_>) -> Result<Sequence> {
        let tile = self
            .tiles
            .first()
            .ok_or_else(|| broken("it has no tiles"))?;
        let data = items.data(tile.item, true)?;
        Sequence::read(&data).ok_or_else(|| broken("it has no sequence header"))
    }
}

/// Reads the tiles of these items. An item that occurs several times is read once.
fn tiles(items: &Items<'_>, list: impl IntoIterator<Item = u32>) -> Result<Vec<Tile>> {
    let mut tile_cache = BTreeMap::new();
    let mut tiles = Vec::new();
    for item in list {
        if items.kind(item).as_ref() != Some(b"av01") {
            return Err(broken("a tile is no coded image"));
        }
        let tile = match tile_cache.get(&item) {
            Some(tile) => *tile,
            None => Tile::read(items, item)?,
        };
        tile_cache.insert(item, tile);
        tiles.push(tile);
    }
    Ok(tiles)
}

impl Tile {
    pub(super) fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    fn read(items: &Items<'_>, item: u32) -> Result<Self> {
        let mut tile = Self {
            item,
            width: 0,
            height: 0,
            point: 0,
            layer: None,
        };
        for property in items.properties(item)? {
            match property {
                Property::Size(width, height) => (tile.width, tile.height) = (width, height),
                Property::OperatingPoint(point) => tile.point = point,
                // 0xffff means the highest layer.
                Property::Layer(layer) => tile.layer = u8::try_from(layer).ok(),
                _ => {}
            }
        }
        if tile.width == 0 || tile.height == 0 {
            return Err(broken("it says no size"));
        }
        Ok(tile)
    }
}

impl Meaning {
    fn of(layout: Layout, full: bool, matrix: u8, primaries: u8) -> Result<Self> {
        let range = if full { Range::Full } else { Range::Limited };
        let sub = match layout {
            Layout::Gray => return Ok(Self::Gray(range)),
            Layout::C420 => Subsampling::C420,
            Layout::C422 => Subsampling { h: 2, v: 1 },
            Layout::C444 => Subsampling::NONE,
        };
        let matrix = match (matrix, primaries) {
            (4, _) => return Ok(Self::Foreign(Mix::Shares(0.3, 0.11), range)),
            (7, _) => return Ok(Self::Foreign(Mix::Shares(0.212, 0.087), range)),
            (8, _) => return Ok(Self::Foreign(Mix::YCgCo, range)),
            // The luma weights that follow from the primaries.
            (12, 1) => 1,
            (12, 9) => 9,
            (12, 12) => return Ok(Self::Foreign(Mix::Shares(0.228_975, 0.079_287), range)),
            (matrix, _) => matrix,
        };
        match Matrix::from_code(matrix) {
            Some(matrix) => Ok(Self::Mixed(sub, range, matrix)),
            None => Err(unsupported(&format!("matrix coefficients {matrix}"))),
        }
    }
}

impl Crop {
    /// Returns a crop that covers the whole image.
    pub(super) fn all(coded: &Coded) -> Self {
        Self {
            x: 0,
            y: 0,
            width: coded.width,
            height: coded.height,
        }
    }

    /// Reads a clean aperture (`clap`): width, height and the centre's offsets as fractions. The resulting edges are
    /// rounded to whole px.
    fn read([width, height, x, y]: [(i64, i64); 4], coded: &Coded) -> Result<Self> {
        let wrong = || broken("its clean aperture lies outside of it");
        let side = |whole: u32, (n, d): (i64, i64), (xn, xd): (i64, i64)| {
            if d <= 0 || xd <= 0 || n <= 0 {
                return None;
            }
            let length = u32::try_from(n / d).ok().filter(|length| *length > 0)?;
            let start = (f64::from(whole) - f64::from(length)) / 2.0 + xn as f64 / xd as f64;
            let start = start.round();
            let fits = start >= 0.0 && start + f64::from(length) <= f64::from(whole);
            fits.then_some((start as u32, length))
        };
        let (x, width) = side(coded.width, width, x).ok_or_else(wrong)?;
        let (y, height) = side(coded.height, height, y).ok_or_else(wrong)?;
        Ok(Self {
            x,
            y,
            width,
            height,
        })
    }
}
