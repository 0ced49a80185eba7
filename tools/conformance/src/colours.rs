//! Judges colours after a conversion to sRGB.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::delta::delta_e2000;
use crate::judge::{Judged, close};
use crate::rgba::Rgba;
use crate::rows::Row;

/// The recipe that converts an image to sRGB.
pub(crate) const RECIPE: &str = "profile:srgb,as:png";

/// Maximum mean difference per sample (0 to 255) from the result of lcms2. Andon and lcms2 round differently and have
/// different black points.
const WHOLE: f64 = 3.0;

#[derive(Deserialize)]
struct Answer {
    points: Vec<Point>,
    tolerance: Value,
}

/// A point of an image, and the colours that it may have.
#[derive(Deserialize)]
struct Point {
    x: usize,
    y: usize,
    srgb: Option<[u8; 3]>,
    relative: Option<[u8; 3]>,
    relative_bpc: Option<[u8; 3]>,
    perceptual: Option<[u8; 3]>,
}

impl Point {
    fn allowed(&self) -> impl Iterator<Item = [u8; 3]> {
        [self.srgb, self.relative, self.relative_bpc, self.perceptual]
            .into_iter()
            .flatten()
    }
}

pub(crate) fn judge(row: &Row, set: &Path, converted: &[u8]) -> Judged {
    let output = Rgba::png(converted).map_err(|error| format!("{error:#}"))?;
    if let Some(answer) = row.text("colours") {
        let text = std::fs::read_to_string(set.join(answer)).map_err(|error| error.to_string())?;
        let answer: Answer = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        // A tolerance that is a text means 4 per channel, or a difference that is not visible.
        let number = answer.tolerance.as_f64();
        let most = number.unwrap_or(4.0);
        let close = |pixel: [u8; 3], right: [u8; 3]| {
            let off = pixel
                .iter()
                .zip(right)
                .map(|(output, right)| output.abs_diff(right))
                .max();
            f64::from(off.unwrap_or(0)) <= most
                || (number.is_none() && delta_e2000(pixel, right) <= 2.0)
        };
        let mut wrong = Vec::new();
        for point in &answer.points {
            let pixel = output.pixels.get(point.y * output.width + point.x);
            let [r, g, b, a] = *pixel.ok_or("the image is smaller than its answer")?;
            // Fully transparent pixels have no colour.
            if a > 0 && !point.allowed().any(|right| close([r, g, b], right)) {
                wrong.push(format!("{},{} is {r},{g},{b}", point.x, point.y));
            }
        }
        if let Some(first) = wrong.first() {
            let (count, all) = (wrong.len(), answer.points.len());
            return Err(format!("{count} of {all} colours are wrong: {first}"));
        }
    }
    if let Some(answer) = row.text("srgb") {
        let answer = Rgba::read(&set.join(answer)).map_err(|error| format!("{error:#}"))?;
        let output = output
            .laid_over(&answer)
            .reduced(row.number("srgb_reduce").unwrap_or(1) as usize);
        let tolerance = serde_json::json!({ "mean": WHOLE });
        close(&output, &answer, &tolerance).map_err(|why| format!("in sRGB: {why}"))?;
    }
    Ok(())
}
