//! Turns a recipe and an image header into the cheapest plan.
//!
//! [`Plan`] prints itself as one line, such as `decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | encode jpeg q80`,
//! for the log, the debug header and the golden tests. `planner` creates plans by the named [`RULES`], and `engine`
//! runs them.

pub(crate) mod check;
mod cost;
mod draft;
mod explain;
mod frames;
mod gain;
mod output;
mod part;
pub(crate) mod planner;
mod rules;
mod runs;
pub(crate) mod search;
mod shared_peak;
mod view;
mod words;

use std::fmt;

use andon_recipe::{Effect, Kept, Orientation, Recipe};

pub use cost::Step;
pub(crate) use cost::frame_bytes;
pub(crate) use draft::{Drawing, Tag, accepted};
pub(crate) use frames::Frames;
pub(crate) use gain::GainMapPlan;
pub use part::Index;
pub(crate) use part::Part;
pub(crate) use rules::shrink_on_load::HEADROOM;
pub use rules::{Example, RULES, Rule};
pub use shared_peak::SharedPeak;
pub(crate) use words::{fraction, undrawn};

use crate::codec::{Codec, Encode, Encoder, Info, Recoder, Scales};
use crate::cost::{Cost, CpuTime};
use crate::stage::Stage;

/// How a recipe is carried out on one image.
pub struct Plan {
    recipe: Recipe,
    info: Info,
    format: &'static str,
    media_type: &'static str,
    size: (u32, u32),
    encodes_only: bool,
    rules: Vec<&'static Rule>,
    steps: Vec<Step>,
    /// Size of the source file in bytes.
    file: u64,
    /// Size of the decoded frame in bytes; 0 for a copy.
    frame: u64,
    /// Sentences about parts of the source that the result lacks although the recipe did not ask to leave them out.
    notes: Vec<String>,
    /// Whether the recipe's texts have letters for which no font has a glyph.
    lacks_letters: bool,
    /// The cost of indexing the source, if an index would allow decoding only the part that is shown and does not exist
    /// yet.
    indexing: Option<Cost>,
    /// Bytes of the source file that are not read, because only a part of the image is decoded.
    unread: u64,
    pipeline: Option<Pipeline>,
}

/// The memory of a plan, separated by what it may share with other plans for the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Size of the source file in bytes.
    pub file: u64,
    /// Size of the decoded frame in bytes. All plans that decode at `scales` share that frame.
    pub frame: u64,
    /// The scales at which the frame is decoded. `None` if there is no frame to share: for a copy or a recoded file,
    /// for frames of an animation, for a part of an image, and for a drawing.
    pub scales: Option<Scales>,
    /// Bytes in use while decoding, in addition to file and frame.
    pub decoding: u64,
    /// Largest number of bytes in use after decoding, in addition to file and frame, if the frame is kept to the end
    /// for other plans.
    pub afterwards: u64,
}

/// Everything that determines the decoded frame that a plan starts from, besides the source's bytes. Plans for the same
/// bytes with equal keys start from the same frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DecodeKey {
    scales: Scales,
    /// Size of the decoded frame, in px. The scales alone do not determine it, because drawings are decoded at any
    /// size.
    size: (u32, u32),
    /// Whether profiles and other metadata are read too.
    metadata: bool,
}

/// The work of a plan whose result is not a copy of the source's bytes.
pub(crate) struct Pipeline {
    /// Codec that converts the file to the result without decoding it. The other fields are for files that it cannot
    /// convert.
    pub(crate) recoder: Option<&'static dyn Recoder>,
    /// Codec that reads the source.
    pub(crate) source: &'static dyn Codec,
    /// The scales at which the source is decoded.
    pub(crate) scales: Scales,
    /// The part to draw and its size, for a vector image.
    pub(crate) drawing: Option<Drawing>,
    /// The part of the source that is decoded; `None` for all of it.
    pub(crate) part: Option<Part>,
    /// Which of the source's frames are read.
    pub(crate) frames: Frames,
    /// Size of the decoded frame in px.
    pub(crate) decoded: (u32, u32),
    /// The stages between decoding and encoding.
    pub(crate) stages: Vec<Box<dyn Stage>>,
    /// The stages among `stages` that lay an overlay over the image.
    layings: Vec<planner::Laying>,
    /// Whether one of `stages` converts colours by the source's ICC profile.
    pub(crate) reads_profile: bool,
    /// How the source's gain map is processed, if it is carried over.
    pub(crate) gain_map: Option<GainMapPlan>,
    /// Codec that writes the result.
    pub(crate) encoder: &'static dyn Encoder,
    /// How the result is written.
    pub(crate) encode: Encode,
    /// The search for the quality, which then replaces that of `encode`.
    pub(crate) search: Option<search::Search>,
    /// Maximum size of an animated result in bytes, which is included in the plan's memory.
    pub(crate) result_bytes: u64,
    /// How the result declares its colour space.
    pub(crate) tag: Tag,
    /// Which of EXIF, IPTC and XMP are kept.
    pub(crate) kept: Kept,
    /// The orientation that the result's metadata declares, so that viewers turn the pixels upright.
    pub(crate) orientation: Orientation,
}

