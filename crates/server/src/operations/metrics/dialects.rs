//! Counters of each URL dialect: requests, errors, and the bytes of results compared with those of their sources.

use std::sync::atomic::{AtomicU64, Ordering};

use andon_dialects::{ALL, FILES};
use hyper::StatusCode;

use crate::operations::entry::Entry;
use crate::prometheus::MetricSet;

/// Counters of every URL dialect in the order of [`ALL`], then of plain files.
#[derive(Debug, Default)]
pub(crate) struct ByDialect([Counters; ALL.len() + 1]);

/// Counters of one URL dialect.
#[derive(Debug, Default)]
struct Counters {
    requests: AtomicU64,
    errors: AtomicU64,
    hinted_requests: AtomicU64,
    bytes: AtomicU64,
    result_bytes: AtomicU64,
    source_bytes: AtomicU64,
}

/// Counts of one URL dialect since the start, or of all URL dialects together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Served {
    /// Requests that the dialect read.
    pub(crate) requests: u64,
    /// Requests that were answered with a status of 400 and above.
    pub(crate) errors: u64,
    /// Requests whose results depend on client hints.
    pub(crate) hinted: u64,
    /// Bytes of all response bodies.
    pub(crate) bytes: u64,
    /// Bytes of whole results that were sent with status 200, if the sizes of their sources are known.
    pub(crate) result_bytes: u64,
    /// Bytes of the sources of the results that `result_bytes` counts, added each time a result was sent.
    pub(crate) source_bytes: u64,
}

impl ByDialect {
    /// Counts a request, if a dialect has read its target.
    pub(super) fn count(&self, entry: &Entry) {
        let Some(request) = &entry.request else {
            return;
        };
        let dialect = request.style.dialect;
        let index = ALL.iter().position(|(name, _)| *name == dialect);
        let counters = &self.0[index.unwrap_or(ALL.len())];
        let add = |counter: &AtomicU64, by: u64| _ = counter.fetch_add(by, Ordering::Relaxed);
        add(&counters.requests, 1);
        add(&counters.errors, u64::from(entry.status.as_u16() >= 400));
        add(&counters.hinted_requests, u64::from(request.is_hinted));
        add(&counters.bytes, entry.bytes);
        // Only a whole result shows how much smaller than its source it is: not a part, nor a reply without a body.
        if entry.status == StatusCode::OK && entry.bytes > 0 && entry.source_bytes > 0 {
            add(&counters.result_bytes, entry.bytes);
            add(&counters.source_bytes, entry.source_bytes);
        }
    }

    /// Returns the counts of each dialect that has read a request, with its name.
    pub(crate) fn read(&self) -> impl Iterator<Item = (&'static str, Served)> {
        let names = ALL.iter().map(|(name, _)| *name).chain([FILES]);
        let counts = names.zip(&self.0);
        counts
            .map(|(name, counters)| (name, counters.read()))
            .filter(|(_, count)| count.requests > 0)
    }

    pub(super) fn write(&self, out: &mut MetricSet) {
        let counts: Vec<_> = self.read().collect();
        let mut counter = |name, help, of: fn(&Served) -> u64| {
            out.counter(name, help);
            for (dialect, count) in &counts {
                out.sample(&[("dialect", dialect)], of(count) as f64);
            }
        };
        counter(
            "andon_dialect_requests_total",
            "Requests by the dialect that read their target.",
            |it| it.requests,
        );
        counter(
            "andon_dialect_errors_total",
            "Requests of a dialect with a status of 400 and above.",
            |it| it.errors,
        );
        counter(
            "andon_dialect_hinted_requests_total",
            "Requests of a dialect with client hints that `[client_hints]` applies.",
            |it| it.hinted,
        );
        counter(
            "andon_dialect_response_bytes_total",
            "Bytes of response bodies by dialect.",
            |it| it.bytes,
        );
        counter(
            "andon_dialect_result_bytes_total",
            "Bytes of whole results that were sent, where the size of their sources is known.",
            |it| it.result_bytes,
        );
        counter(
            "andon_dialect_source_bytes_total",
            "Bytes that the sources of those results would have been.",
            |it| it.source_bytes,
        );
    }
}

impl Counters {
    fn read(&self) -> Served {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Served {
            requests: of(&self.requests),
            errors: of(&self.errors),
            hinted: of(&self.hinted_requests),
            bytes: of(&self.bytes),
            result_bytes: of(&self.result_bytes),
            source_bytes: of(&self.source_bytes),
        }
    }
}

impl Served {
    /// Returns the sum of two counts.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            errors: self.errors + other.errors,
            hinted: self.hinted + other.hinted,
            bytes: self.bytes + other.bytes,
            result_bytes: self.result_bytes + other.result_bytes,
            source_bytes: self.source_bytes + other.source_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use andon_dialects::{ImageRequest, Source};

    use super::*;
    use crate::net::Peer;

    fn entry(dialect: &'static str, status: StatusCode, bytes: u64) -> Entry {
        let mut request = ImageRequest::file(Source::from_path("/a.jpg"));
        request.style.dialect = dialect;
        Entry {
            bytes,
            source_bytes: 1000,
            request: Some(Arc::new(request)),
            ..Entry::malformed(Peer::Unix, status, String::new())
        }
    }

    #[test]
    fn only_whole_results_are_compared_with_their_sources() {
        let counted = ByDialect::default();
        counted.count(&entry("native", StatusCode::OK, 100));
        counted.count(&entry("native", StatusCode::PARTIAL_CONTENT, 10));
        counted.count(&entry("native", StatusCode::NOT_MODIFIED, 0));
        counted.count(&entry("native", StatusCode::OK, 0));
        counted.count(&entry(FILES, StatusCode::NOT_FOUND, 20));
        counted.count(&Entry::malformed(
            Peer::Unix,
            StatusCode::BAD_REQUEST,
            String::new(),
        ));
        let native = Served {
            requests: 4,
            errors: 0,
            hinted: 0,
            bytes: 110,
            result_bytes: 100,
            source_bytes: 1000,
        };
        let files = Served {
            requests: 1,
            errors: 1,
            bytes: 20,
            ..Served::default()
        };
        let read: Vec<_> = counted.read().collect();
        assert_eq!(read, [("native", native), (FILES, files)]);
    }
}
