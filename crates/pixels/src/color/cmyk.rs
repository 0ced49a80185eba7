//! Conversion between CMYK and RGB by the naive formula, for images without a usable profile.

use crate::error::Result;
use crate::frame::Grid;
use crate::samples::Sample;

/// Converts CMYK planes to RGB: red is (1 − cyan) × (1 − black), and likewise green with magenta and blue with yellow.
pub(super) fn to_rgb<T: Sample>(inks: &[Grid<T>]) -> Result<Vec<Grid<T>>> {
    let full = T::MAX.float();
    let light = |ink: &Grid<T>| {
        crate::samples::zip(ink, &inks[3], |ink, black| {
            T::round((full - ink.float()) * (full - black.float()) / full)
        })
    };
    inks[..3].iter().map(light).collect()
}

/// Converts RGB planes to CMYK, with as much of the gray as possible in the black plane.
pub(super) fn from_rgb<T: Sample>(rgb: &[Grid<T>]) -> Vec<Grid<T>> {
    let (width, height) = (rgb[0].width(), rgb[0].height());
    let mut inks = Grid::several(4, width, height, T::default());
    let full = T::MAX.float();
    let mut ink_samples: Vec<_> = inks.iter_mut().map(Grid::samples_mut).collect();
    for index in 0..rgb[0].samples().len() {
        let light = [0, 1, 2].map(|plane| rgb[plane].samples()[index].float());
        for (samples, ink) in ink_samples.iter_mut().zip(mix(light, full)) {
            samples[index] = T::round(ink);
        }
    }
    inks
}

/// Converts one RGB colour to CMYK. `full` is the sample value of both full light and full ink.
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
