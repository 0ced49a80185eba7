//! How long an entry may be used, and how old it is.
//!
//! ```text
//! stored ──── fresh_for ────┬── stale_while_revalidate ──┐
//!                           └── stale_if_error ─────────────────┐
//! ```

use std::time::Duration;

use crate::clock::Moment;

/// How long an entry may be used, as three spans. A span of zero disables the respective use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// How long the entry is served without a request to the origin, counted from when it was stored.
    pub fresh_for: Duration,
    /// How long after `fresh_for` the entry is still served while a newer one is fetched.
    pub stale_while_revalidate: Duration,
    /// How long after `fresh_for` the entry is still served if fetching a newer one fails.
    pub stale_if_error: Duration,
}

impl Life {
    /// Creates a life that is fresh for `span` and allows no stale use afterwards.
    pub const fn fresh_for(span: Duration) -> Self {
        Self {
            fresh_for: span,
            stale_while_revalidate: Duration::ZERO,
            stale_if_error: Duration::ZERO,
        }
    }

    /// Returns how an entry of this age may be used.
    pub fn at(&self, age: Duration) -> Freshness {
        if age < self.fresh_for {
            return Freshness::Fresh;
        }
        let over = age - self.fresh_for;
        Freshness::Stale {
            may_serve_while_revalidating: over < self.stale_while_revalidate,
            may_serve_if_error: over < self.stale_if_error,
        }
    }
}

/// How an entry may be used at its present age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// The entry may be served without a request to the origin.
    Fresh,
    /// The entry is no longer fresh. A conditional request may always use its validators, but its body may be served
    /// only in the cases that the two fields permit.
    Stale {
        /// Whether the entry may be served now, while a newer one is fetched in the background.
        may_serve_while_revalidating: bool,
        /// Whether the entry may be served if fetching a newer one fails.
        may_serve_if_error: bool,
    },
}

/// When an entry was stored: wall-clock time since 1970 and time since boot, both in milliseconds, and the id of the
/// boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) wall: u64,
    pub(crate) since_boot: u64,
    pub(crate) boot: u64,
}

impl Stamp {
    pub(crate) fn of(now: &Moment) -> Self {
        Self {
            wall: millis(now.wall),
            since_boot: millis(now.since_boot),
            boot: now.boot,
        }
    }

    /// Creates the stamp of an entry that another node stored at `wall`, in milliseconds of the wall clock. As for an
    /// entry from before a reboot, only the wall clock determines its age.
    pub(crate) fn of_other_node(wall: u64, now: &Moment) -> Self {
        Self {
            wall,
            since_boot: 0,
            boot: !now.boot,
        }
    }

    /// Returns the age of an entry with this stamp and this life.
    ///
    /// Within one boot the wall clock is not used, so setting it changes nothing. Across a reboot only the wall clock
    /// determines the age. If by that clock the entry was stored in the future, the entry counts as having been stale
    /// since this boot: it does not become fresh again, is not lost while origins are down, and is not stale for ever.
    pub(crate) fn age(&self, now: &Moment, life: &Life) -> Duration {
        let elapsed = if self.boot == now.boot {
            millis(now.since_boot).checked_sub(self.since_boot)
        } else {
            millis(now.wall).checked_sub(self.wall)
        };
        elapsed.map_or_else(
            || life.fresh_for.saturating_add(now.since_boot),
            Duration::from_millis,
        )
    }
}

pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);
    const YEAR: Duration = Duration::from_secs(365 * 86400);
    const LIFE: Life = Life {
        fresh_for: HOUR,
        stale_while_revalidate: HOUR,
        stale_if_error: Duration::from_secs(3 * 3600),
    };

    fn stale(may_serve_while_revalidating: bool, may_serve_if_error: bool) -> Freshness {
        Freshness::Stale {
            may_serve_while_revalidating,
            may_serve_if_error,
        }
    }

    fn moment(wall: Duration, since_boot: Duration, boot: u64) -> Moment {
        Moment {
            wall,
            since_boot,
            boot,
        }
    }

    #[test]
    fn the_spans_follow_each_other() {
        assert_eq!(LIFE.at(Duration::ZERO), Freshness::Fresh);
        assert_eq!(LIFE.at(HOUR), stale(true, true));
        assert_eq!(LIFE.at(2 * HOUR), stale(false, true));
        assert_eq!(LIFE.at(4 * HOUR), stale(false, false));
        assert_eq!(Life::default().at(Duration::ZERO), stale(false, false));
        assert_eq!(Life::fresh_for(Duration::MAX).at(YEAR), Freshness::Fresh);
    }

    #[test]
    fn setting_the_wall_clock_a_year_off_changes_no_age() {
        let stamp = Stamp::of(&moment(50 * YEAR, HOUR, 7));
        for wall in [49 * YEAR, 51 * YEAR] {
            assert_eq!(stamp.age(&moment(wall, 2 * HOUR, 7), &LIFE), HOUR);
        }
    }

    #[test]
    fn across_a_reboot_the_wall_clock_counts() {
        let stamp = Stamp::of(&moment(50 * YEAR, HOUR, 7));
        assert_eq!(stamp.age(&moment(50 * YEAR + HOUR, HOUR, 8), &LIFE), HOUR);
    }

    #[test]
    fn an_entry_from_the_future_is_stale_since_boot_and_then_dead() {
        let stamp = Stamp::of(&moment(51 * YEAR, HOUR, 7));
        let at = |since_boot| LIFE.at(stamp.age(&moment(50 * YEAR, since_boot, 8), &LIFE));
        assert_eq!(at(Duration::from_secs(10)), stale(true, true));
        assert_eq!(at(2 * HOUR), stale(false, true));
        assert_eq!(at(4 * HOUR), stale(false, false));
    }
}
