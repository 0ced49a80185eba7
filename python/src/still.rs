//! Functions for one image: its facts, its plan, its result.

use std::sync::atomic::AtomicBool;

use andon_pixels::Codec;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::data::Data;
use crate::error::{exception, parse_recipe};
use crate::given::Given;

/// Returns the encoded result of a recipe.
#[pyfunction]
pub(crate) fn render<'py>(
    py: Python<'py>,
    recipe: &str,
    data: Data<'py>,
    given: Given<'py>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (recipe, renderer, timeout) =
        (parse_recipe(recipe)?, given.renderer(py)?, given.timeout()?);
    let source = data.bytes();
    let work = || {
        let stop = AtomicBool::new(false);
        let deadline = timeout.begin(&stop);
        let plan = renderer.plan(&recipe, source)?;
        renderer.run(&plan, source, &deadline)
    };
    let rendered = py.detach(work).map_err(exception)?;
    match rendered.body {
        None if rendered.of_source >= source.len() => Ok(data.0.clone()),
        _ => Ok(PyBytes::new(py, rendered.bytes(source))),
    }
}

/// The fields of `andon.Plan`.
#[derive(IntoPyObject)]
pub(crate) struct PlanFields {
    text: String,
    recipe: String,
    format: &'static str,
    media_type: &'static str,
    width: u32,
    height: u32,
    is_copy: bool,
    seconds: f64,
    peak_bytes: u64,
    notes: Vec<String>,
}

/// Returns the plan of a recipe for an image, based on the image's header.
#[pyfunction]
pub(crate) fn plan<'py>(
    py: Python<'py>,
    recipe: &str,
    data: Data<'py>,
    given: Given<'py>,
) -> PyResult<PlanFields> {
    let (recipe, renderer) = (parse_recipe(recipe)?, given.renderer(py)?);
    let source = data.bytes();
    let plan = py
        .detach(|| renderer.plan(&recipe, source))
        .map_err(exception)?;
    let (width, height) = plan.size();
    Ok(PlanFields {
        text: plan.to_string(),
        recipe: plan.recipe().to_string(),
        format: plan.format(),
        media_type: plan.media_type(),
        width,
        height,
        is_copy: plan.is_copy(),
        seconds: plan.cost().nanos as f64 / 1e9,
        peak_bytes: plan.peak_bytes(),
        notes: plan.notes().to_vec(),
    })
}

/// The fields of `andon.Info`.
#[derive(IntoPyObject)]
pub(crate) struct InfoFields {
    format: &'static str,
    media_type: &'static str,
    width: u32,
    height: u32,
    orientation: u16,
    alpha: bool,
    frames: u32,
    colour: &'static str,
    depth: u8,
    profile: bool,
    metadata: bool,
    quality: Option<u8>,
    lossless: bool,
    progressive: bool,
}

/// Returns the facts in an image's header.
#[pyfunction]
pub(crate) fn probe<'py>(
    py: Python<'py>,
    data: Data<'py>,
    given: Given<'py>,
) -> PyResult<InfoFields> {
    let renderer = given.renderer(py)?;
    let source = data.bytes();
    let info = py.detach(|| renderer.probe(source)).map_err(exception)?;
    let codec = |codec: &&&dyn Codec| codec.name() == info.format;
    let codec = andon_codecs::ALL.iter().find(codec);
    Ok(InfoFields {
        format: info.format,
        media_type: codec.map_or("", |codec| codec.format().media_type),
        width: info.width,
        height: info.height,
        orientation: info.orientation.exif(),
        alpha: info.alpha,
        frames: info.frames,
        colour: info.model.name(),
        depth: info.depth.bits(),
        profile: info.space.profiled,
        metadata: info.metadata,
        quality: info.quality,
        lossless: info.lossless,
        progressive: info.progressive,
    })
}
