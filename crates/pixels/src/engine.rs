//! Plans and runs: the crate's front door.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use andon_recipe::{Colour, Effect, Facts, Measured, Orientation, Recipe, Rules};

use crate::codec::{Codec, Decode, Info, Scales, Tags};
use crate::color::{Convert, profile_of};
use crate::cores::{Alone, Cores};
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::formats::{Formats, within};
use crate::frame::{Frame, GainMap, Image, Metadata};
use crate::limits::{Damaged, Interrupt, Limits, Never};
use crate::measure::{self, Measurement};
use crate::ops::turn::Turned;
use crate::plan::search::{Candidate, Scored, Search};
use crate::plan::{self, Frames, Index, Part, Pipeline, Plan, Tag, Taken};
use crate::profiles;
use crate::score::{self, Reference};
use crate::sequence::{Head, Timed};
use crate::space;
use crate::stage::{Context, Materials, NoMaterials, Stage, wrong};

/// Turns recipes into plans and plans into images. Cheap to clone, free of state: any number of
/// threads may share one.
#[derive(Clone)]
pub struct Engine {
    formats: Formats,
}

/// A finished image.
#[derive(Debug)]
pub struct Rendered {
    /// Its bytes; `None`: the source's own, as many as `of_source` says, which lack nothing.
    pub body: Option<Vec<u8>>,
    /// How many of the source's first bytes are the image, if the answer is the source: they were looked at
    /// to their end, and what follows is not part of it.
    pub of_source: usize,
    /// Its media type, from its true format.
    pub media_type: &'static str,
    /// Width in px.
    pub width: u32,
    /// Height in px.
    pub height: u32,
    /// What of the source is left out although nobody asked for that, in a sentence each.
    pub notes: Vec<String>,
    /// The source is cut or damaged, and shown as far as it goes ([`Limits::damaged`]).
    pub damaged: bool,
    /// Where the time went.
    pub timings: Timings,
}

impl Rendered {
    /// Its bytes, if it was made of `source`.
    #[must_use]
    pub fn bytes<'a>(&'a self, source: &'a [u8]) -> &'a [u8] {
        match &self.body {
            Some(body) => body,
            None => &source[..self.of_source.min(source.len())],
        }
    }
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

/// What a plan begins with, decoded before. A clone shares its samples until either is written to.
#[derive(Clone, Debug)]
pub struct Decoded {
    image: Image,
    /// It is what is left of a file that is cut or damaged.
    damaged: bool,
    /// The time that the decoding took, shared by all results that began with it.
    pub time: Duration,
}

impl Decoded {
    /// Bytes of its samples.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.image.bytes()
    }
}

/// What a run of a plan needs beside it.
pub struct Run<'a> {
    /// The file that the plan was made for.
    pub bytes: &'a [u8],
    /// What to compose with.
    pub materials: &'a dyn Materials,
    /// Whether the result is still wanted.
    pub interrupt: &'a dyn Interrupt,
    /// Idle cores that may help.
    pub cores: &'a dyn Cores,
    /// What the plan begins with, if that was decoded before.
    pub decoded: Option<Decoded>,
}

