//! From one space to another, by ICC profiles and code points.

use moxcms::{
    CicpProfile, ColorProfile, DataColorSpace, Layout, TransformExecutor, TransformOptions,
};

use crate::frame::Grid;
use crate::samples::Sample;
use crate::space::{Colour, Icc, Space};

/// RGB planes in `to` of gray, RGB or CMYK planes (told by their number) measured in `from`. `None`: there is no
/// telling, because the profile is missing, broken or one of another model, or the code points mean nothing here.
pub(super) fn to_rgb<T: Managed>(
    planes: &[Grid<T>],
    from: &Colour,
    to: Space,
) -> Option<Vec<Grid<T>>> {
    let (layout, model) = match planes.len() {
        1 => (Layout::Gray, DataColorSpace::Gray),
        3 => (Layout::Rgb, DataColorSpace::Rgb),
        // Four bytes a pixel, whatever they mean.
        _ => (Layout::Rgba, DataColorSpace::Cmyk),
    };
    let source = match &from.icc {
        Some(icc) => ColorProfile::new_from_slice(icc).ok()?,
        None if from.space.profiled => return None,
        None => of_space(from.space)?,
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
        for (index, plane) in planes.iter().enumerate() {
            for (mixed, &sample) in mixed.chunks_exact_mut(planes.len()).zip(plane.row(row)) {
                mixed[index] = sample;
            }
        }
        transform.transform(&mixed, &mut light).ok()?;
        for (index, grid) in rgb.iter_mut().enumerate() {
            for (sample, light) in grid.row_mut(row).iter_mut().zip(light.chunks_exact(3)) {
                *sample = light[index];
            }
        }
    }
    Some(rgb)
}

/// An ICC profile that says what code points say, for formats that know no code points. `None` for sRGB, which
/// needs none, and for code points that no profile describes.
pub(crate) fn profile_of(space: Space) -> Option<Icc> {
    if space.profiled || space.is_srgb() {
        return None;
    }
    of_space(space)?.encode().ok().map(Icc::from)
}

fn of_space(space: Space) -> Option<ColorProfile> {
    if space.is_srgb() {
        return Some(ColorProfile::new_srgb());
    }
    if space == Space::DISPLAY_P3 {
        return Some(ColorProfile::new_display_p3());
    }
    let profile = ColorProfile::new_from_cicp(CicpProfile {
        color_primaries: space.primaries.code().try_into().ok()?,
        transfer_characteristics: space.transfer.code().try_into().ok()?,
        matrix_coefficients: moxcms::MatrixCoefficients::Identity,
        full_range: true,
    });
    // Without a curve nothing was found for the code points.
    profile.red_trc.is_some().then_some(profile)
}

/// Samples that `moxcms` can convert.
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
        let options = TransformOptions::default();
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
        let options = TransformOptions::default();
        from.create_transform_16bit(layout, to, Layout::Rgb, options)
            .ok()
    }
}
