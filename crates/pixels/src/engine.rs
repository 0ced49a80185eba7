//! Plans and runs: the crate's front door.

use std::time::{Duration, Instant};

use andon_recipe::Recipe;

use crate::codec::{Codec, Decode, Info, Scales};
use crate::color::Convert;
use crate::cores::{Alone, Cores};
use crate::error::{Error, Result};
use crate::frame::{Frame, Image, Metadata};
use crate::limits::{Interrupt, Limits};
use crate::plan::{self, Pipeline, Plan};
use crate::profiles;
use crate::stage::{Context, Materials, Stage};

/// Turns recipes into plans and plans into pictures. Cheap to clone, free of state: any number of
/// threads may share one.
#[derive(Clone)]
pub struct Engine {
    codecs: &'static [&'static dyn Codec],
    limits: Limits,
    headroom: f64,
}

/// A finished picture.
#[derive(Debug)]
pub struct Rendered {
    /// Its bytes; `None`: the source's own, untouched.
    pub body: Option<Vec<u8>>,
    /// Its media type, from its true format.
    pub media_type: &'static str,
    /// Width in px.
    pub width: u32,
    /// Height in px.
    pub height: u32,
    /// Where the time went.
    pub timings: Timings,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    /// Decoding.
    pub decode: Duration,
    /// Every stage between decoding and encoding.
    pub stages: Duration,
    /// Encoding.
    pub encode: Duration,
}

impl Engine {
    /// An engine over these codecs, within these limits.
    #[must_use]
    pub fn new(codecs: &'static [&'static dyn Codec], limits: Limits) -> Self {
        Self {
            codecs,
            limits,
            headroom: plan::HEADROOM,
        }
    }

    /// Sets how many decoded pixels per result pixel, along each side, shrink-on-load leaves to the
    /// resampler at least. More is slower and, up to a point, better; the default is 1.5.
    #[must_use]
    pub fn with_headroom(mut self, headroom: f64) -> Self {
        self.headroom = headroom;
        self
    }

    /// Reads a picture's header.
    ///
    /// # Errors
    /// `UnknownFormat`, `Broken`, `Unsupported`, `Limit`.
    pub fn probe(&self, bytes: &[u8]) -> Result<Info> {
        let (_, info) = self.header(bytes)?;
        self.limits.check_source(&info)?;
        Ok(info)
    }

    /// Plans a recipe for the picture in `bytes`: reads its header only.
    ///
    /// # Errors
    /// As `probe` (a picture over the limits of its size may still be copied), and `Recipe`, and `Limit`
    /// for a result or a peak that is too large.
    pub fn plan(&self, recipe: &Recipe, bytes: &[u8]) -> Result<Plan> {
        plan::planner::plan(self, recipe, bytes)
    }

    /// Runs a plan on the bytes it was made for.
    ///
    /// # Errors
    /// Any.
    pub fn run(
        &self,
        plan: &Plan,
        bytes: &[u8],
        materials: &dyn Materials,
        interrupt: &dyn Interrupt,
    ) -> Result<Rendered> {
        self.run_on(&Alone, plan, bytes, materials, interrupt)
    }

    /// Runs a plan as `run` does, but may borrow idle cores. The result is the same.
    ///
    /// # Errors
    /// Any.
    pub fn run_on(
        &self,
        cores: &dyn Cores,
        plan: &Plan,
        bytes: &[u8],
        materials: &dyn Materials,
        interrupt: &dyn Interrupt,
    ) -> Result<Rendered> {
        let mut timings = Timings::default();
        let body = match plan.pipeline() {
            None => None,
            Some(pipeline) => {
                let job = Job {
                    engine: self,
                    materials,
                    interrupt,
                    cores,
                };
                let image = job.picture(pipeline, plan.info(), bytes, &mut timings)?;
                Some(job.write(pipeline, &image, &mut timings)?)
            }
        };
        let (width, height) = plan.size();
        Ok(Rendered {
            body,
            media_type: plan.media_type(),
            width,
            height,
            timings,
        })
    }

    /// Runs a plan up to the frame that would be encoded: for tests that judge pixels, not codecs. A
    /// copy is decoded in full.
    ///
    /// # Errors
    /// Any.
    pub fn render_frame(
        &self,
        plan: &Plan,
        bytes: &[u8],
        materials: &dyn Materials,
        interrupt: &dyn Interrupt,
    ) -> Result<Frame> {
        let job = Job {
            engine: self,
            materials,
            interrupt,
            cores: &Alone,
        };
        let image = match plan.pipeline() {
            Some(pipeline) => job.picture(pipeline, plan.info(), bytes, &mut Timings::default())?,
            None => job.whole(bytes)?,
        };
        first_frame(image).map(|(frame, _)| frame)
    }

    /// The codec that claims these bytes, and what it reads in their header.
    pub(crate) fn header(&self, bytes: &[u8]) -> Result<(&'static dyn Codec, Info)> {
        self.limits.check_file(bytes)?;
        let codec = *self
            .codecs
            .iter()
            .find(|codec| codec.sniff(bytes))
            .ok_or(Error::UnknownFormat)?;
        let info = codec.probe(bytes)?;
        Ok((codec, info))
    }

    /// The codec of this name or alias.
    pub(crate) fn codec(&self, name: &str) -> Option<&'static dyn Codec> {
        self.codecs
            .iter()
            .copied()
            .find(|codec| codec.name() == name || codec.aliases().contains(&name))
    }

    pub(crate) fn codecs(&self) -> &'static [&'static dyn Codec] {
        self.codecs
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn headroom(&self) -> f64 {
        self.headroom
    }
}

