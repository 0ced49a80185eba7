//! Wall time as RFC 3339 in UTC, for log lines.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A moment, printed like `2026-11-21T19:50:00.123Z`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timestamp(pub(crate) SystemTime);

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.0.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
        let (year, month, day) = date(days);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60,
            since.subsec_millis()
        )
    }
}

/// The Gregorian date so many days after 1 January 1970. Years begin in March here, so that the leap
/// day is their last and months have lengths a line can count.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_TO_1970;
    let era = days / DAYS_OF_400_YEARS;
    let day_of_era = days % DAYS_OF_400_YEARS;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

/// From 1 March of year 0.
const DAYS_TO_1970: u64 = 719_468;
const DAYS_OF_400_YEARS: u64 = 146_097;

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
