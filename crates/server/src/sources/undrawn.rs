//! How many results lack characters for which no font has a glyph.

use std::sync::atomic::{AtomicU64, Ordering};

/// Results of the whole program, so that reloads do not reset it.
static RESULTS: AtomicU64 = AtomicU64::new(0);

/// Counts one result.
pub(super) fn count() {
    RESULTS.fetch_add(1, Ordering::Relaxed);
}

/// Returns the number of results so far.
pub(crate) fn results() -> u64 {
    RESULTS.load(Ordering::Relaxed)
}