impl<'a> Run<'a> {
    /// On these bytes, with nothing to compose with, on one core, to the end.
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
    /// An engine over these codecs, within these limits.
    #[must_use]
    pub fn new(codecs: &'static [&'static dyn Codec], limits: Limits) -> Self {
        let formats = Formats {
            codecs,
            limits,
            headroom: plan::HEADROOM,
        };
        Self { formats }
    }

    /// Sets how many decoded pixels per result pixel, along each side, shrink-on-load leaves to the
    /// resampler at least. More is slower and, up to a point, better; the default is 1.5.
    #[must_use]
    pub fn with_headroom(mut self, headroom: f64) -> Self {
        self.formats.headroom = headroom;
        self
    }

    /// The ceilings that it checks.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.formats.limits
    }

    /// The codecs it was made with.
    #[must_use]
    pub fn codecs(&self) -> &'static [&'static dyn Codec] {
        self.formats.codecs
    }

    /// Checks what can be known to be wrong with a recipe before there is an image: unknown words, formats that are not
    /// written, arguments and options that are never taken.
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

    /// Does it take a fraction of a millisecond to read the header in `bytes`, and as long to plan for it?
    #[must_use]
    pub fn probes_at_once(&self, bytes: &[u8]) -> bool {
        bytes.len() <= PROBED_AT_ONCE && self.formats.probes_at_once(bytes)
    }

    /// What rules have to know of the pixels in `bytes` before they can be planned; `None` if that is nothing, as
    /// for most.
    ///
    /// # Errors
    /// As `probe`, and `Limit` for a peak that is too large.
    pub fn measurement(&self, rules: &dyn Rules, bytes: &[u8]) -> Result<Option<Measurement>> {
        Measurement::of(&self.formats, rules, bytes)
    }

    /// Measures the image that the measurement was made for: decodes it, reduced if it is large.
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

    /// What rules may depend on: from the image's header.
    ///
    /// # Errors
    /// `UnknownFormat`, `Broken`, `Unsupported`.
    pub fn facts(&self, bytes: &[u8]) -> Result<Facts> {
        let (codec, info) = self.formats.header(bytes)?;
        let gain_map = codec.gain_map(bytes, &info);
        let measured = Measured::default();
        Ok(plan::planner::facts(
            codec,
            &info,
            bytes,
            gain_map.as_ref(),
            &measured,
        ))
    }

    /// Plans what rules, such as a recipe, come to for the image in `bytes`: reads its header only.
    ///
    /// # Errors
    /// As `probe` (an image over the limits of its size may still be copied), and `Recipe`, also for rules that
    /// have to know more than the header, and `Limit` for a result or a peak that is too large.
    pub fn plan(&self, rules: &dyn Rules, bytes: &[u8]) -> Result<Plan> {
        plan::planner::plan(&self.formats, rules, bytes, &Measured::default(), None)
    }

    /// Plans as `plan` does, with what was measured and with the file's index, and counts what the rules compose with,
    /// of which one is held at a time. Without `measured`, what the rules have to know is measured here and now. The
    /// result does not depend on the index.
    ///
    /// # Errors
    /// As `plan`, as `measurement` and `measure`, and as loading a material; one that is no image is left to the
    /// run.
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
            let Some(file) = material(effect, materials).transpose()? else {
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
        within("memory", plan.peak_bytes(), self.formats.limits.memory)?;
        Ok(plan)
    }

    /// What the recipe of an overlay comes to for its file; `None` where it has none.
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

    /// Makes the index that [`Plan::indexing`] speaks of; `None`: it cannot be done with this file.
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
        codec.index(bytes, &info, &self.how_in_full(cores, interrupt))
    }

    /// Runs a plan. The result does not depend on cores that help, nor on what was decoded before.
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
            Some(pipeline) if matches!(pipeline.frames, Frames::All(_)) => {
                Some(job.animation(pipeline, plan.info(), bytes, &mut timings)?)
            }
            Some(pipeline) => Some(
                match job.recoded(pipeline, plan.info(), bytes, &mut timings)? {
                    Some(body) => body,
                    None => {
                        let image =
                            job.picture(decoded, pipeline, plan.info(), bytes, &mut timings)?;
                        if pipeline.gain_map.is_some() && image.gain_map.is_none() {
                            notes.push(BROKEN_GAIN_MAP.to_owned());
                        }
                        job.write(pipeline, &image, &mut timings)?
                    }
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

    /// How many bytes from the beginning are the image; see [`Codec::extent`].
    ///
    /// # Errors
    /// As `probe`, but for limits, and `Interrupted`.
    pub fn extent(
        &self,
        cores: &dyn Cores,
        bytes: &[u8],
        interrupt: &dyn Interrupt,
    ) -> Result<usize> {
        let (codec, info) = self.formats.header(bytes)?;
        codec.extent(bytes, &info, &self.how_in_full(cores, interrupt))
    }

    /// Decodes; of a file that is cut or damaged what there is, if it may be shown, and whether that was so.
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

    /// An image with the end that it lacks; `None` if it has it.
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

    /// Decodes what several plans for the same bytes begin with, going through the file once: for each
    /// plan, in their order, exactly what it would have decoded alone, so that results do not depend on
    /// who came along. `None` where the codec cannot do that, for what is drawn, and for a copy, which decodes nothing.
    ///
    /// # Errors
    /// As decoding; a damaged file may fail although not each of the plans alone would.
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
        if pipelines.iter().any(|pipeline| pipeline.window.is_some()) {
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
            several => (
                source.decode_at_once(bytes, first.info(), &how, several)?,
                false,
            ),
        };
        let time = began.elapsed();
        Ok(images.and_then(|images| deal(images, &scales, &pipelines, (time, damaged))))
    }

    /// Runs a plan up to the frame that would be encoded (of several, the last): for tests that judge pixels, not
    /// codecs. A copy is decoded in full.
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
                job.picture(decoded, pipeline, plan.info(), bytes, timings)?
            }
            None => job.whole(bytes)?,
        };
        first_frame(image).map(|(frame, _)| frame)
    }
}

