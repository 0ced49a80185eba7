//! The engine, the crate's entry point: makes plans and runs them.

mod animation;
mod job;
mod overlays;
mod score;
mod shared;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use andon_recipe::{Facts, Measured, Orientation, Recipe, Rules};

use self::job::Job;
use crate::codec::{Codec, Decode, Info, Scales};
use crate::cores::{Alone, Cores};
use crate::error::{Error, Result};
use crate::formats::Formats;
use crate::frame::{Frame, Image};
use crate::limits::{Damaged, Interrupt, Limits, Never};
use crate::measure::{self, Measurement};
use crate::plan::{self, Frames, Plan, undrawn};
use crate::stage::{NoOverlays, OverlaySource};

/// Turns recipes into plans and plans into images. An engine is cheap to clone and stateless, so that any number of
/// threads may share it.
#[derive(Clone)]
pub struct Engine {
    formats: Formats,
}

/// A finished image.
#[derive(Debug)]
pub struct Rendered {
    /// Bytes of the image. `None`: the result is the first `of_source` bytes of the source, which are complete.
    pub body: Option<Vec<u8>>,
    /// Number of leading bytes of the source that make up the image, if the result is the source itself. The source was
    /// checked up to there, and the bytes after them do not belong to the image.
    pub of_source: usize,
    /// Media type of the image's actual format.
    pub media_type: &'static str,
    /// Width in px.
    pub width: u32,
    /// Height in px.
    pub height: u32,
    /// Sentences about parts of the source that are left out although the request did not ask for that.
    pub notes: Vec<String>,
    /// Whether the source is truncated or damaged, and shown as far as it goes ([`Limits::damaged`]).
    pub damaged: bool,
    /// Whether characters of a text are missing because no font has a glyph for them. A note lists them.
    pub lacks_letters: bool,
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

/// Inputs of a run, besides the plan itself.
pub struct Run<'a> {
    /// The file that the plan was made for.
    pub bytes: &'a [u8],
    /// Files of overlay images, such as icons.
    pub overlays: &'a dyn OverlaySource,
    /// Reports whether the result is no longer wanted.
    pub interrupt: &'a dyn Interrupt,
    /// Idle cores that the run may use.
    pub cores: &'a dyn Cores,
    /// The decoded image that the plan starts from, if an earlier run or a shared decode has produced it.
    pub decoded: Option<Decoded>,
}

impl<'a> Run<'a> {
    /// A run on the file `bytes` on one core, never interrupted and without overlay images.
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            overlays: &NoOverlays,
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
    /// resampler. More is slower and, up to a point, better; the default is 1.35.
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
    /// Those of `probe`, and `Limit` if the measurement's peak memory is too large.
    pub fn measurement(&self, rules: &dyn Rules, bytes: &[u8]) -> Result<Option<Measurement>> {
        Measurement::of(&self.formats, rules, bytes)
    }

    /// Performs `measurement` on the image that it was planned for: decodes the image, reduced if it is large.
    ///
    /// # Errors
    /// Any error of decoding the image.
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

    /// Plans how to apply rules, such as a recipe, to the image in `bytes`. Reads only the image's header.
    ///
    /// # Errors
    /// - Those of `probe`, except that an image over the size limits is accepted if it is only copied.
    /// - `Recipe` for rules that cannot be applied to this image, or that need more than its header.
    /// - `Limit` for a result or a peak memory that is too large.
    pub fn plan(&self, rules: &dyn Rules, bytes: &[u8]) -> Result<Plan> {
        plan::planner::plan(&self.formats, rules, bytes, &Measured::default(), None)
    }

    /// Makes an index of where decoding of a file can start, so that a small part of the image can be decoded without
    /// the rest. [`Plan::indexing`] tells whether a plan would use one. `None` if this file cannot be indexed.
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

