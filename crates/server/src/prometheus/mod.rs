//! Prometheus' text format and histograms, for whoever counts.

mod exposition;
mod histogram;

pub(crate) use exposition::Exposition;
pub(crate) use histogram::Histogram;
