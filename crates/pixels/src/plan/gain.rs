//! Plans how an image's gain map follows the stages of the image.

use super::cost;
use super::draft::{self, Draft, turn, turned_sub};
use super::planner::Walk;
use super::rules::shrink_on_load;
use super::view::Stored;
use super::{Frames, Step};
use crate::codec::{Encode, Encoder, GainHeader, GainMaps, Scales};
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{GainParams, Model, Subsampling, Traits};
use crate::resize::{RegionF, Resample, kernel, size_times};
use crate::space::Space;
use crate::stage::{OnGainMap, Stage};

/// How a gain map is decoded, processed and written.
pub(crate) struct GainMapPlan {
    pub(crate) decoder: &'static dyn GainMaps,
    /// The scales at which the gain map is decoded.
    pub(crate) scales: Scales,
    /// The stages that process the gain map.
    pub(crate) stages: Vec<Box<dyn Stage>>,
    /// The quality to write the gain map at; `None` for the default of the result's format.
    pub(crate) quality: Option<u8>,
    /// The parameters that control how the map brightens the result.
    pub(crate) params: GainParams,
}

/// The plan for a gain map, and its cost.
pub(super) struct PlannedMap {
    pub(super) plan: GainMapPlan,
    /// The step that decodes the gain map and takes it through those stages of its image that it follows.
    pub(super) step: Step,
    /// Size of the gain map's frame in bytes.
    pub(super) frame: u64,
    /// Cost of writing the gain map.
    pub(super) encode: Cost,
}

/// Plans how the source's gain map follows an image through the draft's stages. `None`: there is no map, or the recipe
/// drops it. `Err`: the reason why the map is lost.
pub(super) fn plan_map(draft: &Draft<'_>) -> Option<Result<PlannedMap, String>> {
    let (decoder, header) = draft.gain_map.as_ref()?;
    if draft.recipe.output.drops_gain_map {
        return None;
    }
    let planned_map = fitting(draft, header).and_then(|(encoder, from)| {
        let (mut walk, scales) = read(draft, header, from);
        paint(draft, &mut walk)?;
        let sub = thinning(header);
        let how = Encode {
            quality: draft::inherited(&header.info, draft.target),
            chroma: (header.info.model != Model::Gray)
                .then(|| turned_sub(sub, draft.orientation())),
            ..Encode::default()
        };
        walk.convert(draft::accepted(encoder, walk.traits, &how));
        let (width, height) = walk.size;
        Ok(PlannedMap {
            step: Step {
                text: format!("gain map {width}x{height}"),
                cost: cost::total(&walk.steps),
                holds: cost::peak(&walk.steps).saturating_sub(walk.file),
            },
            frame: walk.frame(),
            encode: encoder.encode_cost(width, height, walk.traits, &how),
            plan: GainMapPlan {
                decoder: *decoder,
                scales,
                stages: walk.stages,
                quality: how.quality,
                params: header.params.clone(),
            },
        })
    });
    Some(planned_map.map_err(|why| format!("the gain map for HDR screens is left out: {why}")))
}

/// Returns the encoder that writes the gain map, and the part of the stored image that is shown. `Err`: the reason why
/// the map does not fit the result.
fn fitting<'a>(
    draft: &Draft<'a>,
    header: &GainHeader,
) -> Result<(&'a dyn Encoder, RegionF), String> {
    let is_able = |encoder: &&dyn Encoder| encoder.holds_gain_map(&header.params);
    let Some(encoder) = draft.target.encoder().filter(is_able) else {
        return Err(format!("{} does not hold it", draft.target.name()));
    };
    let Some(from) = draft.stored.from else {
        return Err("nothing of the image is shown".to_owned());
    };
    let is_colourful = header.info.model != Model::Gray;
    let space = draft.full.space;
    let is_converted = draft.conversion.is_some_and(|to| !to.space.is_as(space));
    if is_converted && (is_colourful || space.is_hdr()) {
        return Err("it does not fit colours in another space".to_owned());
    }
    match draft.formats.limits.check_source(&header.info) {
        Ok(()) => Ok((encoder, from)),
        Err(_) => Err("it is too large".to_owned()),
    }
}

/// Plans the steps that decode the gain map and bring it to the place and size of the part of the image that is shown.
/// Returns them and the decoding scales.
fn read(draft: &Draft<'_>, header: &GainHeader, from: RegionF) -> (Walk, Scales) {
    let info = &header.info;
    let times = (
        f64::from(info.width) / f64::from(draft.info.width),
        f64::from(info.height) / f64::from(draft.info.height),
    );
    let from = from.times(times);
    let stored = Stored {
        from: Some(from),
        within: draft.stored.within.times(times),
        to: size_times(draft.stored.to, times),
    };
    let headroom = draft.formats.headroom;
    let scales = shrink_on_load::scales(draft.source, info, &stored, None, headroom);
    let traits = Traits {
        space: Space::UNSPECIFIED,
        ..draft.source.decoded(info, scales)
    };
    let bytes = usize::try_from(header.bytes).unwrap_or(usize::MAX);
    let files = (bytes, bytes);
    let mut walk = Walk::new(files, draft.source, info, scales, Frames::First, traits);
    if scales != Scales::FULL || stored != Stored::whole((info.width, info.height)) {
        walk.extend([Box::new(Resample {
            source: (info.width, info.height),
            from,
            within: stored.within,
            part: None,
            scales,
            stored: thinning(header),
            to: stored.to,
            chroma: None,
            kernel: kernel(false, stored.grows()),
        }) as Box<dyn Stage>]);
    }
    walk.extend(turn(draft.orientation()));
    (walk, scales)
}

/// Takes the gain map through the stages of the image. `Err`: the reason why the map is lost.
fn paint(draft: &Draft<'_>, walk: &mut Walk) -> Result<(), String> {
    let mut size = draft.runs.first.size();
    for stage in &draft.later_stages {
        match stage.on_gain_map(size, walk.size) {
            OnGainMap::Keeps => {}
            OnGainMap::Follows(stage) => walk.extend([stage]),
            OnGainMap::Voids => return Err(format!("`{stage}` changes what it is about")),
        }
        size = stage.size_after(size.0, size.1);
    }
    Ok(())
}

/// Returns the subsampling in which the gain map is stored.
fn thinning(header: &GainHeader) -> Subsampling {
    match header.info.model {
        Model::YCbCr { sub, .. } => sub,
        _ => Subsampling::NONE,
    }
}
