//! How a plan comes about, from top to bottom.

use andon_recipe::{Area, Facts, Kept, Measured, Recipe, Rules};

use super::cost::{self, Step as PlanStep};
use super::draft::{self, Draft};
use super::gain::{self, Along};
use super::output;
use super::rules::{convert_colour_late, copy_if_nothing_changes};
use super::search::{Scored, Search};
use super::{Frames, Index, Part, Pipeline, Plan, words};
use crate::codec::{Codec, Encode, GainHeader, Info, Scale, Scales};
use crate::color::Convert;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::formats::{Formats, within};
use crate::frame::{Depth, Model, Traits};
use crate::limits::{Damaged, Limits};
use crate::score;
use crate::space::Space;
use crate::stage::Stage;
use crate::window::Window;

/// Plans what rules come to for the image in `bytes`.
pub(crate) fn plan(
    formats: &Formats,
    rules: &dyn Rules,
    bytes: &[u8],
    measured: &Measured,
    index: Option<&Index>,
) -> Result<Plan> {
    let (source, info) = formats.header(bytes)?;
    let gain_map = source.gain_map(bytes, &info);
    let recipe = rules
        .resolve(&facts(source, &info, bytes, gain_map.as_ref(), measured))
        .map_err(Error::of_rules)?;
    let target = draft::target(formats, &recipe, source, &info)?;
    let named = rules.output().format.is_some();
    let recipe = Recipe {
        output: output::settled(&recipe.output, target, named)?,
        ..recipe
    };
    let frames = frames(&recipe, source, &info, target)?;
    let info = as_composed(source, info, frames);
    let file = bytes.len();
    let mut draft = Draft::new(formats, &recipe, (source, target), (&info, file), frames)?;
    if frames == Frames::First {
        draft.gain_map = gain_map;
    }
    draft.apply(LAYOUT);
    let limits = &formats.limits;
    if draft.is_copy {
        long_enough(source.name(), &info, file, limits)?;
        let ended = bytes.ends_with(source.end_marker());
        return Ok(copy(source, info, recipe, file, ended));
    }
    let recoder = copy_if_nothing_changes::changes_format_alone(&draft)
        .then(|| {
            let mut codecs = [target, source].into_iter();
            codecs.find(|codec| codec.recodes(bytes, &info, target.name()))
        })
        .flatten();
    let encodes_only = !copy_if_nothing_changes::changes(&draft);
    limits.check_source(&info)?;
    long_enough(source.name(), &info, file, limits)?;
    if frames != Frames::First {
        limits.check_frames(&info, frames.count())?;
    }
    if let (Some(search), Frames::All(_)) = (draft.search, frames) {
        return Err(Error::Recipe {
            piece: search.piece(),
            why: "an animation is written once, at one quality; ask for q, or for one frame"
                .to_owned(),
        });
    }
    check_sizes(limits, &draft.runs.sizes)?;
    draft.settle_planes()?;
    draft.apply(READING);

    let scales = draft.scales;
    let decoded = convert_colour_late::decoded(draft.profile(), source, &info, scales);
    let mut notes: Vec<String> = words::undrawn(formats, &recipe).into_iter().collect();
    let gain_map = match gain::along(&draft) {
        Some(Err(lost)) => {
            notes.push(lost);
            None
        }
        along => along.and_then(Result::ok),
    };
    let mut indexing = None;
    let mut part = None;
    if let Some(seen) = draft.small_part() {
        part = index.and_then(|index| {
            let area = source.part(bytes, &info, (**index).as_ref(), seen)?;
            let index = index.clone();
            Some(Part { index, area })
        });
        if part.is_none() {
            indexing = source.index_cost(file as u64, &info);
        }
    }
    // A part is read as an image of its own.
    let mut read = info.clone();
    let mut coded = file;
    if let Some(Part { area, .. }) = &part {
        draft.begins_with(*area);
        (read.width, read.height) = (area.w, area.h);
        coded = (file as f64 * read.pixels() as f64 / info.pixels() as f64) as usize;
    }
    let files = (file, coded);
    let window = draft.window;
    let size = window.map_or_else(|| read.scaled(scales.luma), |window| window.to);
    let mut walk = match &window {
        Some(window) => Walk::drawn(file, source, &read, window, decoded),
        None => Walk::new(files, source, &read, scales, frames, decoded),
    };
    if let (Some(Part { area, .. }), Some(step)) = (&part, walk.steps.first_mut()) {
        let Area { x, y, w, h } = area;
        step.text += &format!(" from {x},{y} {w}x{h}");
    }
    if let Some(space) = draft.light().filter(|_| draft.scales_light) {
        walk.convert(Traits {
            model: Model::Rgb,
            depth: Depth::U16,
            space,
            ..walk.traits
        });
    }
    walk.extend(std::mem::take(&mut draft.first).into_stage());
    if let Some(to) = draft.before_turning(walk.size, walk.traits)? {
        walk.convert(to);
    }
    walk.extend(draft.turn.take());
    if let Some(to) = draft.leaves {
        walk.convert(to);
    }
    walk.extend(std::mem::take(&mut draft.painted));
    let accepted = draft.accepted(walk.traits)?;
    walk.convert(accepted);
    let result_bytes = walk.encode(target, &draft.encode, draft.search, gain_map.as_ref())?;

    let steps = match recoder {
        None => walk.steps,
        // Should it not work out, the image goes the way that was planned.
        Some(codec) => {
            let cost = codec.recode_cost(file as u64, &info);
            let holds = 3 * file as u64 + cost.scratch;
            vec![PlanStep {
                text: format!("recode {} to {}", source.name(), target.name()),
                cost,
                holds: holds.max(cost::peak(&walk.steps)),
            }]
        }
    };

    let plan = Plan {
        format: target.name(),
        media_type: target.format().media_type,
        size: walk.size,
        encodes_only,
        rules: draft.fired,
        steps,
        file: walk.file,
        frame: walk.decoded,
        notes,
        indexing,
        unread: (file - coded) as u64,
        pipeline: Some(Pipeline {
            recoder,
            source,
            scales,
            part,
            frames,
            window,
            decoded: size,
            stages: walk.stages,
            laid: walk.laid,
            reads_profile: walk.reads_profile,
            gain_map: gain_map.map(|along| along.taken),
            target,
            encode: draft.encode,
            search: draft.search,
            result_bytes,
            tag: draft.tag,
            kept: if info.metadata {
                recipe.output.metadata
            } else {
                Kept::None
            },
            orientation: draft.said,
        }),
        recipe: recipe.clone(),
        info: info.clone(),
    };
    within("memory", plan.peak_bytes(), limits.memory)?;
    Ok(plan)
}

