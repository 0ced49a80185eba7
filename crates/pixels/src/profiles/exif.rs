//! EXIF: an image's orientation, author and owner. An EXIF block is a TIFF file without pixels.

use andon_recipe::Orientation;

/// EXIF tag of the orientation.
const ORIENTATION: u16 = 0x0112;

/// EXIF tags that name who made the image (Artist) and who owns it (Copyright).
const NAMES: [u16; 2] = [0x013b, 0x8298];

const TEXT: u16 = 2;
const SHORT: u16 = 3;

/// Size in bytes of a directory entry: tag, type, count and value.
pub(super) const ENTRY: usize = 12;

/// Returns an EXIF block with only the artist and copyright tags; `None` if there are none.
pub(super) fn reduced(tiff: &[u8]) -> Option<Vec<u8>> {
    let file = Tiff::of(tiff)?;
    let mut tags: Vec<(u16, u16, u32, Vec<u8>)> = Vec::new();
    for tag in NAMES {
        let text = file.entry(tag).and_then(|at| file.text(at));
        if let Some(text) = text.filter(|text| text.iter().any(|byte| !b" \0".contains(byte))) {
            tags.push((tag, TEXT, text.len() as u32, text.to_vec()));
        }
    }
    (!tags.is_empty()).then(|| block(tags))
}

/// Builds an EXIF block from tags, each given by its number, type, count and value.
fn block(tags: Vec<(u16, u16, u32, Vec<u8>)>) -> Vec<u8> {
    let mut block = b"II*\0\x08\0\0\0".to_vec();
    block.extend((tags.len() as u16).to_le_bytes());
    let mut end = block.len() + tags.len() * ENTRY + 4;
    let mut longer: Vec<u8> = Vec::new();
    for (tag, kind, count, mut value) in tags {
        block.extend(tag.to_le_bytes());
        block.extend(kind.to_le_bytes());
        block.extend(count.to_le_bytes());
        value.resize((value.len().max(4) + 1) & !1, 0);
        if value.len() == 4 {
            block.extend(value);
        } else {
            block.extend((end as u32).to_le_bytes());
            end += value.len();
            longer.extend(value);
        }
    }
    // The offset of the next directory: there is none.
    block.extend([0; 4]);
    block.extend(longer);
    block
}

/// Returns an EXIF block that holds only this orientation.
#[must_use]
pub fn block_of_orientation(orientation: Orientation) -> Vec<u8> {
    let number = orientation.exif().to_le_bytes().to_vec();
    block(vec![(ORIENTATION, SHORT, 1, number)])
}

/// Returns the orientation in the first directory of an EXIF block. As in browsers, only an entry of type SHORT with
/// exactly one value counts; without one, the orientation is upright.
#[must_use]
pub fn orientation_of(tiff: &[u8]) -> Orientation {
    let number = Tiff::of(tiff).and_then(|file| {
        let one_short = |at: &usize| file.u16(at + 2) == Some(SHORT) && file.u32(at + 4) == Some(1);
        let at = file.entries(ORIENTATION).find(one_short)?;
        file.u16(at + 8)
    });
    Orientation::from_exif(number.unwrap_or(1))
}

/// Returns the EXIF block with this orientation and no other. If there is no block that can hold it, returns a new one,
/// unless the orientation is upright.
pub(super) fn with_orientation(tiff: Option<Vec<u8>>, orientation: Orientation) -> Option<Vec<u8>> {
    let new_block = || (!orientation.is_upright()).then(|| block_of_orientation(orientation));
    let Some(mut tiff) = tiff else {
        return new_block();
    };
    let Some(file) = Tiff::of(&tiff) else {
        return new_block().or(Some(tiff));
    };
    let entry = file.entry_of(orientation);
    let places: Vec<usize> = file.entries(ORIENTATION).collect();
    for at in &places {
        // `entries` returns only entries that lie inside the block.
        tiff[*at..at + ENTRY].copy_from_slice(&entry);
    }
    let block = match places.is_empty() && !orientation.is_upright() {
        true => Tiff::of(&tiff).and_then(|file| file.and(&entry)),
        false => Some(tiff),
    };
    // In a block with overlapping parts, the written entry may have been overwritten.
    block
        .filter(|tiff| orientation_of(tiff) == orientation)
        .or_else(new_block)
}

