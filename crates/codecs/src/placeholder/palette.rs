//! The colours of an image: their average, and a few colours that represent most of it.

use std::fmt::Write;

use super::average::Average;
use crate::indexed::Histogram;

/// Returns the average and at most `most` colours as JSON: `{"average":"8b8479ff","palette":[{"colour":"bdb2a9",
/// "share":0.41},…]}`, the most frequent first. Pixels that are more transparent than opaque do not count in the
/// shares.
pub(super) fn text(small: &Average, most: usize) -> String {
    let mut text = format!("{{\"average\":\"{}\",\"palette\":[", hex(&average(small)));
    for (index, (colour, share)) in palette(small, most).into_iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "{comma}{{\"colour\":\"{}\",\"share\":{share:.4}}}",
            hex(&colour)
        );
    }
    text + "]}"
}

fn hex(levels: &[u8]) -> String {
    levels.iter().map(|level| format!("{level:02x}")).collect()
}

/// Returns the mean colour, weighted by opacity, and the mean opacity.
fn average(small: &Average) -> [u8; 4] {
    let (mut sums, mut weight) = ([0_u64; 3], 0_u64);
    let pixels = small.rgba.chunks_exact(4);
    let count = pixels.len() as u64;
    for pixel in pixels {
        let opacity = u64::from(pixel[3]);
        for (sum, level) in sums.iter_mut().zip(pixel) {
            *sum += u64::from(*level) * opacity;
        }
        weight += opacity;
    }
    // A mean of u8 values fits a u8.
    let rounded = |sum: u64, by: u64| ((sum + by / 2) / by.max(1)) as u8;
    let [red, green, blue] = sums.map(|sum| rounded(sum, weight));
    [red, green, blue, rounded(weight, count)]
}

/// Returns at most `most` colours and their shares of the opaque pixels, the largest share first.
fn palette(small: &Average, most: usize) -> Vec<([u8; 3], f64)> {
    let opaque = small.rgba.chunks_exact(4).filter(|pixel| pixel[3] >= 128);
    let opaque: Vec<[u8; 3]> = opaque.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let mut histogram = Histogram::new();
    opaque.iter().for_each(|pixel| histogram.add(*pixel));
    let mut colours: Vec<([u8; 3], u32)> = Vec::new();
    colours.extend(histogram.fit(most).into_iter().map(|colour| (colour, 0)));
    for pixel in &opaque {
        let nearest = colours.iter_mut().min_by_key(|(colour, _)| {
            let squares = colour.iter().zip(pixel).map(|(one, other)| {
                let difference = u32::from(one.abs_diff(*other));
                difference * difference
            });
            squares.sum::<u32>()
        });
        if let Some((_, count)) = nearest {
            *count += 1;
        }
    }
    colours.retain(|(_, count)| *count > 0);
    colours.sort_by_key(|(colour, count)| (std::cmp::Reverse(*count), *colour));
    let all = opaque.len().max(1) as f64;
    colours
        .into_iter()
        .map(|(colour, count)| (colour, f64::from(count) / all))
        .collect()
}
