//! Renders a request whose source is in memory to the bytes of the response, in the same way for GET, uploads and
//! `andon render`.

use std::sync::Arc;

use andon_dialects::{About, ImageRequest, Part, ResultAbout, SourceAbout};
use andon_pixels::{
    Cores, CpuTime, Decoded, Engine, Index, Interrupt, Measurement, Plan, Run, Timings,
};
use andon_recipe::{Measured, Recipe};
use bytes::Bytes;

use crate::error::Error;
use crate::sources::materials::LoadedMaterials;
use crate::sources::{media_type, undrawn};

/// A planned image, with everything that it is made from in memory.
#[derive(Debug)]
pub struct Planned {
    plan: Arc<Plan>,
    request: Arc<ImageRequest>,
    negotiated: bool,
    path: String,
    source: Bytes,
    materials: LoadedMaterials,
    measured: Measured,
    /// Estimated processor time of the measurement that was made while planning.
    measuring: CpuTime,
}

/// What a plan is made from: a request, and the files that it needs.
#[derive(Debug)]
pub struct Ingredients {
    /// The request, with its format settled.
    pub request: Arc<ImageRequest>,
    /// Whether the URL left the format open and the client's `Accept` decided it.
    pub negotiated: bool,
    /// The source's path, whose extension may say its type.
    pub path: String,
    /// The source's bytes.
    pub source: Bytes,
    /// The overlay images.
    pub materials: LoadedMaterials,
}

/// A request that is planned, or that can be planned only after its source's pixels are measured.
#[derive(Debug)]
pub(crate) enum Prepared {
    Planned(Box<Planned>),
    Unmeasured(Box<Ingredients>, Measurement),
}

impl Prepared {
    /// Reads the source's header, and plans the request unless pixels have to be measured first.
    ///
    /// # Errors
    /// As [`Engine::measurement`] and [`Planned::new`].
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
    /// The bytes of the image, or those of the source itself.
    pub body: Bytes,
    /// The media type of the body.
    pub media_type: &'static str,
    /// What was left out of the source although the request did not ask for that, in a sentence each.
    pub notes: Vec<String>,
    /// Whether the source is truncated or damaged, and shown as far as it can be decoded.
    pub damaged: bool,
    /// Whether the image is the source with the end that its file lacked.
    pub completed: bool,
    /// How long each stage took.
    pub timings: Timings,
}

impl Planned {
    /// Plans a request: reads the source's header, and makes any measurement that it needs at once unless `measured` is
    /// given.
    ///
    /// # Errors
    /// As [`Engine::plan_with`].
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
            materials,
        } = ingredients;
        let measurement = match measured {
            Some(_) => None,
            None => engine.measurement(&*request.rules, &source)?,
        };
        let measuring = measurement.map_or_else(CpuTime::default, |it| it.cost().into());
        let plan = engine.plan_with(&*request.rules, &source, &materials, measured, None)?;
        Ok(Self {
            measuring,
            plan: Arc::new(plan),
            request,
            negotiated,
            path,
            source,
            materials,
            measured: measured.cloned().unwrap_or_default(),
        })
    }

    /// Plans again with an index of the source, which has no effect if it is not valid.
    ///
    /// # Errors
    /// As [`Engine::plan_with`].
    pub(crate) fn through(self, engine: &Engine, index: Bytes) -> Result<Self, Error> {
        let index: Index = Arc::new(index);
        let plan = engine.plan_with(
            &*self.request.rules,
            &self.source,
            &self.materials,
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
    /// As [`Limits::check_cpu`](andon_pixels::Limits::check_cpu).
    pub fn check_cpu(&self, engine: &Engine) -> Result<(), Error> {
        let bytes = self.source.len() as u64;
        Ok(engine
            .limits()
            .check_cpu(self.measuring + self.plan.cpu(), bytes)?)
    }

    /// The request that is planned.
    pub(crate) fn request(&self) -> &ImageRequest {
        &self.request
    }

    /// The plan, with its cost and memory.
    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The source's bytes.
    pub(crate) fn source(&self) -> &Bytes {
        &self.source
    }

    /// Returns what is needed to make something else from the same source, for a document about it.
    #[must_use]
    pub fn part(&self, recipe: Recipe) -> Ingredients {
        let mut request = ImageRequest::image(self.request.source.clone(), recipe);
        request.style.exact = true;
        Ingredients {
            request: Arc::new(request),
            negotiated: false,
            path: self.path.clone(),
            source: self.source.clone(),
            materials: self.materials.clone(),
        }
    }

    /// Returns what a document tells: what the header says about the source, what is made from it, and the parts that
    /// were made for the document.
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
    /// As [`Engine::score`].
    pub(crate) fn score(
        &self,
        engine: &Engine,
        result: &[u8],
        cores: &dyn Cores,
        interrupt: &dyn Interrupt,
    ) -> Result<f64, Error> {
        let run = Run {
            bytes: &self.source,
            materials: &self.materials,
            interrupt,
            cores,
            decoded: None,
        };
        Ok(engine.score(&self.plan, run, result)?)
    }

    /// Renders the planned image, from `decoded` if the source was decoded before.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn render(
        self,
        engine: &Engine,
        decoded: Option<Decoded>,
        cores: &dyn Cores,
        interrupt: &dyn Interrupt,
    ) -> Result<Rendered, Error> {
        let source = &self.source;
        let made = engine.run(
            &self.plan,
            Run {
                bytes: source,
                materials: &self.materials,
                interrupt,
                cores,
                decoded,
            },
        )?;
        let media_type = self.media_type(engine, made.media_type);
        let completed = self.plan.is_copy() && made.body.is_some();
        if made.lacks_letters {
            undrawn::count();
        }
        let mut notes = made.notes;
        let (body, media_type) = match made.body {
            None => (source.slice(..made.of_source), media_type),
            Some(body) if !completed && self.only_grew(engine, &body) => {
                // What follows the image must not be sent, and no more than a decoder needs was seen.
                match engine.extent(cores, source, interrupt) {
                    Ok(length) => {
                        notes.clear();
                        let media_type = media_type::of(engine.codecs(), &self.path, source);
                        (source.slice(..length), media_type)
                    }
                    Err(interrupted @ andon_pixels::Error::Interrupted) => {
                        return Err(interrupted.into());
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
            damaged: made.damaged,
            completed,
            timings: made.timings,
        })
    }

    /// Whether the result is larger than the source, although the request asked for nothing but a new encoding and does
    /// not insist on one.
    fn only_grew(&self, engine: &Engine, body: &[u8]) -> bool {
        // One frame is not the whole animation, and another depth not what the source has.
        let output = &self.plan.recipe().output;
        let all_frames = output.frame.is_none() && output.most_frames.is_none();
        let only_encoded = self.plan.encodes_only() && all_frames && output.depth.is_none();
        let any_format = self.negotiated || self.plan.format() == self.plan.info().format;
        let any_format = any_format && !self.is_only_read(engine);
        let larger = body.len() > self.source.len();
        !self.request.style.sends_what_is_made() && only_encoded && any_format && larger
    }

    /// Whether the source is of a format that is not sent to browsers.
    fn is_only_read(&self, engine: &Engine) -> bool {
        let info = self.plan.info();
        let source = engine
            .codecs()
            .iter()
            .find(|codec| codec.name() == info.format);
        source.is_some_and(|source| source.instead(info).is_some())
    }

    /// Returns the result's true media type. In the strict mode of the small_light module the source's name decides
    /// instead, if no format was asked for.
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
