//! CIELAB from sRGB values, with sRGB's white point (D65).
//!
//! The curves of sRGB and of CIELAB are read from tables with linear interpolation, so that every machine computes the
//! same; the error is less than a tenth of a 16-bit level.

use std::sync::LazyLock;

/// Matrix from linear sRGB to CIE X, Y and Z, each as a share of the white point's.
const TO_XYZ: [[f32; 3]; 3] = [
    [0.433_949_9, 0.376_209_8, 0.189_840_3],
    [0.212_672_9, 0.715_152_1, 0.072_175],
    [0.017_756_6, 0.109_468, 0.872_775_5],
];

/// Matrix from CIE X, Y and Z, as shares of the white point's, to linear sRGB: the inverse of `TO_XYZ`.
const FROM_XYZ: [[f32; 3]; 3] = [
    [3.079_955, -1.537_139, -0.542_816_1],
    [-0.921_258_6, 1.876_011_1, 0.045_247_5],
    [0.052_887_4, -0.204_025_9, 1.151_138_5],
];

/// A curve over 0..=1 as a table with linear interpolation.
struct Table(Vec<f32>);

impl Table {
    fn new(steps: u32, curve: impl Fn(f64) -> f64) -> Self {
        let at = |step: u32| curve(f64::from(step) / f64::from(steps)) as f32;
        Self((0..=steps).map(at).collect())
    }

    #[inline(always)]
    fn at(&self, x: f32) -> f32 {
        let steps = self.0.len() - 1;
        let place = x.clamp(0.0, 1.0) * steps as f32;
        let step = (place as usize).min(steps - 1);
        let (from, to) = (self.0[step], self.0[step + 1]);
        from + (to - from) * (place - step as f32)
    }
}

/// Converts an sRGB level to linear light, both 0 to 1.
pub(super) fn to_light(level: f64) -> f64 {
    if level <= 0.040_45 {
        level / 12.92
    } else {
        ((level + 0.055) / 1.055).powf(2.4)
    }
}

static TO_LIGHT: LazyLock<Table> = LazyLock::new(|| Table::new(4_096, to_light));

static FROM_LIGHT: LazyLock<Table> = LazyLock::new(|| {
    Table::new(16_384, |light| {
        if light <= 0.003_130_8 {
            light * 12.92
        } else {
            1.055 * light.powf(1.0 / 2.4) - 0.055
        }
    })
});

/// Returns the gray level that is as light as a colour; sRGB levels from 0 to 1.
pub(crate) fn gray(rgb: [f32; 3]) -> f32 {
    let [_, shares, _] = TO_XYZ;
    let light = rgb.map(|level| TO_LIGHT.at(level));
    let light: f32 = shares
        .iter()
        .zip(light)
        .map(|(share, light)| share * light)
        .sum();
    FROM_LIGHT.at(light)
}

static ROOT: LazyLock<Table> = LazyLock::new(|| {
    Table::new(16_384, |light| {
        if light > EDGE.powi(3) {
            light.cbrt()
        } else {
            light / SLOPE + 4.0 / 29.0
        }
    })
});

/// Cube root of the value up to which CIELAB's lightness curve is a straight line.
const EDGE: f64 = 6.0 / 29.0;
/// Inverse of the slope of the straight part of CIELAB's lightness curve.
const SLOPE: f64 = 3.0 * EDGE * EDGE;

/// Converts red, green and blue in 0..=1 to CIELAB: L in 0..=100, a and b.
pub(crate) fn of_rgb(rgb: [f32; 3]) -> [f32; 3] {
    let light = rgb.map(|level| TO_LIGHT.at(level));
    let [x, y, z] = mixed(&TO_XYZ, light).map(|part| ROOT.at(part));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Converts CIELAB to red, green and blue in 0..=1; colours outside sRGB are clamped.
pub(crate) fn to_rgb([lightness, a, b]: [f32; 3]) -> [f32; 3] {
    let y = (lightness + 16.0) / 116.0;
    let xyz = [y + a / 500.0, y, y - b / 200.0].map(|root| {
        if root > EDGE as f32 {
            root * root * root
        } else {
            SLOPE as f32 * (root - 4.0 / 29.0)
        }
    });
    mixed(&FROM_XYZ, xyz).map(|light| FROM_LIGHT.at(light))
}

#[inline(always)]
fn mixed(rows: &[[f32; 3]; 3], [a, b, c]: [f32; 3]) -> [f32; 3] {
    rows.map(|row| row[0] * a + row[1] * b + row[2] * c)
}
