//! Prometheus' text format and histograms, for all parts of the server that count something.

mod exemplar;
mod exposition;
mod histogram;
mod metric;

pub(crate) use exemplar::Exemplar;
pub(crate) use exposition::{Exposition, Format};
pub(crate) use histogram::{Buckets, Histogram, quantile};
pub(crate) use metric::{Metric, flag};
