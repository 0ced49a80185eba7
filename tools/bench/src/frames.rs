//! Decodes, prepares and converts frames before and after a measurement. None of this is timed.

use andon_pixels::color::Convert;
use andon_pixels::{
    Alone, Codec, Context, Decode, Depth, Error, Frame, Limits, Model, Never, Plane, Scales, Stage,
    Traits,
};
use anyhow::{Context as _, Result};

use crate::engines::render;
use crate::quality::Rgb;

/// Applies the recipe `steps` to a photo and decodes the lossless result. The frame is upright and has no colour
/// profile.
pub(crate) fn prepared(photo: &[u8], steps: &str) -> Result<Frame> {
    let recipe = format!("orient,{steps},profile:drop,metadata:none,as:png");
    decode("png", &render(&recipe, photo)?)
}

/// Returns the codec for the format of this name.
pub(crate) fn codec(name: &str) -> Result<&'static dyn Codec> {
    let codec = andon_codecs::ALL.iter().find(|codec| codec.name() == name);
    codec.copied().context("no such format")
}

/// Decodes a file of the named format at full size and returns its pixels.
pub(crate) fn decode(name: &str, file: &[u8]) -> Result<Frame> {
    let limits = Limits::default();
    let options = Decode {
        scales: Scales::FULL,
        limits: &limits,
        interrupt: &Never,
        cores: &Alone,
        keep_metadata: false,
    };
    let codec = codec(name)?;
    Ok(codec.decode(file, &codec.probe(file)?, &options)?.frame)
}

/// Converts a frame to interleaved 8-bit RGB.
pub(crate) fn rgb(frame: &Frame) -> Result<Rgb> {
    let frame = convert(frame.clone(), Model::Rgb)?;
    let planes: Option<Vec<_>> = frame.planes.iter().map(Plane::as_u8).collect();
    let planes = planes.context("an image of 8 bits")?;
    let [r, g, b] = planes[..] else {
        anyhow::bail!("an image of three colours");
    };
    let pixels = r.samples().iter().zip(g.samples()).zip(b.samples());
    Ok(Rgb {
        width: frame.width as usize,
        height: frame.height as usize,
        samples: pixels.flat_map(|((&r, &g), &b)| [r, g, b]).collect(),
    })
}

/// Converts a frame to another colour model, with 8 bits per sample.
pub(crate) fn convert(frame: Frame, model: Model) -> Result<Frame> {
    let context = Context {
        overlays: &|_| Err(Error::Internal("no overlays".into())),
        draw: &|_| Err(Error::Internal("no drawings".into())),
        interrupt: &Never,
        cores: &Alone,
    };
    let to = Traits {
        model,
        depth: Depth::U8,
        ..frame.traits()
    };
    let from = frame.colour.space;
    Ok(Convert { to, from }.apply(frame, &context)?)
}
