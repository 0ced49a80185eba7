//! Gain maps: a smaller picture has one that acts the same.

use andon_codecs::ALL;
use andon_pixels::{Error, GainHeader};

use crate::judge::{Judged, Source};

/// Ok(false): the file has none that is understood.
pub(crate) fn judge(source: &Source) -> Result<Judged<bool>, Error> {
    let Some(before) = gain_map(&source.bytes) else {
        return Ok(Ok(false));
    };
    let Some(after) = gain_map(&source.rendered("fit:100x100")?) else {
        return Ok(Err("a smaller picture has no gain map".to_owned()));
    };
    Ok(match after.params == before.params {
        true => Ok(true),
        false => Err("the gain map of a smaller picture acts otherwise".to_owned()),
    })
}

fn gain_map(file: &[u8]) -> Option<GainHeader> {
    let codec = ALL.iter().find(|codec| codec.sniff(file))?;
    codec.gain_map(file, &codec.probe(file).ok()?)
}
