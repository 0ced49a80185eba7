//! Metrics and histograms, for all parts of the server that count something, and Prometheus' text format.

mod exemplar;
mod histogram;
mod metric;
mod metric_set;
mod text;

pub(crate) use exemplar::Exemplar;
pub(crate) use histogram::{BOUNDS, Buckets, Distribution, Histogram, quantile};
pub(crate) use metric::{Metric, flag};
pub(crate) use metric_set::{Family, Kind, MetricSet, Point, Value};
pub(crate) use text::Format;