/// The phase that decides what is shown, and whether anything changes.
const LAYOUT: usize = 0;

/// The phase that decides how the source is read.
const READING: usize = 1;

/// What rules may depend on.
pub(crate) fn facts(
    source: &dyn Codec,
    info: &Info,
    bytes: &[u8],
    gain_map: Option<&GainHeader>,
    measured: &Measured,
) -> Facts {
    let pixels = u64::from(info.width) * u64::from(info.height) * u64::from(info.frames);
    let short = bytes.len() as u64 * 8 < DRAWN_BITS * pixels;
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
        hdr: info.space.is_hdr() || gain_map.is_some(),
        drawn: info.palette || is_drawn(source, info, bytes) || (info.lossless && short),
        replaced: source.instead(info).is_some(),
        shrinks: source.scales(info) != [Scale::FULL],
        measured: measured.clone(),
    }
}

/// Is it no pixels?
fn is_drawn(source: &dyn Codec, info: &Info, bytes: &[u8]) -> bool {
    let size = (info.width, info.height);
    let window = Window::whole(size, size);
    source
        .draw_cost(bytes.len() as u64, info, &window)
        .is_some()
}

/// Bits for each pixel that a file without loss has more of if it shows a photograph: those have 10 to 16 as PNG, and
/// screenshots 1 to 3.
const DRAWN_BITS: u64 = 4;

