//! From a recipe and a header to the cheapest plan.
//!
//! [`Plan`] prints itself as one line, such as
//! `decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | encode jpeg q80`: the log, the debug header and
//! the golden tests. `planner` makes it by the named [`RULES`]; `engine` runs it.

pub(crate) mod check;
mod cost;
mod draft;
mod explain;
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
pub(crate) use draft::accepted;
pub(crate) use gain::Taken;
pub use part::Index;
pub(crate) use part::Part;
pub(crate) use rules::shrink_on_load::HEADROOM;
pub use rules::{Example, RULES, Rule};
pub use shared_peak::SharedPeak;
pub(crate) use words::fraction;

use crate::codec::{Codec, Encode, Info, Scales};
use crate::cost::{Cost, CpuTime};
use crate::space::Space;
use crate::stage::Stage;
use crate::window::Window;

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
    /// Bytes of the source file.
    file: u64,
    /// Bytes of the decoded frame; 0 for a copy.
    frame: u64,
    /// What is lost that was not asked to be, in a sentence each.
    notes: Vec<String>,
    /// What an index of the source would take, if one would help and is not there.
    indexing: Option<Cost>,
    /// Bytes of the source file that no decoder goes through.
    unread: u64,
    pipeline: Option<Pipeline>,
}

/// What a plan holds, in bytes, told apart by what it may share with other plans for the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The source file.
    pub file: u64,
    /// The decoded frame: the same for all that decode at these scales.
    pub frame: u64,
    /// Those scales; `None` for a copy, and for frames that are read one after the other.
    pub scales: Option<Scales>,
    /// Beside file and frame while decoding.
    pub decoding: u64,
    /// The most beside file and frame afterwards, if the frame is kept to the end, for others.
    pub afterwards: u64,
}

/// What the frame that a plan begins with depends on, beside the source's bytes: plans for the same bytes with equal keys
/// begin with the same frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DecodeKey {
    scales: Scales,
    /// Of the frame, in px: drawings are decoded at any size.
    size: (u32, u32),
    /// With profiles and other metadata?
    metadata: bool,
}

/// Which of the source's frames are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frames {
    /// The first, as a still image.
    First,
    /// One of those behind it, as a still image; the first is number 1.
    Nth(u32),
    /// All; how many there are.
    All(u32),
}

impl Frames {
    /// How many the result has.
    pub(crate) fn shown(self) -> u32 {
        match self {
            Self::First | Self::Nth(_) => 1,
            Self::All(frames) => frames,
        }
    }

    /// How many are composed.
    pub(crate) fn count(self) -> u32 {
        match self {
            Self::First => 1,
            Self::Nth(frames) | Self::All(frames) => frames,
        }
    }
}

/// What is run when the source's bytes will not do.
pub(crate) struct Pipeline {
    /// Turns the file into the result without decoding it; what follows is for files of which it cannot.
    pub(crate) recoder: Option<&'static dyn Codec>,
    /// Reads the source.
    pub(crate) source: &'static dyn Codec,
    /// At these scales.
    pub(crate) scales: Scales,
    /// Or draws what this shows.
    pub(crate) window: Option<Window>,
    /// Only this part of it, if not all.
    pub(crate) part: Option<Part>,
    /// Which of its frames.
    pub(crate) frames: Frames,
    /// Size of the decoded frame.
    pub(crate) decoded: (u32, u32),
    /// In between.
    pub(crate) stages: Vec<Box<dyn Stage>>,
    /// Those of them that lay a material over the image.
    laid: Vec<planner::Laying>,
    /// One of them converts colours by the source's ICC profile.
    pub(crate) reads_profile: bool,
    /// What is done with the source's gain map, if it is taken along.
    pub(crate) gain_map: Option<Taken>,
    /// Writes the result.
    pub(crate) target: &'static dyn Codec,
    /// In this way.
    pub(crate) encode: Encode,
    /// But at the quality that this finds.
    pub(crate) search: Option<search::Search>,
    /// The most bytes that the result of several frames may take: as many were planned with.
    pub(crate) result_bytes: u64,
    /// How the result says what its colours are.
    pub(crate) tag: Tag,
    /// What is carried over of EXIF and the like.
    pub(crate) kept: Kept,
    /// How the pixels that are written become upright, which the result's metadata says.
    pub(crate) orientation: Orientation,
}

