//! What has to change in a picture's profiles when its pixels do.

use crate::frame::{Frame, Metadata, Model};
use crate::space::Colour;

/// EXIF's tag for the orientation.
const ORIENTATION: u16 = 0x0112;

/// Bytes of one entry of a TIFF directory: tag, type, count, value.
const ENTRY: usize = 12;

/// Brings profiles in line with the pixels that are written: upright ones, if they were turned, and of
/// this model. An ICC profile of another model than the pixels' would make viewers show wrong colours
/// or none, so it is dropped.
pub(crate) fn settle(metadata: &mut Metadata, frame: &mut Frame, turned_upright: bool) {
    if turned_upright && let Some(exif) = &mut metadata.exif {
        reset_orientation(exif);
    }
    if let Some(icc) = &frame.colour.icc
        && !describes(icc, frame.model)
    {
        frame.colour = Colour::default();
    }
}

/// Does an ICC profile describe pictures of this model? Its header says so in bytes 16 to 19.
fn describes(icc: &[u8], model: Model) -> bool {
    let space: &[u8] = match model {
        Model::Gray => b"GRAY",
        Model::YCbCr { .. } | Model::Rgb => b"RGB ",
        Model::Cmyk => b"CMYK",
    };
    icc.get(16..20) == Some(space)
}

/// Sets the orientation in the first directory of a TIFF block to upright. A block that breaks the
/// rules is left alone: it says no orientation that anybody could read.
fn reset_orientation(tiff: &mut [u8]) {
    if let Some((at, big_endian)) = orientation_value(tiff)
        && let Some(value) = tiff.get_mut(at..at + 2)
    {
        value.copy_from_slice(&if big_endian { [0, 1] } else { [1, 0] });
    }
}

/// Where the orientation's value stands, and in which byte order.
fn orientation_value(tiff: &[u8]) -> Option<(usize, bool)> {
    let big_endian = match tiff.get(..2)? {
        b"MM" => true,
        b"II" => false,
        _ => return None,
    };
    let u16_at = |at: usize| -> Option<u16> {
        let bytes: [u8; 2] = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if big_endian {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        })
    };
    let offset: [u8; 4] = tiff.get(4..8)?.try_into().ok()?;
    let directory = if big_endian {
        u32::from_be_bytes(offset)
    } else {
        u32::from_le_bytes(offset)
    } as usize;
    let entries = usize::from(u16_at(directory)?);
    for index in 0..entries {
        let entry = directory.checked_add(2 + index * ENTRY)?;
        if u16_at(entry)? == ORIENTATION {
            return Some((entry.checked_add(8)?, big_endian));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Depth, Plane, Subsampling};

    /// One directory with two entries, the second the orientation.
    fn tiff(big_endian: bool, orientation: u16) -> Vec<u8> {
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

    fn pixel(model: Model) -> Frame {
        let planes = (0..model.planes()).map(|_| Plane::filled(Depth::U8, 1, 1, 0));
        Frame::new(model, 1, 1, planes.collect(), None)
    }

    fn settled(orientation: u16, big_endian: bool, turned_upright: bool) -> Option<Vec<u8>> {
        let mut metadata = Metadata {
            icc: None,
            exif: Some(tiff(big_endian, orientation)),
        };
        settle(&mut metadata, &mut pixel(Model::Rgb), turned_upright);
        metadata.exif
    }

    #[test]
    fn a_picture_turned_upright_says_so_in_either_byte_order() {
        for big_endian in [false, true] {
            assert_eq!(settled(6, big_endian, true), Some(tiff(big_endian, 1)));
        }
    }

    #[test]
    fn a_picture_that_was_not_turned_upright_keeps_its_orientation() {
        assert_eq!(settled(6, false, false), Some(tiff(false, 6)));
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
    fn a_profile_of_another_model_is_dropped() {
        let mut cmyk = vec![0; 128];
        cmyk[16..20].copy_from_slice(b"CMYK");
        let kept = |model| {
            let mut frame = pixel(model).with_colour(Colour::profiled(cmyk.clone()));
            settle(&mut Metadata::default(), &mut frame, false);
            frame.colour.icc.is_some()
        };
        assert!(kept(Model::Cmyk));
        assert!(!kept(Model::ycbcr(Subsampling::C420)));
    }
}