/// An EXIF block and its byte order.
pub(super) struct Tiff<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl<'a> Tiff<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Option<Self> {
        let big = match bytes.get(..4)? {
            b"MM\0*" => true,
            b"II*\0" => false,
            _ => return None,
        };
        Some(Self { bytes, big })
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn is_big(&self) -> bool {
        self.big
    }

    pub(super) fn u16(&self, at: usize) -> Option<u16> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.big {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        })
    }

    pub(super) fn u32(&self, at: usize) -> Option<usize> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        let number = if self.big {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        };
        usize::try_from(number).ok()
    }

    /// Returns the offsets of a tag's entries in the first directory of the EXIF block, as far as they lie inside the
    /// block. There should be only one.
    fn entries(&self, tag: u16) -> impl Iterator<Item = usize> {
        let directory = self.u32(4);
        let count = directory.and_then(|at| self.u16(at)).unwrap_or(0);
        (0..usize::from(count))
            .map_while(move |index| directory?.checked_add(2 + index * ENTRY))
            .take_while(|at| {
                at.checked_add(ENTRY)
                    .is_some_and(|end| end <= self.bytes.len())
            })
            .filter(move |at| self.u16(*at) == Some(tag))
    }

    fn entry(&self, tag: u16) -> Option<usize> {
        self.entries(tag).next()
    }

    /// Returns a directory entry with this orientation, in the byte order of the EXIF block.
    fn entry_of(&self, orientation: Orientation) -> [u8; ENTRY] {
        let [tag, kind, number] =
            [ORIENTATION, SHORT, orientation.exif()].map(|value| self.pair(value));
        let mut entry = [0; ENTRY];
        entry[..2].copy_from_slice(&tag);
        entry[2..4].copy_from_slice(&kind);
        entry[4..8].copy_from_slice(&self.four(1));
        entry[8..10].copy_from_slice(&number);
        entry
    }

    /// Returns the EXIF block with one more entry in its first directory, which moves to the end of the block; `None`
    /// if that directory is incomplete.
    fn and(&self, entry: &[u8; ENTRY]) -> Option<Vec<u8>> {
        let directory = self.u32(4)?;
        let count = self.u16(directory)?;
        let from = directory.checked_add(2)?;
        let end = from.checked_add(usize::from(count) * ENTRY)?;
        let (entries, next) = (
            self.bytes.get(from..end)?,
            self.bytes.get(end..end.checked_add(4)?)?,
        );
        let mut block = self.bytes.to_vec();
        // Directories begin at even offsets.
        block.resize((block.len() + 1) & !1, 0);
        let moved = u32::try_from(block.len()).ok()?;
        block[4..8].copy_from_slice(&self.four(moved));
        block.extend(self.pair(count.checked_add(1)?));
        let mut all: Vec<&[u8]> = entries.chunks_exact(ENTRY).collect();
        let number = |entry: &[u8]| {
            Tiff {
                bytes: entry,
                big: self.big,
            }
            .u16(0)
        };
        // Entries are sorted by their tags.
        let place = all.iter().position(|other| number(other) > number(entry));
        all.insert(place.unwrap_or(all.len()), entry);
        block.extend(all.concat());
        block.extend(next);
        Some(block)
    }

    fn pair(&self, value: u16) -> [u8; 2] {
        if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn four(&self, value: u32) -> [u8; 4] {
        if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn text(&self, entry: usize) -> Option<&'a [u8]> {
        let length = self.u32(entry + 4)?;
        let start = if length <= 4 {
            entry + 8
        } else {
            self.u32(entry + 8)?
        };
        let text = self.bytes.get(start..start.checked_add(length)?)?;
        (self.u16(entry + 2)? == TEXT).then_some(text)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns an EXIF block of one directory with two entries, the second of which is the orientation.
    pub(crate) fn tiff(big_endian: bool, orientation: u16) -> Vec<u8> {
        let u16_bytes = |value: u16| {
            if big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
        };
        let u32_bytes = |value: u32| {
            if big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
        };
        let mut tiff = if big_endian {
            b"MM".to_vec()
        } else {
            b"II".to_vec()
        };
        tiff.extend(u16_bytes(42));
        tiff.extend(u32_bytes(8));
        tiff.extend(u16_bytes(2));
        for (tag, value) in [(0x0107, 640), (ORIENTATION, orientation)] {
            tiff.extend(u16_bytes(tag));
            tiff.extend(u16_bytes(3));
            tiff.extend(u32_bytes(1));
            tiff.extend(u16_bytes(value));
            tiff.extend([0, 0]);
        }
        tiff.extend(u32_bytes(0));
        tiff
    }

    #[test]
    fn no_broken_exif_block_is_a_problem() {
        let whole = tiff(true, 6);
        for orientation in [1, 6].map(Orientation::from_exif) {
            for length in 0..whole.len() {
                let cut = whole[..length].to_vec();
                let told = with_orientation(Some(cut), orientation).expect("a block");
                assert_eq!(orientation_of(&told), orientation, "{length}");
            }
            for index in 0..whole.len() {
                for value in [0x00, 0x7f, 0xff] {
                    let mut bent = whole.clone();
                    bent[index] = value;
                    let told = with_orientation(Some(bent), orientation).expect("a block");
                    assert_eq!(orientation_of(&told), orientation, "{index} {value}");
                }
            }
        }
    }

    #[test]
    fn an_orientation_of_another_type_than_short_is_none_and_is_corrected() {
        for big_endian in [false, true] {
            // The low byte of the type, and of the count.
            for (big, little, value) in [(3, 2, 4), (3, 2, 1), (7, 4, 2)] {
                let mut block = tiff(big_endian, 6);
                let at = Tiff::of(&block)
                    .and_then(|file| file.entry(ORIENTATION))
                    .unwrap();
                block[at + if big_endian { big } else { little }] = value;
                assert!(orientation_of(&block).is_upright(), "{big_endian} {value}");
                let told = with_orientation(Some(block), Orientation::from_exif(8));
                assert_eq!(told, Some(tiff(big_endian, 8)));
            }
        }
    }

    #[test]
    fn a_block_without_an_orientation_is_given_one_and_keeps_the_rest() {
        let names = reduced(&named()).expect("names");
        let told =
            with_orientation(Some(names.clone()), Orientation::from_exif(5)).expect("a block");
        assert_eq!(orientation_of(&told).exif(), 5);
        assert_eq!(reduced(&told), Some(names.clone()));
        assert_eq!(
            with_orientation(Some(names.clone()), Orientation::default()),
            Some(names)
        );
        assert_eq!(with_orientation(None, Orientation::default()), None);
        let alone = with_orientation(None, Orientation::from_exif(3)).expect("a block");
        assert_eq!(orientation_of(&alone).exif(), 3);
    }

    /// Returns an EXIF block with an orientation, an artist of two letters, a copyright notice of nine bytes, and a GPS
    /// directory.
    fn named() -> Vec<u8> {
        let mut block = b"MM\0*\0\0\0\x08\0\x04".to_vec();
        block.extend(b"\x01\x12\0\x03\0\0\0\x01\0\x06\0\0");
        block.extend(b"\x01\x3b\0\x02\0\0\0\x03me\0\0");
        block.extend(b"\x82\x98\0\x02\0\0\0\x09\0\0\0\x3e");
        block.extend(b"\x88\x25\0\x04\0\0\0\x01\0\0\0\x47");
        block.extend(b"\0\0\0\0(c) 2026\0GPS");
        block
    }

    #[test]
    fn names_are_kept_and_the_place_is_not() {
        let block = named();
        let kept = reduced(&block).expect("something to keep");
        let file = Tiff::of(&kept).expect("a block");
        assert_eq!(file.entry(0x8825), None);
        let text = |tag| file.text(file.entry(tag).expect("a name"));
        assert_eq!(text(0x013b), Some(&b"me\0"[..]));
        assert_eq!(text(0x8298), Some(&b"(c) 2026\0"[..]));
        assert_eq!(reduced(&kept), Some(kept), "once more");
        for length in 0..block.len() {
            let _ = reduced(&block[..length]);
        }
        for index in 0..block.len() {
            for value in [0x00, 0x7f, 0xff] {
                let mut bent = block.clone();
                bent[index] = value;
                let _ = reduced(&bent);
            }
        }
    }

    #[test]
    fn an_image_of_nobody_keeps_nothing() {
        assert_eq!(reduced(&tiff(false, 1)), None);
    }
}
