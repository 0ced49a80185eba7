//! EXIF: which way is up, and whose picture it is. An EXIF block is a TIFF file without pixels.

/// The tag for the orientation.
const ORIENTATION: u16 = 0x0112;

/// Those for who made the picture and who owns it.
const NAMES: [u16; 2] = [0x013b, 0x8298];

const TEXT: u16 = 2;
const SHORT: u16 = 3;

/// Bytes of one entry of a directory: tag, type, count, value.
const ENTRY: usize = 12;

/// A block with no more than names and, unless that is upright, the orientation; `None` if there is neither.
pub(super) fn reduced(tiff: &[u8]) -> Option<Vec<u8>> {
    let file = Tiff::of(tiff)?;
    let mut kept: Vec<(u16, u16, u32, Vec<u8>)> = Vec::new();
    let orientation = file.entry(ORIENTATION).and_then(|at| file.u16(at + 8));
    if let Some(turned @ 2..=8) = orientation {
        kept.push((ORIENTATION, SHORT, 1, turned.to_le_bytes().to_vec()));
    }
    for tag in NAMES {
        let text = file.entry(tag).and_then(|at| file.text(at));
        if let Some(text) = text.filter(|text| text.iter().any(|byte| !b" \0".contains(byte))) {
            kept.push((tag, TEXT, text.len() as u32, text.to_vec()));
        }
    }
    if kept.is_empty() {
        return None;
    }
    let mut block = b"II*\0\x08\0\0\0".to_vec();
    block.extend((kept.len() as u16).to_le_bytes());
    let mut end = block.len() + kept.len() * ENTRY + 4;
    let mut longer: Vec<u8> = Vec::new();
    for (tag, kind, count, mut value) in kept {
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
    // No further directory.
    block.extend([0; 4]);
    block.extend(longer);
    Some(block)
}

/// Sets the orientation in the first directory to upright. A block that breaks the rules is left alone: it says no
/// orientation that anybody could read.
pub fn reset_orientation(tiff: &mut [u8]) {
    let value = Tiff::of(tiff).and_then(|file| Some((file.entry(ORIENTATION)? + 8, file.big)));
    if let Some((at, big)) = value
        && let Some(value) = tiff.get_mut(at..at + 2)
    {
        value.copy_from_slice(&if big { [0, 1] } else { [1, 0] });
    }
}

struct Tiff<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl<'a> Tiff<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let big = match bytes.get(..2)? {
            b"MM" => true,
            b"II" => false,
            _ => return None,
        };
        Some(Self { bytes, big })
    }

    fn u16(&self, at: usize) -> Option<u16> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.big {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        })
    }

    fn u32(&self, at: usize) -> Option<usize> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        let number = if self.big {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        };
        usize::try_from(number).ok()
    }

    /// Where a tag's entry stands in the first directory, whole.
    fn entry(&self, tag: u16) -> Option<usize> {
        let directory = self.u32(4)?;
        let entries = usize::from(self.u16(directory)?);
        for index in 0..entries {
            let entry = directory.checked_add(2 + index * ENTRY)?;
            if self.u16(entry)? == tag {
                return self
                    .bytes
                    .get(entry..entry.checked_add(ENTRY)?)
                    .map(|_| entry);
            }
        }
        None
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

    /// One directory with two entries, the second the orientation.
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
        for (tag, value) in [(0x0100, 640), (ORIENTATION, orientation)] {
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
        for length in 0..whole.len() {
            let mut cut = whole[..length].to_vec();
            reset_orientation(&mut cut);
        }
        for index in 0..whole.len() {
            for value in [0x00, 0x7f, 0xff] {
                let mut bent = whole.clone();
                bent[index] = value;
                reset_orientation(&mut bent);
                assert_eq!(bent.len(), whole.len());
            }
        }
    }

    #[test]
    fn names_and_a_turn_are_kept_and_the_place_is_not() {
        // Orientation, artist of two letters, copyright of nine, and a GPS directory.
        let mut block = b"MM\0*\0\0\0\x08\0\x04".to_vec();
        block.extend(b"\x01\x12\0\x03\0\0\0\x01\0\x06\0\0");
        block.extend(b"\x01\x3b\0\x02\0\0\0\x03me\0\0");
        block.extend(b"\x82\x98\0\x02\0\0\0\x09\0\0\0\x3e");
        block.extend(b"\x88\x25\0\x04\0\0\0\x01\0\0\0\x47");
        block.extend(b"\0\0\0\0(c) 2026\0GPS");
        let kept = reduced(&block).expect("something to keep");
        let file = Tiff::of(&kept).expect("a block");
        assert_eq!(file.entry(0x8825), None);
        assert_eq!(
            file.u16(file.entry(ORIENTATION).expect("a turn") + 8),
            Some(6)
        );
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
    fn an_upright_picture_of_nobody_keeps_nothing() {
        assert_eq!(reduced(&tiff(false, 1)), None);
        assert!(reduced(&tiff(false, 3)).is_some());
    }
}
