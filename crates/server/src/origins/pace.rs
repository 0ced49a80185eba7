//! Limits the number of requests per second to an origin. A request above the limit waits for its turn. If its turn
//! would come too late, the request is refused at once and takes no turn.

use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A rate limiter for the requests to one origin. After a quiet time, the requests of one second may be sent at once.
#[derive(Debug)]
pub(crate) struct Pace {
    per_second: NonZeroU32,
    /// The end of all turns that have been taken: the theoretical arrival time of the generic cell rate algorithm
    /// (ITU-T I.371).
    end: Mutex<Option<Instant>>,
}

impl Pace {
    pub(crate) fn new(per_second: NonZeroU32) -> Self {
        Self {
            per_second,
            end: Mutex::new(None),
        }
    }

    pub(crate) fn per_second(&self) -> NonZeroU32 {
        self.per_second
    }

    /// Takes the next turn and returns its time.
    ///
    /// # Errors
    /// The time until the next turn if it is after `until`. It is not taken then.
    pub(crate) fn turn(&self, now: Instant, until: Instant) -> Result<Instant, Duration> {
        let every = Duration::from_secs(1) / self.per_second.get();
        // The turn itself is one of those in the second.
        let burst = Duration::from_secs(1) - every;
        // No code panics while it holds the lock.
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = end.map_or(now, |end| end.max(now));
        let turn = begin.checked_sub(burst).map_or(now, |turn| turn.max(now));
        if turn > until {
            return Err(turn - now);
        }
        *end = Some(begin + every);
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
