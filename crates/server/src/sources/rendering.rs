//! Renders a request whose source is in memory to the body of the response. GET requests, uploads and `andon render`
//! all use it.

use std::sync::Arc;

use andon_dialects::{About, ImageRequest, Part, ResultAbout, SourceAbout};
use andon_pixels::{
    Cores, CpuTime, Decoded, Engine, Index, Interrupt, Measurement, Plan, Run, Timings,
};
use andon_recipe::{Measured, Recipe};
use bytes::Bytes;

use crate::error::Error;
use crate::sources::overlays::LoadedOverlays;
use crate::sources::{media_type, undrawn};

/// A planned image with its inputs, all in memory.
#[derive(Debug)]
pub struct Planned {
    plan: Arc<Plan>,
    request: Arc<ImageRequest>,
    negotiated: bool,
    path: String,
    source: Bytes,
    overlays: LoadedOverlays,
    measured: Measured,
    /// Estimated processor time of the measurement that was made while planning.
    measuring: CpuTime,
}

/// The inputs of a plan: a request, and the bytes of the files that it needs.
#[derive(Debug)]
pub struct Ingredients {
    /// The request, with its format settled.
    pub request: Arc<ImageRequest>,
    /// Whether the URL left the format open and the client's `Accept` decided it.
    pub negotiated: bool,
    /// The source's path, whose extension may indicate its type.
    pub path: String,
    /// The source's bytes.
    pub source: Bytes,
    /// The overlay images.
    pub overlays: LoadedOverlays,
}

/// A request that is planned, or that can be planned only after pixels of its source have been measured.
#[derive(Debug)]
pub(crate) enum Prepared {
    Planned(Box<Planned>),
    Unmeasured(Box<Ingredients>, Measurement),
}

impl Prepared {
    /// Reads the source's header, and plans the request unless pixels have to be measured first.
    ///
    /// # Errors
    /// If the source's header cannot be read, the measurement would take too much memory, or the request cannot be
    /// planned.
    pub(crate) fn new(engine: &Engine, ingredients: Ingredients) -> Result<Self, Error> {
        let measurement = engine.measurement(&*ingredients.request.rules, &ingredients.source)?;
        Ok(match measurement {
            Some(measurement) => Self::Unmeasured(Box::new(ingredients), measurement),
            None => {
                let planned = Planned::new(engine, ingredients, Some(&Measured::default()))?;
                Self::Planned(Box::new(planned))
            }
        })
    }
}

/// A finished image.
#[derive(Debug)]
pub struct Rendered {
    /// The bytes of the image, or the bytes of the source itself.
    pub body: Bytes,
    /// The media type of the body.
    pub media_type: &'static str,
    /// Parts of the source that were left out although the request did not ask for that, one sentence each.
    pub notes: Vec<String>,
    /// Whether the source is truncated or damaged, and was rendered as far as it could be decoded.
    pub damaged: bool,
    /// Whether the file lacked the end marker of its image, so that the body is the file with the marker appended.
    pub completed: bool,
    /// How long each stage took.
    pub timings: Timings,
}

impl Planned {
    /// Plans a request: reads the source's header and, unless `measured` is given, makes any measurement that the plan
    /// needs.
    ///
    /// # Errors
    /// If the source's header cannot be read, or if the recipe is invalid or does not suit the source.
    pub fn new(
        engine: &Engine,
        ingredients: Ingredients,
        measured: Option<&Measured>,
    ) -> Result<Self, Error> {
        let Ingredients {
            request,
            negotiated,
            path,
            source,
            overlays,
        } = ingredients;
        let measurement = match measured {
            Some(_) => None,
            None => engine.measurement(&*request.rules, &source)?,
        };
        let measuring = measurement.map_or_else(CpuTime::default, |it| it.cost().into());
        let plan = engine.plan_with(&*request.rules, &source, &overlays, measured, None)?;
        Ok(Self {
            measuring,
            plan: Arc::new(plan),
            request,
            negotiated,
            path,
            source,
            overlays,
            measured: measured.cloned().unwrap_or_default(),
        })
    }

    /// Plans again with an index of the source (the offsets at which its parts can be decoded). An invalid index has no
    /// effect.
    ///
    /// # Errors
    /// If the recipe does not suit the source.
    pub(crate) fn through(self, engine: &Engine, index: Bytes) -> Result<Self, Error> {
        let index: Index = Arc::new(index);
        let plan = engine.plan_with(
            &*self.request.rules,
            &self.source,
            &self.overlays,
            Some(&self.measured),
            Some(&index),
        )?;
        Ok(Self {
            plan: Arc::new(plan),
            ..self
        })
    }

    /// Refuses a plan that takes more processor time than `limits.cpu` allows, including the measurement that was made
    /// while planning.
    ///
    /// # Errors
    /// `Pixels(Limit)`, with the planned time and the limit in nanoseconds.
    pub fn check_cpu(&self, engine: &Engine) -> Result<(), Error> {
        let bytes = self.source.len() as u64;
        Ok(engine
            .limits()
            .check_cpu(self.measuring + self.plan.cpu(), bytes)?)
    }

    /// Returns the request that is planned.
    pub(crate) fn request(&self) -> &ImageRequest {
        &self.request
    }

    /// Returns the plan, with its cost and memory.
    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The source's bytes.
    pub(crate) fn source(&self) -> &Bytes {
        &self.source
    }

