//! Runs the decoders on a file, without a server.

use std::path::Path;

use andon_codecs::ALL;
use andon_pixels::{
    Alone, AnimationDecoder, Codec, Decode, Engine, Error, Frame, Info, Limits, Never, NoOverlays,
    Run, Scale, Scales,
};
use andon_recipe::Recipe;
use serde_json::Value;

use crate::frames::Moving;
use crate::judge::Judged;
use crate::planes;
use crate::rgba::Rgba;
use crate::rows::Row;
use crate::way::{Miss, Way};

/// A file that has been read, and the engine that decodes it.
pub(crate) struct Decoders {
    bytes: Vec<u8>,
    limits: Limits,
    engine: Engine,
}

impl Decoders {
    pub(crate) fn read(path: &Path) -> Judged<Self> {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self::of(bytes))
    }

    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        let limits = Limits::default();
        Self {
            bytes,
            limits,
            engine: Engine::new(ALL, limits),
        }
    }

    fn options(&self) -> Decode<'_> {
        Decode {
            scales: Scales::FULL,
            limits: &self.limits,
            interrupt: &Never,
            cores: &Alone,
            keep_metadata: true,
        }
    }

    /// Returns the name of the file's format.
    pub(crate) fn format(&self) -> Result<&'static str, Error> {
        Ok(self.engine.probe(&self.bytes)?.format)
    }

    fn header(&self) -> Result<(&'static dyn Codec, Info), Error> {
        let info = self.engine.probe(&self.bytes)?;
        let codec = ALL.iter().find(|codec| codec.name() == info.format);
        Ok((*codec.ok_or(Error::UnknownFormat)?, info))
    }

    /// Decodes the first frame in the file's own colour space, without applying its orientation. A file that can be
    /// decoded at several scales is decoded at the size of the expected image.
    fn decoded(&self, row: &Row) -> Result<(Info, Frame), Error> {
        let (codec, info) = self.header()?;
        let answered = |scale: &&Scale| {
            let (width, height) = info.scaled(**scale);
            **scale > Scale::FULL && (Some(width), Some(height)) == (row.width, row.height)
        };
        let scale = codec.scales(&info).iter().find(answered);
        let options = Decode {
            scales: Scales::both(scale.copied().unwrap_or(Scale::FULL)),
            ..self.options()
        };
        let image = codec.decode(&self.bytes, &info, &options)?;
        Ok((info, image.frame))
    }
}

impl Way for Decoders {
    fn still(&self, row: &Row) -> Result<Rgba, Miss> {
        let (info, frame) = self.decoded(row)?;
        let output = Rgba::of(frame)?;
        Ok(match row.is_upright() {
            true => output.oriented(info.orientation),
            false => output,
        })
    }

    fn moving(&self) -> Result<Moving, Miss> {
        let (codec, info) = self.header()?;
        let mut frames = Vec::new();
        let moves = |decoder: &&dyn AnimationDecoder| decoder.composed(&info).is_some();
        if let Some(decoder) = codec.animation().filter(moves) {
            let mut reader = decoder.open(&self.bytes, &info, &self.options())?;
            while let Some(timed) = reader.next()? {
                let delay = timed.delay.seconds() * 1000.0;
                frames.push((Some(delay), Rgba::of(timed.frame)?));
            }
        } else {
            let image = codec.decode(&self.bytes, &info, &self.options())?;
            frames.push((None, Rgba::of(image.frame)?));
        }
        Ok(Moving {
            frames,
            frame_count: info.frames,
            plays: info.animation.map(|animation| animation.plays),
        })
    }

    fn rendered(&self, recipe: &str) -> Result<Vec<u8>, Miss> {
        let recipe: Recipe = (recipe.parse()).map_err(|error| format!("{recipe}: {error}"))?;
        let plan = (self.engine).plan_with(&recipe, &self.bytes, &NoOverlays, None, None)?;
        let rendered = self.engine.run(&plan, Run::of(&self.bytes))?;
        Ok(rendered.bytes(&self.bytes).to_vec())
    }

    fn has_fonts(&self) -> bool {
        true
    }

    fn has_planes(&self) -> bool {
        true
    }

    fn planes(&self, row: &Row, answer: &Value) -> Result<bool, Miss> {
        let (_, frame) = self.decoded(row)?;
        Ok(planes::judge(&frame, answer)?)
    }
}
