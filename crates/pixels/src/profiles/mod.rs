//! Changes to an image's metadata that follow from changes to its pixels.

mod exif;
mod images;
mod iptc;
mod places;
mod xmp;

pub use exif::{block_of_orientation, orientation_of};

use andon_recipe::{Kept, Orientation};

use crate::frame::{Frame, Metadata, Model};

/// Reduces the metadata to what `kept` allows, and makes EXIF and XMP declare the orientation of the pixels that are
/// written, whatever they declared for the source's.
pub(crate) fn settle(metadata: &mut Metadata, kept: Kept, orientation: Orientation) {
    match kept {
        Kept::None => *metadata = Metadata::default(),
        Kept::Copyright => {
            metadata.exif = metadata.exif.as_deref().and_then(exif::reduced);
            metadata.iptc = metadata.iptc.as_deref().and_then(iptc::reduced);
            metadata.xmp = metadata.xmp.as_deref().and_then(xmp::reduced);
        }
        Kept::Public | Kept::All => {
            let place = kept == Kept::Public;
            let exif = metadata.exif.as_deref();
            metadata.exif = exif.and_then(|exif| images::without(exif, place));
            let iptc = metadata.iptc.as_deref();
            metadata.iptc = iptc.and_then(|iptc| iptc::without_preview(iptc, place));
            let xmp = metadata.xmp.as_deref();
            metadata.xmp = xmp.and_then(|xmp| xmp::without_images(xmp, place));
        }
    }
    metadata.exif = exif::with_orientation(metadata.exif.take(), orientation);
    if let Some(xmp) = &mut metadata.xmp {
        xmp::set_orientation(xmp, orientation);
    }
}

/// Whether the frame's ICC profile, if it has one, describes images of the frame's model; bytes 16 to 19 of the
/// profile's header name the model. With a profile for another model, viewers would show wrong colours, or none.
pub(crate) fn describes(frame: &Frame) -> bool {
    let space: &[u8] = match frame.model {
        Model::Gray => b"GRAY",
        Model::YCbCr { .. } | Model::Rgb => b"RGB ",
        Model::Cmyk => b"CMYK",
    };
    match &frame.colour.icc {
        Some(icc) => icc.get(16..20) == Some(space),
        None => !frame.colour.space.profiled,
    }
}

#[cfg(test)]
mod tests {
    use super::exif::tests::tiff;
    use super::*;
    use crate::frame::{Depth, Plane, Subsampling};
    use crate::space::Colour;

    fn pixel(model: Model) -> Frame {
        let planes = (0..model.planes()).map(|_| Plane::filled(Depth::U8, 1, 1, 0));
        Frame::new(model, 1, 1, planes.collect(), None).unwrap()
    }

    fn settled(before: u16, big_endian: bool, after: u16) -> Option<Vec<u8>> {
        let mut metadata = Metadata {
            exif: Some(tiff(big_endian, before)),
            ..Metadata::default()
        };
        settle(&mut metadata, Kept::All, Orientation::from_exif(after));
        metadata.exif
    }

    #[test]
    fn metadata_says_the_orientation_that_is_left_in_either_byte_order() {
        for big_endian in [false, true] {
            for (before, after) in [(6, 1), (6, 6), (1, 8), (9, 3)] {
                let expected = Some(tiff(big_endian, after));
                assert_eq!(settled(before, big_endian, after), expected);
            }
        }
    }

    #[test]
    fn a_turn_is_said_where_nothing_else_is_kept() {
        let mut metadata = Metadata::default();
        settle(&mut metadata, Kept::Copyright, Orientation::from_exif(6));
        let exif = metadata.exif.expect("a block");
        assert_eq!(orientation_of(&exif), Orientation::from_exif(6));
    }

    #[test]
    fn a_profile_of_another_model_is_dropped() {
        let mut cmyk = vec![0; 128];
        cmyk[16..20].copy_from_slice(b"CMYK");
        let kept = |model| describes(&pixel(model).with_colour(Colour::profiled(cmyk.clone())));
        assert!(kept(Model::Cmyk));
        assert!(!kept(Model::ycbcr(Subsampling::C420)));
    }
}
