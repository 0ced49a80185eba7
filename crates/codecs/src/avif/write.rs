//! Writing of the container of a still image, or of the first image of a sequence: ISO 23008-12 with the items of AVIF.

use andon_pixels::{Metadata, Orientation, orientation_of};

use super::dav1d::{Layout, Sequence};
use super::gain_map::{self, CodedMap};
use super::header::ALPHA;
use super::tracks::Movie;

/// A coded image, ready to be written.
pub(super) struct Still<'a> {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) sequence: Sequence,
    pub(super) colour: &'a [u8],
    /// The coded opacity, with its sequence header.
    pub(super) alpha: Option<(&'a [u8], Sequence)>,
    /// Code points of primaries, transfer and matrix.
    pub(super) points: [u8; 3],
    pub(super) full_range: bool,
    pub(super) metadata: &'a Metadata,
    pub(super) gain_map: Option<&'a CodedMap>,
}

/// Item ID of the coded colours. The other items have the following IDs.
const COLOUR: u16 = 1;
const OPACITY: u16 = 2;
const EXIF: u16 = 3;
const XMP: u16 = 4;
/// Item ID of the derived image, which results from the gain map and the base image. The map has the next ID.
const DERIVED: u16 = 5;
const GAIN_MAP: u16 = 6;
/// ID of the group that contains the base image and its alternative, the derived image.
const ALTERNATIVES: u16 = 7;

/// An item: its ID, type and bytes.
type Item<'a> = (u16, [u8; 4], &'a [u8]);

