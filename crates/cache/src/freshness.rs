//! How long an entry is good, and how old it is.
//!
//! ```text
//! stored ──── fresh_for ────┬── stale_while_revalidate ──┐
//!                           └── stale_if_error ─────────────────┐
//! ```

use std::time::Duration;

use crate::clock::Moment;

/// How long an entry may be used, in three spans. Zero spans switch the stale uses off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// From the moment it is stored: served without asking anybody.
    pub fresh_for: Duration,
    /// After that: served while somebody fetches a newer one.
    pub stale_while_revalidate: Duration,
    /// After `fresh_for` too: served if fetching a newer one fails.
    pub stale_if_error: Duration,
}

impl Life {
    /// Fresh for this long, and of no use afterwards.
    pub const fn fresh_for(span: Duration) -> Self {
        Self {
            fresh_for: span,
            stale_while_revalidate: Duration::ZERO,
            stale_if_error: Duration::ZERO,
        }
    }

    /// What may be done with an entry of this age.
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

/// What may be done with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Serve it.
    Fresh,
    /// Its validators may always be used to ask for "newer than this"; its body only as said here.
    Stale {
        /// Serve it now, and fetch a newer one behind the reply.
        may_serve_while_revalidating: bool,
        /// Serve it if fetching a newer one fails.
        may_serve_if_error: bool,
    },
}

/// When an entry was stored, in milliseconds of both clocks.
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

    /// Of an entry that another node stored at this time, in milliseconds of the wall clock: only that clock knows
    /// its age, as if it were from before a reboot.
    pub(crate) fn elsewhere(wall: u64, now: &Moment) -> Self {
        Self {
            wall,
            since_boot: 0,
            boot: !now.boot,
        }
    }

    /// How old an entry with this stamp and this life is.
    ///
    /// Within one boot the wall clock is not looked at, so setting it changes nothing. Across a
    /// reboot only the wall clock knows; where it claims that the entry is yet to be stored, the
    /// entry counts as stale since this boot: neither fresh again, nor lost while origins are down,
    /// nor stale for ever.
    pub(crate) fn age(&self, now: &Moment, life: &Life) -> Duration {
        let known = if self.boot == now.boot {
            millis(now.since_boot).checked_sub(self.since_boot)
        } else {
            millis(now.wall).checked_sub(self.wall)
        };
        known.map_or_else(
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
