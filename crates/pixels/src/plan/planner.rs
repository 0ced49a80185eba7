//! How a plan comes about, from top to bottom.

use andon_recipe::{Colour, Flatten, Layout, LayoutError, Recipe};

use super::cost::{self, Step};
use super::place::{Stored, Wanted};
use super::rules::{
    Fired, convert_colour_late, copy_if_nothing_changes, crop_before_resize, shrink_on_load,
    skip_identity, stay_in_planes, turn_late,
};
use super::{Frames, Pipeline, Plan, words};
use crate::codec::{Codec, Encode, Info, Orientation, Scale, Scales};
use crate::color::Convert;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::formats::{Formats, within};
use crate::frame::{Model, Subsampling, Traits};
use crate::limits::Limits;
use crate::ops;
use crate::ops::canvas::{Blank, OnCanvas};
use crate::ops::flatten::Flattened;
use crate::resize::{Crop, Kernel, Resample};
use crate::stage::Stage;

/// Plans a recipe for the picture in `bytes`.
pub(crate) fn plan(formats: &Formats, recipe: &Recipe, bytes: &[u8]) -> Result<Plan> {
    let (source, info) = formats.header(bytes)?;
    let target = target(formats, recipe, source)?;
    let frames = frames(recipe, source, &info, target)?;
    let info = as_composed(source, info, frames);
    let effects = effects(recipe)?;
    let orientation = orientation(recipe, &info);
    let measured = match frames {
        Frames::First => measured(recipe, source, &info),
        _ => Scale::FULL,
    };
    let layout = layout(recipe, &info, orientation, measured)?;

    let same_format = target.name() == source.name();
    let same_format = same_format && frames.count() == info.frames;
    if copy_if_nothing_changes::holds(recipe, &info, &layout, effects.len(), same_format, measured)
    {
        return Ok(copy(source, info, bytes.len()));
    }
    let limits = &formats.limits;
    limits.check_source(&info)?;
    if frames != Frames::First {
        limits.check_frames(&info, frames.count())?;
    }
    check_result(limits, &layout)?;

    let mut fired = Fired::default();
    let mut wanted = Wanted::of(&layout);
    if let Some(cut) = crop_before_resize::cut(&wanted) {
        fired.note(&crop_before_resize::RULE);
        wanted = cut;
    }
    let stored = wanted.stored(&info, orientation, measured);
    let encode = encode(recipe, source, &info, target, orientation);

    // What comes after resampling is known first, for it tells which planes the encoder will need.
    let mut full = convert_colour_late::decoded(recipe, source, &info, Scales::FULL);
    full.alpha |= wanted.from.is_none();
    if skip_identity::hides_canvas(&wanted, full.alpha) {
        fired.note(&skip_identity::RULE);
        wanted.canvas = None;
    }
    let ground = match wanted.canvas {
        None => ground(recipe, full, target, &encode)?,
        Some(_) => None,
    };
    let painted = painted(&wanted, ground, effects);
    let upright = turned(full, orientation);
    let leaves = if painted.is_empty() && full.model != Model::Cmyk {
        None
    } else {
        leaves(recipe, upright, &painted, target, &encode)?
    };
    let leaves = convert_colour_late::with_space(leaves, upright, recipe, target);
    if leaves.is_some_and(|to| to.space != full.space) {
        fired.note(&convert_colour_late::RULE);
    }
    let later = Later {
        turn: turn_late::stage(orientation),
        leaves,
        painted,
    };
    if later.turn.is_some() {
        fired.note(&turn_late::RULE);
    }
    let needed = needed(target, later.after(full), &encode)?;
    let chroma = stay_in_planes::chroma(full, needed, orientation);
    if stay_in_planes::holds(full, needed) {
        fired.note(&stay_in_planes::RULE);
    }

    let scales = match recipe.hint {
        _ if frames != Frames::First => Scales::FULL,
        Some(_) => hinted_scales(source, &info, &stored, chroma, formats.headroom, measured),
        None => shrink_on_load::scales(source, &info, &stored, chroma, formats.headroom),
    };
    if scales != Scales::FULL {
        fired.note(&shrink_on_load::RULE);
    }
    let first = first_stage(&info, &stored, scales, chroma);
    if layout.scaling.is_some() && matches!(first, First::Nothing | First::Crop(_)) {
        fired.note(&skip_identity::RULE);
    }

    let decoded = convert_colour_late::decoded(recipe, source, &info, scales);
    let mut walk = Walk::new(bytes.len(), source, &info, scales, frames, decoded);
    walk.extend(first.into_stage());
    walk.extend(later.turn);
    if let Some(to) = later.leaves {
        walk.convert(to);
    }
    walk.extend(later.painted);
    walk.convert(self::needed(target, walk.traits, &encode)?);
    let result_bytes = walk.encode(target, &encode);

    let plan = Plan {
        format: target.name(),
        media_type: target.media_type(),
        size: walk.size,
        rules: fired.into_rules(),
        steps: walk.steps,
        file: walk.file,
        frame: walk.decoded,
        pipeline: Some(Pipeline {
            source,
            scales,
            frames,
            decoded: info.scaled(scales.luma),
            stages: walk.stages,
            reads_profile: walk.reads_profile,
            layout,
            target,
            encode,
            result_bytes,
            strip: recipe.strip,
            keep_metadata: convert_colour_late::keeps_tags(recipe),
            reset_orientation: recipe.orient,
        }),
        info,
    };
    within("memory", plan.peak_bytes(), limits.memory)?;
    Ok(plan)
}

