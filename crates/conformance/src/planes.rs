//! The planes of AV1, which are exact, as a frame of Y4M holds them.

use andon_pixels::color::levels;
use andon_pixels::{Depth, Frame, Matrix, Model, Plane, Range};
use serde_json::Value;

use crate::judge::Judged;
use crate::rgba::hex;

/// Are they those? False: the codec has cut them already.
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
    // Gray of a limited range has been stretched.
    if frame.model == Model::Gray && head.contains("LIMITED") {
        return Ok(false);
    }
    let mut bytes = Vec::new();
    let order: &[usize] = match frame.model {
        Model::Gray => &[0],
        Model::Rgb => &[1, 2, 0],
        _ => &[0, 1, 2],
    };
    for &index in order {
        codes(
            &frame.planes[index],
            frame.depth(),
            range,
            mixed && index > 0,
            &mut bytes,
        );
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
