//! The items of a file (images, tiles, metadata), with their properties and references (ISO 23008-12, 14496-12 §8.11).

use std::borrow::Cow;
use std::collections::BTreeMap;

use andon_pixels::{Error, Result};

use super::boxes::{Boxes, Fields, Kind};

/// The items of a file, by ID.
#[derive(Debug, Default)]
pub(crate) struct Items<'a> {
    bytes: &'a [u8],
    format: &'static str,
    /// ID of the primary item, which is the image to show.
    pub(crate) primary: Option<u32>,
    items: BTreeMap<u32, Item>,
    properties: Vec<Property<'a>>,
    references: Vec<Reference>,
    /// Number of property associations in all boxes of the file, limited to `MOST_ENTRIES`.
    associated: usize,
    /// Number of references between items in all boxes of the file, limited to `MOST_ENTRIES`.
    referred: usize,
    /// Groups of items of which only one is shown.
    alternatives: Vec<Vec<u32>>,
    idat: &'a [u8],
}

/// One item.
#[derive(Debug, Default)]
struct Item {
    kind: Kind,
    /// Whether the offsets of the item's bytes count from the content of the `idat` box rather than from the beginning
    /// of the file.
    inside: bool,
    unreadable: bool,
    extents: Vec<(u64, u64)>,
    /// Indices of the item's properties in the list of all properties.
    properties: Vec<usize>,
    /// Type of an essential property that is not supported, if the item has one.
    unsupported: Option<Kind>,
}

#[derive(Debug)]
struct Reference {
    kind: Kind,
    from: u32,
    to: Vec<u32>,
}

/// The location of an item's bytes, which may be in several pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place<'p> {
    /// Whether the offsets in `extents` count from the content of the `idat` box rather than from the beginning of the
    /// file.
    inside: bool,
    /// Offset and length in bytes of each piece. A length of 0 means up to the end.
    extents: &'p [(u64, u64)],
}