/// One run of a plan.
struct Job<'a> {
    engine: &'a Engine,
    materials: &'a dyn Materials,
    interrupt: &'a dyn Interrupt,
    cores: &'a dyn Cores,
}

impl Job<'_> {
    /// Decodes and goes through the stages.
    fn picture(
        &self,
        pipeline: &Pipeline,
        info: &Info,
        bytes: &[u8],
        timings: &mut Timings,
    ) -> Result<Image> {
        let load = |name: &str| self.material(name);
        let context = Context {
            layout: &pipeline.layout,
            materials: &load,
            interrupt: self.interrupt,
            cores: self.cores,
        };
        context.check()?;
        let start = Instant::now();
        let image = pipeline.source.decode(
            bytes,
            info,
            &Decode {
                scales: pipeline.scales,
                limits: &self.engine.limits,
                interrupt: self.interrupt,
                cores: self.cores,
                keep_metadata: pipeline.reads_metadata(),
            },
        )?;
        timings.decode = start.elapsed();

        let start = Instant::now();
        let (mut frame, mut metadata) = first_frame(image)?;
        if (frame.width, frame.height) != pipeline.decoded {
            return Err(Error::Internal(format!(
                "{} decoded {}×{} px where {}×{} were planned",
                info.format, frame.width, frame.height, pipeline.decoded.0, pipeline.decoded.1
            )));
        }
        for (index, stage) in pipeline.stages.iter().enumerate() {
            context.check()?;
            frame = match (pipeline.profiled, &metadata.icc) {
                (Some((at, to)), Some(icc)) if at == index => {
                    let icc = Some(icc.clone());
                    Convert { to, icc }.apply(frame, &context)?
                }
                _ => stage.apply(frame, &context)?,
            };
        }
        if pipeline.keep_metadata {
            profiles::settle(&mut metadata, frame.model, pipeline.reset_orientation);
        } else {
            metadata = Metadata::default();
        }
        timings.stages = start.elapsed();
        Ok(Image {
            metadata,
            ..Image::still(frame)
        })
    }

    fn write(&self, pipeline: &Pipeline, image: &Image, timings: &mut Timings) -> Result<Vec<u8>> {
        if self.interrupt.interrupted() {
            return Err(Error::Interrupted);
        }
        let start = Instant::now();
        let body = pipeline
            .target
            .encode(image, &pipeline.encode, self.interrupt)?;
        timings.encode = start.elapsed();
        Ok(body)
    }

    /// A picture to compose with, under the same limits as any source.
    fn material(&self, name: &str) -> Result<Image> {
        let bytes = self.materials.load(name)?;
        self.whole(&bytes).map_err(|error| match error {
            Error::UnknownFormat | Error::Broken { .. } | Error::Unsupported { .. } => {
                Error::Recipe {
                    piece: name.to_owned(),
                    why: error.to_string(),
                }
            }
            other => other,
        })
    }

    /// Decodes in full.
    fn whole(&self, bytes: &[u8]) -> Result<Image> {
        let (codec, info) = self.engine.header(bytes)?;
        self.engine.limits.check_source(&info)?;
        codec.decode(
            bytes,
            &info,
            &Decode {
                scales: Scales::FULL,
                limits: &self.engine.limits,
                interrupt: self.interrupt,
                cores: self.cores,
                keep_metadata: false,
            },
        )
    }
}

/// The first frame and the profiles. Stages see one frame: animations answer with their first.
fn first_frame(image: Image) -> Result<(Frame, Metadata)> {
    let frame = image
        .frames
        .into_iter()
        .next()
        .ok_or_else(|| Error::Internal("a codec decoded no frame".to_owned()))?;
    Ok((frame, image.metadata))
}
