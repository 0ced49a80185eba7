//! Leave out what changes nothing, and copy pixels where resampling would only copy them.

use super::{Example, Rule};
use crate::codec::{Info, Scales};
use crate::frame::{Model, Subsampling};
use crate::plan::place::Stored;

pub(crate) static RULE: Rule = Rule {
    name: "skip_identity",
    reason: "a picture that already has its size is not resampled: whole pixels are taken as they are, \
             which is both faster and exact",
    example: Example {
        source: "png 400x300 rgb",
        recipe: "fit:400x300,enlarge,as:jpeg",
        plan: "decode png rgb | convert ycbcr420 | encode jpeg",
    },
};

/// What stands between the decoded picture and the size that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// Nothing: it is what was decoded.
    None,
    /// As many whole pixels of it as are wanted, from here on; chroma on its own grid.
    Crop {
        /// Left edge.
        x: u32,
        /// Top edge.
        y: u32,
    },
    /// Everything else.
    Resample,
}

/// Finds the cheapest move from the picture decoded at `scales` to what is wanted of it.
pub(crate) fn cheapest(info: &Info, stored: &Stored, scales: Scales) -> Move {
    let Some(from) = stored.from else {
        return Move::Resample;
    };
    let decoded = info.scaled(scales.luma);
    let whole = from.x == 0.0
        && from.y == 0.0
        && from.w == f64::from(info.width)
        && from.h == f64::from(info.height);
    if whole && stored.to == decoded {
        return Move::None;
    }
    let factor = scales.luma.factor();
    let (x, y) = (from.x * factor, from.y * factor);
    let same_size =
        (from.w * factor, from.h * factor) == (f64::from(stored.to.0), f64::from(stored.to.1));
    let sub = match info.model {
        Model::YCbCr { sub, .. } => scales.subsampling(sub),
        _ => Subsampling::NONE,
    };
    let on_grid = |at: f64, step: u8| at % f64::from(step) == 0.0;
    if same_size && on_grid(x, sub.h) && on_grid(y, sub.v) {
        Move::Crop {
            x: x as u32,
            y: y as u32,
        }
    } else {
        Move::Resample
    }
}