/// A property of an item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Property<'a> {
    /// `ispe`: width and height in px.
    Size(u32, u32),
    /// `colr` with code points: primaries, transfer, matrix, full range.
    CodePoints(u16, u16, u16, bool),
    /// `colr` with an ICC profile.
    Profile(&'a [u8]),
    /// `irot`: number of quarter turns anticlockwise.
    Rotation(u8),
    /// `imir`: 0 swaps top and bottom, 1 left and right.
    Mirror(u8),
    /// `clap`: width, height, and the horizontal and vertical offset of the aperture's centre from the image's, as
    /// fractions.
    Crop([(i64, i64); 4]),
    /// `auxC`, or `auxi` in a track: the type of an auxiliary image.
    Auxiliary(&'a [u8]),
    /// `av1C` or `hvcC`: the decoder configuration, with the box type.
    Configuration(Kind, &'a [u8]),
    /// `a1op`: the operating point to decode.
    OperatingPoint(u8),
    /// `lsel`: the spatial layer to show.
    Layer(u16),
    /// A recognised property that does not affect the samples.
    Remark,
    /// Any other property, with its box type.
    Other(Kind),
}

/// Recognised properties that are not needed: depth, aspect ratio, sizes of layers, light levels, colour volumes, names
/// and times.
const REMARKS: [&Kind; 12] = [
    b"pixi", b"pasp", b"a1lx", b"clli", b"mdcv", b"cclv", b"amve", b"reve", b"ndwt", b"altt",
    b"crtt", b"mdft",
];

/// Limit on items, extents, references, properties and alternatives of a file, far above what images have. Each of them
/// takes memory in addition to its bytes.
const MOST_ENTRIES: usize = 1 << 16;

impl<'a> Items<'a> {
    /// Reads the items from the payload of a `meta` box in a file.
    pub(crate) fn read(bytes: &'a [u8], meta: &'a [u8], format: &'static str) -> Result<Self> {
        let (_, _, fields) = Fields::full(meta, format)?;
        let mut items = Self {
            bytes,
            format,
            ..Self::default()
        };
        for part in Boxes::of(fields.rest()) {
            let data = part.data;
            match &part.kind {
                b"pitm" => {
                    let (version, _, mut fields) = Fields::full(data, format)?;
                    items.primary = Some(fields.long_if(version > 0)?);
                }
                b"idat" => items.idat = data,
                b"iinf" => items.read_kinds(data)?,
                b"iloc" => items.read_places(data)?,
                b"iref" => items.read_references(data)?,
                b"iprp" => items.read_properties(data)?,
                b"grpl" => items.read_groups(data)?,
                _ => {}
            }
        }
        Ok(items)
    }

    fn broken(&self, why: &str) -> Error {
        Error::broken(self.format, why)
    }

    fn item(&mut self, id: u32) -> Result<&mut Item> {
        if self.items.len() >= MOST_ENTRIES && !self.items.contains_key(&id) {
            return Err(self.broken("it has too many items"));
        }
        Ok(self.items.entry(id).or_default())
    }

    fn read_kinds(&mut self, data: &[u8]) -> Result<()> {
        let (version, _, mut fields) = Fields::full(data, self.format)?;
        fields.long_if(version > 0)?;
        for entry in Boxes::of(fields.rest()).filter(|entry| &entry.kind == b"infe") {
            let (version, _, mut fields) = Fields::full(entry.data, self.format)?;
            if version < 2 {
                continue;
            }
            let id = fields.long_if(version > 2)?;
            fields.u16()?;
            self.item(id)?.kind = fields.kind()?;
        }
        Ok(())
    }

    fn read_places(&mut self, data: &[u8]) -> Result<()> {
        let (version, _, mut fields) = Fields::full(data, self.format)?;
        let sizes = fields.u16()?;
        let size = |shift: u32| (sizes >> shift) as u8 & 15;
        let (offset_size, length_size, base_size) = (size(12), size(8), size(4));
        let index_size = if version > 0 { size(0) } else { 0 };
        let count = fields.long_if(version > 1)?;
        let mut extents = 0;
        for _ in 0..count {
            let id = fields.long_if(version > 1)?;
            let construction = if version > 0 { fields.u16()? & 15 } else { 0 };
            let file = fields.u16()?;
            let base = fields.sized(base_size)?;
            let count_of_item = usize::from(fields.u16()?);
            extents += count_of_item;
            if extents > MOST_ENTRIES {
                return Err(self.broken("its items are in too many pieces"));
            }
            let mut places = Vec::with_capacity(count_of_item);
            for _ in 0..count_of_item {
                fields.sized(index_size)?;
                let offset = base.saturating_add(fields.sized(offset_size)?);
                places.push((offset, fields.sized(length_size)?));
            }
            let item = self.item(id)?;
            item.inside = construction == 1;
            item.unreadable = construction > 1 || file != 0;
            item.extents = places;
        }
        Ok(())
    }

    fn read_references(&mut self, data: &[u8]) -> Result<()> {
        let (version, _, fields) = Fields::full(data, self.format)?;
        for entry in Boxes::of(fields.rest()) {
            let mut fields = Fields::of(entry.data, self.format);
            let from = fields.long_if(version > 0)?;
            let count = usize::from(fields.u16()?);
            self.referred += count;
            if self.referred > MOST_ENTRIES || self.references.len() >= MOST_ENTRIES {
                return Err(self.broken("its items refer to too many others"));
            }
            let to: Result<_> = (0..count).map(|_| fields.long_if(version > 0)).collect();
            self.references.push(Reference {
                kind: entry.kind,
                from,
                to: to?,
            });
        }
        Ok(())
    }

    fn read_groups(&mut self, data: &[u8]) -> Result<()> {
        let mut all = 0;
        for group in Boxes::of(data).filter(|group| &group.kind == b"altr") {
            let (_, _, mut fields) = Fields::full(group.data, self.format)?;
            fields.u32()?;
            let count = fields.u32()? as usize;
            all += count.min(MOST_ENTRIES) + 1;
            if all > MOST_ENTRIES {
                return Err(self.broken("its items have too many alternatives"));
            }
            let members: Result<_> = (0..count).map(|_| fields.u32()).collect();
            self.alternatives.push(members?);
        }
        Ok(())
    }

    fn read_properties(&mut self, data: &'a [u8]) -> Result<()> {
        for part in Boxes::of(data) {
            match &part.kind {
                b"ipco" => {
                    let left = MOST_ENTRIES - self.properties.len();
                    for property in Boxes::of(part.data).take(left) {
                        let read = Property::read(property.kind, property.data, self.format)?;
                        self.properties.push(read);
                    }
                }
                b"ipma" => self.associate(part.data)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn associate(&mut self, data: &[u8]) -> Result<()> {
        let (version, flags, mut fields) = Fields::full(data, self.format)?;
        for _ in 0..fields.u32()? {
            let id = fields.long_if(version > 0)?;
            let count = usize::from(fields.u8()?);
            self.associated += count;
            if self.associated > MOST_ENTRIES {
                return Err(self.broken("its items have too many properties"));
            }
            for _ in 0..count {
                let (essential, place) = match flags & 1 {
                    0 => {
                        let byte = fields.u8()?;
                        (byte & 0x80 != 0, usize::from(byte & 0x7f))
                    }
                    _ => {
                        let word = fields.u16()?;
                        (word & 0x8000 != 0, usize::from(word & 0x7fff))
                    }
                };
                // Index 0 means no property.
                let Some(place) = place.checked_sub(1) else {
                    continue;
                };
                let property = self.properties.get(place);
                let property = *property.ok_or_else(|| self.broken("a property is missing"))?;
                let item = self.item(id)?;
                if let (true, Property::Other(kind)) = (essential, property) {
                    item.unsupported = Some(kind);
                }
                item.properties.push(place);
            }
        }
        Ok(())
    }

    /// Returns the type of an item.
    pub(crate) fn kind(&self, id: u32) -> Option<Kind> {
        self.items.get(&id).map(|item| item.kind)
    }

    /// Returns the properties of an item, in the order in which they apply.
    ///
    /// # Errors
    /// `Broken` if there is no such item, `Unsupported` if an essential property is not supported.
    pub(crate) fn properties(&self, id: u32) -> Result<impl Iterator<Item = Property<'a>>> {
        let item = self
            .items
            .get(&id)
            .ok_or_else(|| self.broken("an item is missing"))?;
        if let Some(kind) = item.unsupported {
            return Err(Error::unsupported(
                self.format,
                format!("the property {}", kind.escape_ascii()),
            ));
        }
        let places = item.properties.iter();
        Ok(places.filter_map(|place| self.properties.get(*place).copied()))
    }

    /// Returns all references of one kind, as pairs of the referring item and the item it refers to.
    pub(crate) fn all_references(&self, kind: &Kind) -> impl Iterator<Item = (u32, u32)> {
        let all = self.references.iter();
        let all = all.filter(move |reference| reference.kind == *kind);
        all.flat_map(|reference| reference.to.iter().map(|to| (reference.from, *to)))
    }

    /// Returns the items to which an item has references of one kind.
    pub(crate) fn references(&self, from: u32, kind: &Kind) -> impl Iterator<Item = u32> {
        let references = self.references.iter();
        let references =
            references.filter(move |reference| reference.from == from && reference.kind == *kind);
        references.flat_map(|reference| reference.to.iter().copied())
    }

    /// Returns the items that have a reference of one kind to the item `to`.
    pub(crate) fn referring(&self, to: u32, kind: &Kind) -> impl Iterator<Item = u32> {
        let all = self.references.iter();
        let all = all.filter(move |reference| reference.kind == *kind);
        let all = all.filter(move |reference| reference.to.contains(&to));
        all.map(|reference| reference.from)
    }

    /// Returns whether two items are alternatives, of which a reader shows only one.
    pub(crate) fn are_alternatives(&self, one: u32, other: u32) -> bool {
        let mut groups = self.alternatives.iter();
        groups.any(|group| group.contains(&one) && group.contains(&other))
    }

    /// Returns the length in bytes of the file that contains the items.
    pub(crate) fn file_length(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the location of an item's bytes. Items with equal locations have the same bytes.
    pub(crate) fn place(&self, id: u32) -> Option<Place<'_>> {
        let item = self.items.get(&id)?;
        Some(Place {
            inside: item.inside,
            extents: &item.extents,
        })
    }

    /// Returns the bytes of an item. If the file is cut off, returns the bytes before the cut if `cut` is set.
    ///
    /// # Errors
    /// `Broken` if there is no such item, its pieces overlap, or the file is cut off and `cut` is not set.
    /// `Unsupported` if the item consists of other items or is in another file.
    pub(crate) fn data(&self, id: u32, cut: bool) -> Result<Cow<'a, [u8]>> {
        let item = self
            .items
            .get(&id)
            .ok_or_else(|| self.broken("an item is missing"))?;
        if item.unreadable {
            return Err(Error::unsupported(
                self.format,
                "items that are made of others or lie in other files",
            ));
        }
        let from = if item.inside { self.idat } else { self.bytes };
        let piece = |&(offset, length): &(u64, u64)| {
            let start = usize::try_from(offset).unwrap_or(usize::MAX);
            let end = match length {
                0 => from.len(),
                _ => start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX)),
            };
            if end > from.len() && !cut {
                return Err(self.broken("it is cut off"));
            }
            let end = end.min(from.len());
            Ok(from.get(start.min(end)..end).unwrap_or_default())
        };
        match &item.extents[..] {
            [one] => piece(one).map(Cow::Borrowed),
            several => {
                let mut all = Vec::new();
                for extent in several {
                    let piece = piece(extent)?;
                    // The pieces of a file cannot be longer than the file in total, unless they overlap.
                    if all.len() + piece.len() > from.len() {
                        return Err(self.broken("pieces of an item overlap"));
                    }
                    all.extend_from_slice(piece);
                }
                Ok(Cow::Owned(all))
            }
        }
    }
}

impl<'a> Property<'a> {
    /// Reads a property from the payload of its box.
    pub(super) fn read(kind: Kind, data: &'a [u8], format: &'static str) -> Result<Self> {
        let mut fields = Fields::of(data, format);
        Ok(match &kind {
            b"ispe" => {
                fields.u32()?;
                Self::Size(fields.u32()?, fields.u32()?)
            }
            b"colr" => match &fields.kind()? {
                b"nclx" => Self::CodePoints(
                    fields.u16()?,
                    fields.u16()?,
                    fields.u16()?,
                    fields.u8()? & 0x80 != 0,
                ),
                b"prof" | b"rICC" => Self::Profile(fields.rest()),
                _ => Self::Other(kind),
            },
            b"irot" => Self::Rotation(fields.u8()? & 3),
            b"imir" => Self::Mirror(fields.u8()? & 1),
            b"clap" => {
                let mut fraction = || -> Result<(i64, i64)> {
                    Ok((i64::from(fields.u32()? as i32), i64::from(fields.u32()?)))
                };
                Self::Crop([fraction()?, fraction()?, fraction()?, fraction()?])
            }
            b"auxC" | b"auxi" => {
                fields.u32()?;
                Self::Auxiliary(fields.text())
            }
            b"av1C" | b"hvcC" => Self::Configuration(kind, data),
            b"a1op" => Self::OperatingPoint(fields.u8()?),
            b"lsel" => Self::Layer(fields.u16()?),
            kind if REMARKS.contains(&kind) => Self::Remark,
            _ => Self::Other(kind),
        })
    }
}
