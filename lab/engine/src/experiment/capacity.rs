//! The highest rate of arrivals at which a server that somebody else started meets a target for its latency.

mod trial;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::load::{self, Endpoint, RequestTemplate};
use crate::record::ForeignProcess;
use crate::scenario::{Scenario, Seconds};
use crate::stats::{LONG, Length, Level, Threshold};

pub use trial::Trial;
use trial::Window;

/// What is asked of whom, and what it has to meet.
pub struct CapacityTest<'a> {
    /// The address of the server.
    pub endpoint: &'a Endpoint,
    /// What; not empty.
    pub asked: &'a [RequestTemplate],
    /// Is each of them asked only once, in all trials together?
    pub once: bool,
    /// Its load, checks, warm-up and seed count; the mode and the rate are the search's.
    pub scenario: &'a Scenario,
    /// The share of requests that may not take longer than the target, e.g. 0.99.
    pub quantile: f64,
    /// The target, from the arrival to the last byte.
    pub target: Seconds,
    /// The share of requests that may fail, or find no connection free.
    pub errors: f64,
    /// Length of a short trial's measured window; a long one's is [`LONG`] times that.
    pub time: Seconds,
    /// Requests per second of the first trial.
    pub start: f64,
    /// The search ends when half of the interval is at most this share of the rate.
    pub precision: f64,
    /// Most trials.
    pub trials: u32,
    /// Ends it early when set.
    pub cancel: Arc<AtomicBool>,
    /// Told each trial when it has ended.
    pub watch: &'a dyn Fn(&Trial),
}

/// The rate at which a server meets a target, with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Capacity {
    /// Requests per second at which, in the long run, just as many requests are late as may be; nothing where the trials do
    /// not tell.
    pub rate: Option<Level>,
    /// Is the rate known to the precision?
    pub known: bool,
    /// Long trials at the lower end of the interval, after the search: a second one if the first did not meet the target.
    pub checks: Vec<Trial>,
    /// All others in their order.
    pub trials: Vec<Trial>,
    /// Did the list of URLs end before the search?
    pub exhausted: bool,
    /// Why nobody answers any more.
    pub died: Option<String>,
    /// Who else used the CPU during the trials, the busiest first, if that was more than [`FOREIGN`] of it in a trial.
    pub foreign: Vec<ForeignProcess>,
}

impl Capacity {
    /// Was the target met at the lower end of the interval once more?
    #[must_use]
    pub fn confirmed(&self) -> bool {
        self.checks.last().is_some_and(|check| check.met)
    }
}

impl CapacityTest<'_> {
    /// Searches.
    ///
    /// # Errors
    /// See [`load::Error`].
    pub fn run(&self) -> Result<Capacity, load::Error> {
        let patience = self.scenario.load.timeout.duration();
        (self.endpoint.accepts(patience)).map_err(andon_client::Error::Unreachable)?;
        let mut search = Threshold::new(self.start, 1.0 - self.quantile, self.precision);
        let mut found = Capacity {
            rate: None,
            known: false,
            checks: Vec::new(),
            trials: Vec::new(),
            exhausted: false,
            died: None,
            foreign: Vec::new(),
        };
        let mut asking = Asking::default();
        let lowest = FEWEST_REQUESTS / (LONGEST * self.time.0);
        while found.trials.len() < self.trials as usize && !found.known {
            let (rate, length) = search.next();
            if rate <= lowest {
                break;
            }
            let Some(window) = self.trial(rate, length, &mut asking)? else {
                found.exhausted = !self.cancelled();
                break;
            };
            (self.watch)(&window.trial);
            search.tell(&window.seen);
            found.trials.push(window.trial);
            found.died = self.died(&window.trial);
            if found.died.is_some() {
                break;
            }
            (found.rate, found.known) = (search.estimate(), search.is_known());
        }
        if let (Some(rate), None, true) = (found.rate, &found.died, found.known) {
            while found.checks.len() < CHECKS && !found.confirmed() {
                let Some(window) = self.trial(rate.low, Length::Long, &mut asking)? else {
                    break;
                };
                found.checks.push(window.trial);
            }
        }
        found.foreign = busiest(asking.foreign);
        Ok(found)
    }

    /// One window; nothing if it was cancelled, or if there are not enough URLs left.
    fn trial(
        &self,
        rate: f64,
        length: Length,
        asking: &mut Asking,
    ) -> Result<Option<Window>, load::Error> {
        let parts = if length == Length::Long { LONG } else { 1 };
        let part = (self.time.0).max((REQUESTS / rate).min(LONGEST * self.time.0));
        let asked = match self.once {
            false => self.asked,
            true => {
                let warmup = self.scenario.design.warmup.max.0;
                let arrivals = rate * (warmup + part * parts as f64);
                // Arrivals are random: five standard deviations more, and those until the client notices the end.
                let most = arrivals + 5.0 * arrivals.sqrt() + rate * MARGIN;
                let from = asking.used;
                let Some(left) = self.asked.get(from..from + most.ceil() as usize) else {
                    return Ok(None);
                };
                asking.used += left.len();
                left
            }
        };
        asking.number += 1;
        let window = self.drive(rate, Seconds(part), parts, asked, asking)?;
        Ok(window.filter(|_| !self.cancelled()))
    }

    /// Why the server cannot be reached any more, after a trial without a single good reply.
    fn died(&self, trial: &Trial) -> Option<String> {
        if trial.completed > 0 {
            return None;
        }
        // One that is restarted is back in a moment.
        let begun = Instant::now();
        loop {
            match self.endpoint.accepts(Duration::from_secs(1)) {
                Ok(()) => return None,
                // It is busy.
                Err(why) if why.kind() == io::ErrorKind::TimedOut => return None,
                Err(why) if begun.elapsed() > RESTART || self.cancelled() => {
                    return Some(why.to_string());
                }
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// Each name once, with its largest share.
fn busiest(mut seen: Vec<ForeignProcess>) -> Vec<ForeignProcess> {
    seen.sort_by(|a, b| a.name.cmp(&b.name).then(b.share.total_cmp(&a.share)));
    seen.dedup_by(|later, first| later.name == first.name);
    ForeignProcess::busiest(seen, MOST_FOREIGN)
}

/// What goes from trial to trial.
#[derive(Default)]
struct Asking {
    /// URLs of a list that is asked once.
    used: usize,
    /// Trials so far: each has arrivals of its own.
    number: u64,
    foreign: Vec<ForeignProcess>,
}

/// Fewer requests have no 99th percentile: trials at low rates are longer.
const REQUESTS: f64 = 200.0;

/// Longest trial at a low rate, as a multiple of the usual length.
const LONGEST: f64 = 6.0;

/// The search does not go below the rate that gives this many requests in the longest trial.
const FEWEST_REQUESTS: f64 = 10.0;

/// Most trials after the search.
const CHECKS: usize = 2;

/// Seconds of arrivals between the end of a window and its notice.
const MARGIN: f64 = 0.5;

/// For so long a server may be away.
const RESTART: Duration = Duration::from_secs(3);

/// A share of all CPUs, used by others, that is told.
pub const FOREIGN: f64 = 0.05;

/// Names that are told.
const MOST_FOREIGN: usize = 3;
