//! The one EXIF field that pixels depend on: orientation.

use andon_pixels::Orientation;

/// The orientation in a TIFF block (no `Exif\0\0` before it); upright when it is absent or unreadable.
pub(crate) fn orientation(tiff: &[u8]) -> Orientation {
    Orientation::from_exif(find_orientation(tiff).unwrap_or(1))
}

/// A TIFF block, wherever a writer left the JPEG prefix in front of it.
pub(crate) fn without_prefix(exif: &[u8]) -> &[u8] {
    exif.strip_prefix(b"Exif\0\0").unwrap_or(exif)
}

const ORIENTATION: u16 = 0x0112;
const SHORT: u16 = 3;
const ENTRY_BYTES: usize = 12;

fn find_orientation(tiff: &[u8]) -> Option<u16> {
    let big = match tiff.get(..4)? {
        b"MM\0*" => true,
        b"II*\0" => false,
        _ => return None,
    };
    let short = |at: usize| -> Option<u16> {
        let pair = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if big {
            u16::from_be_bytes(pair)
        } else {
            u16::from_le_bytes(pair)
        })
    };
    let directory = {
        let four = tiff.get(4..8)?.try_into().ok()?;
        let offset = if big {
            u32::from_be_bytes(four)
        } else {
            u32::from_le_bytes(four)
        };
        offset as usize
    };
    let count = usize::from(short(directory)?);
    (0..count)
        .map_while(|index| directory.checked_add(2 + index * ENTRY_BYTES))
        .find(|&entry| short(entry) == Some(ORIENTATION))
        .filter(|&entry| short(entry + 2) == Some(SHORT))
        .and_then(|entry| short(entry + 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiff(big: bool, value: u16) -> Vec<u8> {
        let short = |v: u16| {
            if big {
                v.to_be_bytes()
            } else {
                v.to_le_bytes()
            }
        };
        let long = |v: u32| {
            if big {
                v.to_be_bytes()
            } else {
                v.to_le_bytes()
            }
        };
        let mut out = Vec::new();
        out.extend(if big { b"MM" } else { b"II" });
        out.extend(short(42));
        out.extend(long(8));
        out.extend(short(1));
        out.extend(short(ORIENTATION));
        out.extend(short(SHORT));
        out.extend(long(1));
        out.extend(short(value));
        out.extend([0, 0]);
        out.extend(long(0));
        out
    }

    #[test]
    fn both_byte_orders_are_read() {
        for big in [false, true] {
            for value in 1..=8 {
                assert_eq!(
                    orientation(&tiff(big, value)),
                    Orientation::from_exif(value)
                );
            }
        }
    }

    #[test]
    fn every_prefix_is_upright_or_right() {
        let whole = tiff(true, 6);
        for end in 0..whole.len() {
            let read = orientation(&whole[..end]);
            assert!(read.is_upright() || read == Orientation::from_exif(6));
        }
    }

    #[test]
    fn a_directory_outside_the_block_is_upright() {
        let mut block = tiff(false, 6);
        block[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(orientation(&block).is_upright());
    }

    #[test]
    fn the_jpeg_prefix_is_dropped() {
        assert_eq!(without_prefix(b"Exif\0\0MM"), b"MM");
        assert_eq!(without_prefix(b"MM"), b"MM");
    }
}
