//! Conversion from one colour space to another by ICC profiles and code points.

use moxcms::{
    BarycentricWeightScale, CicpProfile, ColorProfile, DataColorSpace, InterpolationMethod, Layout,
    RenderingIntent, ToneReprCurve, TransformExecutor, TransformOptions,
};

use crate::frame::Grid;
use crate::samples::Sample;
use crate::space::{Colour, Icc, Space, Transfer};

/// Converts gray, RGB or CMYK planes, distinguished by their number, from colour space `from` to RGB planes in `to`.
/// Returns `None` if the conversion is unknown: the profile is missing, broken or of another model, or the code points
/// describe no usable space.
pub(super) fn to_rgb<T: Managed>(
    planes: &[Grid<T>],
    from: &Colour,
    to: Space,
) -> Option<Vec<Grid<T>>> {
    let (layout, model) = match planes.len() {
        1 => (Layout::Gray, DataColorSpace::Gray),
        3 => (Layout::Rgb, DataColorSpace::Rgb),
        // The layout only stands for four samples a pixel; the profile tells that they are inks.
        _ => (Layout::Rgba, DataColorSpace::Cmyk),
    };
    let source = match &from.icc {
        Some(icc) => ColorProfile::new_from_slice(icc).ok()?,
        None if from.space.profiled => return None,
        None => display_profile(from.space)?,
    };
    if source.color_space != model {
        return None;
    }
    let transform = T::transform(&source, layout, &of_space(to)?)?;
    let (width, height) = (planes[0].width(), planes[0].height());
    let mut rgb = Grid::several(3, width, height, T::default());
    let mut mixed = vec![T::default(); width as usize * planes.len()];
    let mut light = vec![T::default(); width as usize * 3];
    for row in 0..height {
        match planes {
            [gray] => mixed.copy_from_slice(gray.row(row)),
            [r, g, b] => interleave([r, g, b].map(|plane| plane.row(row)), &mut mixed),
            [c, m, y, k] => interleave([c, m, y, k].map(|plane| plane.row(row)), &mut mixed),
            _ => return None,
        }
        transform.transform(&mixed, &mut light).ok()?;
        let [r, g, b] = rgb.as_mut_slice() else {
            return None;
        };
        separate(&light, [r, g, b].map(|plane| plane.row_mut(row)));
    }
    Some(rgb)
}

/// Interleaves rows of planes pixel by pixel. All planes are handled in one pass, since a pass for each would take as
/// long as the colour conversion.
fn interleave<T: Copy, const N: usize>(rows: [&[T]; N], mixed: &mut [T]) {
    let (pixels, _) = mixed.as_chunks_mut::<N>();
    // Slices of the loop's length let the compiler omit bounds checks.
    let rows = rows.map(|row| &row[..pixels.len()]);
    for (x, pixel) in pixels.iter_mut().enumerate() {
        *pixel = rows.map(|row| row[x]);
    }
}

/// Splits interleaved RGB pixels into a row for each plane.
fn separate<T: Copy>(mixed: &[T], [r, g, b]: [&mut [T]; 3]) {
    let (pixels, _) = mixed.as_chunks::<3>();
    let width = pixels.len();
    let (r, g, b) = (&mut r[..width], &mut g[..width], &mut b[..width]);
    for (x, pixel) in pixels.iter().enumerate() {
        [r[x], g[x], b[x]] = *pixel;
    }
}

/// Returns an ICC profile equivalent to the code points of `space`, for formats that cannot store code points. `None`
/// for sRGB, which needs no profile, and for code points that no profile can describe.
pub(crate) fn profile_of(space: Space) -> Option<Icc> {
    if space.profiled || space.is_srgb() {
        return None;
    }
    serialize(&of_space(space)?)
}

/// Serializes a profile with a fixed creation date, so that the same image yields the same bytes at any time. `None` if
/// the profile cannot be encoded.
///
/// The profile is marked as version 2: Firefox ignores profiles of version 4, but reads everything in this one.
pub(super) fn serialize(profile: &ColorProfile) -> Option<Icc> {
    let mut file = profile.encode().ok()?;
    file.get_mut(8..12)?.copy_from_slice(&[2, 0x40, 0, 0]);
    // ICC.1, 7.2.1: bytes 24 to 35 of the header are the date and time, which begin with the year, the month and the
    // day.
    let created = file.get_mut(24..36)?;
    created.fill(0);
    created[..6].copy_from_slice(&[0x07, 0xd0, 0, 1, 0, 1]);
    Some(file.into())
}

