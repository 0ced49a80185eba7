//! The arguments that every image-processing function of the Python module takes in addition to recipes and images.

use std::collections::BTreeMap;

use andon_batch::{Overlays, Renderer};
use andon_pixels::{Damaged, Limits};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::Data;
use crate::deadline::Timeout;
use crate::isolated;
use crate::limits::GivenLimits;

/// The arguments of an image-processing function besides recipes and images. They are, in this order: overlay images
/// by name, limits, seconds per image (`None`: no limit), formats that are read, whether to use worker processes, and
/// whether to return what can be decoded of a damaged image.
#[derive(FromPyObject)]
pub(crate) struct Given<'py>(
    Option<Bound<'py, PyDict>>,
    Option<GivenLimits>,
    Option<f64>,
    Vec<String>,
    bool,
    bool,
);

impl Given<'_> {
    /// Creates a renderer with these arguments.
    ///
    /// # Errors
    /// If worker processes are requested and cannot be started.
    pub(crate) fn renderer(&self, py: Python<'_>) -> PyResult<Renderer> {
        let limits = self.1.as_ref().map_or_else(Limits::default, |it| it.0);
        let limits = Limits {
            damaged: match self.5 {
                true => Damaged::Shown,
                false => Damaged::Refused,
            },
            ..limits
        };
        let mut files = BTreeMap::new();
        for (name, data) in self.0.iter().flatten() {
            let data: Data<'_> = data.extract()?;
            files.insert(name.extract()?, data.bytes().to_vec());
        }
        let codecs = match self.4 {
            true => isolated::codecs(py)?,
            false => andon_codecs::ALL,
        };
        let overlays = Overlays::new(files);
        Ok(Renderer::new(codecs, limits, overlays).reading(self.3.clone()))
    }

    pub(crate) fn timeout(&self) -> PyResult<Timeout> {
        Timeout::new(self.2)
    }
}
