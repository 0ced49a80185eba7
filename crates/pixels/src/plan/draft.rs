//! A plan in the making: what the rules look at and decide.

use andon_recipe::{FormatName, Goal, Orientation, Profile, Recipe, Step};

use super::rules::{PHASES, Rule, convert_colour_late};
use super::runs::{Run, Runs};
use super::search::Search;
use super::view::Stored;
use super::words::unknown_word;
use super::{Frames, Tag};
use crate::codec::{Codec, Encode, GainHeader, Info, Scales};
use crate::error::{Error, Result};
use crate::formats::Formats;
use crate::frame::{Depth, Model, Subsampling, Traits};
use crate::ops::canvas::Blank;
use crate::ops::flatten::Flattened;
use crate::ops::turn::Turned;
use crate::resize::{Crop, Resample, Rescale, kernel};
use crate::space::Space;
use crate::stage::Stage;
use crate::window::Window;

/// What is decided so far; each of the phases of [`super::rules::PHASES`] decides more.
pub(super) struct Draft<'a> {
    pub(super) formats: &'a Formats,
    pub(super) recipe: &'a Recipe,
    pub(super) source: &'static dyn Codec,
    pub(super) info: &'a Info,
    pub(super) target: &'static dyn Codec,
    /// Which frames are read.
    pub(super) frames: Frames,
    pub(super) encode: Encode,
    /// Settled before: the quality is looked for.
    pub(super) search: Option<Search>,
    /// The source's gain map.
    pub(super) gain_map: Option<GainHeader>,
    /// Bytes of the source file.
    pub(super) file: usize,
    pub(super) runs: Runs,
    /// What is shown of the stored image.
    pub(super) stored: Stored,
    /// Phase 1: how the result's pixels become upright, which it says.
    pub(super) said: Orientation,
    /// Phase 1: the answer is the source's own bytes.
    pub(super) is_copy: bool,
    /// Phase 1: the turn after the first read.
    pub(super) turn: Option<Box<dyn Stage>>,
    /// Between the phases: what the planes are at full scale.
    pub(super) full: Traits,
    /// Between the phases: the model to paint in, if it is not the one that is decoded.
    pub(super) leaves: Option<Traits>,
    /// Phase 2: how the result says what its colours are.
    pub(super) tag: Tag,
    /// Between the phases: what follows the first read and its turn.
    pub(super) painted: Vec<Box<dyn Stage>>,
    /// Between the phases: what the encoder needs.
    pub(super) needed: Traits,
    /// Phase 2: the subsampling that resampling ends in, before any turn; `None` without chroma planes.
    pub(super) chroma: Option<Subsampling>,
    /// Phase 2: the scales at which the source is decoded.
    pub(super) scales: Scales,
    /// Phase 2: what is drawn instead, in its size.
    pub(super) window: Option<Window>,
    /// Phase 2: what brings the decoded image to its part and size.
    pub(super) first: First,
    /// Phase 2: that is done in linear light.
    pub(super) scales_light: bool,
    /// The rules that acted, in the order in which they did.
    pub(super) fired: Vec<&'static Rule>,
}

/// What brings the decoded image to its part and size.
#[derive(Default)]
pub(super) enum First {
    /// It is what was decoded.
    #[default]
    Nothing,
    /// Nothing of it shows.
    Blank(Blank),
    /// Whole pixels of it.
    Crop(Crop),
    /// Everything else.
    Resample(Resample),
}

impl First {
    pub(super) fn into_stage(self) -> Option<Box<dyn Stage>> {
        match self {
            Self::Nothing => None,
            Self::Blank(stage) => Some(Box::new(stage)),
            Self::Crop(stage) => Some(Box::new(stage)),
            Self::Resample(stage) => Some(Box::new(stage)),
        }
    }
}

