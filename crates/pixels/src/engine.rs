//! The engine, the crate's entry point: makes plans and runs them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use andon_recipe::{Effect, Facts, Measured, Orientation, Recipe, Rules};

use crate::codec::{AnimationDecoder, AnimationEncoder, Codec, Decode, Info, Scales, Tags, Text};
use crate::color::{Convert, profile_of};
use crate::cores::{Alone, Cores};
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::formats::{Formats, within};
use crate::frame::{Frame, GainMap, Image, Metadata};
use crate::limits::{Bound, Damaged, Interrupt, Limits, Never};
use crate::measure::{self, Measurement};
use crate::ops::turn::Turned;
use crate::plan::search::{Candidate, Scored, Search};
use crate::plan::{self, Drawing, Frames, Index, Part, Pipeline, Plan, Tag, Taken};
use crate::profiles;
use crate::score::{self, Reference};
use crate::sequence::{Head, Timed};
use crate::space;
use crate::stage::{Context, Materials, NoMaterials, Stage, wrong};

/// Turns recipes into plans and plans into images. An engine is cheap to clone and stateless, so that any number of
/// threads may share it.
#[derive(Clone)]
pub struct Engine {
    formats: Formats,
}

/// A finished image.
#[derive(Debug)]
pub struct Rendered {
    /// Bytes of the image. `None`: the answer is the first `of_source` bytes of the source, which are complete.
    pub body: Option<Vec<u8>>,
    /// Number of leading bytes of the source that make up the image, if the answer is the source itself: it was checked
    /// to the end of the image, and the bytes after that do not belong to it.
    pub of_source: usize,
    /// Media type of the image's actual format.
    pub media_type: &'static str,
    /// Width in px.
    pub width: u32,
    /// Height in px.
    pub height: u32,
    /// Parts of the source that are left out although the request did not ask for that, in one sentence each.
    pub notes: Vec<String>,
    /// Whether the source is truncated or damaged, and shown as far as it goes ([`Limits::damaged`]).
    pub damaged: bool,
    /// Time taken by each phase.
    pub timings: Timings,
}

impl Rendered {
    /// Returns the bytes of the image; `source` must be the file it was made from.
    #[must_use]
    pub fn bytes<'a>(&'a self, source: &'a [u8]) -> &'a [u8] {
        match &self.body {
            Some(body) => body,
            None => &source[..self.of_source.min(source.len())],
        }
    }
}

/// Time taken by each phase of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    /// Time spent decoding.
    pub decode: Duration,
    /// Time spent in all stages between decoding and encoding.
    pub stages: Duration,
    /// Time spent encoding.
    pub encode: Duration,
}

/// A decoded image from which plans can start. A clone shares its samples until either is written to.
#[derive(Clone, Debug)]
pub struct Decoded {
    image: Image,
    /// Whether the image is what is left of a truncated or damaged file.
    damaged: bool,
    /// Decoding time, shared by all results that start from this image.
    pub time: Duration,
}

impl Decoded {
    /// Returns the size of the image's samples in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.image.bytes()
    }
}

/// Inputs of a run, beside the plan itself.
pub struct Run<'a> {
    /// The file that the plan was made for.
    pub bytes: &'a [u8],
    /// Files to compose with, such as icons.
    pub materials: &'a dyn Materials,
    /// Tells whether the result is still wanted.
    pub interrupt: &'a dyn Interrupt,
    /// Idle cores that may help.
    pub cores: &'a dyn Cores,
    /// The decoded image that the plan starts from, if it was decoded before.
    pub decoded: Option<Decoded>,
}

impl<'a> Run<'a> {
    /// A run on the file `bytes` without materials to compose with, on one core and never interrupted.
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            materials: &NoMaterials,
            interrupt: &Never,
            cores: &Alone,
            decoded: None,
        }
    }
}

