//! Recognition of ICC profiles, before any colour is converted by them.

use moxcms::{Chromaticity, ColorPrimaries, ColorProfile, DataColorSpace, Matrix3d, ToneReprCurve};

use super::lab::to_light;
use super::managed::serialize;
use crate::frame::Model;
use crate::space::{Icc, Primaries, Space, Transfer};

impl Space {
    /// Largest size in bytes of a profile that is parsed to recognise it. Profiles that consist of a matrix and curves
    /// are never larger. Parsing larger ones would take long, so only their header is examined.
    pub const MATRIX_BYTES: usize = 64 << 10;

    /// Returns the colour space of an image of this model with this ICC profile. The space is marked as profiled, with
    /// primaries and transfer if the profile amounts to sRGB or Display P3, or with sRGB's primaries alone if it holds
    /// no colours beyond sRGB. An invalid profile, or one of another model, yields `UNSPECIFIED`.
    #[must_use]
    pub fn of_profile(icc: &[u8], model: Model) -> Self {
        let within = Self {
            primaries: Primaries::Bt709,
            ..Self::PROFILED
        };
        match (icc.get(16..20), model) {
            (Some(b"GRAY"), Model::Gray) => within,
            (Some(b"CMYK"), Model::Cmyk) => Self::PROFILED,
            (Some(b"RGB "), Model::Cmyk) => Self::UNSPECIFIED,
            (Some(b"RGB "), _) if icc.len() <= Self::MATRIX_BYTES => {
                let Ok(profile) = ColorProfile::new_from_slice(icc) else {
                    return Self::UNSPECIFIED;
                };
                of_rgb(&profile).unwrap_or(Self::PROFILED)
            }
            (Some(b"RGB "), _) => Self::PROFILED,
            _ => Self::UNSPECIFIED,
        }
    }
}

/// Returns the ICC profile of an image that describes its colours by numbers, as PNG does: `gamma` is the power of its
/// code values, such as 1 / 2.2, and `chromaticities` are those of white, red, green and blue, x before y. `None` where
/// browsers show the code values unchanged.
///
/// The result is what Chromium and Firefox do. Gamma and chromaticities together act as a profile. Gamma alone is
/// corrected for a screen of gamma 2.2, which changes nothing in images written for such a screen. Chromaticities alone
/// are ignored.
#[must_use]
pub fn profile_of_gamma(
    gamma: Option<f64>,
    chromaticities: Option<[f64; 8]>,
    model: Model,
) -> Option<Icc> {
    let gamma = gamma.filter(|gamma| (0.01..10.0).contains(gamma))?;
    let curve = match chromaticities {
        Some(_) => ToneReprCurve::Parametric(vec![(1.0 / gamma) as f32]),
        None => corrected(gamma * SCREEN)?,
    };
    let mut profile = if model == Model::Gray {
        let mut profile = ColorProfile::new_gray_with_gamma(2.2);
        profile.gray_trc = Some(curve);
        profile
    } else {
        let mut profile = ColorProfile::new_srgb();
        if let Some([wx, wy, places @ ..]) = chromaticities {
            let [rx, ry, gx, gy, bx, by] = places.map(|place| place as f32);
            let at = Chromaticity::new;
            let primaries = ColorPrimaries {
                red: at(rx, ry),
                green: at(gx, gy),
                blue: at(bx, by),
            };
            let white = at(wx as f32, wy as f32).to_xyyb();
            profile.update_rgb_colorimetry(white, primaries);
        }
        let colorants = profile.colorant_matrix();
        let sound = colorants
            .v
            .as_flattened()
            .iter()
            .all(|part| part.abs() < 4.0);
        if !sound || colorants.determinant().is_none_or(|size| size.abs() < 1e-4) {
            return None;
        }
        for trc in [
            &mut profile.red_trc,
            &mut profile.green_trc,
            &mut profile.blue_trc,
        ] {
            *trc = Some(curve.clone());
        }
        profile
    };
    profile.cicp = None;
    profile.description = None;
    serialize(&profile)
}