/// The codec of the result.
fn target(
    formats: &Formats,
    recipe: &Recipe,
    source: &'static dyn Codec,
) -> Result<&'static dyn Codec> {
    let Some(name) = &recipe.output.format else {
        return Ok(source);
    };
    formats.codec(name.as_str()).ok_or_else(|| Error::Recipe {
        piece: name.as_str().to_owned(),
        why: unknown_word(
            "format",
            name.as_str(),
            formats.codecs.iter().map(|codec| codec.name()),
        ),
    })
}

/// Which frames are read. A picture that moves goes on moving where the result's format holds frames and was asked
/// for by a name that says so, or is the source's own.
fn frames(recipe: &Recipe, source: &dyn Codec, info: &Info, target: &dyn Codec) -> Result<Frames> {
    if let Some(number) = recipe.output.frame {
        return match number {
            1 => Ok(Frames::First),
            _ if number <= info.frames && source.composed(info).is_some() => {
                Ok(Frames::Nth(number))
            }
            _ => Err(Error::Recipe {
                piece: format!("frame:{number}"),
                why: format!("this picture has {} to choose from", counted(info.frames)),
            }),
        };
    }
    let asked = recipe.output.format.as_ref().map(|name| name.as_str());
    let moves = target
        .animates()
        .is_some_and(|name| asked == Some(name) || target.name() == source.name());
    Ok(if moves && source.composed(info).is_some() {
        Frames::All(info.frames)
    } else {
        Frames::First
    })
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

/// The stages of those effects that ask for something.
fn effects(recipe: &Recipe) -> Result<Vec<Box<dyn Stage>>> {
    let mut stages = Vec::new();
    for effect in &recipe.effects {
        let op = ops::ALL
            .iter()
            .find(|op| op.name() == effect.name)
            .ok_or_else(|| Error::Recipe {
                piece: effect.name.clone(),
                why: unknown_word("effect", &effect.name, ops::ALL.iter().map(|op| op.name())),
            })?;
        stages.extend(op.parse(&effect.args)?);
    }
    Ok(stages)
}

/// How the stored picture is turned altogether.
fn orientation(recipe: &Recipe, info: &Info) -> Orientation {
    let upright = if recipe.orient {
        info.orientation
    } else {
        Orientation::default()
    };
    upright.then(recipe.turn)
}

/// The scale at which the recipe measures lengths: libjpeg's for the recipe's hint (the denominator
/// is the whole number of times that the hint fits into the stored picture, the scale the smallest
/// N/8 that is not below it), and never above 1/1, for only a bug ever made it 2/1. Formats that
/// decode in full only know no hint.
fn measured(recipe: &Recipe, source: &dyn Codec, info: &Info) -> Scale {
    let Some((width, height)) = recipe.hint else {
        return Scale::FULL;
    };
    if source.scales(info) == [Scale::FULL] {
        return Scale::FULL;
    }
    let fits = (info.width / width.max(1)).min(info.height / height.max(1));
    // At most 8, a u8.
    Scale(8_u32.div_ceil(fits.clamp(1, 8)) as u8)
}

/// The scales of a hinted decode: luma at the hint's scale or the next that the codec offers.
fn hinted_scales(
    source: &dyn Codec,
    info: &Info,
    stored: &Stored,
    chroma: Option<Subsampling>,
    headroom: f64,
    measured: Scale,
) -> Scales {
    let luma = source
        .scales(info)
        .iter()
        .copied()
        .find(|scale| *scale >= measured)
        .unwrap_or(Scale::FULL);
    Scales {
        luma,
        chroma: shrink_on_load::chroma_scale(source, info, stored, chroma, headroom, luma),
    }
}

fn layout(
    recipe: &Recipe,
    info: &Info,
    orientation: Orientation,
    measured: Scale,
) -> Result<Layout> {
    let (width, height) = info.scaled(measured);
    let (width, height) = orientation.size(width, height);
    recipe
        .layout(width, height)
        .map_err(|error: LayoutError| Error::Recipe {
            piece: recipe.to_string(),
            why: error.to_string(),
        })
}

/// How the result is written: as asked, else like the source where that means the same.
fn encode(
    recipe: &Recipe,
    source: &dyn Codec,
    info: &Info,
    target: &dyn Codec,
    orientation: Orientation,
) -> Encode {
    let output = &recipe.output;
    // A canvas is a new picture: it inherits nothing.
    let quality = output.quality.or_else(|| match recipe.canvas {
        Some(_) => target.default_quality().map(u16::from),
        None if target.inherits_quality() => info.quality.map(u16::from),
        None => None,
    });
    let own_chroma = match info.model {
        Model::YCbCr { sub, .. } if source.hands_on_subsampling() => {
            Some(stay_in_planes::turned(sub, orientation))
        }
        _ => None,
    };
    Encode {
        quality,
        progressive: output.progressive,
        chroma: output.chroma.map(Subsampling::from).or(own_chroma),
        effort: output.effort,
    }
}

/// What the encoder wants instead of `have`.
fn needed(target: &dyn Codec, have: Traits, encode: &Encode) -> Result<Traits> {
    let accepted = target.accepts(have, encode).ok_or_else(|| Error::Recipe {
        piece: target.name().to_owned(),
        why: "this format can be read but not written; ask for another with as:".to_owned(),
    })?;
    Ok(Traits {
        space: have.space,
        ..accepted
    })
}

/// Traits through a turn.
fn turned(traits: Traits, orientation: Orientation) -> Traits {
    let model = match traits.model {
        Model::YCbCr { sub, range, matrix } => Model::YCbCr {
            sub: stay_in_planes::turned(sub, orientation),
            range,
            matrix,
        },
        other => other,
    };
    Traits { model, ..traits }
}

/// What comes after resampling.
struct Later {
    turn: Option<Box<dyn Stage>>,
    /// The model to paint in, if it is not the one that is decoded.
    leaves: Option<Traits>,
    /// Canvas and effects.
    painted: Vec<Box<dyn Stage>>,
}

impl Later {
    /// What comes out of all this.
    fn after(&self, traits: Traits) -> Traits {
        let turned = self
            .turn
            .iter()
            .fold(traits, |traits, stage| stage.after(traits));
        let left = self.leaves.unwrap_or(turned);
        self.painted
            .iter()
            .fold(left, |traits, stage| stage.after(traits))
    }
}

/// What a picture is flattened over, if it has to be.
fn ground(
    recipe: &Recipe,
    have: Traits,
    target: &dyn Codec,
    encode: &Encode,
) -> Result<Option<Colour>> {
    Ok(match recipe.flatten {
        _ if !have.alpha => None,
        Flatten::Over(colour) => Some(colour),
        Flatten::IfNeeded if !needed(target, have, encode)?.alpha => Some(Colour::WHITE),
        Flatten::IfNeeded | Flatten::Drop => None,
    })
}

/// Canvas or ground, and effects.
fn painted(
    wanted: &Wanted,
    ground: Option<Colour>,
    effects: Vec<Box<dyn Stage>>,
) -> Vec<Box<dyn Stage>> {
    let mut stages: Vec<Box<dyn Stage>> = Vec::new();
    if let Some(colour) = ground {
        stages.push(Box::new(Flattened { colour }));
    }
    if let Some(canvas) = wanted.canvas {
        stages.push(Box::new(OnCanvas {
            width: canvas.width,
            height: canvas.height,
            x: canvas.x,
            y: canvas.y,
            colour: canvas.colour,
        }));
    }
    stages.extend(effects);
    stages
}

/// What the picture becomes before anything is painted, so that colours and edges are those that were
/// asked for: out of CMYK, out of gray where colour is painted, out of luma and chroma where the result
/// holds neither, and to chroma that is less thin. Opacity stays, for a ground may follow. Pictures
/// whose chroma is thinned become so last, for the same reason.
fn leaves(
    recipe: &Recipe,
    turned: Traits,
    painted: &[Box<dyn Stage>],
    target: &dyn Codec,
    encode: &Encode,
) -> Result<Option<Traits>> {
    let same = needed(target, turned, encode)?;
    let rgb = Traits {
        model: Model::Rgb,
        ..turned
    };
    let to = match (turned.model, same.model) {
        (Model::Cmyk, Model::Cmyk) if !recipe.srgb => return Ok(None),
        (Model::Cmyk, _) => needed(target, rgb, encode)?,
        (Model::Gray, _) if painted.iter().any(|stage| stage.adds_colour()) => {
            needed(target, rgb, encode)?
        }
        (Model::YCbCr { sub, .. }, Model::YCbCr { sub: to, .. })
            if to.h >= sub.h && to.v >= sub.v =>
        {
            return Ok(None);
        }
        (Model::YCbCr { .. }, _) => same,
        _ => return Ok(None),
    };
    Ok(Some(Traits {
        alpha: turned.alpha,
        ..to
    }))
}

/// What brings the decoded picture to its part and size.
enum First {
    Nothing,
    Blank(Blank),
    Crop(Crop),
    Resample(Resample),
}

impl First {
    fn into_stage(self) -> Option<Box<dyn Stage>> {
        match self {
            Self::Nothing => None,
            Self::Blank(stage) => Some(Box::new(stage)),
            Self::Crop(stage) => Some(Box::new(stage)),
            Self::Resample(stage) => Some(Box::new(stage)),
        }
    }
}

fn first_stage(info: &Info, stored: &Stored, scales: Scales, chroma: Option<Subsampling>) -> First {
    let (width, height) = stored.to;
    let Some(from) = stored.from else {
        return First::Blank(Blank { width, height });
    };
    match skip_identity::cheapest(info, stored, scales, chroma) {
        skip_identity::Move::None => First::Nothing,
        skip_identity::Move::Crop { x, y } => First::Crop(Crop {
            x,
            y,
            width,
            height,
        }),
        skip_identity::Move::Resample => First::Resample(Resample {
            source: (info.width, info.height),
            from,
            scales,
            stored: match info.model {
                Model::YCbCr { sub, .. } => sub,
                _ => Subsampling::NONE,
            },
            to: stored.to,
            chroma,
            kernel: kernel(info, stored),
        }),
    }
}

/// Lanczos3 keeps photographs crisp; its ringing would show around palette colours and transparent
/// edges, and when enlarging.
fn kernel(info: &Info, stored: &Stored) -> Kernel {
    if info.palette || info.alpha || stored.grows() {
        Kernel::Mitchell
    } else {
        Kernel::Lanczos3
    }
}

/// Follows size, model and memory through a plan, noting each step.
struct Walk {
    stages: Vec<Box<dyn Stage>>,
    file: u64,
    decoded: u64,
    size: (u32, u32),
    traits: Traits,
    steps: Vec<Step>,
    reads_profile: bool,
    /// How often each step is taken.
    times: u64,
    /// Bytes held beside every step.
    beside: u64,
}

/// Bytes that the result of several frames may take, however short the source.
const LEAST_RESULT: u64 = 8 << 20;

impl Walk {
    /// Starts behind the decoder.
    fn new(
        file: usize,
        source: &dyn Codec,
        info: &Info,
        scales: Scales,
        frames: Frames,
        traits: Traits,
    ) -> Self {
        let size = info.scaled(scales.luma);
        let mut walk = Self {
            stages: Vec::new(),
            file: file as u64,
            decoded: cost::frame_bytes(size, traits),
            size,
            traits,
            steps: Vec::new(),
            reads_profile: false,
            times: 1,
            beside: 0,
        };
        let times = u64::from(frames.count());
        walk.times = times;
        let mut cost = source.decode_cost(walk.file / times, info, scales);
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

    fn extend(&mut self, stages: impl IntoIterator<Item = Box<dyn Stage>>) {
        for stage in stages {
            self.push(stage);
        }
    }

    fn push(&mut self, stage: Box<dyn Stage>) {
        let (width, height) = self.size;
        let before = self.frame();
        let cost = stage.cost(width, height, self.traits);
        self.size = stage.size_after(width, height);
        self.traits = stage.after(self.traits);
        self.note(stage.to_string(), cost, before + self.frame());
        self.stages.push(stage);
    }

    /// Brings the frame to these traits, if it is not so already.
    fn convert(&mut self, to: Traits) {
        if to != self.traits {
            let from = self.traits.space;
            self.reads_profile |= from.profiled && from != to.space;
            self.push(Box::new(Convert { to, from }));
        }
    }

    /// Ends in the encoder, and says how long its result may become. One picture's is taken to be as large as the
    /// frame, which few formats exceed; that of several frames is held to what a file of this size may become.
    fn encode(&mut self, target: &dyn Codec, how: &Encode) -> u64 {
        let (width, height) = self.size;
        let cost = target.encode_cost(width, height, self.traits, how);
        let frame = self.frame();
        self.note(words::encode(target, how), cost, 2 * frame);
        if self.beside == 0 {
            return frame;
        }
        let result = (frame * self.times).min(8 * self.file + LEAST_RESULT);
        // The writer keeps the frames before, and what it has written, while the next is on its way.
        for step in &mut self.steps {
            step.holds = step.holds.saturating_add(self.beside + 2 * frame + result);
        }
        result
    }

    fn frame(&self) -> u64 {
        cost::frame_bytes(self.size, self.traits)
    }

    fn note(&mut self, text: String, mut cost: Cost, frames: u64) {
        cost.nanos = cost.nanos.saturating_mul(self.times);
        let holds = self
            .file
            .saturating_add(frames)
            .saturating_add(cost.scratch);
        self.steps.push(Step { text, cost, holds });
    }
}

/// The plan of a copy.
fn copy(source: &'static dyn Codec, info: Info, file: usize) -> Plan {
    let cost = source.extent_cost(file as u64, &info);
    Plan {
        format: source.name(),
        media_type: source.media_type(),
        size: (info.width, info.height),
        rules: vec![&copy_if_nothing_changes::RULE],
        steps: vec![Step {
            text: format!("copy {}", source.name()),
            cost,
            holds: (file as u64).saturating_add(cost.scratch),
        }],
        file: file as u64,
        frame: 0,
        pipeline: None,
        info,
    }
}

/// Refuses a result that is too large, and anything too large on the way to it.
fn check_result(limits: &Limits, layout: &Layout) -> Result<()> {
    let scaled = layout
        .scaling
        .map(|scaling| (scaling.width, scaling.height));
    for (width, height) in [Some((layout.width, layout.height)), scaled]
        .into_iter()
        .flatten()
    {
        let side = u64::from(width.max(height));
        within("result_side", side, u64::from(limits.result_side))?;
        let pixels = u64::from(width) * u64::from(height);
        within("result_pixels", pixels, limits.result_pixels)?;
    }
    Ok(())
}

/// Says that a word is unknown, which are known, and which was probably meant.
fn unknown_word(
    kind: &str,
    word: &str,
    known: impl Iterator<Item = &'static str> + Clone,
) -> String {
    let list = known.clone().collect::<Vec<_>>().join(", ");
    let nearest = known
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .min();
    match nearest {
        Some((distance, candidate)) if distance <= 2 => {
            format!("there is no such {kind}; did you mean `{candidate}`? Known are {list}")
        }
        _ => format!("there is no such {kind}; known are {list}"),
    }
}