impl Engine {
    /// Creates an engine with these codecs and limits.
    #[must_use]
    pub fn new(codecs: &'static [&'static dyn Codec], limits: Limits) -> Self {
        let formats = Formats {
            codecs,
            limits,
            headroom: plan::HEADROOM,
        };
        Self { formats }
    }

    /// Sets the minimum number of decoded pixels per result pixel, along each side, that shrink-on-load leaves to the
    /// resampler. More is slower and, up to a point, better; the default is 1.5.
    #[must_use]
    pub fn with_headroom(mut self, headroom: f64) -> Self {
        self.formats.headroom = headroom;
        self
    }

    /// Returns the limits that the engine enforces.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.formats.limits
    }

    /// Returns the codecs that the engine was created with.
    #[must_use]
    pub fn codecs(&self) -> &'static [&'static dyn Codec] {
        self.formats.codecs
    }

    /// Checks a recipe for errors that can be found without an image: unknown words, formats that cannot be written,
    /// arguments and options that are never accepted.
    ///
    /// # Errors
    /// `Recipe`.
    pub fn check(&self, recipe: &Recipe) -> Result<()> {
        measure::can_be_looked_for(&recipe.measures(Orientation::default()))?;
        plan::check::check(&self.formats, recipe)
    }

    /// Reads an image's header.
    ///
    /// # Errors
    /// `UnknownFormat`, `Broken`, `Unsupported`, `Limit`.
    pub fn probe(&self, bytes: &[u8]) -> Result<Info> {
        let (_, info) = self.formats.header(bytes)?;
        self.formats.limits.check_source(&info)?;
        Ok(info)
    }

    /// Whether reading the header in `bytes`, and planning for it, each take only a fraction of a millisecond.
    #[must_use]
    pub fn probes_at_once(&self, bytes: &[u8]) -> bool {
        bytes.len() <= PROBED_AT_ONCE && self.formats.probes_at_once(bytes)
    }

    /// Returns the measurement of the pixels in `bytes` that `rules` need before they can be planned; `None` if they
    /// need none, as most do.
    ///
    /// # Errors
    /// As `probe`, and `Limit` if its peak memory is too large.
    pub fn measurement(&self, rules: &dyn Rules, bytes: &[u8]) -> Result<Option<Measurement>> {
        Measurement::of(&self.formats, rules, bytes)
    }

    /// Performs `measurement` on the image that it was planned for: decodes the image, reduced if it is large.
    ///
    /// # Errors
    /// As decoding.
    pub fn measure(
        &self,
        measurement: &Measurement,
        bytes: &[u8],
        cores: &dyn Cores,
        interrupt: &dyn Interrupt,
    ) -> Result<Measured> {
        measurement.run(bytes, &self.formats.limits, cores, interrupt)
    }

    /// Returns the facts that rules may depend on, from the image's header.
    ///
    /// # Errors
    /// `UnknownFormat`, `Broken`, `Unsupported`.
    pub fn facts(&self, bytes: &[u8]) -> Result<Facts> {
        let (codec, info) = self.formats.header(bytes)?;
        let gain_map = plan::planner::gain_map(codec, &info, bytes);
        let measured = Measured::default();
        Ok(plan::planner::facts(
            codec,
            &info,
            bytes,
            gain_map.is_some(),
            &measured,
        ))
    }

    /// Plans how to apply rules, such as a recipe, to the image in `bytes`. Reads the image's header only.
    ///
    /// # Errors
    /// As `probe` (an image over the limits of its size may still be copied), `Recipe`, also for rules that need more
    /// than the header, and `Limit` for a result or a peak memory that is too large.
    pub fn plan(&self, rules: &dyn Rules, bytes: &[u8]) -> Result<Plan> {
        plan::planner::plan(&self.formats, rules, bytes, &Measured::default(), None)
    }

    /// Plans as `plan` does, with measurements and the file's index, and includes the cost of the materials that the
    /// rules compose with, one of which is held at a time. Without `measured`, any measurement that the rules need is
    /// made at once. The result does not depend on the index.
    ///
    /// # Errors
    /// As `plan`, `measurement` and `measure`, and as loading a material. A material that is not an image is reported
    /// only by the run.
    pub fn plan_with(
        &self,
        rules: &dyn Rules,
        bytes: &[u8],
        materials: &dyn Materials,
        measured: Option<&Measured>,
        index: Option<&Index>,
    ) -> Result<Plan> {
        let measurement = match measured {
            Some(_) => None,
            None => self.measurement(rules, bytes)?,
        };
        let here = match measurement {
            Some(measurement) => {
                let length = bytes.len() as u64;
                self.limits().check_cpu(measurement.cost().into(), length)?;
                self.measure(&measurement, bytes, &Alone, &Never)?
            }
            None => Measured::default(),
        };
        let measured = measured.unwrap_or(&here);
        let mut plan = plan::planner::plan(&self.formats, rules, bytes, measured, index)?;
        if plan.is_copy() {
            return Ok(plan);
        }
        let (mut most, mut nanos) = (0, 0_u64);
        let effects: Vec<Effect> = plan.recipe().effects().cloned().collect();
        let mut decoded = Vec::new();
        for effect in &effects {
            let Some(file) = self.formats.material(effect, materials).transpose()? else {
                continue;
            };
            let Ok((codec, info)) = self.formats.header(&file) else {
                continue;
            };
            let length = file.len() as u64;
            most = most.max(plan::held_in_full(codec, &info, length));
            let size = match self.plan_of_material(effect, &file, materials)? {
                // Worked on for every frame, and never written.
                Some(own) => {
                    most = most.max(own.peak_bytes());
                    let each = own.cost().nanos.saturating_sub(own.encode_nanos());
                    nanos = nanos.saturating_add(each.saturating_mul(plan.frames()));
                    own.size()
                }
                None => {
                    let name = effect.args.first();
                    if !decoded.contains(&name) {
                        decoded.push(name);
                        let once = codec.decode_cost(length, &info, Scales::FULL);
                        nanos = nanos.saturating_add(once.nanos);
                    }
                    info.orientation.size(info.width, info.height)
                }
            };
            plan.lays(effect, size);
        }
        plan.also(Cost {
            nanos,
            scratch: most,
        });
        within(Bound::MEMORY, plan.peak_bytes(), self.formats.limits.memory)?;
        Ok(plan)
    }

    /// Plans an overlay's own recipe for the overlay's file; `None` if the overlay has no recipe.
    fn plan_of_material(
        &self,
        effect: &Effect,
        file: &[u8],
        materials: &dyn Materials,
    ) -> Result<Option<Plan>> {
        let Some(recipe) = effect.recipe() else {
            return Ok(None);
        };
        let mut recipe = recipe.map_err(|error| wrong(effect, &error))?;
        recipe.output.format = self.formats.holding_anything();
        recipe.output.frame = Some(1);
        let nothing = Measured::default();
        self.plan_with(&recipe, file, materials, Some(&nothing), None)
            .map(Some)
    }

    /// Makes the index that [`Plan::indexing`] describes; `None` if this file cannot be indexed.
    ///
    /// # Errors
    /// `Limit`, `Interrupted`.
    pub fn index(
        &self,
        bytes: &[u8],
        cores: &dyn Cores,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<Vec<u8>>> {
        let (codec, info) = self.formats.header(bytes)?;
        match codec.parts() {
            Some(parts) => parts.index(bytes, &info, &self.how_in_full(cores, interrupt)),
            None => Ok(None),
        }
    }

    /// Runs a plan. The result does not depend on borrowed cores, nor on whether the image was decoded before.
    ///
    /// # Errors
    /// Any.
    pub fn run(&self, plan: &Plan, run: Run<'_>) -> Result<Rendered> {
        let Run {
            bytes,
            materials,
            interrupt,
            cores,
            decoded,
        } = run;
        let mut timings = Timings::default();
        let mut of_source = 0;
        let mut notes = plan.notes().to_vec();
        let job = Job {
            engine: self,
            materials,
            interrupt,
            cores,
            damaged: Cell::new(false),
        };
        let body = match plan.pipeline() {
            None => {
                let began = Instant::now();
                let extent = self.extent(cores, bytes, interrupt);
                timings.decode = began.elapsed();
                if job.forgives(&extent) {
                    of_source = bytes.len();
                    None
                } else {
                    of_source = extent?;
                    self.ended(&bytes[..of_source], plan.format())
                }
            }
            Some(pipeline) => Some(
                if let Frames::All {
                    count,
                    decoder,
                    encoder,
                } = pipeline.frames
                {
                    let coders = (decoder, encoder);
                    job.animation(coders, count, pipeline, plan.info(), bytes, &mut timings)?
                } else if let Some(body) = job.recoded(pipeline, plan, bytes, &mut timings)? {
                    body
                } else {
                    let image = job.still(decoded, pipeline, plan.info(), bytes, &mut timings)?;
                    if pipeline.gain_map.is_some() && image.gain_map.is_none() {
                        notes.push(BROKEN_GAIN_MAP.to_owned());
                    }
                    job.write(pipeline, &image, &mut timings)?
                },
            ),
        };
        let damaged = job.damaged.get();
        if damaged {
            notes.push(DAMAGED.to_owned());
        }
        let (width, height) = plan.size();
        Ok(Rendered {
            body,
            of_source,
            media_type: plan.media_type(),
            width,
            height,
            notes,
            damaged,
            timings,
        })
    }

    /// Returns how many bytes from the beginning of the file make up the image; see [`Codec::extent`].
    ///
    /// # Errors
    /// As `probe`, except for limits, and `Interrupted`.
    pub fn extent(
        &self,
        cores: &dyn Cores,
        bytes: &[u8],
        interrupt: &dyn Interrupt,
    ) -> Result<usize> {
        let (codec, info) = self.formats.header(bytes)?;
        codec.extent(bytes, &info, &self.how_in_full(cores, interrupt))
    }

    /// Decodes an image; of a truncated or damaged file, whatever is left if the limits allow showing it. Returns the
    /// image and whether it was salvaged.
    fn decode_or_salvage(
        &self,
        source: &dyn Codec,
        bytes: &[u8],
        info: &Info,
        how: &Decode<'_>,
    ) -> Result<(Image, bool)> {
        match source.decode(bytes, info, how) {
            Err(Error::Broken { .. }) if how.limits.damaged == Damaged::Shown => {
                Ok((source.salvage(bytes, info, how)?, true))
            }
            decoded => decoded.map(|image| (image, false)),
        }
    }

    /// Returns the image with its format's end marker appended; `None` if it ends with that already.
    fn ended(&self, picture: &[u8], format: &str) -> Option<Vec<u8>> {
        let marker = self.formats.codec(format)?.end_marker();
        (!picture.ends_with(marker)).then(|| [picture, marker].concat())
    }

    fn how_in_full<'a>(&'a self, cores: &'a dyn Cores, interrupt: &'a dyn Interrupt) -> Decode<'a> {
        Decode {
            scales: Scales::FULL,
            limits: &self.formats.limits,
            interrupt,
            cores,
            keep_metadata: false,
        }
    }

    /// Decodes the images that several plans for the same file start from, in one pass over the file: for each plan, in
    /// order, exactly what it would have decoded alone, so that results do not depend on which plans are combined.
    /// Returns `None` where the codec cannot do that, for vector drawings, and for a copy, which decodes nothing.
    ///
    /// # Errors
    /// As decoding; a damaged file may fail even if some of the plans would succeed alone.
    pub fn decode_at_once(
        &self,
        cores: &dyn Cores,
        plans: &[&Plan],
        bytes: &[u8],
        interrupt: &dyn Interrupt,
    ) -> Result<Option<Vec<Decoded>>> {
        let pipelines: Option<Vec<&Pipeline>> = plans.iter().map(|plan| plan.pipeline()).collect();
        let (Some(pipelines), Some(first)) = (pipelines, plans.first()) else {
            return Ok(None);
        };
        let Some(source) = pipelines.first().map(|pipeline| pipeline.source) else {
            return Ok(None);
        };
        if pipelines.iter().any(|pipeline| pipeline.drawing.is_some()) {
            return Ok(None);
        }
        let mut scales: Vec<Scales> = Vec::new();
        for pipeline in &pipelines {
            if !scales.contains(&pipeline.scales) {
                scales.push(pipeline.scales);
            }
        }
        let how = Decode {
            scales: scales[0],
            limits: &self.formats.limits,
            interrupt,
            cores,
            keep_metadata: pipelines.iter().any(|pipeline| pipeline.reads_metadata()),
        };
        let began = Instant::now();
        let (images, damaged) = match &*scales {
            [_] => {
                let (image, damaged) = self.decode_or_salvage(source, bytes, first.info(), &how)?;
                (Some(vec![image]), damaged)
            }
            several => {
                let images = match source.many_scales() {
                    Some(decoder) => decoder.decode_at_once(bytes, first.info(), &how, several)?,
                    None => None,
                };
                (images, false)
            }
        };
        let time = began.elapsed();
        Ok(images.and_then(|images| deal(images, &scales, &pipelines, (time, damaged))))
    }

    /// Runs a plan up to the frame that would be encoded (the last one of several), for tests that judge pixels rather
    /// than codecs. A copy is decoded in full.
    ///
    /// # Errors
    /// Any.
    pub fn render_frame(&self, plan: &Plan, run: Run<'_>) -> Result<Frame> {
        let Run {
            bytes,
            materials,
            interrupt,
            cores,
            decoded,
        } = run;
        let job = Job {
            engine: self,
            materials,
            interrupt,
            cores,
            damaged: Cell::new(false),
        };
        let image = match plan.pipeline() {
            Some(pipeline) => {
                let timings = &mut Timings::default();
                job.still(decoded, pipeline, plan.info(), bytes, timings)?
            }
            None => job.whole(bytes)?,
        };
        first_frame(image).map(|(frame, _)| frame)
    }
}

