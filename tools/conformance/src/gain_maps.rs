//! Judges gain maps: a smaller image must have a gain map with the same effect.

use andon_codecs::ALL;
use andon_pixels::GainHeader;

use crate::judge::Judged;

/// The recipe that makes the smaller image, whose gain map is compared with that of the original.
pub(crate) const RECIPE: &str = "fit:100x100";

/// Judges the gain map of a smaller image. Returns `Ok(false)` if the original has no gain map in a known form.
pub(crate) fn judge(file: &[u8], smaller: &[u8]) -> Judged<bool> {
    let Some(before) = gain_map(file) else {
        return Ok(false);
    };
    let Some(after) = gain_map(smaller) else {
        return Err("a smaller image has no gain map".to_owned());
    };
    match after.params == before.params {
        true => Ok(true),
        false => Err("the gain map of a smaller image acts otherwise".to_owned()),
    }
}

fn gain_map(file: &[u8]) -> Option<GainHeader> {
    let codec = ALL.iter().find(|codec| codec.sniff(file))?;
    codec.gain_maps()?.gain_map(file, &codec.probe(file).ok()?)
}
