//! Colour spaces of JPEG XL. Enumerated spaces become code points, all others ICC profiles.

use andon_pixels::{Icc, Primaries, Space, Transfer};
use jxl::api::{
    JxlColorEncoding, JxlColorProfile, JxlPrimaries, JxlTransferFunction, JxlWhitePoint,
};

/// Colour space of decoded pixels, with an ICC profile if code points cannot express it.
#[derive(Clone, Debug, Default)]
pub(super) struct Profile {
    pub(super) space: Space,
    pub(super) icc: Option<Icc>,
}

/// Returns the colour space of decoded pixels. A lossy image with an ICC profile is decoded to sRGB, because the
/// decoder has no colour management.
pub(super) fn read(profile: &JxlColorProfile) -> Profile {
    let space = match profile {
        JxlColorProfile::Simple(encoding) => code_points(encoding),
        JxlColorProfile::Icc(_) => None,
    };
    match (space, profile.try_as_icc()) {
        (Some(space), _) => Profile { space, icc: None },
        (None, Some(icc)) => Profile {
            space: Space::PROFILED,
            icc: Some(icc.as_slice().into()),
        },
        (None, None) => Profile::default(),
    }
}

fn code_points(encoding: &JxlColorEncoding) -> Option<Space> {
    let (primaries, transfer) = match encoding {
        JxlColorEncoding::RgbColorSpace {
            white_point,
            primaries,
            transfer_function,
            ..
        } => {
            let primaries = match (primaries, white_point) {
                (JxlPrimaries::SRGB, JxlWhitePoint::D65) => Primaries::Bt709,
                (JxlPrimaries::BT2100, JxlWhitePoint::D65) => Primaries::Bt2020,
                (JxlPrimaries::P3, JxlWhitePoint::D65) => Primaries::DisplayP3,
                (JxlPrimaries::P3, JxlWhitePoint::DCI) => Primaries::DciP3,
                _ => return None,
            };
            (primaries, transfer_function)
        }
        JxlColorEncoding::GrayscaleColorSpace {
            white_point: JxlWhitePoint::D65,
            transfer_function,
            ..
        } => (Primaries::Bt709, transfer_function),
        _ => return None,
    };
    let is_inverse = |gamma: &f32, power: f32| (gamma * power - 1.0).abs() < 1e-3;
    let transfer = match transfer {
        JxlTransferFunction::SRGB => Transfer::Srgb,
        JxlTransferFunction::BT709 => Transfer::Bt709,
        JxlTransferFunction::Linear => Transfer::Linear,
        JxlTransferFunction::PQ => Transfer::Pq,
        JxlTransferFunction::HLG => Transfer::Hlg,
        JxlTransferFunction::DCI => Transfer::Smpte428,
        JxlTransferFunction::Gamma(gamma) if is_inverse(gamma, 2.2) => Transfer::Gamma22,
        JxlTransferFunction::Gamma(gamma) if is_inverse(gamma, 2.8) => Transfer::Gamma28,
        JxlTransferFunction::Gamma(_) => return None,
    };
    Some(Space {
        primaries,
        transfer,
        profiled: false,
    })
}
