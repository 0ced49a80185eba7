//! How a plan comes about, from top to bottom.

use andon_recipe::{Facts, Recipe, Rules, Step, Strip};

use super::cost::{self, Step as PlanStep};
use super::draft::Draft;
use super::rules::copy_if_nothing_changes;
use super::{Pipeline, Plan, words};
use crate::codec::{Codec, Encode, Info, Scale, Scales, Traits};
use crate::color::Convert;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::formats::{Formats, within};
use crate::frame::Model;
use crate::limits::Limits;
use crate::stage::Stage;

/// Plans what rules come to for the picture in `bytes`.
pub(crate) fn plan(formats: &Formats, rules: &dyn Rules, bytes: &[u8]) -> Result<Plan> {
    let (source, info) = formats.header(bytes)?;
    let recipe = rules
        .resolve(&facts(source, &info))
        .map_err(|error| Error::Recipe {
            piece: error.piece,
            why: error.why,
        })?;
    let mut draft = Draft::new(formats, &recipe, source, &info)?;
    draft.apply(LAYOUT);
    if draft.is_copy {
        return Ok(copy(source, info, recipe, bytes.len()));
    }
    let limits = &formats.limits;
    limits.check_source(&info)?;
    check_sizes(limits, &draft.runs.sizes)?;
    draft.settle_planes()?;
    draft.apply(READING);

    let (strip, scales, target) = (draft.strip(), draft.scales, draft.target);
    let reset_orientation = draft.has(&Step::Orient);
    let mut walk = Walk::new(bytes.len(), source, &info, scales);
    walk.extend(draft.first.into_stage());
    walk.extend(draft.turn);
    let out_of_cmyk = walk.traits.model == Model::Cmyk;
    let mut profiled = None;
    if let Some(to) = draft.leaves {
        profiled = out_of_cmyk.then_some((walk.stages.len(), to));
        walk.convert(to);
    }
    walk.extend(draft.painted);
    let accepted = super::draft::accepted(target, walk.traits, &draft.encode)?;
    walk.convert(accepted);
    walk.encode(target, &draft.encode);

    let plan = Plan {
        format: target.name(),
        media_type: target.media_type(),
        size: walk.size,
        rules: draft.fired,
        steps: walk.steps,
        file: walk.file,
        frame: walk.decoded,
        pipeline: Some(Pipeline {
            source,
            scales,
            decoded: info.scaled(scales.luma),
            stages: walk.stages,
            profiled,
            target,
            encode: draft.encode,
            strip: strip == Some(Strip::First),
            keep_metadata: strip.is_none(),
            reset_orientation,
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
pub(crate) fn facts(source: &dyn Codec, info: &Info) -> Facts {
    Facts {
        format: info.format.to_owned(),
        width: info.width,
        height: info.height,
        orientation: info.orientation,
        alpha: info.alpha,
        cmyk: info.model == Model::Cmyk,
        metadata: info.metadata,
        shrinks: source.scales(info) != [Scale::FULL],
    }
}

/// Follows size, model and memory through a plan, noting each step.
struct Walk {
    stages: Vec<Box<dyn Stage>>,
    file: u64,
    decoded: u64,
    size: (u32, u32),
    traits: Traits,
    steps: Vec<PlanStep>,
}

impl Walk {
    /// Starts behind the decoder.
    fn new(file: usize, source: &dyn Codec, info: &Info, scales: Scales) -> Self {
        let (size, traits) = (info.scaled(scales.luma), source.decoded(info, scales));
        let mut walk = Self {
            stages: Vec::new(),
            file: file as u64,
            decoded: cost::frame_bytes(size, traits),
            size,
            traits,
            steps: Vec::new(),
        };
        let cost = source.decode_cost(walk.file, info, scales);
        walk.note(
            words::decode(source, scales, walk.traits),
            cost,
            walk.frame(),
        );
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
            self.push(Box::new(Convert { to, icc: None }));
        }
    }

    /// Ends in the encoder. The result is taken to be as large as the frame, which few formats exceed.
    fn encode(&mut self, target: &dyn Codec, how: &Encode) {
        let (width, height) = self.size;
        let cost = target.encode_cost(width, height, self.traits, how);
        self.note(words::encode(target, how), cost, 2 * self.frame());
    }

    fn frame(&self) -> u64 {
        cost::frame_bytes(self.size, self.traits)
    }

    fn note(&mut self, text: String, cost: Cost, frames: u64) {
        let holds = self
            .file
            .saturating_add(frames)
            .saturating_add(cost.scratch);
        self.steps.push(PlanStep { text, cost, holds });
    }
}

/// The plan of a copy.
fn copy(source: &'static dyn Codec, info: Info, recipe: Recipe, file: usize) -> Plan {
    let cost = source.extent_cost(file as u64, &info);
    Plan {
        format: source.name(),
        media_type: source.media_type(),
        size: (info.width, info.height),
        rules: vec![&copy_if_nothing_changes::RULE],
        steps: vec![PlanStep {
            text: format!("copy {}", source.name()),
            cost,
            holds: (file as u64).saturating_add(cost.scratch),
        }],
        file: file as u64,
        frame: 0,
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
