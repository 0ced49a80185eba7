//! A codec for test files that name the fault that reading them causes: `PLANTED WHERE FAULT`, followed by any bytes.

use andon_pixels::{
    Codec, Cost, Decode, Depth, Error, Format, Frame, Image, Info, Isolation, Model, Plane, Result,
    Scales,
};

use crate::faults;

/// The codec for planted files, which are gray images of 64×64 px.
pub(crate) struct Planted;

const NAME: &str = "planted";
const SIDE: u32 = 64;

impl Planted {
    /// Causes the fault that the file names, if the file names `here` (`header` or `pixels`) as the place where it
    /// occurs.
    fn commit(here: &str, bytes: &[u8]) -> Result<()> {
        let line = bytes
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let mut words = line.split(' ').skip(1);
        match (words.next(), words.next()) {
            (Some(place), Some(fault)) if place == here => {
                faults::commit(fault).map_err(|why| Error::broken(NAME, why))
            }
            _ => Ok(()),
        }
    }
}

impl Codec for Planted {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &[],
            media_type: "image/x-planted",
            revision: 1,
            web: None,
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        head.starts_with(b"PLANTED ")
    }

    fn isolation(&self) -> Isolation {
        Isolation::READS
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        Self::commit("header", bytes)?;
        Ok(Info::new(NAME, SIDE, SIDE, Model::Gray))
    }

    fn decode(&self, bytes: &[u8], info: &Info, _how: &Decode<'_>) -> Result<Image> {
        Self::commit("pixels", bytes)?;
        let gray = Plane::filled(Depth::U8, info.width, info.height, 128);
        let frame = Frame::new(Model::Gray, info.width, info.height, vec![gray], None)?;
        Ok(Image::still(frame))
    }

    fn decode_cost(&self, _bytes: u64, _info: &Info, _scales: Scales) -> Cost {
        Cost {
            nanos: 100_000,
            scratch: 1 << 20,
        }
    }

    fn instead(&self, _info: &Info) -> Option<&'static str> {
        Some("png")
    }
}
