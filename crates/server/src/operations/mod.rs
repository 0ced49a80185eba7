//! What an operator sees: the access log, the process's own log lines, and metrics; and their export to a collector.

pub(crate) mod access_log;
pub(crate) mod clock;
pub(crate) mod entry;
pub(crate) mod history;
pub(crate) mod logging;
pub(crate) mod metrics;
pub(crate) mod otlp;
mod slowest;
