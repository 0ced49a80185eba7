//! Gain maps in JPEG XL: the box `jhgm` contains the metadata of the map, followed by its own codestream.

use andon_pixels::{
    Codec, Decode, Encode, Error, Frame, GainHeader, GainMap, Image, Interrupt, Result,
};

use super::boxes::Container;
use super::{Jxl, NAME, encode};
use crate::bytes::{u16_be, u32_be};
use crate::gain_map;

/// Reads the header of a file's gain map.
pub(super) fn read(bytes: &[u8]) -> Option<GainHeader> {
    let (iso, codestream) = parts(Container::read(bytes).ok()?.gain_map?)?;
    Some(GainHeader {
        params: gain_map::of_iso(iso)?,
        info: Jxl.probe(codestream).ok()?,
        bytes: codestream.len() as u64,
    })
}

/// Decodes the gain map of a file.
pub(super) fn decode(bytes: &[u8], how: &Decode<'_>) -> Result<Frame> {
    let none = || Error::broken(NAME, "it has no gain map");
    let map = Container::read(bytes)?.gain_map.and_then(parts);
    let (_, codestream) = map.ok_or_else(none)?;
    Ok(Jxl.decode(codestream, &Jxl.probe(codestream)?, how)?.frame)
}

/// Splits the data of a `jhgm` box into a gain map's metadata (ISO 21496-1) and its codestream.
fn parts(data: &[u8]) -> Option<(&[u8], &[u8])> {
    if *data.first()? != VERSION {
        return None;
    }
    let iso = data.get(3..3 + usize::from(u16_be(data, 1)?))?;
    let rest = data.get(3 + iso.len()..)?;
    // The colour space of the alternate image: an encoding as in a codestream, and an ICC profile.
    let encoding = usize::from(*rest.first()?);
    let profile = u32_be(rest, 1 + encoding)? as usize;
    let codestream = rest.get((5 + encoding).checked_add(profile)?..)?;
    Some((iso, codestream))
}

/// Encodes a gain map as the data of a `jhgm` box. Returns `None` for a map without parameters in the form of ISO
/// 21496-1, which this box requires.
pub(super) fn write(map: &GainMap, interrupt: &dyn Interrupt) -> Result<Option<Vec<u8>>> {
    let Some(iso) = &map.params.iso else {
        return Ok(None);
    };
    let how = Encode {
        quality: map.quality,
        ..Encode::default()
    };
    let codestream = encode::encode(&Image::still(map.frame.clone()), &how, interrupt)?;
    let length = u16::try_from(iso.len())
        .map_err(|_| Error::Internal("a gain map with too many parameters".to_owned()))?;
    let mut data = vec![VERSION];
    data.extend(length.to_be_bytes());
    data.extend_from_slice(iso);
    // Neither encoding nor profile: the alternate image has the colour space of the base image.
    data.extend([0; 5]);
    data.extend(codestream);
    Ok(Some(data))
}

const VERSION: u8 = 0;