    /// Runs a plan. The result does not depend on how many idle cores help, nor on whether the image was decoded
    /// before.
    ///
    /// # Errors
    /// Any.
    pub fn run(&self, plan: &Plan, run: Run<'_>) -> Result<Rendered> {
        let job = self.job(&run);
        let (bytes, decoded) = (run.bytes, run.decoded);
        let (width, height) = plan.size();
        let mut rendered = Rendered {
            body: None,
            of_source: 0,
            media_type: plan.media_type(),
            width,
            height,
            notes: plan.notes().to_vec(),
            damaged: false,
            lacks_letters: plan.lacks_letters(),
            timings: Timings::default(),
        };
        let timings = &mut rendered.timings;
        match plan.pipeline() {
            None => {
                let began = Instant::now();
                let extent = self.extent(job.cores, bytes, job.interrupt);
                timings.decode = began.elapsed();
                if job.forgives(&extent) {
                    rendered.of_source = bytes.len();
                } else {
                    rendered.of_source = extent?;
                    rendered.body =
                        self.with_end_marker(&bytes[..rendered.of_source], plan.format());
                }
            }
            Some(pipeline) => {
                let body = if let Frames::All {
                    count,
                    decoder,
                    encoder,
                } = pipeline.frames
                {
                    let coders = (decoder, encoder);
                    job.animation(coders, count, pipeline, plan.info(), bytes, timings)?
                } else if let Some(body) = job.recoded(pipeline, plan, bytes, timings)? {
                    body
                } else {
                    let decoded = job.decoded(decoded, pipeline, plan.info(), bytes)?;
                    let image = job.still(decoded, pipeline, bytes, timings)?;
                    if pipeline.gain_map.is_some() && image.gain_map.is_none() {
                        rendered.notes.push(BROKEN_GAIN_MAP.to_owned());
                    }
                    job.write(pipeline, &image, timings)?
                };
                rendered.body = Some(body);
            }
        }
        rendered.damaged = job.damaged.get();
        if rendered.damaged {
            rendered.notes.push(DAMAGED.to_owned());
        }
        if let Some(note) = undrawn("text in an image", &job.undrawn.take()) {
            rendered.notes.push(note);
            rendered.lacks_letters = true;
        }
        Ok(rendered)
    }

    /// Creates the state of a run, before anything is read.
    fn job<'a>(&'a self, run: &Run<'a>) -> Job<'a> {
        Job {
            engine: self,
            overlays: run.overlays,
            interrupt: run.interrupt,
            cores: run.cores,
            damaged: Cell::new(false),
            undrawn: RefCell::default(),
        }
    }

    /// Returns how many bytes from the beginning of the file make up the image; see [`Codec::extent`].
    ///
    /// # Errors
    /// Those of `probe`, except that no limits apply; `Interrupted`.
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

    /// Returns the image with its format's end marker appended; `None` if it already ends with the marker.
    fn with_end_marker(&self, image: &[u8], format: &str) -> Option<Vec<u8>> {
        let marker = self.formats.codec(format)?.end_marker();
        (!image.ends_with(marker)).then(|| [image, marker].concat())
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

    /// Runs a plan up to the frame that would be encoded (the last one of several), for tests that judge pixels rather
    /// than codecs. If the result is a copy of the source, returns the source decoded in full.
    ///
    /// # Errors
    /// Any.
    pub fn render_frame(&self, plan: &Plan, run: Run<'_>) -> Result<Frame> {
        self.render_with_text(plan, run).map(|(frame, _)| frame)
    }

    /// Returns the frame of [`Engine::render_frame`], and the characters of texts for which no font has a glyph.
    fn render_with_text(&self, plan: &Plan, run: Run<'_>) -> Result<(Frame, Vec<char>)> {
        let job = self.job(&run);
        let image = match plan.pipeline() {
            Some(pipeline) => {
                let decoded = job.decoded(run.decoded, pipeline, plan.info(), run.bytes)?;
                job.still(decoded, pipeline, run.bytes, &mut Timings::default())?
            }
            None => job.whole(run.bytes)?,
        };
        job.lacks(&image.undrawn);
        Ok((image.frame, job.undrawn.take()))
    }
}

/// Longest file, in bytes, whose header may count as quick to read. It has room for a long ICC profile.
const PROBED_AT_ONCE: usize = 1 << 20;

const DAMAGED: &str = "the source is cut or damaged: what is missing of it is blank";

/// Note on a result whose gain map was dropped because it is broken; the image itself is complete.
const BROKEN_GAIN_MAP: &str = "the gain map for HDR screens is left out: it is broken";
