//! A plan in the making, which the planner's rules read and change.

use andon_recipe::{FormatName, Goal, Orient, Orientation, Original, Profile, Recipe, Step};

use super::frames::Frames;
use super::runs::{Run, Runs};
use super::search::Search;
use super::view::Stored;
use super::words::unknown_word;
use crate::codec::{Codec, Encode, Encoder, GainHeader, GainMaps, Info, Scales, Tags, Vector};
use crate::cost::Cost;
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

/// The decisions of the planner so far. The rules of phase 1 decide what is shown, those of phase 2 how the source is
/// read. Each phase sets more fields.
pub(super) struct Draft<'a> {
    pub(super) formats: &'a Formats,
    pub(super) recipe: &'a Recipe,
    pub(super) source: &'static dyn Codec,
    pub(super) info: &'a Info,
    pub(super) target: &'static dyn Codec,
    /// Which of the source's frames are read.
    pub(super) frames: Frames,
    pub(super) encode: Encode,
    /// The search for the quality, if the recipe asks for one. Set before any rule is applied.
    pub(super) search: Option<Search>,
    /// The decoder and the header of the source's gain map; `None` if there is none, or if other frames than the first
    /// are read.
    pub(super) gain_map: Option<(&'static dyn GainMaps, GainHeader)>,
    /// Size of the source file in bytes.
    pub(super) file: usize,
    pub(super) runs: Runs,
    /// The part of the stored image that is shown, and its size.
    pub(super) stored: Stored,
    /// The orientation that the result declares, so that viewers turn its pixels upright. Set by the planner rules that
    /// decide what is shown.
    pub(super) output_orientation: Orientation,
    /// Whether the result is the source's own bytes. Set by the planner rules that decide what is shown.
    pub(super) is_copy: bool,
    /// The turn that follows the first crop and scaling of the decoded image; `None` if the image is not turned then.
    /// Set by the planner rules that decide what is shown.
    pub(super) turn: Option<Box<dyn Stage>>,
    /// The traits (such as model and depth) of the planes when the source is decoded at full scale. Set when the
    /// planner has decided what is shown, but not yet how the source is read.
    pub(super) full: Traits,
    /// The traits to convert to before anything is painted, if they differ from the decoded ones. Set after the planner
    /// rules that decide what is shown (phase 1); those that decide how the source is read (phase 2) may change them.
    pub(super) conversion: Option<Traits>,
    /// How the result declares its colour space. Set by the planner rules that decide how the source is read.
    pub(super) tag: Tag,
    /// The stages that follow the first crop, scaling and turn of the decoded image. Set when the planner has decided
    /// what is shown, but not yet how the source is read.
    pub(super) later_stages: Vec<Box<dyn Stage>>,
    /// The traits that the encoder needs. Set when the planner has decided what is shown, but not yet how the source is
    /// read.
    pub(super) encoder_traits: Traits,
    /// The subsampling of the resampled image before any turn; `None` without chroma planes. Set by the planner rules
    /// that decide how the source is read.
    pub(super) chroma: Option<Subsampling>,
    /// The scales at which the source is decoded. Set by the planner rules that decide how the source is read.
    pub(super) scales: Scales,
    /// The part of a vector image to draw, and the size to draw it at; `None` for other images. Set by the planner
    /// rules that decide how the source is read.
    pub(super) drawing: Option<Drawing>,
    /// The stage that brings the decoded image to the part and size that are shown. Set by the planner rules that
    /// decide how the source is read.
    pub(super) first: First,
    /// Whether the image is scaled in linear light. Set by the planner rules that decide how the source is read.
    pub(super) scales_light: bool,
}

/// How the decoded image is brought to the part and size that are shown.
#[derive(Default)]
pub(super) enum First {
    /// The decoded image is used as it is.
    #[default]
    Nothing,
    /// The decoded image is replaced by a blank one, because no part of it is shown.
    Blank(Blank),
    /// Whole pixels are cropped from the decoded image.
    Crop(Crop),
    /// The decoded image is resampled, in all other cases.
    Resample(Resample),
}

/// How a vector image is drawn: the decoder, the part and its size, and the cost.
#[derive(Clone, Copy)]
pub(crate) struct Drawing {
    pub(crate) decoder: &'static dyn Vector,
    /// The part to draw, and the size to draw it at.
    pub(crate) window: Window,
    pub(super) cost: Cost,
}

/// How a result declares its colour space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// The result declares no colour space.
    None,
    /// The result repeats the source's declaration.
    Own,
    /// The result declares this colour space.
    Space(Space),
}

