//! Makes a plan, from the source's header to the encoder.

use andon_recipe::{Area, Facts, Kept, Measured, Recipe, Rules};

use super::cost::{self, Step as PlanStep};
use super::draft::{self, Draft, Drawing};
use super::gain::{self, PlannedMap};
use super::output;
use super::rules::{apply, copy_if_nothing_changes};
use super::search::{Scored, Search};
use super::{Frames, Index, Part, Pipeline, Plan, words};
use crate::codec::{
    AnimationDecoder, Codec, Encode, Encoder, GainHeader, GainMaps, Info, Recoder, Scale, Scales,
    Vector,
};
use crate::color::Convert;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::formats::{Formats, within};
use crate::frame::{Depth, Model, Traits};
use crate::limits::{Bound, Damaged, Limits};
use crate::score;
use crate::space::Space;
use crate::stage::Stage;
use crate::window::Window;

/// Resolves `rules` for the image in `bytes`, and plans the resulting recipe.
pub(crate) fn plan(
    formats: &Formats,
    rules: &dyn Rules,
    bytes: &[u8],
    measured: &Measured,
    index: Option<&Index>,
) -> Result<Plan> {
    let Settled {
        source,
        target,
        info,
        recipe,
        frames,
        gain_map,
    } = Settled::of(formats, rules, bytes, measured)?;
    let file = bytes.len();
    let mut draft = Draft::new(formats, &recipe, (source, target), (&info, file), frames)?;
    draft.gain_map = gain_map.filter(|_| frames.is_first());
    let mut rules_used = apply(LAYOUT, &mut draft);
    if draft.is_copy {
        long_enough(source.name(), &info, file, &formats.limits)?;
        let has_end_marker = bytes.ends_with(source.end_marker());
        return Ok(copy(source, info, recipe, file, has_end_marker));
    }
    let recoder = recoder(&draft, bytes);
    let encodes_only = !copy_if_nothing_changes::changes(&draft);
    check(&draft)?;
    draft.settle_planes()?;
    rules_used.extend(apply(READING, &mut draft));
    let plan = Plan {
        encodes_only,
        rules: rules_used,
        ..finished(draft, bytes, index, recoder)?
    };
    within(Bound::MEMORY, plan.peak_bytes(), formats.limits.memory)?;
    Ok(plan)
}

/// Walks through a finished draft, from the decoder to the encoder, and returns the plan. The rules that changed the
/// plan are added later.
fn finished(
    mut draft: Draft<'_>,
    bytes: &[u8],
    index: Option<&Index>,
    recoder: Option<&'static dyn Recoder>,
) -> Result<Plan> {
    let (target, recipe) = (draft.target, draft.recipe);
    let mut notes: Vec<String> = words::undrawn_texts(draft.formats, recipe)
        .into_iter()
        .collect();
    let lacks_letters = !notes.is_empty();
    notes.extend(words::unknown_families(draft.formats, recipe));
    let gain_map = plan_gain_map(&draft, &mut notes);
    let reading = Reading::of(&mut draft, bytes, index);
    let mut walk = reading.walk(&draft);
    let decoded = walk.size;
    walk.follow(&mut draft)?;
    let encoder = draft.encoder()?;
    let output = (target.name(), encoder, draft.frames);
    let result_bytes = walk.encode(output, &draft.encode, draft.search, gain_map.as_ref());
    let steps = match recoder {
        None => std::mem::take(&mut walk.steps),
        Some(recoder) => vec![recoding(recoder, &draft, &walk.steps)],
    };
    Ok(Plan {
        format: target.name(),
        media_type: target.format().media_type,
        size: walk.size,
        encodes_only: false,
        steps,
        file: walk.file,
        frame: walk.decoded,
        notes,
        lacks_letters,
        indexing: reading.indexing,
        unread: (draft.file - reading.coded_bytes) as u64,
        rules: Vec::new(),
        recipe: recipe.clone(),
        info: draft.info.clone(),
        pipeline: Some(Pipeline {
            recoder,
            source: draft.source,
            scales: draft.scales,
            part: reading.part,
            frames: draft.frames,
            drawing: draft.drawing,
            decoded,
            stages: walk.stages,
            layings: walk.layings,
            reads_profile: walk.reads_profile,
            gain_map: gain_map.map(|map| map.plan),
            encoder,
            encode: draft.encode,
            search: draft.search,
            result_bytes,
            tag: draft.tag,
            kept: match draft.info.metadata {
                true => recipe.output.metadata,
                false => Kept::None,
            },
            orientation: draft.output_orientation,
        }),
    })
}

