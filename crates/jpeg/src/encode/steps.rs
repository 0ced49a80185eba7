//! Creates quantisers, which also decide which weak coefficients become 0.

use andon_kernels::fdct::{Quantiser, Step};
use andon_kernels::symbols::{PLACES, ZIGZAG};

use crate::tables::Table;

/// Creates the quantiser for a quantisation table. `dead_zone` decides which weak coefficients become 0.
pub(super) fn quantiser(table: &Table, dead_zone: &DeadZone) -> Quantiser {
    let flat = Step {
        size: 1,
        rounding: 0.5,
        threshold: 0.0,
        slope: 0.0,
    };
    let mut steps = [flat; 64];
    for ((&place, &index), &size) in PLACES.iter().zip(&ZIGZAG).zip(table) {
        let step = &mut steps[usize::from(place)];
        step.size = size as u8;
        // A step of 1 asks for the best quality, so no coefficient is rounded away.
        if index > 0 && size > 1 {
            // Position between the lowest frequency (0) and the highest one (1).
            let radius = f32::from(index % 8).hypot(f32::from(index / 8));
            let distance = (radius - 1.0) / (7f32.hypot(7.0) - 1.0);
            let interpolate = |(near, high): (f32, f32)| near + (high - near) * distance;
            step.rounding = interpolate(dead_zone.rounding);
            step.threshold = interpolate(dead_zone.threshold);
            step.slope = interpolate(dead_zone.slope);
        }
    }
    Quantiser::new(&steps)
}

/// The settings of a [`Step`] that decide which weak coefficients become 0: for each, the value at the lowest AC
/// frequency and that at the highest one, in quantisation steps. Between them, values are interpolated.
pub(super) struct DeadZone {
    /// The values of [`Step::rounding`] at the lowest AC frequency and at the highest one.
    rounding: (f32, f32),
    threshold: (f32, f32),
    slope: (f32, f32),
}

/// The dead zone of luma, tuned together with the weights of the quantisation tables. Noise costs many bits, and its
/// loss is hardly visible where activity is high.
pub(super) const LUMA: DeadZone = DeadZone {
    rounding: (0.5, 0.48),
    threshold: (0.58, 0.74),
    slope: (0.12, 0.33),
};
/// The dead zone of chroma, where a loss is more visible than in luma.
pub(super) const CHROMA: DeadZone = DeadZone {
    rounding: (0.5, 0.5),
    threshold: (0.55, 0.59),
    slope: (0.0, 0.0),
};