/// Returns the traits of the decoded image. If the recipe drops profiles, the space is unspecified, so that sample
/// values are not converted.
pub(super) fn decoded(profile: Profile, source: &dyn Codec, info: &Info, scales: Scales) -> Traits {
    let mut traits = source.decoded(info, scales);
    if matches!(profile, Profile::Drop | Profile::Ignore) {
        traits.space = Space::UNSPECIFIED;
    }
    traits
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
    /// Starts a draft of a resolved recipe for an image with this header.
    pub(super) fn new(
        formats: &'a Formats,
        recipe: &'a Recipe,
        (source, target): (&'static dyn Codec, &'static dyn Codec),
        (info, file): (&'a Info, usize),
        frames: Frames,
    ) -> Result<Self> {
        let runs = Runs::of(recipe, source, info)?;
        let full = decoded(recipe.output.profile, source, info, Scales::FULL);
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
            output_orientation: Orientation::default(),
            is_copy: false,
            turn: None,
            full,
            conversion: None,
            tag: Tag::None,
            later_stages: Vec::new(),
            encoder_traits: full,
            chroma: None,
            scales: Scales::FULL,
            drawing: None,
            first: First::Nothing,
            scales_light: false,
            runs,
        })
    }

    /// Returns how files of the result's format declare their colour space.
    pub(super) fn tags(&self) -> Tags {
        self.target
            .encoder()
            .map_or(Tags::None, |encoder| encoder.tags())
    }

    /// Returns the encoder of the result's format.
    ///
    /// # Errors
    /// `Recipe` if the format is only read.
    pub(super) fn encoder(&self) -> Result<&'static dyn Encoder> {
        encoder(self.target)
    }

    /// Returns the orientation that is applied after the first crop and scaling of the decoded image.
    pub(super) fn orientation(&self) -> Orientation {
        self.runs.first.orientation
    }

    /// Returns the orientation stored in the source if no step of the recipe applies it, otherwise upright.
    pub(super) fn unapplied_orientation(&self) -> Orientation {
        let steps = [Step::Original(Original), Step::Orient(Orient)];
        match self.recipe.steps.iter().any(|step| steps.contains(step)) {
            true => Orientation::default(),
            false => self.info.orientation,
        }
    }

    /// Returns the traits to convert an image of this size to before it is turned, or `None` if the turn comes first.
    /// The conversion comes first if the turn would have to resample subsampled chroma, and there is no subsampled
    /// chroma after the conversion.
    pub(super) fn before_turning(&self, size: (u32, u32), have: Traits) -> Result<Option<Traits>> {
        let turn = Turned {
            orientation: self.orientation(),
        };
        if !turn.moves_chroma(have.model, size) {
            return Ok(None);
        }
        let to = match self.conversion {
            Some(to) => to,
            None if self.later_stages.is_empty() => self.accepted(turn.after(have))?,
            None => return Ok(None),
        };
        let is_thinned = matches!(to.model, Model::YCbCr { sub, .. } if sub != Subsampling::NONE);
        Ok((!is_thinned).then_some(to))
    }

    /// Appends a turn after all other steps.
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

    /// Returns the colour profile that the recipe asks for.
    pub(super) fn profile(&self) -> Profile {
        self.recipe.output.profile
    }

    /// Returns the linear-light space to scale in, if the recipe asks for it and the image's colours can be converted
    /// back from it.
    pub(super) fn light(&self) -> Option<Space> {
        let space = self
            .conversion
            .map_or(self.full.space, |conversion| conversion.space);
        let inks = self.full.model == Model::Cmyk && self.conversion.is_none();
        let is_linear = self.recipe.output.linear && self.runs.first.is_scaled;
        space.light().filter(|_| is_linear && !inks)
    }

    /// Decides the stages that follow the first crop, scaling and turn, and with them the traits that the encoder
    /// needs.
    pub(super) fn settle_planes(&mut self) -> Result<()> {
        self.full.alpha |= self.stored.from.is_none();
        let turned = turned(self.full, self.orientation());
        let mut later_stages = self.later_stages(turned);
        let after = |traits: Traits, stages: &[Box<dyn Stage>]| {
            stages
                .iter()
                .fold(traits, |traits, stage| stage.after(traits))
        };
        // If the result's format has no alpha, the image is composited over the background.
        let result = after(turned, &later_stages);
        if let Some(colour) = self.recipe.output.background.colour()
            && result.alpha
            && !self.accepted(result)?.alpha
        {
            later_stages.push(Box::new(Flattened { colour }));
        }
        if !later_stages.is_empty() || turned.model == Model::Cmyk {
            self.conversion = self.conversion(turned, &later_stages)?;
        }
        let start = self.conversion.unwrap_or(turned);
        self.encoder_traits = self.accepted(after(start, &later_stages))?;
        self.later_stages = later_stages;
        Ok(())
    }

    /// Takes the recipe's effects and the geometric steps between them ([`Runs::rest`]), and returns their stages. The
    /// image has these traits after its first crop, scaling and turn; the stages do not depend on its model.
    fn later_stages(&mut self, mut traits: Traits) -> Vec<Box<dyn Stage>> {
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

    /// Returns the traits to convert to before anything is painted, so that painted colours and edges are as requested;
    /// `None` if no conversion is needed by then. These images are converted: CMYK, unless the result keeps its
    /// samples; gray, if colour is painted; and YCbCr, if the result has another model or its chroma is less
    /// subsampled. If the result's chroma is more subsampled, it is subsampled only after painting, also to preserve
    /// painted edges. Alpha is kept, because a background may follow.
    fn conversion(
        &self,
        turned: Traits,
        later_stages: &[Box<dyn Stage>],
    ) -> Result<Option<Traits>> {
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
            (Model::Gray, _) if later_stages.iter().any(|stage| stage.adds_colour()) => {
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

    /// Returns the traits that the frame must have after all stages: those that the encoder accepts or, for results
    /// that are scored, those of the reference for the comparison, which is not subsampled.
    pub(super) fn accepted(&self, have: Traits) -> Result<Traits> {
        let traits = accepted(self.encoder()?, have, &self.encode);
        Ok(match self.search {
            Some(Search::Score(_)) => Traits {
                model: Model::Rgb,
                ..traits
            },
            _ => traits,
        })
    }

    /// Returns the resampling that brings the decoded image to the part and size that are shown; a blank image if no
    /// part is shown.
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

/// Returns the traits that a frame of traits `have` is converted to before it is encoded; the colour space stays.
pub(crate) fn accepted(encoder: &dyn Encoder, have: Traits, encode: &Encode) -> Traits {
    Traits {
        space: have.space,
        ..encoder.accepts(have, encode)
    }
}

/// Returns the encoder of a format.
///
/// # Errors
/// `Recipe` if the format is only read.
pub(crate) fn encoder(target: &'static dyn Codec) -> Result<&'static dyn Encoder> {
    target.encoder().ok_or_else(|| Error::Recipe {
        piece: target.name().to_owned(),
        why: "this format can be read but not written; ask for another with as:".to_owned(),
    })
}

/// Returns the stage that applies an orientation; `None` if the image is upright.
pub(super) fn turn(orientation: Orientation) -> Option<Box<dyn Stage>> {
    if orientation.is_upright() {
        None
    } else {
        Some(Box::new(Turned { orientation }))
    }
}

/// Returns the subsampling after a turn. For the inverse turn the result is the same, because a quarter turn swaps the
/// two sides in either direction.
pub(super) fn turned_sub(sub: Subsampling, orientation: Orientation) -> Subsampling {
    if orientation.quarters % 2 == 1 {
        Subsampling { h: sub.v, v: sub.h }
    } else {
        sub
    }
}

/// Returns the traits of an image after a turn.
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

/// Returns the codec of the result: that of the format in the recipe or, if the recipe names none, the source's own,
/// unless the source's codec names another format to write in its place.
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

/// Returns the codec of a format that a recipe names.
pub(super) fn named(formats: &Formats, name: &FormatName) -> Result<&'static dyn Codec> {
    formats.codec(name.as_str()).ok_or_else(|| {
        let names: Vec<&str> = formats.codecs.iter().map(|codec| codec.name()).collect();
        Error::Recipe {
            piece: name.as_str().to_owned(),
            why: unknown_word("there is no such format", name.as_str(), &names),
        }
    })
}

/// Returns the quality of the source, if the target's codec uses the same scale.
pub(super) fn inherited(info: &Info, target: &dyn Codec) -> Option<u8> {
    let inherits = |encoder: &dyn Encoder| encoder.inherits_quality();
    info.quality
        .filter(|_| target.encoder().is_some_and(inherits))
}

/// Returns the encoder's parameters: those in the recipe, otherwise those of the source if they apply to the target
/// format.
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