impl Engine {
    /// Scores by SSIMULACRA2 how well `result`, an encoded file of the same size, preserves the output of a plan: 100
    /// for the same image, about 90 where a difference is hard to see, 70 for a good image on a page, 50 for a poor
    /// one. The result is compared with the frame that would be encoded; for animations, one frame is.
    ///
    /// # Errors
    /// `Unfit` for a result of another size or an image too small to score, and any other error.
    pub fn score(&self, plan: &Plan, run: Run<'_>, result: &[u8]) -> Result<f64> {
        let job = Job {
            engine: self,
            materials: run.materials,
            interrupt: run.interrupt,
            cores: run.cores,
            damaged: Cell::new(false),
        };
        let reference = self.render_frame(plan, run)?;
        let (frame, _) = first_frame(job.whole(result)?)?;
        let sizes = [&reference, &frame].map(|frame| (frame.width, frame.height));
        if sizes[0] != sizes[1] {
            let [(w, h), (other_w, other_h)] = sizes;
            return Err(Error::Unfit {
                piece: format!("{other_w}x{other_h}"),
                why: format!("it is compared with an image of {w}x{h}"),
            });
        }
        if frame.width.min(frame.height) < score::LEAST_SIDE {
            return Err(Error::Unfit {
                piece: format!("{}x{}", frame.width, frame.height),
                why: format!(
                    "only images of {0}x{0} and more have a score",
                    score::LEAST_SIDE
                ),
            });
        }
        let (no_effect, no_document) = (nothing_laid::<Effect>, |_: &Text<'_>| nothing_drawn());
        let context = job.context(&no_effect, &no_document);
        Reference::new(&reference, context)?.score(&frame)
    }

    /// Estimates the cost of [`Engine::score`] with this plan, and the memory it holds beside the source.
    #[must_use]
    pub fn score_cost(&self, plan: &Plan) -> Cost {
        let (width, height) = plan.size();
        let score = score::cost(width, height);
        Cost {
            nanos: plan.cost().nanos.saturating_add(score.nanos),
            scratch: plan.peak_bytes().saturating_add(score.scratch),
        }
    }
}

/// One run of a plan, with its environment.
struct Job<'a> {
    engine: &'a Engine,
    materials: &'a dyn Materials,
    interrupt: &'a dyn Interrupt,
    cores: &'a dyn Cores,
    /// Whether the source turned out to be damaged and was shown only in part.
    damaged: Cell<bool>,
}