/// Which frames are read. An image that moves goes on moving where the result's format holds frames and was asked
/// for by a name that says so, or is the source's own.
fn frames(recipe: &Recipe, source: &dyn Codec, info: &Info, target: &dyn Codec) -> Result<Frames> {
    if let Some(number) = recipe.output.frame {
        return match number {
            1 => Ok(first(info)),
            _ if number <= info.frames && source.composed(info).is_some() => {
                Ok(Frames::Nth(number))
            }
            _ => Err(Error::Recipe {
                piece: format!("frame:{number}"),
                why: format!("this image has {} to choose from", counted(info.frames)),
            }),
        };
    }
    let asked = recipe.output.format.as_ref().map(|name| name.as_str());
    let moves = target
        .animates()
        .is_some_and(|name| asked == Some(name) || target.name() == source.name());
    Ok(if moves && source.composed(info).is_some() {
        let most = recipe.output.most_frames.unwrap_or(u32::MAX);
        Frames::All(info.frames.min(most))
    } else {
        first(info)
    })
}

/// The first frame, which may be none of the image for those who show no animations.
fn first(info: &Info) -> Frames {
    match info.animation {
        Some(animation) if animation.apart => Frames::Nth(1),
        _ => Frames::First,
    }
}

fn counted(frames: u32) -> String {
    match frames {
        1 => "1 frame".to_owned(),
        _ => format!("{frames} frames"),
    }
}

/// What the header tells, of frames as they are handed over.
fn as_composed(source: &dyn Codec, info: Info, frames: Frames) -> Info {
    match source.composed(&info) {
        Some(traits) if frames != Frames::First => Info {
            model: traits.model,
            depth: traits.depth,
            alpha: traits.alpha,
            ..info
        },
        _ => info,
    }
}

/// Follows size, model and memory through a plan, noting each step.
pub(super) struct Walk {
    pub(super) stages: Vec<Box<dyn Stage>>,
    pub(super) file: u64,
    decoded: u64,
    pub(super) size: (u32, u32),
    pub(super) traits: Traits,
    pub(super) steps: Vec<PlanStep>,
    reads_profile: bool,
    /// How many times each step is carried out: once for a still image, once a frame for an animation.
    times: u64,
    /// Bytes held beside every step.
    beside: u64,
    /// Those of the stages that lay a material over the image.
    laid: Vec<Laying>,
}

/// A stage that lays a material over the image.
#[derive(Clone, Copy)]
pub(crate) struct Laying {
    /// Its place among the plan's steps, and among the stages.
    pub(super) step: usize,
    pub(super) stage: usize,
    /// Of the image.
    pub(super) size: (u32, u32),
    pub(super) traits: Traits,
}

/// For each byte of a frame that was just written, on one core: formats that look for a quality decode about as fast.
const DECODED_NANOS: u64 = 5;

/// Bytes that the result of several frames may take, however short the source.
const LEAST_RESULT: u64 = 8 << 20;

/// Bytes of a written frame that are not its pixels: tables, palettes, filters, and blocks of small images.
const FRAME_OVERHEAD: u64 = 4 << 10;

impl Walk {
    /// Starts after the decoder, which reads `coded` of the file's bytes.
    pub(super) fn new(
        (file, coded): (usize, usize),
        source: &dyn Codec,
        info: &Info,
        scales: Scales,
        frames: Frames,
        traits: Traits,
    ) -> Self {
        let mut walk = Self::with(file, info.scaled(scales.luma), traits);
        let times = u64::from(frames.count());
        walk.times = times;
        let mut cost = source.decode_cost(coded as u64 / times, info, scales);
        let mut text = words::decode(source, scales, walk.traits);
        if frames != Frames::First {
            // The canvas, of which each frame is a copy once it is worked on, and what it was before.
            walk.beside = 2 * walk.decoded;
            cost.scratch += walk.decoded;
            text += &format!(" {}", counted(frames.count()));
        }
        if let Frames::Nth(_) = frames {
            cost.nanos = cost.nanos.saturating_mul(times);
            walk.times = 1;
        }
        walk.note(text, cost, walk.frame());
        walk
    }

    /// Starts after drawing what a window shows.
    fn drawn(
        file: usize,
        source: &dyn Codec,
        info: &Info,
        window: &Window,
        traits: Traits,
    ) -> Self {
        let mut walk = Self::with(file, window.to, traits);
        let cost = source.draw_cost(file as u64, info, window);
        let text = words::draw(source, info, window, traits);
        walk.note(text, cost.unwrap_or_default(), walk.frame());
        walk
    }

