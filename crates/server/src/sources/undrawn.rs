//! Counts results that lack characters because no font has glyphs for them.

use std::sync::atomic::{AtomicU64, Ordering};

/// Number of results of this process that lack characters because no font has glyphs for them. A reload does not reset
/// it.
static RESULTS: AtomicU64 = AtomicU64::new(0);

/// Counts one result that lacks characters.
pub(super) fn count() {
    RESULTS.fetch_add(1, Ordering::Relaxed);
}

/// Returns the number of results that lacked characters so far.
pub(crate) fn results() -> u64 {
    RESULTS.load(Ordering::Relaxed)
}
