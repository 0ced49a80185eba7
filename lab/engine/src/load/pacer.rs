//! Decides when the next request is due.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::Script;
use super::course::{Course, Phase};
use crate::scenario::{Arrivals, Load, Mode};
use crate::stats::Random;

/// Decides when a connection sends its next request. A connection calls `next` whenever it is free.
pub(super) trait Pacer: Send + 'static {
    /// Waits until the next request is due. Returns the time at which it was meant to start.
    fn next(&mut self) -> impl Future<Output = Instant> + Send;
}

/// Pacer of a closed loop: the next request is always due.
pub(super) struct Closed;

impl Pacer for Closed {
    async fn next(&mut self) -> Instant {
        Instant::now()
    }
}

/// Pacer of an open loop: the next request is due as soon as the schedule has an arrival that no connection has taken.
pub(super) struct Open(pub(super) Arc<Schedule>);

impl Pacer for Open {
    async fn next(&mut self) -> Instant {
        match self.0.waiting.acquire().await {
            Ok(one) => one.forget(),
            // The semaphore is never closed.
            Err(_) => return Instant::now(),
        }
        let mut arrived = self
            .0
            .arrived
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        arrived.pop_front().unwrap_or_else(Instant::now)
    }
}

/// The arrivals of an open loop, shared by all of its connections. A separate thread queues each arrival when it is
/// due. It sleeps with a precision of about 50 µs, while the timers of the async runtime have one of 1 ms.
pub(super) struct Schedule {
    gaps: Gaps,
    arrived: Mutex<VecDeque<Instant>>,
    waiting: Semaphore,
}

/// The times between arrivals.
enum Gaps {
    /// Arrivals at a rate, without end.
    Rate {
        rate: f64,
        arrivals: Arrivals,
        seed: u64,
    },
    /// One arrival at each of these times after the start.
    Times(Vec<Duration>),
}

impl Gaps {
    /// Returns the times after the start at which requests are due.
    fn times(&self) -> Box<dyn Iterator<Item = Duration> + '_> {
        match self {
            Self::Rate {
                rate,
                arrivals,
                seed,
            } => {
                let mut random = Random::new(*seed);
                Box::new(std::iter::successors(Some(Duration::ZERO), move |due| {
                    Some(due.saturating_add(gap(*rate, *arrivals, &mut random)))
                }))
            }
            Self::Times(times) => Box::new(times.iter().copied()),
        }
    }
}

fn gap(rate: f64, arrivals: Arrivals, random: &mut Random) -> Duration {
    let seconds = match arrivals {
        Arrivals::Constant => 1.0 / rate,
        Arrivals::Poisson => random.exponential() / rate,
    };
    Duration::from_secs_f64(seconds.min(1e6))
}

impl Schedule {
    fn new(gaps: Gaps) -> Arc<Self> {
        Arc::new(Self {
            gaps,
            arrived: Mutex::default(),
            waiting: Semaphore::new(0),
        })
    }

    /// Queues arrivals from `start` on, each when it is due, until the load is over or there are no more.
    pub(super) fn dispatch(&self, start: Instant, course: &Course) {
        let mut times = self.gaps.times();
        let Some(mut due) = times.next().map(|time| start + time) else {
            return;
        };
        while course.phase() != Phase::End {
            let time_left = due.saturating_duration_since(Instant::now());
            if !time_left.is_zero() {
                std::thread::sleep(time_left.min(LOOK));
                continue;
            }
            self.arrived
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push_back(due);
            self.waiting.add_permits(1);
            match times.next() {
                Some(time) => due = start + time,
                None => return,
            }
        }
    }

    /// Returns the number of requests that were due from `from` until before `to` and that no connection was free to
    /// send.
    pub(super) fn missed_arrivals(&self, from: Instant, to: Instant) -> u64 {
        let arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        arrived
            .iter()
            .filter(|&&due| due >= from && due < to)
            .count() as u64
    }
}

/// How all connections of a block are paced.
pub(super) enum Pacing {
    /// A closed loop, paced by replies.
    Closed,
    /// An open loop, paced by arrivals.
    Open(Arc<Schedule>),
}

impl Pacing {
    pub(super) fn new(load: &Load, seed: u64) -> Self {
        match load.mode {
            Mode::Closed | Mode::Single => Self::Closed,
            Mode::Open => Self::Open(Schedule::new(Gaps::Rate {
                rate: load.rate,
                arrivals: load.arrivals,
                seed,
            })),
        }
    }

    pub(super) fn scripted(script: &Script) -> Self {
        let times = script.requests.iter().map(|(time, _)| *time);
        Self::Open(Schedule::new(Gaps::Times(times.collect())))
    }
}

/// Interval at which the thread that queues arrivals checks whether the load is over.
const LOOK: Duration = Duration::from_millis(50);
