//! Prometheus' text format and histograms, for whoever counts.

mod exemplar;
mod exposition;
mod histogram;

pub(crate) use exemplar::Exemplar;
pub(crate) use exposition::{Exposition, Format};
pub(crate) use histogram::Histogram;