impl Plan {
    /// Whether the result is the source's own bytes.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        self.pipeline.is_none()
    }

    /// Whether the result shows the source unchanged, with its colours and metadata, only encoded in another way.
    #[must_use]
    pub fn encodes_only(&self) -> bool {
        self.encodes_only
    }

    /// Returns the resolved recipe: what the rules resolve to for this image, in whole pixels.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Returns the total cost of the plan: the times of all steps, and the largest scratch memory of any one step.
    #[must_use]
    pub fn cost(&self) -> Cost {
        cost::total(&self.steps)
    }

    /// Returns the processor time that the plan takes in total.
    #[must_use]
    pub fn cpu(&self) -> CpuTime {
        let estimated = self.cost().nanos;
        let spread = self.pipeline.as_ref().map_or(1, |pipeline| {
            pipeline.encoder.encode_spread(&pipeline.encode)
        });
        let harder = self.encode_nanos().saturating_mul(spread.saturating_sub(1));
        CpuTime {
            estimated,
            most: estimated.saturating_add(harder),
        }
    }

    /// Returns the peak memory in bytes. The source file and the result are included, and overlay images too if the
    /// plan was made by [`Engine::plan_with`](crate::Engine::plan_with).
    #[must_use]
    pub fn peak_bytes(&self) -> u64 {
        cost::peak(&self.steps)
    }

    /// Counts the cost of an overlay of this size in place of the guessed cost.
    pub(crate) fn lays(&mut self, effect: &Effect, size: (u32, u32)) {
        let Some(pipeline) = &self.pipeline else {
            return;
        };
        let times = self.frames();
        for laying in &pipeline.layings {
            let stage = &pipeline.stages[laying.stage];
            if stage.lays() != Some(effect) {
                continue;
            }
            let ((width, height), traits) = (laying.size, laying.traits);
            let guess = stage.cost(width, height, traits);
            let cost = stage.cost_of_laying(size, width, height, traits);
            // A plan whose file may be recoded has a single step, so the index may be out of range.
            if let Some(step) = self.steps.get_mut(laying.step) {
                step.cost.nanos = cost.nanos.saturating_mul(times);
                step.holds = step.holds.saturating_sub(guess.scratch);
                step.holds = step.holds.saturating_add(cost.scratch);
                step.cost.scratch = cost.scratch;
            }
        }
    }

    /// Returns the number of frames that the stages process.
    pub(crate) fn frames(&self) -> u64 {
        let frames = self.pipeline.as_ref().map(|pipeline| pipeline.frames);
        match frames {
            Some(Frames::All { count, .. }) => u64::from(count),
            _ => 1,
        }
    }

    /// Adds the cost of the overlay images: their time once, their memory to every step after decoding.
    pub(crate) fn also(&mut self, cost: Cost) {
        for step in self.steps.iter_mut().skip(1) {
            step.holds = step.holds.saturating_add(cost.scratch);
        }
        if let Some(step) = self.steps.get_mut(1) {
            step.cost.nanos = step.cost.nanos.saturating_add(cost.nanos);
        }
    }

    /// Returns the parts that make up `peak_bytes`.
    #[must_use]
    pub fn holding(&self) -> Holding {
        if self.shares_nothing() {
            return Holding {
                file: self.file,
                frame: 0,
                scales: None,
                decoding: self.peak_bytes().saturating_sub(self.file),
                afterwards: 0,
            };
        }
        let (decode, after) = self.steps.split_at(self.steps.len().min(1));
        let shared = self.file.saturating_add(self.frame);
        // Only the first step after decoding includes the decoded frame in its memory.
        let (first, later) = after.split_at(after.len().min(1));
        let first = cost::peak(first).saturating_sub(shared);
        let later = cost::peak(later).saturating_sub(self.file);
        Holding {
            file: self.file,
            frame: self.frame,
            scales: self.pipeline.as_ref().map(|pipeline| pipeline.scales),
            decoding: cost::peak(decode).saturating_sub(shared),
            afterwards: first.max(later),
        }
    }

    /// Returns the key of the decoded frame that the plan starts from, if another plan could start from the same one;
    /// see [`Decoded`](crate::Decoded).
    #[must_use]
    pub fn decode_key(&self) -> Option<DecodeKey> {
        let pipeline = self.pipeline.as_ref().filter(|_| !self.shares_nothing())?;
        Some(DecodeKey {
            scales: pipeline.scales,
            size: pipeline.decoded,
            metadata: pipeline.reads_metadata(),
        })
    }

    /// Whether no other plan could start from the same decoded frame. That applies to animations, whose frames are
    /// decoded one by one, to a part of an image, to a drawing made for one size, and to a file that is recoded without
    /// being decoded.
    fn shares_nothing(&self) -> bool {
        self.pipeline.as_ref().is_some_and(|pipeline| {
            !pipeline.frames.is_first()
                || pipeline.recoder.is_some()
                || pipeline.part.is_some()
                || pipeline.drawing.is_some()
        })
    }

    /// Returns the cost of indexing the source, if a small part of a large image is shown and the plan was made without
    /// a valid index although the format allows one.
    #[must_use]
    pub fn indexing(&self) -> Option<Cost> {
        self.indexing
    }

    /// Returns how many bytes of the source are not read, because only a part of the image is decoded.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.unread
    }

    /// Returns the estimated time of the first step, which is decoding, in nanoseconds.
    #[must_use]
    pub fn decode_nanos(&self) -> u64 {
        self.steps.first().map_or(0, |decode| decode.cost.nanos)
    }

    /// Returns the estimated time of encoding in nanoseconds; 0 for a copy.
    #[must_use]
    pub fn encode_nanos(&self) -> u64 {
        let encode = self.steps.last().filter(|_| self.pipeline.is_some());
        encode.map_or(0, |encode| encode.cost.nanos)
    }

    /// Whether this plan and `other`, made for the same bytes, may be decoded in one pass. See
    /// [`Engine::decode_at_once`](crate::Engine::decode_at_once).
    #[must_use]
    pub fn decodes_with(&self, other: &Self) -> bool {
        let (Some(one), Some(another)) = (&self.pipeline, &other.pipeline) else {
            return false;
        };
        if self.shares_nothing() || other.shares_nothing() {
            return false;
        }
        let in_one_pass = |codec: &dyn Codec| {
            codec.many_scales().is_some_and(|decoder| {
                decoder.decodes_at_once(&self.info, one.scales, another.scales)
            })
        };
        one.source.name() == another.source.name()
            && (one.scales == another.scales || in_one_pass(one.source))
    }

    /// Returns the name of the result's format.
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.format
    }

    /// Returns the result's media type.
    #[must_use]
    pub fn media_type(&self) -> &'static str {
        self.media_type
    }

    /// Returns width and height of the result in px.
    #[must_use]
    pub fn size(&self) -> (u32, u32) {
        self.size
    }

    /// Returns the orientation that the result declares, so that viewers turn its pixels upright. For a copy it is the
    /// source's.
    #[must_use]
    pub fn orientation(&self) -> Orientation {
        let pipeline = self.pipeline.as_ref();
        pipeline.map_or(self.info.orientation, |pipeline| pipeline.orientation)
    }

    /// Returns the rules that changed the plan, in the order in which they were applied.
    #[must_use]
    pub fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    /// Returns sentences about what the result lacks although the recipe did not ask to leave it out, such as a gain
    /// map or letters that no font has.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether the recipe's texts have letters for which no font has a glyph; a note lists them.
    #[must_use]
    pub fn lacks_letters(&self) -> bool {
        self.lacks_letters
    }

    /// Returns the steps, from decoding to encoding.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the facts from the source's header.
    #[must_use]
    pub fn info(&self) -> &Info {
        &self.info
    }

    pub(crate) fn pipeline(&self) -> Option<&Pipeline> {
        self.pipeline.as_ref()
    }
}

/// Returns the memory in bytes for an image file of `length` bytes that is decoded in full: the file, its frame and the
/// decoder's memory.
pub(crate) fn held_in_full(codec: &dyn Codec, info: &Info, length: u64) -> u64 {
    let frame = frame_bytes((info.width, info.height), codec.decoded(info, Scales::FULL));
    let decoder = codec.decode_cost(length, info, Scales::FULL).scratch;
    length.saturating_add(frame).saturating_add(decoder)
}

impl Pipeline {
    /// Whether the source's profiles and other metadata are needed, even if only to convert colours.
    pub(crate) fn reads_metadata(&self) -> bool {
        self.kept != Kept::None || self.reads_profile || self.tag == Tag::Own
    }

    /// Returns the encoder's parameters with the quality being tried; `None` keeps the planned quality.
    pub(crate) fn encode_at(&self, quality: Option<u8>) -> Encode {
        Encode {
            quality: quality.or(self.encode.quality),
            ..self.encode.clone()
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            if index > 0 {
                f.write_str(" | ")?;
            }
            f.write_str(&step.text)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan({self})")
    }
}
