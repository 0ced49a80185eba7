//! The available time, shared among the comparisons that are still to come.

use std::time::{Duration, Instant};

/// A time budget for a number of comparisons, which may be unlimited. If a comparison takes longer than its share, the
/// later ones get less; if one is not needed, they get more.
pub(super) struct Budget {
    /// When the budget is used up, or `None` if it is unlimited.
    until: Option<Instant>,
    /// Number of comparisons that have not run yet.
    to_come: u32,
}

impl Budget {
    /// Starts a budget now. `None` is unlimited.
    pub(super) fn new(time: Option<Duration>, comparisons: u32) -> Self {
        Self {
            until: time.map(|time| Instant::now() + time),
            to_come: comparisons,
        }
    }

    /// Returns the time that the next comparisons may take together, as their share of the time left; `comparisons` is
    /// their number. `None` if the budget is unlimited.
    pub(super) fn share(&mut self, comparisons: u32) -> Option<Duration> {
        let time_left = self
            .until
            .map(|until| until.saturating_duration_since(Instant::now()));
        let share = time_left.map(|time_left| part(time_left, comparisons, self.to_come));
        self.to_come = self.to_come.saturating_sub(comparisons);
        share
    }
}

fn part(time_left: Duration, comparisons: u32, to_come: u32) -> Duration {
    time_left * comparisons / to_come.max(comparisons).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_the_time_and_no_more() {
        let mut left = Duration::from_secs(90);
        let mut to_come = 9;
        for comparisons in [4, 1, 2, 1, 1] {
            let part = part(left, comparisons, to_come);
            assert_eq!(part.as_secs(), u64::from(comparisons) * 10);
            left -= part;
            to_come -= comparisons;
        }
        assert_eq!(left, Duration::ZERO);
        // The second of the three is not needed, and leaves its time to the last.
        assert_eq!(part(Duration::from_secs(60), 2, 3).as_secs(), 40);
    }

    #[test]
    fn no_time_is_left_when_it_is_over_and_without_a_budget_there_is_no_end() {
        assert_eq!(
            Budget::new(Some(Duration::ZERO), 3).share(1),
            Some(Duration::ZERO)
        );
        assert_eq!(Budget::new(None, 3).share(1), None);
    }
}
