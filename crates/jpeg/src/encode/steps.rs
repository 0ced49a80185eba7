//! Decides which coefficients are rounded away.

use andon_kernels::fdct::{Quantiser, Step};
use andon_kernels::symbols::{PLACES, ZIGZAG};

use crate::tables::Table;

/// Creates the quantiser for a table's steps.
pub(super) fn quantiser(table: &Table, dead: &DeadZone) -> Quantiser {
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
        // Where nothing is asked to be saved nothing is.
        if index > 0 && size > 1 {
            // From the lowest frequency to the highest one.
            let radius = f32::from(index % 8).hypot(f32::from(index / 8));
            let far = (radius - 1.0) / (7f32.hypot(7.0) - 1.0);
            let between = |(near, high): (f32, f32)| near + (high - near) * far;
            step.rounding = between(dead.rounding);
            step.threshold = between(dead.threshold);
            step.slope = between(dead.slope);
        }
    }
    Quantiser::new(&steps)
}

/// Decides which weak coefficients become 0. Each pair holds the values at the lowest and the highest frequency, in
/// quantisation steps.
pub(super) struct DeadZone {
    /// See [`Step`], which has the same fields.
    rounding: (f32, f32),
    threshold: (f32, f32),
    slope: (f32, f32),
}

/// The dead zone of luma, tuned together with the weights of the quantisation tables. Noise costs many bits and is
/// hardly missed where there is much activity.
pub(super) const LUMA: DeadZone = DeadZone {
    rounding: (0.5, 0.48),
    threshold: (0.58, 0.74),
    slope: (0.12, 0.33),
};
/// The dead zone of chroma, which hides less.
pub(super) const CHROMA: DeadZone = DeadZone {
    rounding: (0.5, 0.5),
    threshold: (0.55, 0.59),
    slope: (0.0, 0.0),
};