/// How a result says what its colours are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// Not at all.
    None,
    /// As the source does.
    Own,
    /// By this space.
    Space(Space),
}

impl Plan {
    /// Is the answer the source's own bytes?
    #[must_use]
    pub fn is_copy(&self) -> bool {
        self.pipeline.is_none()
    }

    /// Does the result show the source unchanged, with its colours and metadata, in another encoding?
    #[must_use]
    pub fn encodes_only(&self) -> bool {
        self.encodes_only
    }

    /// The resolved recipe: what the rules came to for this image, in whole pixels.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// What it takes altogether: the times of all steps, and the largest scratch of one.
    #[must_use]
    pub fn cost(&self) -> Cost {
        cost::total(&self.steps)
    }

    /// The processor time that it takes altogether.
    #[must_use]
    pub fn cpu(&self) -> CpuTime {
        let estimated = self.cost().nanos;
        let spread = self.pipeline.as_ref().map_or(1, |pipeline| {
            pipeline.target.encode_spread(&pipeline.encode)
        });
        let harder = self.encode_nanos().saturating_mul(spread.saturating_sub(1));
        CpuTime {
            estimated,
            most: estimated.saturating_add(harder),
        }
    }

    /// The most bytes that are held at one time, the source file and the result included; materials, if it was
    /// made by [`Engine::plan_with`](crate::Engine::plan_with).
    #[must_use]
    pub fn peak_bytes(&self) -> u64 {
        cost::peak(&self.steps)
    }

    /// Counts what it takes to lay a material of this size over the image, in the place of what was guessed.
    pub(crate) fn lays(&mut self, effect: &Effect, material: (u32, u32)) {
        let Some(pipeline) = &self.pipeline else {
            return;
        };
        let times = self.frames();
        for laying in &pipeline.laid {
            let stage = &pipeline.stages[laying.stage];
            if stage.lays() != Some(effect) {
                continue;
            }
            let ((width, height), traits) = (laying.size, laying.traits);
            let guessed = stage.cost(width, height, traits);
            let cost = stage.cost_of_laying(material, width, height, traits);
            // A plan whose file may be recoded has one step for all.
            if let Some(step) = self.steps.get_mut(laying.step) {
                step.cost.nanos = cost.nanos.saturating_mul(times);
                step.holds = step.holds.saturating_sub(guessed.scratch);
                step.holds = step.holds.saturating_add(cost.scratch);
                step.cost.scratch = cost.scratch;
            }
        }
    }

    /// How many frames are worked on.
    pub(crate) fn frames(&self) -> u64 {
        let frames = self.pipeline.as_ref().map(|pipeline| pipeline.frames);
        match frames {
            Some(Frames::All(frames)) => u64::from(frames),
            _ => 1,
        }
    }

    /// Counts what is laid over the image: its time once, its memory in every step behind the decoder.
    pub(crate) fn also(&mut self, cost: Cost) {
        for step in self.steps.iter_mut().skip(1) {
            step.holds = step.holds.saturating_add(cost.scratch);
        }
        if let Some(step) = self.steps.get_mut(1) {
            step.cost.nanos = step.cost.nanos.saturating_add(cost.nanos);
        }
    }

