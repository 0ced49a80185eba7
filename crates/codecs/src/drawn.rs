//! What is drawn, rather than stored as pixels, has no size of its own: it is drawn as large as it is shown.

use andon_pixels::Scale;

/// By eighths up to twice the size, by quarters up to four times, by whole sizes up to sixteen times.
pub(crate) const SCALES: &[Scale] = &{
    let mut scales = [Scale(0); 36];
    let (mut index, mut eighths) = (0, 0);
    while index < scales.len() {
        eighths += match eighths {
            0..16 => 1,
            16..32 => 2,
            _ => 8,
        };
        scales[index] = Scale(eighths);
        index += 1;
    }
    scales
};
