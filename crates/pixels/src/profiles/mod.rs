//! What has to change in a picture's profiles when its pixels do.

mod exif;
mod iptc;
mod xmp;

pub use exif::reset_orientation;

use andon_recipe::Kept;

use crate::frame::{Frame, Metadata, Model};

/// Leaves of the metadata what is kept, in line with the pixels that are written: upright ones, if they were turned.
pub(crate) fn settle(metadata: &mut Metadata, kept: Kept, turned_upright: bool) {
    match kept {
        Kept::None => *metadata = Metadata::default(),
        Kept::Copyright => {
            metadata.exif = metadata.exif.as_deref().and_then(exif::reduced);
            metadata.iptc = metadata.iptc.as_deref().and_then(iptc::reduced);
            metadata.xmp = metadata.xmp.as_deref().and_then(xmp::reduced);
        }
        Kept::All => metadata.xmp = metadata.xmp.as_deref().map(xmp::without_gain_map),
    }
    if turned_upright {
        if let Some(exif) = &mut metadata.exif {
            reset_orientation(exif);
        }
        if let Some(xmp) = &mut metadata.xmp {
            xmp::reset_orientation(xmp);
        }
    }
}

/// Does the frame's profile, if it has one, describe pictures of its model? Its header says so in bytes 16 to 19.
/// Viewers would show wrong colours by one of another model, or none.
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

    fn settled(orientation: u16, big_endian: bool, turned_upright: bool) -> Option<Vec<u8>> {
        let mut metadata = Metadata {
            exif: Some(tiff(big_endian, orientation)),
            ..Metadata::default()
        };
        settle(&mut metadata, Kept::All, turned_upright);
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
    fn a_profile_of_another_model_is_dropped() {
        let mut cmyk = vec![0; 128];
        cmyk[16..20].copy_from_slice(b"CMYK");
        let kept = |model| describes(&pixel(model).with_colour(Colour::profiled(cmyk.clone())));
        assert!(kept(Model::Cmyk));
        assert!(!kept(Model::ycbcr(Subsampling::C420)));
    }
}