    /// Returns the inputs for making a further image from the same source: one for a document about the source, or one
    /// to compare the result with.
    #[must_use]
    pub fn part(&self, recipe: Recipe) -> Ingredients {
        let mut request = ImageRequest::image(self.request.source.clone(), recipe);
        request.style.exact = true;
        Ingredients {
            request: Arc::new(request),
            negotiated: false,
            path: self.path.clone(),
            source: self.source.clone(),
            overlays: self.overlays.clone(),
        }
    }

    /// Returns the contents of a document: the facts of the source's header, the result of the plan, and `parts`, the
    /// further results that were made of the source for the document.
    #[must_use]
    pub fn about<'a>(&'a self, parts: &'a [Part]) -> About<'a> {
        let (info, plan) = (self.plan.info(), &self.plan);
        let (width, height) = plan.size();
        About {
            source: SourceAbout {
                format: info.format,
                width: info.width,
                height: info.height,
                orientation: info.orientation,
                frames: info.frames,
                alpha: info.alpha,
                depth: info.depth.bits().into(),
                colour: info.model.name(),
                profiled: info.space.profiled,
                metadata: info.metadata,
                progressive: info.progressive,
                bytes: self.source.len() as u64,
            },
            recipe: plan.recipe(),
            result: ResultAbout {
                format: plan.format(),
                width,
                height,
            },
            parts,
        }
    }

    /// Returns how well `result` preserves the planned image, as an SSIMULACRA2 score.
    ///
    /// # Errors
    /// `Pixels(Unfit)` for a result of another size or an image too small to score, and any error of rendering.
    pub(crate) fn score(
        &self,
        engine: &Engine,
        result: &[u8],
        cores: &dyn Cores,
        interrupt: &dyn Interrupt,
    ) -> Result<f64, Error> {
        let run = Run {
            bytes: &self.source,
            overlays: &self.overlays,
            interrupt,
            cores,
            decoded: None,
        };
        Ok(engine.score(&self.plan, run, result)?)
    }

    /// Renders the planned image, from `decoded` if the source was decoded before.
    ///
    /// # Errors
    /// Any error of rendering, such as a corrupt source or an interruption.
    pub fn render(
        self,
        engine: &Engine,
        decoded: Option<Decoded>,
        cores: &dyn Cores,
        interrupt: &dyn Interrupt,
    ) -> Result<Rendered, Error> {
        let source = &self.source;
        let output = engine.run(
            &self.plan,
            Run {
                bytes: source,
                overlays: &self.overlays,
                interrupt,
                cores,
                decoded,
            },
        )?;
        let media_type = self.media_type(engine, output.media_type);
        let completed = self.plan.is_copy() && output.body.is_some();
        if output.lacks_letters {
            undrawn::count();
        }
        let mut notes = output.notes;
        let (body, media_type) = match output.body {
            None => (source.slice(..output.of_source), media_type),
            Some(body) if !completed && self.only_grew(engine, &body) => {
                // Bytes after the end of the image must not be sent, and the decoder has not read up to there.
                match engine.extent(cores, source, interrupt) {
                    Ok(length) => {
                        notes.clear();
                        let media_type = media_type::of(engine.codecs(), &self.path, source);
                        (source.slice(..length), media_type)
                    }
                    Err(error @ andon_pixels::Error::Interrupted) => {
                        return Err(error.into());
                    }
                    Err(_) => (boxed(body), media_type),
                }
            }
            Some(body) => (boxed(body), media_type),
        };
        Ok(Rendered {
            body,
            media_type,
            notes,
            damaged: output.damaged,
            completed,
            timings: output.timings,
        })
    }

    /// Whether the source is sent in place of the result: the result is larger, and the request only encodes the image
    /// again, accepts the source's format, and does not require the result in any case.
    fn only_grew(&self, engine: &Engine, body: &[u8]) -> bool {
        // A single frame, or a limited number, does not replace the whole animation, nor another depth that of the
        // source.
        let output = &self.plan.recipe().output;
        let all_frames = output.frame.is_none() && output.most_frames.is_none();
        let only_encoded = self.plan.encodes_only() && all_frames && output.depth.is_none();
        let any_format = self.negotiated || self.plan.format() == self.plan.info().format;
        let any_format = any_format && !self.is_only_read(engine);
        let larger = body.len() > self.source.len();
        !self.request.style.sends_what_is_made() && only_encoded && any_format && larger
    }

    /// Whether the source has a format that is not sent to browsers.
    fn is_only_read(&self, engine: &Engine) -> bool {
        let info = self.plan.info();
        let source = engine
            .codecs()
            .iter()
            .find(|codec| codec.name() == info.format);
        source.is_some_and(|source| source.instead(info).is_some())
    }

    /// Returns the media type to send: `true_type`, or in the strict mode of the small_light module the type that the
    /// source's name indicates, if the request names no format.
    fn media_type(&self, engine: &Engine, true_type: &'static str) -> &'static str {
        let promised = self
            .request
            .style
            .type_by_name
            .then_some(())
            .filter(|()| !self.is_only_read(engine))
            .map(|()| media_type::by_name(engine.codecs(), &self.path));
        promised.flatten().unwrap_or(true_type)
    }
}

/// Converts a body to a buffer without spare capacity, because the cache counts only the bytes in use.
fn boxed(body: Vec<u8>) -> Bytes {
    body.into_boxed_slice().into()
}