/// A recipe that is resolved for one image, and the codecs of the source and the result.
struct Settled {
    source: &'static dyn Codec,
    target: &'static dyn Codec,
    /// The source's header. If frames of an animation are read, its traits are those of frames composed on the canvas.
    info: Info,
    recipe: Recipe,
    frames: Frames,
    gain_map: Option<(&'static dyn GainMaps, GainHeader)>,
}

impl Settled {
    fn of(formats: &Formats, rules: &dyn Rules, bytes: &[u8], measured: &Measured) -> Result<Self> {
        let (source, info) = formats.header(bytes)?;
        let gain_map = gain_map(source, &info, bytes);
        let facts = facts(source, &info, bytes, gain_map.is_some(), measured);
        let recipe = rules.resolve(&facts).map_err(Error::of_rules)?;
        let target = draft::target(formats, &recipe, source, &info)?;
        let named = rules.output().format.is_some();
        let recipe = Recipe {
            output: output::settled(&recipe.output, target, named)?,
            ..recipe
        };
        let frames = frames(&recipe, source, &info, target)?;
        Ok(Self {
            source,
            target,
            info: as_composed(source, info, frames),
            recipe,
            frames,
            gain_map,
        })
    }
}

/// Returns the converter of the file to the result that decodes no pixels, if only the format changes and one of the
/// two formats supports that for this file.
fn recoder(draft: &Draft<'_>, bytes: &[u8]) -> Option<&'static dyn Recoder> {
    if !copy_if_nothing_changes::changes_format_alone(draft) {
        return None;
    }
    let mut codecs = [draft.target, draft.source].into_iter();
    codecs.find_map(|codec| {
        let recodes =
            |recoder: &&dyn Recoder| recoder.recodes(bytes, draft.info, draft.target.name());
        codec.recoder().filter(recodes)
    })
}

/// Returns the only step of a plan whose file is recoded. Its memory is that of the steps that decode and encode,
/// because the image is decoded after all if recoding fails.
fn recoding(recoder: &dyn Recoder, draft: &Draft<'_>, otherwise: &[PlanStep]) -> PlanStep {
    let file = draft.file as u64;
    let cost = recoder.recode_cost(file, draft.info);
    let holds = 3 * file + cost.scratch;
    PlanStep {
        text: format!("recode {} to {}", draft.source.name(), draft.target.name()),
        cost,
        holds: holds.max(cost::peak(otherwise)),
    }
}

/// Returns an error if the image's header or the recipe exceeds a limit, or if the recipe searches for the quality of
/// an animation.
fn check(draft: &Draft<'_>) -> Result<()> {
    let limits = &draft.formats.limits;
    limits.check_source(draft.info)?;
    long_enough(draft.source.name(), draft.info, draft.file, limits)?;
    if !draft.frames.is_first() {
        limits.check_frames(draft.info, draft.frames.count())?;
    }
    if let (Some(search), Frames::All { .. }) = (draft.search, draft.frames) {
        return Err(Error::Recipe {
            piece: search.piece(),
            why: "an animation is written once, at one quality; ask for q, or for one frame"
                .to_owned(),
        });
    }
    check_sizes(limits, &draft.runs.sizes)
}

/// Plans how the gain map is carried over, or notes why it is lost.
fn plan_gain_map(draft: &Draft<'_>, notes: &mut Vec<String>) -> Option<PlannedMap> {
    match gain::plan_map(draft)? {
        Ok(map) => Some(map),
        Err(reason) => {
            notes.push(reason);
            None
        }
    }
}

/// How the source is read: completely, or only a part of it.
struct Reading {
    /// The part that is decoded; `None` for all of it.
    part: Option<Part>,
    /// The cost of indexing the source, if an index would allow decoding only the part that is shown and does not exist
    /// yet.
    indexing: Option<Cost>,
    /// The header of the image that is decoded: a part is treated as an image of its own.
    info: Info,
    /// Number of bytes of the file that are decoded.
    coded_bytes: usize,
}

impl Reading {
    fn of(draft: &mut Draft<'_>, bytes: &[u8], index: Option<&Index>) -> Self {
        let (info, file) = (draft.info, draft.file);
        let mut reading = Self {
            part: None,
            indexing: None,
            info: info.clone(),
            coded_bytes: file,
        };
        let (Some(visible_area), Some(decoder)) = (draft.small_part(), draft.source.parts()) else {
            return reading;
        };
        let area =
            index.and_then(|index| decoder.part(bytes, info, (**index).as_ref(), visible_area));
        let (Some(area), Some(index)) = (area, index) else {
            reading.indexing = decoder.index_cost(file as u64, info);
            return reading;
        };
        draft.begins_with(area);
        (reading.info.width, reading.info.height) = (area.w, area.h);
        let share = reading.info.pixels() as f64 / info.pixels() as f64;
        reading.coded_bytes = (file as f64 * share) as usize;
        reading.part = Some(Part {
            decoder,
            index: index.clone(),
            area,
        });
        reading
    }

    /// Returns the state of a plan after its first step, which decodes or draws the source.
    fn walk(&self, draft: &Draft<'_>) -> Walk {
        let (source, scales) = (draft.source, draft.scales);
        let decoded = draft::decoded(draft.profile(), source, draft.info, scales);
        if let Some(drawing) = &draft.drawing {
            return Walk::drawn(draft.file, source, &self.info, drawing, decoded);
        }
        let files = (draft.file, self.coded_bytes);
        let mut walk = Walk::new(files, source, &self.info, scales, draft.frames, decoded);
        if let (Some(Part { area, .. }), Some(step)) = (&self.part, walk.steps.first_mut()) {
            let Area { x, y, w, h } = area;
            step.text += &format!(" from {x},{y} {w}x{h}");
        }
        walk
    }
}

/// Index of the planning phase that decides what is shown, and whether the image changes at all.
const LAYOUT: usize = 0;

/// Index of the planning phase that decides how the source is read.
const READING: usize = 1;

/// Returns the facts about an image that rules may depend on.
pub(crate) fn facts(
    source: &dyn Codec,
    info: &Info,
    bytes: &[u8],
    gain_map: bool,
    measured: &Measured,
) -> Facts {
    let pixels = u64::from(info.width) * u64::from(info.height) * u64::from(info.frames);
    let short = bytes.len() as u64 * 8 < DRAWN_BITS * pixels;
    let vector = is_vector(source, info, bytes);
    Facts {
        format: info.format.to_owned(),
        width: info.width,
        height: info.height,
        orientation: info.orientation,
        frames: info.frames,
        alpha: info.alpha,
        cmyk: info.model == Model::Cmyk,
        tagged: info.space != Space::UNSPECIFIED,
        quality: info.quality,
        metadata: info.metadata,
        hdr: info.space.is_hdr() || gain_map,
        drawn: info.palette || vector || (info.lossless && short),
        vector,
        replaced: source.instead(info).is_some(),
        shrinks: source.scales(info) != [Scale::FULL],
        measured: measured.clone(),
    }
}

/// Returns the header of the source's gain map, and the codec that decodes its pixels; `None` if there is no gain map.
pub(crate) fn gain_map(
    source: &'static dyn Codec,
    info: &Info,
    bytes: &[u8],
) -> Option<(&'static dyn GainMaps, GainHeader)> {
    let decoder = source.gain_maps()?;
    Some((decoder, decoder.gain_map(bytes, info)?))
}

/// Whether the source is a vector image, which is not stored as pixels.
fn is_vector(source: &dyn Codec, info: &Info, bytes: &[u8]) -> bool {
    let size = (info.width, info.height);
    let window = Window::whole(size, size);
    let cost = |vector: &dyn Vector| vector.draw_cost(bytes.len() as u64, info, &window);
    source.vector().and_then(cost).is_some()
}

/// Bits per pixel below which a lossless file counts as a drawing rather than a photo. As PNG, photos have 10 to 16 and
/// screenshots 1 to 3.
const DRAWN_BITS: u64 = 4;

/// Returns which of the source's frames are read: the one that the recipe names by number, all of an animation (up to
/// the recipe's maximum), or the first. All are read if the result's format supports animations and either is the
/// source's own format or was requested by the name that its encoder expects for animations.
fn frames(
    recipe: &Recipe,
    source: &'static dyn Codec,
    info: &Info,
    target: &'static dyn Codec,
) -> Result<Frames> {
    let is_animation = |decoder: &&dyn AnimationDecoder| decoder.composed(info).is_some();
    let decoder = source.animation().filter(is_animation);
    if let Some(number) = recipe.output.frame {
        return match decoder {
            _ if number == 1 => Ok(first(source, info)),
            Some(decoder) if number <= info.frames => Ok(Frames::Nth { number, decoder }),
            _ => Err(Error::Recipe {
                piece: format!("frame:{number}"),
                why: format!("this image has {} to choose from", counted(info.frames)),
            }),
        };
    }
    let format_name = recipe.output.format.as_ref().map(|name| name.as_str());
    let encoder = target.encoder().and_then(|encoder| encoder.animation());
    let encoder = encoder.filter(|encoder| {
        format_name == Some(encoder.requested_as()) || target.name() == source.name()
    });
    let Some((decoder, encoder)) = decoder.zip(encoder) else {
        return Ok(first(source, info));
    };
    let most = recipe.output.most_frames.unwrap_or(u32::MAX);
    Ok(Frames::All {
        count: info.frames.min(most),
        decoder,
        encoder,
    })
}

/// Returns the frame that a still result shows: usually the file's first image, but the first frame of the animation if
/// the file's first image is a separate one for viewers without support for animations.
fn first(source: &'static dyn Codec, info: &Info) -> Frames {
    match (info.animation, source.animation()) {
        (Some(animation), Some(decoder)) if animation.apart => Frames::Nth { number: 1, decoder },
        _ => Frames::First,
    }
}

fn counted(frames: u32) -> String {
    match frames {
        1 => "1 frame".to_owned(),
        _ => format!("{frames} frames"),
    }
}

/// Returns the header with the traits that the animation's frames have when they are composed on the canvas; unchanged
/// if only the first frame is read.
fn as_composed(source: &dyn Codec, info: Info, frames: Frames) -> Info {
    let composed = source
        .animation()
        .and_then(|decoder| decoder.composed(&info));
    match composed {
        Some(traits) if !frames.is_first() => Info {
            model: traits.model,
            depth: traits.depth,
            alpha: traits.alpha,
            ..info
        },
        _ => info,
    }
}

/// The state of a plan in the making: the size and traits of the frame after the steps so far, and the text, cost and
/// memory of each step.
pub(super) struct Walk {
    pub(super) stages: Vec<Box<dyn Stage>>,
    pub(super) file: u64,
    decoded: u64,
    pub(super) size: (u32, u32),
    pub(super) traits: Traits,
    pub(super) steps: Vec<PlanStep>,
    reads_profile: bool,
    /// Number of times that each step runs: once for a still image, once per frame for an animation.
    times: u64,
    /// Bytes in use during every step, in addition to the step's own.
    base_bytes: u64,
    /// The stages among `stages` that lay an overlay over the image.
    layings: Vec<Laying>,
}

/// A stage that lays an overlay over the image.
#[derive(Clone, Copy)]
pub(crate) struct Laying {
    /// Index of this stage among the plan's steps.
    pub(super) step: usize,
    /// Index of this stage among the plan's stages.
    pub(super) stage: usize,
    /// Size in px of the image that the overlay is laid over.
    pub(super) size: (u32, u32),
    /// Traits of the image that the overlay is laid over.
    pub(super) traits: Traits,
}

/// Nanoseconds per byte of a frame to decode it again after encoding, on one core. All formats that search for a
/// quality decode about equally fast.
const DECODED_NANOS: u64 = 5;

/// Bytes that an animated result may take in any case, however short the source is.
const LEAST_RESULT: u64 = 8 << 20;

/// Bytes of a written frame in addition to its pixels: tables, palettes, filters, and blocks of small images.
const FRAME_OVERHEAD: u64 = 4 << 10;

impl Walk {
    /// Begins a plan with the step that decodes `coded_bytes` bytes of a file of `file` bytes.
    pub(super) fn new(
        (file, coded_bytes): (usize, usize),
        source: &dyn Codec,
        info: &Info,
        scales: Scales,
        frames: Frames,
        traits: Traits,
    ) -> Self {
        let mut walk = Self::with(file, info.scaled(scales.luma), traits);
        let times = u64::from(frames.count());
        walk.times = times;
        let mut cost = source.decode_cost(coded_bytes as u64 / times, info, scales);
        let mut text = words::decode(source, scales, walk.traits);
        if !frames.is_first() {
            // An animation's decoder holds the canvas, which each frame copies when stages change it, and the canvas
            // before the frame.
            walk.base_bytes = 2 * walk.decoded;
            cost.scratch += walk.decoded;
            text += &format!(" {}", counted(frames.count()));
        }
        if let Frames::Nth { .. } = frames {
            cost.nanos = cost.nanos.saturating_mul(times);
            walk.times = 1;
        }
        walk.note(text, cost, walk.frame());
        walk
    }

    /// Begins a plan with the step that draws a window of a vector image.
    fn drawn(
        file: usize,
        source: &dyn Codec,
        info: &Info,
        drawing: &Drawing,
        traits: Traits,
    ) -> Self {
        let mut walk = Self::with(file, drawing.window.to, traits);
        let text = words::draw(source, info, &drawing.window, traits);
        walk.note(text, drawing.cost, walk.frame());
        walk
    }

    /// Creates the state of a plan without any step yet, with the size and traits of the first frame.
    fn with(file: usize, size: (u32, u32), traits: Traits) -> Self {
        Self {
            stages: Vec::new(),
            file: file as u64,
            decoded: cost::frame_bytes(size, traits),
            size,
            traits,
            steps: Vec::new(),
            reads_profile: false,
            times: 1,
            base_bytes: 0,
            layings: Vec::new(),
        }
    }

    pub(super) fn extend(&mut self, stages: impl IntoIterator<Item = Box<dyn Stage>>) {
        for stage in stages {
            self.push(stage);
        }
    }

    fn push(&mut self, stage: Box<dyn Stage>) {
        let (width, height) = self.size;
        let before = self.frame();
        let cost = stage.cost(width, height, self.traits);
        if stage.lays().is_some() {
            self.layings.push(Laying {
                step: self.steps.len(),
                stage: self.stages.len(),
                size: self.size,
                traits: self.traits,
            });
        }
        self.size = stage.size_after(width, height);
        self.traits = stage.after(self.traits);
        self.note(stage.to_string(), cost, before + self.frame());
        self.stages.push(stage);
    }

    /// Adds all stages between decoding and encoding to the plan, and takes them from the draft.
    fn follow(&mut self, draft: &mut Draft<'_>) -> Result<()> {
        if let Some(space) = draft.light().filter(|_| draft.scales_light) {
            self.convert(Traits {
                model: Model::Rgb,
                depth: Depth::U16,
                space,
                ..self.traits
            });
        }
        self.extend(std::mem::take(&mut draft.first).into_stage());
        if let Some(to) = draft.before_turning(self.size, self.traits)? {
            self.convert(to);
        }
        self.extend(draft.turn.take());
        if let Some(to) = draft.conversion {
            self.convert(to);
        }
        self.extend(std::mem::take(&mut draft.later_stages));
        let accepted = draft.accepted(self.traits)?;
        self.convert(accepted);
        Ok(())
    }

    /// Adds a conversion of the frame to these traits to the plan, unless the frame has them already.
    pub(super) fn convert(&mut self, to: Traits) {
        if to != self.traits {
            let from = self.traits.space;
            self.reads_profile |= from.profiled && from != to.space;
            self.push(Box::new(Convert { to, from }));
        }
    }

    /// Adds the encoder as the last step, and returns the maximum size of its result in bytes. For a still image that
    /// is the size of the frame, which few formats exceed. For an animation it is the size of all frames, but no more
    /// than eight times the source file plus [`LEAST_RESULT`].
    fn encode(
        &mut self,
        (name, encoder, frames): (&str, &dyn Encoder, Frames),
        how: &Encode,
        search: Option<Search>,
        gain_map: Option<&PlannedMap>,
    ) -> u64 {
        let (width, height) = self.size;
        let mut cost = match frames {
            Frames::All { encoder, count, .. } if count > 1 => {
                encoder.frame_cost(width, height, self.traits, how)
            }
            _ => encoder.encode_cost(width, height, self.traits, how),
        };
        let mut frame = self.frame();
        if let Some(map) = gain_map {
            let mut step = map.step.clone();
            step.holds = step.holds.saturating_add(self.file + frame);
            self.steps.push(step);
            cost.nanos = cost.nanos.saturating_add(map.encode.nanos);
            // Image and gain map are written one after the other, so their memory does not add up.
            cost.scratch = cost.scratch.max(map.encode.scratch);
            frame += map.frame;
        }
        let text = words::encode(name, how, search);
        match search {
            None => self.note(text, cost, 2 * frame),
            Some(Search::Length(length)) => {
                cost.nanos = cost.nanos.saturating_mul(length.tries().into());
                // The best file so far stays in memory while the next one is tried.
                self.note(text, cost, 2 * frame + length.best_bytes(frame));
            }
            Some(Search::Score(_)) => {
                let each = self.scored(encoder, how);
                cost.nanos = (cost.nanos + each.nanos).saturating_mul(Scored::TRIES.into());
                cost.scratch = cost.scratch.max(each.scratch);
                self.note(text, cost, 3 * frame);
            }
        }
        if self.base_bytes == 0 {
            return frame;
        }
        // Frames that do not compress take slightly more than their samples; profiles are no longer than the file.
        let each = frame + frame / 8 + FRAME_OVERHEAD;
        let result = (each * self.times + self.file).min(8 * self.file + LEAST_RESULT);
        // The writer keeps earlier frames and the written file in memory while the next frame is processed.
        for step in &mut self.steps {
            step.holds = step
                .holds
                .saturating_add(self.base_bytes + 2 * frame + result);
        }
        result
    }

    /// Returns the cost of each encode in a search for a score, in addition to encoding itself: the frame is converted
    /// to the encoder's traits, the written file is decoded and converted back, and the two are compared.
    fn scored(&self, encoder: &dyn Encoder, how: &Encode) -> Cost {
        let (width, height) = self.size;
        let to = draft::accepted(encoder, self.traits, how);
        let convert = |to: Traits, from: Traits| {
            let from_space = from.space;
            Convert {
                to,
                from: from_space,
            }
            .cost(width, height, from)
        };
        let (to_encoder, from_encoder) = (convert(to, self.traits), convert(self.traits, to));
        let metric = score::cost(width, height);
        let frames_bytes = cost::frame_bytes(self.size, to) + self.frame();
        Cost {
            nanos: to_encoder.nanos
                + from_encoder.nanos
                + metric.nanos
                + self.frame() * DECODED_NANOS,
            scratch: metric.scratch + frames_bytes + to_encoder.scratch.max(from_encoder.scratch),
        }
    }

    pub(super) fn frame(&self) -> u64 {
        cost::frame_bytes(self.size, self.traits)
    }

    fn note(&mut self, text: String, mut cost: Cost, frames: u64) {
        cost.nanos = cost.nanos.saturating_mul(self.times);
        let holds = self
            .file
            .saturating_add(frames)
            .saturating_add(cost.scratch);
        self.steps.push(PlanStep { text, cost, holds });
    }
}

/// Returns the plan of a copy. `has_end_marker` tells whether the file ends with its format's end marker. A file that
/// lacks its end marker is in memory twice, since the marker is appended to a copy.
fn copy(
    source: &'static dyn Codec,
    info: Info,
    recipe: Recipe,
    file: usize,
    has_end_marker: bool,
) -> Plan {
    let mut cost = source.extent_cost(file as u64, &info);
    if !has_end_marker {
        cost.scratch = cost.scratch.max(file as u64);
    }
    Plan {
        format: source.name(),
        media_type: source.format().media_type,
        size: (info.width, info.height),
        encodes_only: true,
        rules: vec![&copy_if_nothing_changes::RULE],
        steps: vec![PlanStep {
            text: format!("copy {}", source.name()),
            cost,
            holds: (file as u64).saturating_add(cost.scratch),
        }],
        file: file as u64,
        frame: 0,
        notes: Vec::new(),
        lacks_letters: false,
        indexing: None,
        unread: 0,
        pipeline: None,
        recipe,
        info,
    }
}

/// Returns an error for a result or an intermediate size that is too large.
fn check_sizes(limits: &Limits, sizes: &[(u32, u32)]) -> Result<()> {
    for (width, height) in sizes {
        let side = u64::from(*width.max(height));
        within(Bound::RESULT_SIDE, side, u64::from(limits.result_side))?;
        let pixels = u64::from(*width) * u64::from(*height);
        within(Bound::RESULT_PIXELS, pixels, limits.result_pixels)?;
    }
    Ok(())
}

/// Returns an error for a file that is too short for the pixels that its header declares, before time is spent on
/// decoding them.
fn long_enough(format: &'static str, info: &Info, bytes: usize, limits: &Limits) -> Result<()> {
    let (width, height, fewest) = (info.width, info.height, info.fewest_bytes);
    match bytes as u64 >= fewest || limits.damaged == Damaged::Shown {
        true => Ok(()),
        false => Err(Error::broken(
            format,
            format!("it has {bytes} bytes; {width}×{height} px take {fewest} or more"),
        )),
    }
}