    /// Before anything is done, with the frame that comes first.
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
            beside: 0,
            laid: Vec::new(),
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
            self.laid.push(Laying {
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

    /// Brings the frame to these traits, if it is not so already.
    pub(super) fn convert(&mut self, to: Traits) {
        if to != self.traits {
            let from = self.traits.space;
            self.reads_profile |= from.profiled && from != to.space;
            self.push(Box::new(Convert { to, from }));
        }
    }

    /// Ends in the encoder, and says how long its result may become. One image's is taken to be as large as the
    /// frame, which few formats exceed; that of several frames is held to what a file of this size may become.
    fn encode(
        &mut self,
        target: &dyn Codec,
        how: &Encode,
        search: Option<Search>,
        gain_map: Option<&Along>,
    ) -> Result<u64> {
        let (width, height) = self.size;
        let mut cost = match self.times {
            1 => target.encode_cost(width, height, self.traits, how),
            _ => target.frame_cost(width, height, self.traits, how),
        };
        let mut frame = self.frame();
        if let Some(along) = gain_map {
            let mut step = along.step.clone();
            step.holds = step.holds.saturating_add(self.file + frame);
            self.steps.push(step);
            cost.nanos = cost.nanos.saturating_add(along.encode.nanos);
            // One is written after the other.
            cost.scratch = cost.scratch.max(along.encode.scratch);
            frame += along.frame;
        }
        let text = words::encode(target, how, search);
        match search {
            None => self.note(text, cost, 2 * frame),
            Some(Search::Length(length)) => {
                cost.nanos = cost.nanos.saturating_mul(length.tries().into());
                // The best so far is kept beside the next.
                self.note(text, cost, 2 * frame + length.kept(frame));
            }
            Some(Search::Score(_)) => {
                let each = self.scored(target, how)?;
                cost.nanos = (cost.nanos + each.nanos).saturating_mul(Scored::TRIES.into());
                cost.scratch = cost.scratch.max(each.scratch);
                self.note(text, cost, 3 * frame);
            }
        }
        if self.beside == 0 {
            return Ok(frame);
        }
        // Frames that do not compress take a little more than their samples; profiles are no longer than the file.
        let each = frame + frame / 8 + FRAME_OVERHEAD;
        let result = (each * self.times + self.file).min(8 * self.file + LEAST_RESULT);
        // The writer keeps the frames before, and what it has written, while the next is on its way.
        for step in &mut self.steps {
            step.holds = step.holds.saturating_add(self.beside + 2 * frame + result);
        }
        Ok(result)
    }

    /// What each try takes beside encoding: the frame is brought to the encoder's traits, its file is decoded and
    /// brought back, and the two are compared.
    fn scored(&self, target: &dyn Codec, how: &Encode) -> Result<Cost> {
        let (width, height) = self.size;
        let to = draft::accepted(target, self.traits, how)?;
        let convert = |to: Traits, from: Traits| {
            let from_space = from.space;
            Convert {
                to,
                from: from_space,
            }
            .cost(width, height, from)
        };
        let (there, back) = (convert(to, self.traits), convert(self.traits, to));
        let metric = score::cost(width, height);
        let kept = cost::frame_bytes(self.size, to) + self.frame();
        Ok(Cost {
            nanos: there.nanos + back.nanos + metric.nanos + self.frame() * DECODED_NANOS,
            scratch: metric.scratch + kept + there.scratch.max(back.scratch),
        })
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

/// The plan of a copy of a file that is `ended`, as far as its last bytes tell: what gets its end back is held twice.
fn copy(source: &'static dyn Codec, info: Info, recipe: Recipe, file: usize, ended: bool) -> Plan {
    let mut cost = source.extent_cost(file as u64, &info);
    if !ended {
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
        indexing: None,
        unread: 0,
        pipeline: None,
        recipe,
        info,
    }
}

/// Refuses a result that is too large, and anything too large on the way to it.
fn check_sizes(limits: &Limits, sizes: &[(u32, u32)]) -> Result<()> {
    for (width, height) in sizes {
        let side = u64::from(*width.max(height));
        within("result_side", side, u64::from(limits.result_side))?;
        let pixels = u64::from(*width) * u64::from(*height);
        within("result_pixels", pixels, limits.result_pixels)?;
    }
    Ok(())
}

/// Refuses a file that is too short for the pixels that its header declares, before anybody waits for them to be decoded.
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
