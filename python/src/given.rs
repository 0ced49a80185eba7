//! What every function takes beside recipes and images.

use std::collections::BTreeMap;

use andon_batch::{Overlays, Renderer};
use pyo3::prelude::*;

use crate::data::Data;
use crate::deadline::Timeout;
use crate::isolated;
use crate::limits::GivenLimits;

/// Overlay images by name, limits, seconds per image, the formats that are read, and whether in worker processes.
#[derive(FromPyObject)]
pub(crate) struct Given<'py>(
    Option<BTreeMap<String, Data<'py>>>,
    Option<GivenLimits>,
    Option<f64>,
    Vec<String>,
    bool,
);

impl Given<'_> {
    /// # Errors
    /// Where worker processes are wanted and cannot be started.
    pub(crate) fn renderer(&self, py: Python<'_>) -> PyResult<Renderer> {
        let limits = self.1.as_ref().map_or_else(Default::default, |it| it.0);
        let files = self.0.iter().flatten();
        let files = files.map(|(name, data)| (name.clone(), data.bytes().to_vec()));
        let codecs = match self.4 {
            true => isolated::codecs(py)?,
            false => andon_codecs::ALL,
        };
        let overlays = Overlays::new(files.collect());
        Ok(Renderer::new(codecs, limits, overlays).reading(self.3.clone()))
    }

    pub(crate) fn timeout(&self) -> PyResult<Timeout> {
        Timeout::new(self.2)
    }
}
