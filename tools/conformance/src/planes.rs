//! Compares the decoded planes of AV1, which are exact, with those of a Y4M frame.

use andon_pixels::color::levels;
use andon_pixels::{Depth, Frame, Matrix, Model, Plane, Range};
use serde_json::Value;

use crate::judge::Judged;
use crate::rgba::hex;

/// Compares a frame's planes with the answer. Returns `Ok(false)` if they cannot be compared, because the codec has
/// already cropped or converted them, as with colours premultiplied by alpha or a matrix that frames do not support.
pub(crate) fn judge(frame: &Frame, answer: &Value) -> Judged<bool> {
    let head = answer["y4m"].as_str().unwrap_or("");
    let size = format!("W{} H{} ", frame.width, frame.height);
    if !head.starts_with(&size) {
        return Ok(false);
    }
    let (range, mixed) = match frame.model {
        Model::YCbCr { range, matrix, .. } => (range, matrix != Matrix::Identity),
        _ => (Range::Full, false),
    };
    // Gray of a limited range has been stretched, and models that frames do not support have been converted to RGB.
    if frame.model == Model::Rgb || frame.model == Model::Gray && head.contains("LIMITED") {
        return Ok(false);
    }
    let mut bytes = Vec::new();
    for (index, plane) in frame.planes.iter().enumerate() {
        codes(plane, frame.depth(), range, mixed && index > 0, &mut bytes);
    }
    if let (Some(alpha), true) = (&frame.alpha, head.contains("alpha")) {
        codes(alpha, frame.depth(), Range::Full, false, &mut bytes);
    }
    match answer["sha256"].as_str() == Some(&hex(&bytes)) {
        true => Ok(true),
        false => Err("the planes are others".to_owned()),
    }
}

fn codes(plane: &Plane, depth: Depth, range: Range, chroma: bool, bytes: &mut Vec<u8>) {
    match plane {
        Plane::U8(grid) => bytes.extend_from_slice(grid.samples()),
        Plane::U16(grid) => bytes.extend(
            (grid.samples().iter())
                .flat_map(|&sample| levels::to_code(sample, depth, range, chroma).to_le_bytes()),
        ),
    }
}
