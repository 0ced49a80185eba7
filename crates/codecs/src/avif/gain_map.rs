//! Gain maps in AVIF. The map is a hidden image. A derived image (`tmap`), the result of applying the full map to the
//! base image, is the base image's alternative (`altr`).

use andon_pixels::{Decode, Encode, Error, Frame, GainHeader, GainMap, Interrupt, Result};

use super::NAME;
use super::dav1d::Sequence;
use super::header::Header;
use super::write::{Still, boxed, full, write_configuration, write_depth, write_points};
use super::{decode, encode};
use crate::gain_map;
use crate::guard;
use crate::heif::{Boxes, Items};

/// Reads the header of a file's gain map.
pub(super) fn read(bytes: &[u8]) -> Option<GainHeader> {
    let (header, iso) = find(bytes)?;
    let sources = header.colour.sources(&header.items).ok()?;
    let first = sources
        .iter()
        .map(|tiles| header.colour.tiles.get(*tiles.first()?));
    let bytes = first.map(|tile| Some(header.items.data(tile?.item, true).ok()?.len() as u64));
    Some(GainHeader {
        params: gain_map::of_iso(&iso)?,
        info: header.info(),
        bytes: bytes.sum::<Option<u64>>()?,
    })
}

/// Decodes the gain map as an image.
pub(super) fn decode(bytes: &[u8], how: &Decode<'_>) -> Result<Frame> {
    let none = || Error::broken(NAME, "it has no gain map");
    let (header, _) = find(bytes).ok_or_else(none)?;
    decode::pixels(&header, how)
}

/// Finds the gain map of a file. Returns the header for decoding the map as an image, and the map's parameters in the
/// binary form of ISO 21496-1.
fn find(bytes: &[u8]) -> Option<(Header<'_>, Vec<u8>)> {
    let meta = Boxes::of(bytes).find(|part| &part.kind == b"meta")?;
    let mut items = Items::read(bytes, meta.data, NAME).ok()?;
    let base = items.primary?;
    let derived = items
        .referring(base, b"dimg")
        .filter(|item| items.kind(*item) == Some(*b"tmap"))
        .take(MOST_DERIVED)
        .find(|item| items.are_alternatives(*item, base))?;
    let parts: Vec<u32> = items.references(derived, b"dimg").collect();
    let map = match parts[..] {
        [first, map] if first == base => map,
        _ => return None,
    };
    let data = items.data(derived, false).ok()?;
    let (&version, iso) = data.split_first()?;
    let iso = iso.to_vec();
    drop(data);
    items.primary = Some(map);
    let header = Header::of_still(items).ok()?;
    (version == VERSION).then_some((header, iso))
}

/// Maximum number of derived images (`tmap` items) that are searched for the one that belongs to the gain map.
const MOST_DERIVED: usize = 8;

/// A coded gain map.
pub(super) struct CodedMap {
    pub(super) data: Vec<u8>,
    /// Data of the derived image: a version byte and the map's parameters in the binary form of ISO 21496-1.
    pub(super) acts: Vec<u8>,
    size: (u32, u32),
    sequence: Sequence,
    matrix: u8,
    full_range: bool,
}

impl CodedMap {
    /// Encodes a gain map. Returns `None` for maps that ISO 21496-1 cannot describe.
    pub(super) fn of(map: &GainMap, interrupt: &dyn Interrupt) -> Result<Option<Self>> {
        let Some(iso) = &map.params.iso else {
            return Ok(None);
        };
        guard::check_interrupt(interrupt)?;
        let how = Encode {
            quality: map.quality,
            ..Encode::default()
        };
        let settings = encode::settings(&map.frame, &how)?;
        let data = encode::bitstream(&map.frame, &settings)?;
        Ok(Some(Self {
            sequence: encode::sequence(&data)?,
            data,
            acts: [&[VERSION], &iso[..]].concat(),
            size: (map.frame.width, map.frame.height),
            matrix: settings.points[2],
            full_range: settings.full_range,
        }))
    }

    /// Writes the properties of the map. After each box it calls `next`, whose argument is whether the property is
    /// essential: readers that do not understand it must ignore the item.
    pub(super) fn write_map(
        &self,
        out: &mut Vec<u8>,
        still: &Still<'_>,
        mut next: impl FnMut(bool),
    ) {
        write_size(out, self.size);
        next(false);
        write_depth(out, &self.sequence);
        next(false);
        write_configuration(out, &self.sequence);
        next(true);
        write_points(out, [2, 2, self.matrix], self.full_range);
        next(false);
        still.write_turns(out, || next(true));
    }

    /// Writes the properties of the derived image: the base image's colours, with BT.2100's PQ as transfer. It has no
    /// orientation property, because the images from which it is derived are already upright.
    pub(super) fn write_derived(
        &self,
        out: &mut Vec<u8>,
        still: &Still<'_>,
        mut next: impl FnMut(),
    ) {
        write_size(out, still.orientation().size(still.width, still.height));
        next();
        write_depth(out, &still.sequence);
        next();
        let [primaries, _, matrix] = still.points;
        write_points(out, [primaries, PQ, matrix], still.full_range);
        next();
    }
}

fn write_size(out: &mut Vec<u8>, (width, height): (u32, u32)) {
    full(out, b"ispe", 0, 0, |out| {
        out.extend(width.to_be_bytes());
        out.extend(height.to_be_bytes());
    });
}

/// Writes the group of items that are alternatives to each other, the preferred one first.
pub(super) fn write_alternatives(out: &mut Vec<u8>, group: u16, items: [u16; 2]) {
    boxed(out, b"grpl", |out| {
        full(out, b"altr", 0, 0, |out| {
            for number in [group, items.len() as u16, items[0], items[1]] {
                out.extend(u32::from(number).to_be_bytes());
            }
        });
    });
}

const VERSION: u8 = 0;
const PQ: u8 = 16;