fn of_space(space: Space) -> Option<ColorProfile> {
    let mut profile = if space.is_srgb() {
        ColorProfile::new_srgb()
    } else if space == Space::DISPLAY_P3 {
        ColorProfile::new_display_p3()
    } else {
        ColorProfile::new_from_cicp(CicpProfile {
            color_primaries: space.primaries.code().try_into().ok()?,
            transfer_characteristics: space.transfer.code().try_into().ok()?,
            matrix_coefficients: moxcms::MatrixCoefficients::Identity,
            full_range: true,
        })
    };
    // The curve and the colorants describe the space completely, and moxcms has wrong code points for Display P3.
    profile.cicp = None;
    // moxcms leaves the curve empty for code points that it does not know.
    profile.red_trc.is_some().then_some(profile)
}

/// Returns the profile by which colours of `space` are converted to other spaces; `None` if no profile can describe
/// `space`. The other spaces cannot hold HDR light brighter than white, so for an HDR space white is placed where ITU-R
/// BT.2408 puts it, and brighter light is rolled off.
fn display_profile(space: Space) -> Option<ColorProfile> {
    let mut profile = of_space(space)?;
    let light: fn(f64) -> f64 = match space.transfer {
        Transfer::Pq => |code| {
            let power = code.powf(1.0 / 78.843_75);
            let part = (power - 0.835_937_5).max(0.0) / (18.851_562_5 - 18.687_5 * power);
            part.powf(1.0 / 0.159_301_757_812_5) * 10_000.0 / WHITE_NITS
        },
        Transfer::Hlg => |code| {
            let scene = if code <= 0.5 {
                code * code / 3.0
            } else {
                (((code - 0.559_910_73) / 0.178_832_77).exp() + 0.284_668_92) / 12.0
            };
            scene.powf(1.2) * 1_000.0 / WHITE_NITS
        },
        _ => return Some(profile),
    };
    let step = |index: u16| {
        let light = light(f64::from(index) / f64::from(HDR_STEPS - 1));
        let level = if light <= KNEE {
            light
        } else {
            // Approaches 1 ever more slowly, and continues the straight part without an edge.
            let room = 1.0 - KNEE;
            KNEE + room * (1.0 - (-(light - KNEE) / room).exp())
        };
        (level * 65535.0).round() as u16
    };
    let curve = ToneReprCurve::Lut((0..HDR_STEPS).map(step).collect());
    profile.red_trc = Some(curve.clone());
    profile.green_trc = Some(curve.clone());
    profile.blue_trc = Some(curve);
    Some(profile)
}

/// Luminance of diffuse white in nits (cd/m²), by ITU-R BT.2408.
const WHITE_NITS: f64 = 203.0;
/// Linear light, as a share of diffuse white, up to which HDR light is unchanged; brighter light is rolled off.
const KNEE: f64 = 0.75;
const HDR_STEPS: u16 = 4096;

/// Returns conversion options with relative colorimetric intent, as browsers use it: the black of inks stays the dark
/// gray that it is on paper. A profile with only one table uses that table for all intents.
fn options(from: &ColorProfile) -> TransformOptions {
    let mut options = TransformOptions::default();
    if from.lut_a_to_b_colorimetric.is_some() {
        options.rendering_intent = RenderingIntent::RelativeColorimetric;
    }
    options
}

/// Sample types that `moxcms` can convert.
pub(crate) trait Managed: Sample {
    fn transform(
        from: &ColorProfile,
        layout: Layout,
        to: &ColorProfile,
    ) -> Option<std::sync::Arc<dyn TransformExecutor<Self> + Send + Sync>>;
}

impl Managed for u8 {
    fn transform(
        from: &ColorProfile,
        layout: Layout,
        to: &ColorProfile,
    ) -> Option<std::sync::Arc<dyn TransformExecutor<Self> + Send + Sync>> {
        let mut options = options(from);
        if layout == Layout::Rgba {
            // Interpolate in the tables of CMYK profiles as Little CMS does. With 16-bit samples, moxcms computes wrong
            // colours with these settings.
            options.interpolation_method = InterpolationMethod::Tetrahedral;
            options.barycentric_weight_scale = BarycentricWeightScale::High;
            options.prefer_fixed_point = false;
        }
        from.create_transform_8bit(layout, to, Layout::Rgb, options)
            .ok()
    }
}

impl Managed for u16 {
    fn transform(
        from: &ColorProfile,
        layout: Layout,
        to: &ColorProfile,
    ) -> Option<std::sync::Arc<dyn TransformExecutor<Self> + Send + Sync>> {
        from.create_transform_16bit(layout, to, Layout::Rgb, options(from))
            .ok()
    }
}
