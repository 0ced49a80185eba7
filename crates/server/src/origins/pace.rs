//! The number of requests per second that an origin is asked at most. A request above it waits for its turn; one whose
//! turn would come too late is told so at once, and takes none.

use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Turns for the requests to one origin. After a quiet time, as many as belong to a second may go at once.
#[derive(Debug)]
pub(crate) struct Pace {
    per_second: NonZeroU32,
    /// When all turns that were taken are over: the theoretical arrival time of the generic cell rate algorithm (ITU-T
    /// I.371).
    over: Mutex<Option<Instant>>,
}

impl Pace {
    pub(crate) fn new(per_second: NonZeroU32) -> Self {
        Self {
            per_second,
            over: Mutex::new(None),
        }
    }

    pub(crate) fn per_second(&self) -> NonZeroU32 {
        self.per_second
    }

    /// Takes the next turn and returns when it is.
    ///
    /// # Errors
    /// The wait for a turn that is after `until`, which is not taken.
    pub(crate) fn turn(&self, now: Instant, until: Instant) -> Result<Instant, Duration> {
        let every = Duration::from_secs(1) / self.per_second.get();
        // One turn of the second is the one that is taken.
        let burst = Duration::from_secs(1) - every;
        // No code panics while it holds the lock.
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = over.map_or(now, |over| over.max(now));
        let turn = begin.checked_sub(burst).map_or(now, |turn| turn.max(now));
        if turn > until {
            return Err(turn - now);
        }
        *over = Some(begin + every);
        Ok(turn)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn pace(per_second: u32) -> Pace {
        Pace::new(NonZeroU32::new(per_second).unwrap())
    }

    #[test]
    fn a_second_of_turns_goes_at_once_and_the_others_follow_evenly() {
        let (pace, now) = (pace(4), Instant::now());
        let turns: Vec<u128> = (0..7)
            .map(|_| (pace.turn(now, now + SECOND).unwrap() - now).as_millis())
            .collect();
        assert_eq!(turns, [0, 0, 0, 0, 250, 500, 750]);
        let later = now + SECOND * 10;
        assert_eq!(pace.turn(later, later), Ok(later));
    }

    #[test]
    fn a_turn_that_is_too_late_is_not_taken() {
        let (pace, now) = (pace(1), Instant::now());
        assert_eq!(pace.turn(now, now), Ok(now));
        assert_eq!(pace.turn(now, now), Err(SECOND));
        assert_eq!(pace.turn(now, now), Err(SECOND));
        assert_eq!(pace.turn(now + SECOND, now + SECOND), Ok(now + SECOND));
    }

    proptest! {
        #[test]
        fn no_two_seconds_have_more_turns_than_three_times_the_rate(
            per_second in 1_u32..50,
            arrivals in prop::collection::vec(0_u64..3000, 1..300),
        ) {
            let (pace, start) = (pace(per_second), Instant::now());
            let mut arrivals = arrivals;
            arrivals.sort_unstable();
            let turns: Vec<Instant> = arrivals
                .iter()
                .map(|at| start + Duration::from_millis(*at))
                .filter_map(|now| pace.turn(now, now + SECOND * 20).ok())
                .collect();
            for turn in &turns {
                let within = turns.iter().filter(|it| **it >= *turn && **it < *turn + SECOND * 2);
                prop_assert!(within.count() <= 3 * per_second as usize);
            }
        }
    }
}
