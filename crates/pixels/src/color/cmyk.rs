//! Inks to light and back: by the naive formula, or by the profile the inks were mixed for.

use moxcms::{ColorProfile, Layout, TransformExecutor, TransformOptions};

use crate::frame::Grid;
use crate::samples::Sample;

/// RGB planes of CMYK ones: each ink takes its share of the light, black of all.
pub(super) fn to_rgb<T: Sample>(inks: &[Grid<T>]) -> Vec<Grid<T>> {
    let full = T::MAX.float();
    let light = |ink: &Grid<T>| {
        crate::samples::zip(ink, &inks[3], |ink, black| {
            T::round((full - ink.float()) * (full - black.float()) / full)
        })
    };
    inks[..3].iter().map(light).collect()
}

/// CMYK planes of RGB ones, with as much black as goes.
pub(super) fn from_rgb<T: Sample>(rgb: &[Grid<T>]) -> Vec<Grid<T>> {
    let (width, height) = (rgb[0].width(), rgb[0].height());
    let mut inks = Grid::several(4, width, height, T::default());
    let full = T::MAX.float();
    let mut written: Vec<_> = inks.iter_mut().map(Grid::samples_mut).collect();
    for index in 0..rgb[0].samples().len() {
        let light = [0, 1, 2].map(|plane| rgb[plane].samples()[index].float());
        for (samples, ink) in written.iter_mut().zip(mix(light, full)) {
            samples[index] = T::round(ink);
        }
    }
    inks
}

/// The inks of one colour; `full` is full light and full ink.
pub(super) fn mix(light: [f32; 3], full: f32) -> [f32; 4] {
    let brightest = light[0].max(light[1]).max(light[2]);
    let ink = |light: f32| {
        if brightest > 0.0 {
            full * (brightest - light) / brightest
        } else {
            0.0
        }
    };
    [
        ink(light[0]),
        ink(light[1]),
        ink(light[2]),
        full - brightest,
    ]
}

/// sRGB planes of CMYK ones by an ICC profile; `None` when it is broken or not one of CMYK.
pub(super) fn to_srgb_by<T: Managed>(icc: &[u8], inks: &[Grid<T>]) -> Option<Vec<Grid<T>>> {
    let profile = ColorProfile::new_from_slice(icc).ok()?;
    if profile.color_space != moxcms::DataColorSpace::Cmyk {
        return None;
    }
    let transform = T::transform(&profile, &ColorProfile::new_srgb())?;
    let (width, height) = (inks[0].width(), inks[0].height());
    let mut rgb = Grid::several(3, width, height, T::default());
    let mut mixed = vec![T::default(); width as usize * 4];
    let mut light = vec![T::default(); width as usize * 3];
    for row in 0..height {
        for (plane, ink) in inks.iter().enumerate() {
            for (mixed, &ink) in mixed.chunks_exact_mut(4).zip(ink.row(row)) {
                mixed[plane] = ink;
            }
        }
        transform.transform(&mixed, &mut light).ok()?;
        for (plane, grid) in rgb.iter_mut().enumerate() {
            for (sample, light) in grid.row_mut(row).iter_mut().zip(light.chunks_exact(3)) {
                *sample = light[plane];
            }
        }
    }
    Some(rgb)
}

/// Samples that `moxcms` can convert.
pub(crate) trait Managed: Sample {
    fn transform(
        from: &ColorProfile,
        to: &ColorProfile,
    ) -> Option<std::sync::Arc<dyn TransformExecutor<Self> + Send + Sync>>;
}

impl Managed for u8 {
    fn transform(
        from: &ColorProfile,
        to: &ColorProfile,
    ) -> Option<std::sync::Arc<dyn TransformExecutor<Self> + Send + Sync>> {
        let options = TransformOptions::default();
        from.create_transform_8bit(Layout::Rgba, to, Layout::Rgb, options)
            .ok()
    }
}

impl Managed for u16 {
    fn transform(
        from: &ColorProfile,
        to: &ColorProfile,
    ) -> Option<std::sync::Arc<dyn TransformExecutor<Self> + Send + Sync>> {
        let options = TransformOptions::default();
        from.create_transform_16bit(Layout::Rgba, to, Layout::Rgb, options)
            .ok()
    }
}
