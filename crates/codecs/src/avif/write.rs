//! The container of a still picture: ISO 23008-12 with the items of AVIF.

use andon_pixels::{Metadata, Orientation};

use super::dav1d::{Layout, Sequence};
use super::header::ALPHA;

/// A picture that has been coded.
pub(super) struct Still<'a> {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) sequence: Sequence,
    pub(super) colour: &'a [u8],
    /// The coded opacity, with its sequence header.
    pub(super) alpha: Option<(&'a [u8], Sequence)>,
    /// Primaries, transfer, matrix.
    pub(super) points: [u8; 3],
    pub(super) full_range: bool,
    pub(super) metadata: &'a Metadata,
}

/// The numbers of the items.
const COLOUR: u16 = 1;
const OPACITY: u16 = 2;
const EXIF: u16 = 3;
const XMP: u16 = 4;

impl Still<'_> {
    /// The file.
    pub(super) fn file(&self) -> Vec<u8> {
        // Exif blocks are preceded by how far from here their TIFF header is.
        let exif = self.metadata.exif.as_ref();
        let exif = exif.map(|tiff| [&[0; 4], tiff.as_slice()].concat());
        let mut items: Vec<(u16, [u8; 4], &[u8])> = vec![(COLOUR, *b"av01", self.colour)];
        if let Some((alpha, _)) = self.alpha {
            items.push((OPACITY, *b"av01", alpha));
        }
        if let Some(exif) = &exif {
            items.push((EXIF, *b"Exif", exif));
        }
        if let Some(xmp) = &self.metadata.xmp {
            items.push((XMP, *b"mime", xmp));
        }
        let mut out = Vec::with_capacity(self.colour.len() + 1024);
        boxed(&mut out, b"ftyp", |out| self.brands(out));
        let mut places = Vec::new();
        full(&mut out, b"meta", 0, 0, |out| {
            full(out, b"hdlr", 0, 0, |out| {
                out.extend(*b"\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0\0");
            });
            full(out, b"pitm", 0, 0, |out| out.extend(COLOUR.to_be_bytes()));
            full(out, b"iloc", 0, 0, |out| {
                // Offsets and lengths of four bytes, no base.
                out.extend([0x44, 0]);
                out.extend((items.len() as u16).to_be_bytes());
                for (id, _, data) in &items {
                    out.extend(id.to_be_bytes());
                    out.extend([0, 0, 0, 1]);
                    places.push(out.len());
                    out.extend([0; 4]);
                    out.extend((data.len() as u32).to_be_bytes());
                }
            });
            full(out, b"iinf", 0, 0, |out| {
                out.extend((items.len() as u16).to_be_bytes());
                for (id, kind, _) in &items {
                    full(out, b"infe", 2, 0, |out| {
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
            if items.len() > 1 {
                full(out, b"iref", 0, 0, |out| {
                    for (id, ..) in &items[1..] {
                        let kind = if *id == OPACITY { b"auxl" } else { b"cdsc" };
                        boxed(out, kind, |out| {
                            for number in [*id, 1, COLOUR] {
                                out.extend(number.to_be_bytes());
                            }
                        });
                    }
                });
            }
            boxed(out, b"iprp", |out| self.properties(out));
        });
        // The data begins behind the header of its box.
        let mut at = out.len() + 8;
        for (place, (_, _, data)) in places.iter().zip(&items) {
            out[*place..*place + 4].copy_from_slice(&(at as u32).to_be_bytes());
            at += data.len();
        }
        boxed(&mut out, b"mdat", |out| {
            for (_, _, data) in &items {
                out.extend_from_slice(data);
            }
        });
        out
    }

    fn brands(&self, out: &mut Vec<u8>) {
        out.extend(*b"avif\0\0\0\0avifmif1miaf");
        match (self.sequence.profile, self.sequence.layout) {
            (0, _) => out.extend(b"MA1B"),
            (1, Layout::C444) => out.extend(b"MA1A"),
            _ => {}
        }
    }

    fn properties(&self, out: &mut Vec<u8>) {
        let mut colour = Vec::new();
        let mut alpha = Vec::new();
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
            boxed(out, b"colr", |out| {
                out.extend(b"nclx");
                for point in self.points {
                    out.extend(u16::from(point).to_be_bytes());
                }
                out.push(u8::from(self.full_range) << 7);
            });
            colour.push(next(0));
            if let Some(icc) = &self.metadata.icc {
                boxed(out, b"colr", |out| {
                    out.extend(b"prof");
                    out.extend_from_slice(icc);
                });
                colour.push(next(0));
            }
            let exif = self.metadata.exif.as_deref();
            let orientation = exif.map_or_else(Orientation::default, crate::exif::orientation);
            // Turned first and mirrored then, where EXIF has it the other way round.
            let turns = match orientation.mirror {
                true => orientation.quarters,
                false => (4 - orientation.quarters) % 4,
            };
            if turns > 0 {
                boxed(out, b"irot", |out| out.push(turns));
                colour.push(next(ESSENTIAL));
            }
            if orientation.mirror {
                boxed(out, b"imir", |out| out.push(1));
                colour.push(next(ESSENTIAL));
            }
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
        });
        let items: Vec<_> = [(COLOUR, colour), (OPACITY, alpha)]
            .into_iter()
            .filter(|(_, own)| !own.is_empty())
            .collect();
        full(out, b"ipma", 0, 0, |out| {
            out.extend((items.len() as u32).to_be_bytes());
            for (id, own) in items {
                out.extend(id.to_be_bytes());
                out.push(own.len() as u8);
                out.extend(own);
            }
        });
    }
}

fn write_depth(out: &mut Vec<u8>, sequence: &Sequence) {
    full(out, b"pixi", 0, 0, |out| {
        let planes = sequence.layout.planes();
        out.push(planes as u8);
        out.extend(vec![sequence.bits; planes]);
    });
}

/// What decoders look at before they take a picture.
pub(super) fn write_configuration(out: &mut Vec<u8>, sequence: &Sequence) {
    let (across, down) = match sequence.layout {
        // Without chroma it is said to be thinned both ways.
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

/// A box around what is written inside.
pub(super) fn boxed(out: &mut Vec<u8>, kind: &[u8; 4], inside: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([0; 4]);
    out.extend(kind);
    inside(out);
    let size = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&size.to_be_bytes());
}

/// The same with version and flags.
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
