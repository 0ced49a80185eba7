//! Leave out what changes nothing, and copy pixels where resampling would only copy them.

use super::{Example, Rule};
use crate::codec::{Info, Scales};
use crate::frame::{Model, Subsampling};
use crate::plan::place::{Stored, Wanted};

pub(crate) static RULE: Rule = Rule {
    name: "skip_identity",
    reason: "a picture that already has its size is not resampled, for whole pixels can be taken as \
             they are, which is both faster and exact; a ground that is covered entirely is not laid",
    example: Example {
        source: "png 400x300 rgb",
        recipe: "fit:400x300,enlarge,as:jpeg",
        plan: "decode png rgb | convert ycbcr444 | encode jpeg",
    },
};

/// What stands between the decoded picture and the size that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// Nothing: it is what was decoded.
    None,
    /// As many whole pixels of it as are wanted, from here on.
    Crop {
        /// Left edge.
        x: u32,
        /// Top edge.
        y: u32,
    },
    /// Everything else.
    Resample,
}

/// Finds the cheapest move from the picture decoded at `scales` to what is wanted of it, which shall
/// have this chroma.
pub(crate) fn cheapest(
    info: &Info,
    stored: &Stored,
    scales: Scales,
    chroma: Option<Subsampling>,
) -> Move {
    let Some(from) = stored.from else {
        return Move::Resample;
    };
    let whole = (from.x, from.y) == (0.0, 0.0)
        && (from.w, from.h) == (f64::from(info.width), f64::from(info.height));
    if whole && stored.to == info.scaled(scales.luma) {
        return Move::None;
    }
    let factor = scales.luma.factor();
    let (x, y) = (from.x * factor, from.y * factor);
    let as_large =
        (from.w * factor, from.h * factor) == (f64::from(stored.to.0), f64::from(stored.to.1));
    // Where chroma has to change, one resampling cuts and thins in a single pass.
    let same_chroma = match info.model {
        Model::YCbCr { sub, .. } => chroma == Some(scales.subsampling(sub)),
        _ => true,
    };
    if as_large && x.fract() == 0.0 && y.fract() == 0.0 && same_chroma {
        Move::Crop {
            x: x as u32,
            y: y as u32,
        }
    } else {
        Move::Resample
    }
}

/// Does what is wanted hide its ground entirely? Then the ground need not be laid.
pub(crate) fn hides_canvas(wanted: &Wanted, alpha: bool) -> bool {
    wanted.from.is_some()
        && !alpha
        && wanted.canvas.is_some_and(|canvas| {
            (canvas.x, canvas.y) == (0, 0) && (canvas.width, canvas.height) == wanted.to
        })
}