impl Still<'_> {
    /// Returns the bytes of the whole file.
    pub(super) fn file(&self) -> Vec<u8> {
        let exif = self.exif();
        let items = self.items(exif.as_deref());
        let length = items.iter().map(|(_, _, data)| data.len()).sum();
        let mut out = self.head(&items, None, length);
        out.reserve(length);
        for (_, _, data) in &items {
            out.extend_from_slice(data);
        }
        out
    }

    /// Returns the beginning of a file with a sequence whose first image is this one: all boxes before the data.
    /// `length` is that of the data in bytes. The data must begin with the bytes of this image's items, in the order in
    /// which [`Still::file`] writes them.
    pub(super) fn sequence_head(&self, movie: &Movie, length: usize) -> Vec<u8> {
        let exif = self.exif();
        self.head(&self.items(exif.as_deref()), Some(movie), length)
    }

    /// Returns the data of the Exif item: four bytes with the offset of the TIFF header, which is 0, followed by the
    /// TIFF block.
    pub(super) fn exif(&self) -> Option<Vec<u8>> {
        let exif = self.metadata.exif.as_ref();
        exif.map(|tiff| [&[0; 4], tiff.as_slice()].concat())
    }

    fn items<'a>(&'a self, exif: Option<&'a [u8]>) -> Vec<Item<'a>> {
        let mut items: Vec<Item<'_>> = vec![(COLOUR, *b"av01", self.colour)];
        if let Some((alpha, _)) = self.alpha {
            items.push((OPACITY, *b"av01", alpha));
        }
        if let Some(exif) = exif {
            items.push((EXIF, *b"Exif", exif));
        }
        if let Some(xmp) = &self.metadata.xmp {
            items.push((XMP, *b"mime", xmp));
        }
        if let Some(map) = self.gain_map {
            items.push((DERIVED, *b"tmap", &map.acts));
            items.push((GAIN_MAP, *b"av01", &map.data));
        }
        items
    }

    /// Writes all boxes before the data. The data are `length` bytes long and begin with the items.
    fn head(&self, items: &[Item<'_>], movie: Option<&Movie>, length: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(1024);
        let mut places = Vec::new();
        boxed(&mut out, b"ftyp", |out| self.brands(out, movie.is_some()));
        full(&mut out, b"meta", 0, 0, |out| {
            full(out, b"hdlr", 0, 0, |out| {
                out.extend(*b"\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0\0");
            });
            full(out, b"pitm", 0, 0, |out| out.extend(COLOUR.to_be_bytes()));
            places = write_places(out, items);
            write_kinds(out, items);
            write_references(out, items);
            boxed(out, b"iprp", |out| self.properties(out));
            if self.gain_map.is_some() {
                gain_map::write_alternatives(out, ALTERNATIVES, [DERIVED, COLOUR]);
            }
        });
        if let Some(movie) = movie {
            movie.write(&mut out, self, &mut places);
        }
        out.extend((length as u32 + 8).to_be_bytes());
        out.extend(b"mdat");
        for (place, at) in places {
            let offset = (out.len() + at) as u32;
            out[place..place + 4].copy_from_slice(&offset.to_be_bytes());
        }
        out
    }

    fn brands(&self, out: &mut Vec<u8>, moves: bool) {
        let brands = if moves {
            &b"avis\0\0\0\0avifavismsf1iso8mif1miaf"[..]
        } else {
            b"avif\0\0\0\0avifmif1miaf"
        };
        out.extend(brands);
        match (self.sequence.profile, self.sequence.layout) {
            (0, _) => out.extend(b"MA1B"),
            (1, Layout::C444) => out.extend(b"MA1A"),
            _ => {}
        }
        if self.gain_map.is_some() {
            out.extend(b"tmap");
        }
    }

    fn properties(&self, out: &mut Vec<u8>) {
        let mut colour = Vec::new();
        let mut alpha = Vec::new();
        let (mut derived, mut map) = (Vec::new(), Vec::new());
        let mut count = 0_u8;
        const ESSENTIAL: u8 = 0x80;
        boxed(out, b"ipco", |out| {
            let mut next = |essential: u8| {
                count += 1;
                count | essential
            };
            full(out, b"ispe", 0, 0, |out| {
                out.extend(self.width.to_be_bytes());
                out.extend(self.height.to_be_bytes());
            });
            let size = next(0);
            colour.push(size);
            write_depth(out, &self.sequence);
            colour.push(next(0));
            write_configuration(out, &self.sequence);
            colour.push(next(ESSENTIAL));
            self.write_colour(out, || colour.push(next(0)));
            self.write_turns(out, || colour.push(next(ESSENTIAL)));
            if let Some((_, sequence)) = &self.alpha {
                alpha.push(size);
                write_depth(out, sequence);
                alpha.push(next(0));
                write_configuration(out, sequence);
                alpha.push(next(ESSENTIAL));
                full(out, b"auxC", 0, 0, |out| {
                    out.extend(ALPHA[0]);
                    out.push(0);
                });
                alpha.push(next(0));
            }
            if let Some(coded) = self.gain_map {
                coded.write_derived(out, self, || derived.push(next(0)));
                coded.write_map(out, self, |essential| {
                    map.push(next(if essential { ESSENTIAL } else { 0 }));
                });
            }
        });
        let items: Vec<_> = [
            (COLOUR, colour),
            (OPACITY, alpha),
            (DERIVED, derived),
            (GAIN_MAP, map),
        ]
        .into_iter()
        .filter(|(_, properties)| !properties.is_empty())
        .collect();
        full(out, b"ipma", 0, 0, |out| {
            out.extend((items.len() as u32).to_be_bytes());
            for (id, properties) in items {
                out.extend(id.to_be_bytes());
                out.push(properties.len() as u8);
                out.extend(properties);
            }
        });
    }

    /// Writes the properties for the colours (`colr` boxes), and calls `next` after each box, so that the caller can
    /// assign the property to an item.
    pub(super) fn write_colour(&self, out: &mut Vec<u8>, mut next: impl FnMut()) {
        write_points(out, self.points, self.full_range);
        next();
        if let Some(icc) = &self.metadata.icc {
            boxed(out, b"colr", |out| {
                out.extend(b"prof");
                out.extend_from_slice(icc);
            });
            next();
        }
    }

    pub(super) fn orientation(&self) -> Orientation {
        let exif = self.metadata.exif.as_deref();
        exif.map_or_else(Orientation::default, orientation_of)
    }

    /// Writes the orientation as `irot` and `imir` boxes, and calls `next` after each box, so that the caller can
    /// assign the property to an item.
    pub(super) fn write_turns(&self, out: &mut Vec<u8>, mut next: impl FnMut()) {
        let orientation = self.orientation();
        // HEIF rotates first and mirrors second; EXIF has the opposite order.
        let turns = match orientation.mirror {
            true => orientation.quarters,
            false => (4 - orientation.quarters) % 4,
        };
        if turns > 0 {
            boxed(out, b"irot", |out| out.push(turns));
            next();
        }
        if orientation.mirror {
            boxed(out, b"imir", |out| out.push(1));
            next();
        }
    }
}