impl<'a> Draft<'a> {
    /// A draft of a resolved recipe for an image with this header.
    pub(super) fn new(
        formats: &'a Formats,
        recipe: &'a Recipe,
        (source, target): (&'static dyn Codec, &'static dyn Codec),
        (info, file): (&'a Info, usize),
        frames: Frames,
    ) -> Result<Self> {
        let runs = Runs::of(recipe, source, info)?;
        let full = convert_colour_late::decoded(recipe.output.profile, source, info, Scales::FULL);
        Ok(Self {
            formats,
            recipe,
            source,
            info,
            target,
            frames,
            encode: encode(recipe, source, info, target, runs.first.orientation),
            search: Search::of(&recipe.output, inherited(info, target)),
            gain_map: None,
            file,
            stored: runs.first.stored(info, runs.measured),
            said: Orientation::default(),
            is_copy: false,
            turn: None,
            full,
            leaves: None,
            tag: Tag::None,
            painted: Vec::new(),
            needed: full,
            chroma: None,
            scales: Scales::FULL,
            window: None,
            first: First::Nothing,
            scales_light: false,
            fired: Vec::new(),
            runs,
        })
    }

    /// Lets the rules of a phase act.
    pub(super) fn apply(&mut self, phase: usize) {
        for rule in PHASES[phase] {
            if rule.acts_on(self) {
                self.fired.push(rule);
            }
        }
    }

    /// How the first read turns the image.
    pub(super) fn orientation(&self) -> Orientation {
        self.runs.first.orientation
    }

    /// The stored turn that no step applies.
    pub(super) fn left_turned(&self) -> Orientation {
        let settled = [Step::Original, Step::Orient];
        match self.recipe.steps.iter().any(|step| settled.contains(step)) {
            true => Orientation::default(),
            false => self.info.orientation,
        }
    }

    /// What an image of this size becomes before it is turned: what it has to become anyway, where its thinned chroma
    /// would be resampled for the turn and is not to be thinned afterwards.
    pub(super) fn before_turning(&self, size: (u32, u32), have: Traits) -> Result<Option<Traits>> {
        let turn = Turned {
            orientation: self.orientation(),
        };
        if !turn.moves_chroma(have.model, size) {
            return Ok(None);
        }
        let to = match self.leaves {
            Some(to) => to,
            None if self.painted.is_empty() => self.accepted(turn.after(have))?,
            None => return Ok(None),
        };
        let is_thinned = matches!(to.model, Model::YCbCr { sub, .. } if sub != Subsampling::NONE);
        Ok((!is_thinned).then_some(to))
    }

    /// Turns what comes out of everything else.
    pub(super) fn turn_last(&mut self, orientation: Orientation) {
        self.runs.turn_last(orientation);
        self.encode = encode(
            self.recipe,
            self.source,
            self.info,
            self.target,
            self.runs.first.orientation,
        );
    }

    /// The space that is asked for.
    pub(super) fn profile(&self) -> Profile {
        self.recipe.output.profile
    }

    /// The space of linear light to scale in, where that is asked for and the image's numbers can come back from it.
    pub(super) fn light(&self) -> Option<Space> {
        let ends = self.leaves.map_or(self.full.space, |leaves| leaves.space);
        let inks = self.full.model == Model::Cmyk && self.leaves.is_none();
        let asked = self.recipe.output.linear && self.runs.first.is_scaled;
        ends.light().filter(|_| asked && !inks)
    }

    /// Settles what comes after resampling, for it tells which planes the encoder will need.
    pub(super) fn settle_planes(&mut self) -> Result<()> {
        self.full.alpha |= self.stored.from.is_none();
        let turned = turned(self.full, self.orientation());
        let mut painted = self.painted(turned);
        let after = |traits: Traits, stages: &[Box<dyn Stage>]| {
            stages
                .iter()
                .fold(traits, |traits, stage| stage.after(traits))
        };
        // What the result cannot keep is shown over a background.
        let ends = after(turned, &painted);
        if let Some(colour) = self.recipe.output.background.colour()
            && ends.alpha
            && !self.accepted(ends)?.alpha
        {
            painted.push(Box::new(Flattened { colour }));
        }
        if !painted.is_empty() || turned.model == Model::Cmyk {
            self.leaves = self.leaves(turned, &painted)?;
        }
        let begins = self.leaves.unwrap_or(turned);
        self.needed = self.accepted(after(begins, &painted))?;
        self.painted = painted;
        Ok(())
    }

    /// The stages of all runs but the first, on an image like this. They do not depend on its model.
    fn painted(&mut self, mut traits: Traits) -> Vec<Box<dyn Stage>> {
        let mut stages: Vec<Box<dyn Stage>> = Vec::new();
        let mut size = self.runs.first.size();
        for run in std::mem::take(&mut self.runs.rest) {
            let run: Vec<Box<dyn Stage>> = match run {
                Run::Painted(stage) => vec![stage],
                Run::View(view) => {
                    let soft = self.info.palette || traits.alpha;
                    let read = view
                        .from
                        .map(|from| Rescale::new((from, view.within), size, view.to, soft));
                    let read = read.flatten().map(|read| Box::new(read) as Box<dyn Stage>);
                    read.into_iter().chain(turn(view.orientation)).collect()
                }
            };
            for stage in run {
                traits = stage.after(traits);
                size = stage.size_after(size.0, size.1);
                stages.push(stage);
            }
        }
        stages
    }

    /// What the image becomes before anything is painted, so that colours and edges are those that were
    /// asked for: out of CMYK, out of gray where colour is painted, out of luma and chroma where the result
    /// holds neither, and to chroma that is less thin. Opacity stays, for a ground may follow. Images
    /// whose chroma is thinned become so last, for the same reason.
    fn leaves(&self, turned: Traits, painted: &[Box<dyn Stage>]) -> Result<Option<Traits>> {
        let same = self.accepted(turned)?;
        let rgb = Traits {
            model: Model::Rgb,
            ..turned
        };
        let to = match (turned.model, same.model) {
            (Model::Cmyk, Model::Cmyk)
                if matches!(self.profile(), Profile::Keep | Profile::Drop) =>
            {
                return Ok(None);
            }
            (Model::Cmyk, _) => self.accepted(rgb)?,
            (Model::Gray, _) if painted.iter().any(|stage| stage.adds_colour()) => {
                self.accepted(rgb)?
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

    /// What the frame has to become in the end: what the encoder wants or, where its images are scored, what they
    /// are held against, of which nothing is thinned yet.
    pub(super) fn accepted(&self, have: Traits) -> Result<Traits> {
        let wanted = accepted(self.target, have, &self.encode)?;
        Ok(match self.search {
            Some(Search::Score(_)) => Traits {
                model: Model::Rgb,
                ..wanted
            },
            _ => wanted,
        })
    }

    /// The resampling that always does: from what is decoded to what is shown of it.
    pub(super) fn resample(&self) -> First {
        let (width, height) = self.stored.to;
        let Some(from) = self.stored.from else {
            return First::Blank(Blank { width, height });
        };
        First::Resample(Resample {
            source: (self.info.width, self.info.height),
            from,
            within: self.stored.within,
            part: None,
            scales: self.scales,
            stored: match self.info.model {
                Model::YCbCr { sub, .. } => sub,
                _ => Subsampling::NONE,
            },
            to: self.stored.to,
            chroma: self.chroma,
            kernel: kernel(self.info.palette || self.info.alpha, self.stored.grows()),
        })
    }
}

/// What the encoder wants instead of `have`, in the same space.
pub(crate) fn accepted(target: &dyn Codec, have: Traits, encode: &Encode) -> Result<Traits> {
    let accepted = target.accepts(have, encode).ok_or_else(|| Error::Recipe {
        piece: target.name().to_owned(),
        why: "this format can be read but not written; ask for another with as:".to_owned(),
    })?;
    Ok(Traits {
        space: have.space,
        ..accepted
    })
}

/// The stage that turns, if anything is to be turned.
pub(super) fn turn(orientation: Orientation) -> Option<Box<dyn Stage>> {
    if orientation.is_upright() {
        None
    } else {
        Some(Box::new(Turned { orientation }))
    }
}

/// Subsampling through a turn (either way: a quarter swaps the sides, whichever its direction).
pub(super) fn turned_sub(sub: Subsampling, orientation: Orientation) -> Subsampling {
    if orientation.quarters % 2 == 1 {
        Subsampling { h: sub.v, v: sub.h }
    } else {
        sub
    }
}

/// Traits through a turn.
pub(super) fn turned(traits: Traits, orientation: Orientation) -> Traits {
    let model = match traits.model {
        Model::YCbCr { sub, range, matrix } => Model::YCbCr {
            sub: turned_sub(sub, orientation),
            range,
            matrix,
        },
        other => other,
    };
    Traits { model, ..traits }
}

/// The codec of the result.
pub(super) fn target(
    formats: &Formats,
    recipe: &Recipe,
    source: &'static dyn Codec,
    info: &Info,
) -> Result<&'static dyn Codec> {
    let Some(name) = &recipe.output.format else {
        let instead = source.instead(info).and_then(|name| formats.codec(name));
        return Ok(instead.unwrap_or(source));
    };
    named(formats, name)
}

/// The codec that a recipe names.
pub(super) fn named(formats: &Formats, name: &FormatName) -> Result<&'static dyn Codec> {
    formats.codec(name.as_str()).ok_or_else(|| {
        let known: Vec<&str> = formats.codecs.iter().map(|codec| codec.name()).collect();
        Error::Recipe {
            piece: name.as_str().to_owned(),
            why: unknown_word("there is no such format", name.as_str(), &known),
        }
    })
}

/// The quality of the source, where it means something to the target.
pub(super) fn inherited(info: &Info, target: &dyn Codec) -> Option<u8> {
    info.quality.filter(|_| target.inherits_quality())
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
    let inherited = inherited(info, target);
    let own_chroma = match info.model {
        Model::YCbCr { sub, .. } if source.hands_on_subsampling() => {
            Some(turned_sub(sub, orientation))
        }
        _ => None,
    };
    let quality = match output.goal {
        Some(Goal::Quality(quality)) => Some(quality),
        _ if output.lossless => None,
        _ => Search::of(output, inherited).map_or(inherited, |search| Some(search.first())),
    };
    let of_depth = |bits| Depth::ALL.into_iter().find(|depth| depth.bits() == bits);
    Encode {
        quality,
        lossless: output.lossless,
        depth: output.depth.and_then(of_depth),
        progressive: output.progressive,
        chroma: output.chroma.map(Subsampling::from).or(own_chroma),
        effort: output.effort,
        options: output.options.clone(),
        few_colours: info.palette,
    }
}