impl Job<'_> {
    /// Whether `made` failed because of damage to the source that the limits allow showing. If so, the job is marked as
    /// damaged.
    fn forgives<T>(&self, made: &Result<T>) -> bool {
        let shown = self.engine.formats.limits.damaged == Damaged::Shown;
        let forgiven = shown && matches!(made, Err(Error::Broken { .. }));
        self.damaged.set(self.damaged.get() || forgiven);
        forgiven
    }

    /// Converts the source to the result without decoding, if that was planned and succeeds.
    fn recoded(
        &self,
        pipeline: &Pipeline,
        plan: &Plan,
        bytes: &[u8],
        timings: &mut Timings,
    ) -> Result<Option<Vec<u8>>> {
        let Some(recoder) = pipeline.recoder else {
            return Ok(None);
        };
        let start = Instant::now();
        let body = recoder.recode(bytes, plan.info(), plan.format(), &self.how(pipeline))?;
        timings.encode = start.elapsed();
        Ok(body)
    }

    /// Decodes the source, unless that is done already, and applies the stages.
    fn still(
        &self,
        decoded: Option<Decoded>,
        pipeline: &Pipeline,
        info: &Info,
        bytes: &[u8],
        timings: &mut Timings,
    ) -> Result<Image> {
        let load = |effect: &Effect| self.material(effect);
        let draw = |text: &Text<'_>| self.whole(&self.engine.formats.drawings()?.text(text));
        let context = self.context(&load, &draw);
        context.check()?;
        let decoded = match (decoded, pipeline.frames) {
            (Some(decoded), _) => decoded,
            (None, Frames::First) => self.decoded(pipeline, info, bytes)?,
            (None, Frames::Nth { decoder, .. } | Frames::All { decoder, .. }) => {
                let number = pipeline.frames.count();
                self.nth(number, decoder, pipeline, info, bytes)?
            }
        };
        timings.decode = decoded.time;
        self.damaged.set(self.damaged.get() || decoded.damaged);

        let start = Instant::now();
        let (frame, mut metadata) = first_frame(decoded.image)?;
        let frame = self.finished(pipeline, frame, &mut metadata, &context)?;
        let gain_map = match &pipeline.gain_map {
            Some(taken) => self.gain_map(taken, pipeline, bytes, &context)?,
            None => None,
        };
        timings.stages = start.elapsed();
        Ok(Image {
            metadata,
            gain_map,
            ..Image::still(frame)
        })
    }

    /// Decodes the gain map and applies the stages that keep it aligned with its image; `None` if the map is broken,
    /// unsupported or over a limit.
    fn gain_map(
        &self,
        taken: &Taken,
        pipeline: &Pipeline,
        bytes: &[u8],
        context: &Context<'_>,
    ) -> Result<Option<Box<GainMap>>> {
        let how = Decode {
            scales: taken.scales,
            keep_metadata: false,
            ..self.how(pipeline)
        };
        let stages = |frame| {
            let mut stages = taken.stages.iter();
            stages.try_fold(frame, |frame, stage| stage.apply(frame, context))
        };
        match taken.decoder.decode_gain_map(bytes, &how).and_then(stages) {
            Ok(frame) => Ok(Some(Box::new(GainMap {
                frame,
                quality: taken.quality,
                params: taken.params.clone(),
            }))),
            Err(Error::Broken { .. } | Error::Unsupported { .. } | Error::Limit { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn context<'a>(
        &'a self,
        materials: &'a dyn Fn(&Effect) -> Result<Image>,
        draw: &'a dyn Fn(&Text<'_>) -> Result<Image>,
    ) -> Context<'a> {
        Context {
            materials,
            draw,
            interrupt: self.interrupt,
            cores: self.cores,
        }
    }

    /// Takes a decoded frame through all stages, and adapts its profiles and metadata to the outcome.
    fn finished(
        &self,
        pipeline: &Pipeline,
        mut frame: Frame,
        metadata: &mut Metadata,
        context: &Context<'_>,
    ) -> Result<Frame> {
        if (frame.width, frame.height) != pipeline.decoded {
            return Err(Error::Internal(format!(
                "{} decoded {}×{} px where {}×{} were planned",
                pipeline.source.name(),
                frame.width,
                frame.height,
                pipeline.decoded.0,
                pipeline.decoded.1
            )));
        }
        for stage in &pipeline.stages {
            context.check()?;
            frame = stage.apply(frame, context)?;
        }
        profiles::settle(metadata, pipeline.kept, pipeline.orientation);
        frame.colour = match pipeline.tag {
            Tag::Own if profiles::describes(&frame) => frame.colour,
            Tag::Own | Tag::None => space::Colour::default(),
            Tag::Space(space) => space.into(),
        };
        let by_profile = matches!(pipeline.encoder.tags(), Tags::Icc | Tags::IccAndCodePoints);
        if by_profile && frame.colour.icc.is_none() {
            frame.colour.icc = profile_of(frame.colour.space);
        }
        metadata.icc = frame.colour.icc.clone();
        Ok(frame)
    }

    fn how<'a>(&'a self, pipeline: &Pipeline) -> Decode<'a> {
        Decode {
            scales: pipeline.scales,
            limits: &self.engine.formats.limits,
            interrupt: self.interrupt,
            cores: self.cores,
            keep_metadata: pipeline.reads_metadata(),
        }
    }

    fn decoded(&self, pipeline: &Pipeline, info: &Info, bytes: &[u8]) -> Result<Decoded> {
        let start = Instant::now();
        let (source, how) = (pipeline.source, self.how(pipeline));
        let (image, damaged) = match (&pipeline.drawing, &pipeline.part) {
            (
                Some(Drawing {
                    decoder, window, ..
                }),
                _,
            ) => (decoder.draw(bytes, info, &how, window)?, false),
            (None, None) => self.engine.decode_or_salvage(source, bytes, info, &how)?,
            (None, Some(part)) => {
                let Part {
                    decoder,
                    index,
                    area,
                } = part;
                let index = (**index).as_ref();
                let part = decoder.decode_part(bytes, info, &how, index, *area)?;
                (part, false)
            }
        };
        Ok(Decoded {
            image,
            damaged,
            time: start.elapsed(),
        })
    }

    /// Decodes one of several frames, which requires composing those before it.
    fn nth(
        &self,
        number: u32,
        decoder: &dyn AnimationDecoder,
        pipeline: &Pipeline,
        info: &Info,
        bytes: &[u8],
    ) -> Result<Decoded> {
        let start = Instant::now();
        let mut reader = decoder.open(bytes, info, &self.how(pipeline))?;
        let mut last = None;
        for _ in 0..number {
            if self.interrupt.interrupted() {
                return Err(Error::Interrupted);
            }
            // The canvas is drawn on in place when nobody holds a frame of it.
            drop(last.take());
            last = reader.next()?;
        }
        let Some(timed) = last else {
            return Err(Error::broken(
                info.format,
                "it has fewer frames than it says",
            ));
        };
        Ok(Decoded {
            image: Image::read(timed.frame, reader.metadata(), info.space),
            damaged: false,
            time: start.elapsed(),
        })
    }

    /// Takes the frames of an animation one by one from the source through the stages to the result: only one frame is
    /// in flight at a time.
    fn animation(
        &self,
        (decoder, encoder): (&dyn AnimationDecoder, &dyn AnimationEncoder),
        count: u32,
        pipeline: &Pipeline,
        info: &Info,
        bytes: &[u8],
        timings: &mut Timings,
    ) -> Result<Vec<u8>> {
        // Laid over every frame, and decoded once.
        let known = RefCell::new(BTreeMap::new());
        let load = |effect: &Effect| {
            let name = effect.to_string();
            if let Some(image) = known.borrow().get(&name) {
                return Ok(Image::clone(image));
            }
            let image = self.material(effect)?;
            known.borrow_mut().insert(name, image.clone());
            Ok(image)
        };
        let draw = |text: &Text<'_>| self.whole(&self.engine.formats.drawings()?.text(text));
        let context = self.context(&load, &draw);
        context.check()?;
        let mut clock = Instant::now();
        let mut lap = |time: &mut Duration| {
            let now = Instant::now();
            *time += now - clock;
            clock = now;
        };
        let mut reader = decoder.open(bytes, info, &self.how(pipeline))?;
        let read = reader.metadata();
        let mut writer = None;
        let mut left = count;
        // To its end where all of it is shown, for what is cut off there is broken.
        let whole = left == info.frames;
        while whole || left > 0 {
            let next = reader.next();
            if writer.is_some() && self.forgives(&next) {
                break;
            }
            let Some(Timed { frame, delay }) = next? else {
                break;
            };
            left = left.checked_sub(1).ok_or_else(|| {
                Error::Internal("there are more frames than were counted".to_owned())
            })?;
            lap(&mut timings.decode);
            context.check()?;
            let (frame, mut metadata) = first_frame(Image::read(frame, read.clone(), info.space))?;
            let frame = self.finished(pipeline, frame, &mut metadata, &context)?;
            lap(&mut timings.stages);
            let mut open = match writer {
                Some(writer) => writer,
                None => {
                    let head = Head {
                        width: frame.width,
                        height: frame.height,
                        traits: frame.traits(),
                        plays: info.animation.map_or(1, |animation| animation.plays),
                        metadata,
                    };
                    encoder.writer(&head, &pipeline.encode, self.interrupt)?
                }
            };
            open.push(Timed { frame, delay })?;
            within(
                Bound::ANIMATION_BYTES,
                open.written(),
                pipeline.result_bytes,
            )?;
            writer = Some(open);
            lap(&mut timings.encode);
        }
        let writer = writer.ok_or_else(|| Error::broken(info.format, "it holds no frames"))?;
        let body = writer.finish()?;
        lap(&mut timings.encode);
        Ok(body)
    }

    fn write(&self, pipeline: &Pipeline, image: &Image, timings: &mut Timings) -> Result<Vec<u8>> {
        if self.interrupt.interrupted() {
            return Err(Error::Interrupted);
        }
        let start = Instant::now();
        let encode = |image: &Image, quality| {
            let how = pipeline.encode_at(quality);
            let encoder = pipeline.encoder;
            encoder.encode_shared(image, &how, self.cores, self.interrupt)
        };
        let body = match pipeline.search {
            None => encode(image, None)?,
            Some(Search::Length(length)) => length.run(|quality| encode(image, Some(quality)))?,
            Some(Search::Score(scored)) => self.scored(pipeline, scored, image, encode)?,
        };
        timings.encode = start.elapsed();
        Ok(body)
    }

    /// Searches for a file that reaches the wanted score, compared with the image before any subsampling or rounding
    /// for the encoder.
    fn scored(
        &self,
        pipeline: &Pipeline,
        scored: Scored,
        image: &Image,
        encode: impl Fn(&Image, Option<u8>) -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        let (frame, metadata) = first_frame(image.clone())?;
        let (no_effect, no_document) = (nothing_laid::<Effect>, |_: &Text<'_>| nothing_drawn());
        let context = self.context(&no_effect, &no_document);
        let reference = Reference::new(&frame, context)?;
        scored.run(|quality| {
            let how = pipeline.encode_at(Some(quality));
            let traits = frame.traits();
            let convert = Convert {
                to: plan::accepted(pipeline.encoder, traits, &how),
                from: traits.space,
            };
            let image = Image {
                metadata: metadata.clone(),
                gain_map: image.gain_map.clone(),
                ..Image::still(convert.apply(frame.clone(), &context)?)
            };
            let file = encode(&image, Some(quality))?;
            let (written, _) = first_frame(self.whole(&file)?)?;
            let score = reference.score(&written)?;
            Ok(Candidate { file, score })
        })
    }

    /// Returns the image that an effect composes with, loaded under the same limits as any source.
    fn material(&self, effect: &Effect) -> Result<Image> {
        let picture = match (effect.recipe(), effect.material()) {
            (None, Some(name)) => self.materials.picture(name, &|bytes| self.upright(bytes)),
            (None, None) => match self.engine.formats.material(effect, self.materials) {
                Some(file) => self.whole(&file?),
                None => nothing_laid(effect),
            },
            (Some(_), _) => self.worked_on(effect),
        };
        picture.map_err(|error| match error {
            Error::UnknownFormat | Error::Broken { .. } | Error::Unsupported { .. } => {
                Error::Recipe {
                    piece: effect.args.first().cloned().unwrap_or_default(),
                    why: error.to_string(),
                }
            }
            other => other,
        })
    }

    /// Returns the image in the effect's file after the effect's own recipe has been applied to it.
    fn worked_on(&self, effect: &Effect) -> Result<Image> {
        let formats = &self.engine.formats;
        let Some(file) = formats.material(effect, self.materials).transpose()? else {
            return nothing_laid(effect);
        };
        let engine = self.engine;
        let Some(plan) = engine.plan_of_material(effect, &file, self.materials)? else {
            return self.whole(&file);
        };
        let run = Run {
            bytes: &file,
            materials: self.materials,
            interrupt: self.interrupt,
            cores: self.cores,
            decoded: None,
        };
        engine.render_frame(&plan, run).map(Image::still)
    }

    /// Decodes a file in full and turns the image upright.
    fn upright(&self, bytes: &[u8]) -> Result<Image> {
        let image = self.whole(bytes)?;
        let (_, Info { orientation, .. }) = self.engine.formats.header(bytes)?;
        if orientation.is_upright() {
            return Ok(image);
        }
        let (no_effect, no_document) = (nothing_laid::<Effect>, |_: &Text<'_>| nothing_drawn());
        let context = self.context(&no_effect, &no_document);
        let (frame, _) = first_frame(image)?;
        let frame = Turned { orientation }.apply(frame, &context)?;
        Ok(Image::still(frame))
    }

    /// Decodes a file in full.
    fn whole(&self, bytes: &[u8]) -> Result<Image> {
        let (codec, info) = self.engine.formats.header(bytes)?;
        self.engine.formats.limits.check_source(&info)?;
        let how = self.engine.how_in_full(self.cores, self.interrupt);
        codec.decode(bytes, &info, &how)
    }
}

fn nothing_laid<T: fmt::Display + ?Sized>(what: &T) -> Result<Image> {
    Err(Error::Internal(format!("{what} has nothing to lay")))
}

fn nothing_drawn() -> Result<Image> {
    Err(Error::Internal(
        "a text has nothing to be drawn on".to_owned(),
    ))
}

/// Gives each pipeline the image at its scales; pipelines with the same scales share samples. Only pipelines that would
/// have read the profiles get them.
fn deal(
    images: Vec<Image>,
    scales: &[Scales],
    pipelines: &[&Pipeline],
    (time, damaged): (Duration, bool),
) -> Option<Vec<Decoded>> {
    let mut images: Vec<_> = images.into_iter().map(Some).collect();
    let hand_out = |(index, pipeline): (usize, &&Pipeline)| {
        let place = scales.iter().position(|own| *own == pipeline.scales)?;
        let mut later = pipelines[index + 1..].iter();
        let again = later.any(|later| later.scales == pipeline.scales);
        let held = images.get_mut(place)?;
        let mut image = if again { held.clone() } else { held.take() }?;
        if !pipeline.reads_metadata() {
            image.metadata = Metadata::default();
            for frame in &mut image.frames {
                frame.colour.icc = None;
            }
        }
        Some(Decoded {
            image,
            damaged,
            time,
        })
    };
    pipelines.iter().enumerate().map(hand_out).collect()
}

/// Longest file, in bytes, whose header may be read on the spot: an ICC profile can be as long.
const PROBED_AT_ONCE: usize = 1 << 20;

const DAMAGED: &str = "the source is cut or damaged: what is missing of it is blank";

/// Note on a result whose gain map was dropped because it is broken; the image itself is complete.
const BROKEN_GAIN_MAP: &str = "the gain map for HDR screens is left out: it is broken";

/// Returns the first frame and the metadata. Stages see one frame: of an animation, the first.
fn first_frame(image: Image) -> Result<(Frame, Metadata)> {
    let frame = image
        .frames
        .into_iter()
        .next()
        .ok_or_else(|| Error::Internal("a codec decoded no frame".to_owned()))?;
    Ok((frame, image.metadata))
}