/// Returns the tone curve of code values that become sRGB levels when raised to 1 / `power`. `None` if `power` is too
/// near to 1 to matter, by libpng's criterion.
fn corrected(power: f64) -> Option<ToneReprCurve> {
    if (power - 1.0).abs() <= 0.05 {
        return None;
    }
    let step = |index: u16| {
        let code = f64::from(index) / f64::from(CURVE_STEPS);
        (to_light(code.powf(1.0 / power)) * 65535.0).round() as u16
    };
    Some(ToneReprCurve::Lut((0..=CURVE_STEPS).map(step).collect()))
}

/// Gamma of the screens that browsers correct for.
const SCREEN: f64 = 2.2;

/// Steps of a tabulated tone curve: four for each 8-bit code, so that every 8-bit code is met exactly.
const CURVE_STEPS: u16 = 4 * 255;

/// Recognises the colour space of an RGB profile. `None` if nothing is known, as for all profiles that are not a matrix
/// and curves.
fn of_rgb(profile: &ColorProfile) -> Option<Space> {
    let tables = [
        &profile.lut_a_to_b_perceptual,
        &profile.lut_a_to_b_colorimetric,
    ];
    if profile.color_space != DataColorSpace::Rgb || tables.iter().any(|table| table.is_some()) {
        return None;
    }
    let curves = [&profile.red_trc, &profile.green_trc, &profile.blue_trc];
    let curves: Vec<_> = curves
        .into_iter()
        .map(Option::as_ref)
        .collect::<Option<_>>()?;
    let colorants = profile.colorant_matrix();
    let is_srgb_curve = curves.into_iter().all(is_srgb_curve);
    for (space, reference) in [
        (Space::SRGB, ColorProfile::new_srgb()),
        (Space::DISPLAY_P3, ColorProfile::new_display_p3()),
    ] {
        if is_srgb_curve && is_near(&colorants, &reference.colorant_matrix()) {
            return Some(Space {
                profiled: true,
                ..space
            });
        }
    }
    // The colours of full red, full green and full blue, in linear sRGB.
    let to_srgb = ColorProfile::new_srgb().colorant_matrix().inverse();
    let primaries_in_srgb = to_srgb.mat_mul(colorants);
    let is_within = primaries_in_srgb
        .v
        .as_flattened()
        .iter()
        .all(|part| (-BEYOND..=1.0 + BEYOND).contains(part));
    is_within.then_some(Space {
        primaries: Primaries::Bt709,
        transfer: Transfer::Unspecified,
        profiled: true,
    })
}

/// Tolerance for colours to count as within sRGB, in linear sRGB: allows for rounding and for other adaptations of the
/// white point.
const BEYOND: f64 = 0.02;

fn is_near(one: &Matrix3d, other: &Matrix3d) -> bool {
    let mut pairs = one.v.as_flattened().iter().zip(other.v.as_flattened());
    pairs.all(|(one, other)| (one - other).abs() < 0.002)
}

