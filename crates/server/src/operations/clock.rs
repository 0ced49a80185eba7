//! Wall-clock time.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the seconds since 1970.
pub(crate) fn now() -> u64 {
    // A time before 1970 means that the clock is not set.
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A point in time that is displayed as RFC 3339 in UTC, like `2026-11-21T19:50:00.123Z`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timestamp(pub(crate) SystemTime);

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A time before 1970 means that the clock is not set.
        humantime::format_rfc3339_millis(self.0.max(UNIX_EPOCH)).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_are_printed_as_rfc_3339() {
        for (millis, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (1_767_225_599_000, "2025-12-31T23:59:59.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            let moment = Timestamp(UNIX_EPOCH + Duration::from_millis(millis));
            assert_eq!(moment.to_string(), expected);
        }
    }
}
