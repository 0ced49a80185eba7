//! The version of the engine that made a result, which is part of every ETag and cache key.

use crate::codec::Codec;

/// Counts the changes to what the engine computes from the same decoded samples: resampling, stages, colour, the
/// planner's choices. A build whose results differ must not serve results that an earlier build has cached.
///
/// `tests/revision.rs` fails when results have changed and this number has not. What codecs read and write is counted
/// separately, by `Format::revision`.
pub const REVISION: u32 = 9;

/// Returns what results depend on besides the recipe and the files: the revisions of the pipeline and of every codec,
/// such as `pixels.1 jpeg.1 png.3`, or `pixels.1 faces.1 …` in builds that detect faces. The text is the same on every
/// machine that runs the same version.
#[must_use]
pub fn revision(codecs: &[&dyn Codec]) -> String {
    let mut text = format!("pixels.{REVISION}");
    // Crops depend on the faces that the detector finds, and builds without it crop differently.
    #[cfg(feature = "faces")]
    text.push_str(&format!(" faces.{}", andon_faces::REVISION));
    for codec in codecs {
        text.push_str(&format!(" {}.{}", codec.name(), codec.format().revision));
    }
    text
}