/// Whether a curve equals sRGB's to a quarter of an 8-bit level.
fn is_srgb_curve(curve: &ToneReprCurve) -> bool {
    let Ok(evaluator) = curve.make_linear_evaluator() else {
        return false;
    };
    (0..=16).map(|step| step as f32 / 16.0).all(|code| {
        let (light, slope) = if code <= 0.04045 {
            (code / 12.92, 1.0 / 12.92)
        } else {
            let base = (code + 0.055) / 1.055;
            (base.powf(2.4), 2.4 / 1.055 * base.powf(1.4))
        };
        (evaluator.evaluate_value(code) - light).abs() <= slope * 0.25 / 255.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(profile: &ColorProfile) -> Space {
        let model = match profile.color_space {
            DataColorSpace::Gray => Model::Gray,
            _ => Model::Rgb,
        };
        Space::of_profile(&profile.encode().expect("a profile"), model)
    }

    #[test]
    fn a_profile_does_not_tell_when_it_was_written() {
        let icc = crate::color::profile_of(Space::DISPLAY_P3).expect("a profile");
        assert_eq!(icc[24..36], [0x07, 0xd0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn the_profiles_of_srgb_and_display_p3_are_known() {
        let srgb = of(&ColorProfile::new_srgb());
        assert!(srgb.profiled && srgb.is_as(Space::UNSPECIFIED) && !srgb.is_wide());
        let p3 = of(&ColorProfile::new_display_p3());
        assert!(p3.profiled && p3.is_as(Space::DISPLAY_P3) && p3.is_wide());
        assert!(!p3.is_as(srgb));
    }

    #[test]
    fn other_profiles_are_wider_than_srgb_or_within() {
        for wide in [
            ColorProfile::new_adobe_rgb(),
            ColorProfile::new_pro_photo_rgb(),
            ColorProfile::new_bt2020(),
        ] {
            assert!(of(&wide).is_wide());
            assert!(!of(&wide).is_as(Space::DISPLAY_P3));
        }
        let mut gamma = ColorProfile::new_srgb();
        for curve in [
            &mut gamma.red_trc,
            &mut gamma.green_trc,
            &mut gamma.blue_trc,
        ] {
            *curve = Some(ToneReprCurve::Lut(vec![0x0233]));
        }
        for narrow in [gamma, ColorProfile::new_gray_with_gamma(2.2)] {
            let space = of(&narrow);
            assert!(space.profiled && !space.is_wide() && !space.is_as(Space::SRGB));
        }
    }

    #[test]
    fn swapped_colorants_are_not_srgb() {
        let mut swapped = ColorProfile::new_srgb();
        std::mem::swap(&mut swapped.red_colorant, &mut swapped.green_colorant);
        assert!(!of(&swapped).is_as(Space::SRGB));
    }

    #[test]
    fn what_is_no_profile_says_nothing() {
        assert_eq!(
            Space::of_profile(b"nonsense", Model::Rgb),
            Space::UNSPECIFIED
        );
        let mut cut = ColorProfile::new_srgb().encode().expect("a profile");
        cut.truncate(140);
        assert_eq!(Space::of_profile(&cut, Model::Rgb), Space::UNSPECIFIED);
    }

    #[test]
    fn a_profile_of_another_model_says_nothing() {
        let gray = ColorProfile::new_gray_with_gamma(2.2);
        let gray = gray.encode().expect("a profile");
        assert_eq!(Space::of_profile(&gray, Model::Rgb), Space::UNSPECIFIED);
        let srgb = ColorProfile::new_srgb().encode().expect("a profile");
        assert_eq!(Space::of_profile(&srgb, Model::Cmyk), Space::UNSPECIFIED);
    }

    #[test]
    fn numbers_are_a_profile_where_browsers_take_them_for_one_and_nonsense_is_none() {
        let srgb = [0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06];
        let of = |gamma, places| profile_of_gamma(gamma, places, Model::Rgb);
        assert_eq!(of(Some(0.45455), None), None);
        assert_eq!(of(Some(0.44), None), None);
        assert_eq!(of(None, None), None);
        assert_eq!(of(None, Some(srgb)), None);
        assert_eq!(of(Some(0.45455), Some([0.0; 8])), None);
        assert_eq!(of(Some(0.45455), Some([0.3; 8])), None);
        assert!(of(Some(0.45455), Some(srgb)).is_some());
        let linear = of(Some(1.0), None).expect("a profile");
        assert!(!Space::of_profile(&linear, Model::Rgb).is_as(Space::SRGB));
        let gray = profile_of_gamma(Some(1.0), None, Model::Gray).expect("a profile");
        assert!(Space::of_profile(&gray, Model::Gray).profiled);
    }
}