    /// What `peak_bytes` is made of.
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
        let kept = self.file.saturating_add(self.frame);
        // Only the first of them counts what was decoded.
        let (first, later) = after.split_at(after.len().min(1));
        let first = cost::peak(first).saturating_sub(kept);
        let later = cost::peak(later).saturating_sub(self.file);
        Holding {
            file: self.file,
            frame: self.frame,
            scales: self.pipeline.as_ref().map(|pipeline| pipeline.scales),
            decoding: cost::peak(decode).saturating_sub(kept),
            afterwards: first.max(later),
        }
    }

    /// Which frame it begins with, where another plan could begin with the same one; see [`Decoded`](crate::Decoded).
    #[must_use]
    pub fn decode_key(&self) -> Option<DecodeKey> {
        let pipeline = self.pipeline.as_ref().filter(|_| !self.shares_nothing())?;
        Some(DecodeKey {
            scales: pipeline.scales,
            size: pipeline.decoded,
            metadata: pipeline.reads_metadata(),
        })
    }

    /// Frames that are read one after the other are nothing that another plan could begin with, nor is a part of the
    /// image, nor what is drawn for one size, and what is not decoded begins with nothing.
    fn shares_nothing(&self) -> bool {
        self.pipeline.as_ref().is_some_and(|pipeline| {
            pipeline.frames != Frames::First
                || pipeline.recoder.is_some()
                || pipeline.part.is_some()
                || pipeline.window.is_some()
        })
    }

    /// What it takes to make an index of the source, where a small part of a large image is shown and the plan was
    /// made without an index that fits, although there could be one.
    #[must_use]
    pub fn indexing(&self) -> Option<Cost> {
        self.indexing
    }

    /// Bytes of the source that are passed over, because only a part of the image is decoded.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.unread
    }

    /// The part of its cost that is decoding, in nanoseconds.
    #[must_use]
    pub fn decode_nanos(&self) -> u64 {
        self.steps.first().map_or(0, |decode| decode.cost.nanos)
    }

    /// The part of its cost that is encoding, in nanoseconds.
    #[must_use]
    pub fn encode_nanos(&self) -> u64 {
        let encode = self.steps.last().filter(|_| self.pipeline.is_some());
        encode.map_or(0, |encode| encode.cost.nanos)
    }

    /// May it begin with the same decode as `other`, a plan for the same bytes? See
    /// [`Engine::decode_at_once`](crate::Engine::decode_at_once).
    #[must_use]
    pub fn decodes_with(&self, other: &Self) -> bool {
        let (Some(own), Some(others)) = (&self.pipeline, &other.pipeline) else {
            return false;
        };
        if self.shares_nothing() || other.shares_nothing() {
            return false;
        }
        own.source.name() == others.source.name()
            && own
                .source
                .decodes_at_once(&self.info, own.scales, others.scales)
    }

    /// The name of the result's format.
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.format
    }

    /// The result's media type.
    #[must_use]
    pub fn media_type(&self) -> &'static str {
        self.media_type
    }

    /// Width and height of the result.
    #[must_use]
    pub fn size(&self) -> (u32, u32) {
        self.size
    }

    /// How the result's pixels become upright, which it says; that of a copy is the source's.
    #[must_use]
    pub fn orientation(&self) -> Orientation {
        let made = self.pipeline.as_ref();
        made.map_or(self.info.orientation, |pipeline| pipeline.orientation)
    }

    /// The rules that acted, in the order in which they did.
    #[must_use]
    pub fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    /// What of the source is left out of the result although nobody asked for that, in a sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The steps, from decoding to encoding.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What the source's header told.
    #[must_use]
    pub fn info(&self) -> &Info {
        &self.info
    }

    pub(crate) fn pipeline(&self) -> Option<&Pipeline> {
        self.pipeline.as_ref()
    }
}

/// What an image of `length` bytes holds that is decoded in full: its file, its frame and the decoder.
pub(crate) fn held_in_full(codec: &dyn Codec, info: &Info, length: u64) -> u64 {
    let frame = frame_bytes((info.width, info.height), codec.decoded(info, Scales::FULL));
    let decoder = codec.decode_cost(length, info, Scales::FULL).scratch;
    length.saturating_add(frame).saturating_add(decoder)
}

impl Pipeline {
    /// Are the source's profiles needed, be it only to convert by them?
    pub(crate) fn reads_metadata(&self) -> bool {
        self.kept != Kept::None || self.reads_profile || self.tag == Tag::Own
    }

    /// How the result is written, at a quality that is being tried.
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
