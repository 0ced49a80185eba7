//! CIEDE2000, a measure of the visible difference between two colours. A difference of 1 is about the smallest that is
//! visible.

/// Returns the CIEDE2000 difference of two sRGB colours.
pub(crate) fn delta_e2000(one: [u8; 3], other: [u8; 3]) -> f64 {
    between(lab(one), lab(other))
}

/// Converts an sRGB colour to CIELAB, relative to the white point of sRGB.
fn lab(rgb: [u8; 3]) -> [f64; 3] {
    let [r, g, b] = rgb.map(|sample| {
        let value = f64::from(sample) / 255.0;
        match value <= 0.040_45 {
            true => value / 12.92,
            false => ((value + 0.055) / 1.055).powf(2.4),
        }
    });
    let xyz = [
        (0.412_456_4 * r + 0.357_576_1 * g + 0.180_437_5 * b) / 0.950_47,
        0.212_672_9 * r + 0.715_152_2 * g + 0.072_175_0 * b,
        (0.019_333_9 * r + 0.119_192_0 * g + 0.950_304_1 * b) / 1.088_83,
    ];
    let [x, y, z] = xyz.map(|value: f64| match value > 216.0 / 24_389.0 {
        true => value.cbrt(),
        false => (24_389.0 / 27.0 * value + 16.0) / 116.0,
    });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn between([l1, a1, b1]: [f64; 3], [l2, a2, b2]: [f64; 3]) -> f64 {
    let seventh = |c: f64| (c.powi(7) / (c.powi(7) + 25_f64.powi(7))).sqrt();
    let stretch = 1.0 + 0.5 * (1.0 - seventh(f64::midpoint(a1.hypot(b1), a2.hypot(b2))));
    let (a1, a2) = (a1 * stretch, a2 * stretch);
    let (c1, c2) = (a1.hypot(b1), a2.hypot(b2));
    let hue = |a: f64, b: f64| match a == 0.0 && b == 0.0 {
        true => 0.0,
        false => b.atan2(a).to_degrees().rem_euclid(360.0),
    };
    let (h1, h2) = (hue(a1, b1), hue(a2, b2));
    let gray = c1 * c2 == 0.0;
    let turn = match h2 - h1 {
        _ if gray => 0.0,
        turn if turn > 180.0 => turn - 360.0,
        turn if turn < -180.0 => turn + 360.0,
        turn => turn,
    };
    let (dl, dc) = (l2 - l1, c2 - c1);
    let dh = 2.0 * (c1 * c2).sqrt() * (turn / 2.0).to_radians().sin();
    let (l, c) = (f64::midpoint(l1, l2), f64::midpoint(c1, c2));
    let h = match (h1 - h2).abs() > 180.0 {
        _ if gray => h1 + h2,
        true => (h1 + h2 + 360.0) / 2.0,
        false => (h1 + h2) / 2.0,
    };
    let cos = |degrees: f64| degrees.to_radians().cos();
    let t = 1.0 - 0.17 * cos(h - 30.0) + 0.24 * cos(2.0 * h) + 0.32 * cos(3.0 * h + 6.0)
        - 0.20 * cos(4.0 * h - 63.0);
    let sl = 1.0 + 0.015 * (l - 50.0).powi(2) / (20.0 + (l - 50.0).powi(2)).sqrt();
    let (sc, sh) = (1.0 + 0.045 * c, 1.0 + 0.015 * c * t);
    let bend = 60.0 * (-((h - 275.0) / 25.0).powi(2)).exp();
    let rt = -2.0 * seventh(c) * bend.to_radians().sin();
    let (dl, dc, dh) = (dl / sl, dc / sc, dh / sh);
    (dl * dl + dc * dc + dh * dh + rt * dc * dh).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The colours and differences are from the table of Sharma, Wu and Dalal.
    #[test]
    fn published_differences_come_out() {
        let rows = [
            ([50.0, 2.6772, -79.7751], [50.0, 0.0, -82.7485], 2.0425),
            ([50.0, -1.0, 2.0], [50.0, 0.0, 0.0], 2.3669),
            ([50.0, 2.5, 0.0], [50.0, 0.0, -2.5], 4.3065),
            (
                [60.2574, -34.0099, 36.2677],
                [60.4626, -34.1751, 39.4387],
                1.2644,
            ),
            (
                [2.0776, 0.0795, -1.1350],
                [0.9033, -0.0636, -0.5514],
                0.9082,
            ),
        ];
        for (one, other, right) in rows {
            assert!(
                (between(one, other) - right).abs() < 5e-5,
                "{one:?} {other:?}"
            );
        }
        assert!(delta_e2000([255, 255, 255], [255, 255, 255]).abs() < 1e-9);
    }
}
