//! What every function takes beside recipes and images.

use std::collections::BTreeMap;

use andon_batch::{Overlays, Renderer};
use pyo3::prelude::*;

use crate::data::Data;
use crate::deadline::Timeout;
use crate::limits::GivenLimits;

/// Overlay images by name, limits, and seconds per image.
#[derive(FromPyObject)]
pub(crate) struct Given<'py>(
    Option<BTreeMap<String, Data<'py>>>,
    Option<GivenLimits>,
    Option<f64>,
);

impl Given<'_> {
    pub(crate) fn renderer(&self) -> Renderer {
        let limits = self.1.as_ref().map_or_else(Default::default, |it| it.0);
        let files = self.0.iter().flatten();
        let files = files.map(|(name, data)| (name.clone(), data.bytes().to_vec()));
        Renderer::new(andon_codecs::ALL, limits, Overlays::new(files.collect()))
    }

    pub(crate) fn timeout(&self) -> PyResult<Timeout> {
        Timeout::new(self.2)
    }
}