/// Writes the locations of the items. Returns, for each offset that has to be filled in, its position in `out`, and its
/// value relative to the beginning of the data.
fn write_places(out: &mut Vec<u8>, items: &[Item<'_>]) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    let mut at = 0;
    full(out, b"iloc", 0, 0, |out| {
        // Offsets and lengths have four bytes; there is no base offset.
        out.extend([0x44, 0]);
        out.extend((items.len() as u16).to_be_bytes());
        for (id, _, data) in items {
            out.extend(id.to_be_bytes());
            out.extend([0, 0, 0, 1]);
            places.push((out.len(), at));
            at += data.len();
            out.extend([0; 4]);
            out.extend((data.len() as u32).to_be_bytes());
        }
    });
    places
}

/// Writes the types of the items.
fn write_kinds(out: &mut Vec<u8>, items: &[Item<'_>]) {
    full(out, b"iinf", 0, 0, |out| {
        out.extend((items.len() as u16).to_be_bytes());
        for (id, kind, _) in items {
            // The gain map is only part of the derived image, so it is hidden.
            let flags = u32::from(*id == GAIN_MAP);
            full(out, b"infe", 2, flags, |out| {
                out.extend(id.to_be_bytes());
                out.extend([0, 0]);
                out.extend(kind);
                out.push(0);
                if *id == XMP {
                    out.extend(b"application/rdf+xml\0");
                }
            });
        }
    });
}

/// Writes the references between items, if there are several items.
fn write_references(out: &mut Vec<u8>, items: &[Item<'_>]) {
    if items.len() == 1 {
        return;
    }
    full(out, b"iref", 0, 0, |out| {
        for (id, ..) in &items[1..] {
            let (kind, to) = match *id {
                GAIN_MAP => continue,
                OPACITY => (b"auxl", &[COLOUR][..]),
                DERIVED => (b"dimg", &[COLOUR, GAIN_MAP][..]),
                _ => (b"cdsc", &[COLOUR][..]),
            };
            boxed(out, kind, |out| {
                for number in [*id, to.len() as u16].iter().chain(to) {
                    out.extend(number.to_be_bytes());
                }
            });
        }
    });
}

/// Writes a `colr` box with the code points of primaries, transfer and matrix.
pub(super) fn write_points(out: &mut Vec<u8>, points: [u8; 3], full_range: bool) {
    boxed(out, b"colr", |out| {
        out.extend(b"nclx");
        for point in points {
            out.extend(u16::from(point).to_be_bytes());
        }
        out.push(u8::from(full_range) << 7);
    });
}

pub(super) fn write_depth(out: &mut Vec<u8>, sequence: &Sequence) {
    full(out, b"pixi", 0, 0, |out| {
        let planes = sequence.layout.planes();
        out.push(planes as u8);
        out.extend(vec![sequence.bits; planes]);
    });
}

/// Writes the `av1C` box, which decoders check before they accept an image.
pub(super) fn write_configuration(out: &mut Vec<u8>, sequence: &Sequence) {
    let (across, down) = match sequence.layout {
        // The specification requires both subsampling flags for images without chroma.
        Layout::Gray => (2, 2),
        layout => layout.spans(1),
    };
    let flag = |set: bool, bit: u8| u8::from(set) << bit;
    boxed(out, b"av1C", |out| {
        out.push(0x81);
        out.push(sequence.profile << 5 | sequence.level);
        out.push(
            flag(sequence.tier > 0, 7)
                | flag(sequence.bits > 8, 6)
                | flag(sequence.bits > 10, 5)
                | flag(sequence.layout == Layout::Gray, 4)
                | flag(across > 1, 3)
                | flag(down > 1, 2),
        );
        out.push(0);
    });
}

/// Writes a box whose content `inside` writes.
pub(super) fn boxed(out: &mut Vec<u8>, kind: &[u8; 4], inside: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([0; 4]);
    out.extend(kind);
    inside(out);
    let size = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&size.to_be_bytes());
}

/// Writes a box with version and flags, whose content `inside` writes.
pub(super) fn full(
    out: &mut Vec<u8>,
    kind: &[u8; 4],
    version: u8,
    flags: u32,
    inside: impl FnOnce(&mut Vec<u8>),
) {
    boxed(out, kind, |out| {
        out.extend((u32::from(version) << 24 | flags).to_be_bytes());
        inside(out);
    });
}