impl Engine {
    /// How much of what a plan makes survives in `result`, a file of the same size, by SSIMULACRA2: 100 for the same
    /// image, about 90 where a difference is hard to see, 70 for a good image on a page, 50 for a poor one. What is held
    /// against the result is the frame that would be encoded; of images that move, one frame.
    ///
    /// # Errors
    /// `Unfit` for a result of another size, and any other.
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
        let (no_effect, no_document) = (nothing_laid::<Effect>, nothing_laid::<str>);
        let context = job.context(&no_effect, &no_document);
        Reference::new(&reference, context)?.score(&frame)
    }

    /// Estimated cost of [`Engine::score`] with this plan, and the memory it holds beside the source.
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

/// One run of a plan.
struct Job<'a> {
    engine: &'a Engine,
    materials: &'a dyn Materials,
    interrupt: &'a dyn Interrupt,
    cores: &'a dyn Cores,
    /// What was shown of the source is not all of it.
    damaged: Cell<bool>,
}

impl Job<'_> {
    /// Is it a fault of the source that may be shown? Then it is noted.
    fn forgives<T>(&self, made: &Result<T>) -> bool {
        let shown = self.engine.formats.limits.damaged == Damaged::Shown;
        let forgiven = shown && matches!(made, Err(Error::Broken { .. }));
        self.damaged.set(self.damaged.get() || forgiven);
        forgiven
    }

    /// The result without decoding, if that was planned and works out.
    fn recoded(
        &self,
        pipeline: &Pipeline,
        info: &Info,
        bytes: &[u8],
        timings: &mut Timings,
    ) -> Result<Option<Vec<u8>>> {
        let Some(codec) = pipeline.recoder else {
            return Ok(None);
        };
        let start = Instant::now();
        let body = codec.recode(bytes, info, pipeline.target.name(), &self.how(pipeline))?;
        timings.encode = start.elapsed();
        Ok(body)
    }

    /// Decodes, unless that is done, and goes through the stages.
    fn picture(
        &self,
        decoded: Option<Decoded>,
        pipeline: &Pipeline,
        info: &Info,
        bytes: &[u8],
        timings: &mut Timings,
    ) -> Result<Image> {
        let load = |effect: &Effect| self.material(effect);
        let draw = |document: &str| self.whole(document.as_bytes());
        let context = self.context(&load, &draw);
        context.check()?;
        let decoded = match (decoded, pipeline.frames) {
            (Some(decoded), _) => decoded,
            (None, Frames::First) => self.decoded(pipeline, info, bytes)?,
            (None, frames) => self.nth(frames.count(), pipeline, info, bytes)?,
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

    /// The gain map, brought where its image is; `None` if it is broken.
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
        match pipeline
            .source
            .decode_gain_map(bytes, &how)
            .and_then(stages)
        {
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
        draw: &'a dyn Fn(&str) -> Result<Image>,
    ) -> Context<'a> {
        Context {
            materials,
            draw,
            interrupt: self.interrupt,
            cores: self.cores,
        }
    }

    /// Takes a decoded frame through all stages, and brings its profiles in line with what came of it.
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
        let by_profile = matches!(pipeline.target.tags(), Tags::Icc | Tags::IccAndCodePoints);
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
        let (image, damaged) = match (&pipeline.window, &pipeline.part) {
            (Some(window), _) => (source.draw(bytes, info, &how, window)?, false),
            (None, None) => self.engine.decode_or_salvage(source, bytes, info, &how)?,
            (None, Some(Part { index, area })) => {
                let index = (**index).as_ref();
                let part = source.decode_part(bytes, info, &how, index, *area)?;
                (part, false)
            }
        };
        Ok(Decoded {
            image,
            damaged,
            time: start.elapsed(),
        })
    }

    /// One of several frames, for which those before it have to be composed.
    fn nth(&self, number: u32, pipeline: &Pipeline, info: &Info, bytes: &[u8]) -> Result<Decoded> {
        let start = Instant::now();
        let mut reader = pipeline.source.open(bytes, info, &self.how(pipeline))?;
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

    /// Takes one frame after the other from the source through the stages to the result: no more than one is on its
    /// way at a time.
    fn animation(
        &self,
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
        let draw = |document: &str| self.whole(document.as_bytes());
        let context = self.context(&load, &draw);
        context.check()?;
        let mut clock = Instant::now();
        let mut lap = |time: &mut Duration| {
            let now = Instant::now();
            *time += now - clock;
            clock = now;
        };
        let mut reader = pipeline.source.open(bytes, info, &self.how(pipeline))?;
        let read = reader.metadata();
        let mut writer = None;
        let mut left = pipeline.frames.count();
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
                    pipeline
                        .target
                        .writer(&head, &pipeline.encode, self.interrupt)?
                }
            };
            open.push(Timed { frame, delay })?;
            within("animation_bytes", open.written(), pipeline.result_bytes)?;
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
            let codec = pipeline.target;
            codec.encode_shared(image, &how, self.cores, self.interrupt)
        };
        let body = match pipeline.search {
            None => encode(image, None)?,
            Some(Search::Length(length)) => length.run(|quality| encode(image, Some(quality)))?,
            Some(Search::Score(scored)) => self.scored(pipeline, scored, image, encode)?,
        };
        timings.encode = start.elapsed();
        Ok(body)
    }

    /// Looks for the file that scores enough, against the image before anything of it was thinned or rounded.
    fn scored(
        &self,
        pipeline: &Pipeline,
        scored: Scored,
        image: &Image,
        encode: impl Fn(&Image, Option<u8>) -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        let (frame, metadata) = first_frame(image.clone())?;
        let (no_effect, no_document) = (nothing_laid::<Effect>, nothing_laid::<str>);
        let context = self.context(&no_effect, &no_document);
        let reference = Reference::new(&frame, context)?;
        scored.run(|quality| {
            let how = pipeline.encode_at(Some(quality));
            let traits = frame.traits();
            let convert = Convert {
                to: plan::accepted(pipeline.target, traits, &how)?,
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

    /// What an effect composes with, under the same limits as any source.
    fn material(&self, effect: &Effect) -> Result<Image> {
        let picture = match (effect.recipe(), effect.material()) {
            (None, Some(name)) => self.materials.picture(name, &|bytes| self.upright(bytes)),
            (None, None) => match material(effect, self.materials) {
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

    /// The image of the effect's file after its own recipe.
    fn worked_on(&self, effect: &Effect) -> Result<Image> {
        let Some(file) = material(effect, self.materials).transpose()? else {
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

    /// Decodes in full, and turns upright.
    fn upright(&self, bytes: &[u8]) -> Result<Image> {
        let image = self.whole(bytes)?;
        let (_, Info { orientation, .. }) = self.engine.formats.header(bytes)?;
        if orientation.is_upright() {
            return Ok(image);
        }
        let (no_effect, no_document) = (nothing_laid::<Effect>, nothing_laid::<str>);
        let context = self.context(&no_effect, &no_document);
        let (frame, _) = first_frame(image)?;
        let frame = Turned { orientation }.apply(frame, &context)?;
        Ok(Image::still(frame))
    }

    /// Decodes in full.
    fn whole(&self, bytes: &[u8]) -> Result<Image> {
        let (codec, info) = self.engine.formats.header(bytes)?;
        self.engine.formats.limits.check_source(&info)?;
        let how = self.engine.how_in_full(self.cores, self.interrupt);
        codec.decode(bytes, &info, &how)
    }
}

/// The file that an effect composes with; `None` for effects that compose with nothing.
fn material(effect: &Effect, materials: &dyn Materials) -> Option<Result<Vec<u8>>> {
    if let Some(name) = effect.material() {
        return Some(materials.load(name));
    }
    // One px of a drawing, which any scale draws as sharply.
    let Colour { r, g, b, a } = effect.material_colour()?;
    let opacity = f64::from(a) / 255.0;
    let drawing = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\">\
         <rect width=\"1\" height=\"1\" fill=\"#{r:02x}{g:02x}{b:02x}\" fill-opacity=\"{opacity}\"/>"
    );
    Some(Ok((drawing + "</svg>").into_bytes()))
}

fn nothing_laid<T: fmt::Display + ?Sized>(what: &T) -> Result<Image> {
    Err(Error::Internal(format!("{what} has nothing to lay")))
}

/// Hands each pipeline the image at its scales; those who want the same one share its samples. Profiles go
/// to those who would have read them.
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

/// Bytes of a file whose header may be read at once: an ICC profile can be as long.
const PROBED_AT_ONCE: usize = 1 << 20;

const DAMAGED: &str = "the source is cut or damaged: what is missing of it is blank";

/// Its image is whole.
const BROKEN_GAIN_MAP: &str = "the gain map for HDR screens is left out: it is broken";

/// The first frame and the profiles. Stages see one frame: animations answer with their first.
fn first_frame(image: Image) -> Result<(Frame, Metadata)> {
    let frame = image
        .frames
        .into_iter()
        .next()
        .ok_or_else(|| Error::Internal("a codec decoded no frame".to_owned()))?;
    Ok((frame, image.metadata))
}
