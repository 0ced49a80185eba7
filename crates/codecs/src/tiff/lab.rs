//! Conversion from CIE L*a*b* to sRGB.

/// Converts stored samples of `bits` bits to red, green and blue, each from 0 to 1. Colours outside sRGB are clipped.
/// If `signed`, a* and b* are stored in two's complement, otherwise with zero in the middle of their range.
pub(super) fn to_srgb(stored: [u32; 3], bits: u32, signed: bool) -> [f64; 3] {
    let middle = f64::from(1_u32 << (bits - 1));
    let lightness = f64::from(stored[0]) / f64::from((1_u32 << bits) - 1) * 100.0;
    let opponent = |value: u32| {
        let value = f64::from(value);
        let value = match signed {
            true if value >= middle => value - 2.0 * middle,
            true => value,
            false => value - middle,
        };
        value * 128.0 / middle
    };
    let y = (lightness + 16.0) / 116.0;
    let x = y + opponent(stored[1]) / 500.0;
    let z = y - opponent(stored[2]) / 200.0;
    let share = |root: f64| match root > 6.0 / 29.0 {
        true => root.powi(3),
        false => 3.0 * (6.0 / 29.0_f64).powi(2) * (root - 4.0 / 29.0),
    };
    let [x, y, z] = [D50[0] * share(x), D50[1] * share(y), D50[2] * share(z)];
    FROM_XYZ.map(|[of_x, of_y, of_z]| {
        let light = (of_x * x + of_y * y + of_z * z).clamp(0.0, 1.0);
        match light <= 0.003_130_8 {
            true => 12.92 * light,
            false => 1.055 * light.powf(1.0 / 2.4) - 0.055,
        }
    })
}

/// The white point D50 of L*a*b* in TIFF and in ICC profiles, as XYZ.
const D50: [f64; 3] = [0.964_2, 1.0, 0.824_9];

/// Matrix from XYZ under D50 to linear red, green and blue, with a Bradford adaptation to sRGB's white point.
const FROM_XYZ: [[f64; 3]; 3] = [
    [3.133_856_1, -1.616_866_7, -0.490_614_6],
    [-0.978_768_4, 1.916_141_5, 0.033_454_0],
    [0.071_945_3, -0.228_991_4, 1.405_242_7],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_lcms2() {
        for (stored, srgb) in [
            ([128, 156, 0], [0, 152, 117]),
            ([183, 27, 26], [232, 156, 130]),
            ([255, 0, 0], [255, 255, 255]),
            ([0, 0, 0], [0, 0, 0]),
        ] {
            for signed in [true, false] {
                let turned = |value: u32| if signed { value } else { value ^ 128 };
                let stored = [stored[0], turned(stored[1]), turned(stored[2])];
                let own = to_srgb(stored, 8, signed).map(|code| (code * 255.0).round() as i32);
                for (own, srgb) in own.iter().zip(srgb) {
                    assert!((own - srgb).abs() <= 1, "{stored:?} is {own}, not {srgb}");
                }
                let wide = [stored[0] * 257, stored[1] << 8, stored[2] << 8];
                let wide = to_srgb(wide, 16, signed).map(|code| (code * 255.0).round() as i32);
                assert_eq!(own, wide);
            }
        }
    }
}
