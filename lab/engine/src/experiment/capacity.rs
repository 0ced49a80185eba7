//! Search for the highest arrival rate at which a server that is already running meets a latency target.

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

/// A capacity test: the server, the requests, and the target that has to be met.
pub struct CapacityTest<'a> {
    /// The address of the server.
    pub endpoint: &'a Endpoint,
    /// The requests to send; not empty.
    pub templates: &'a [RequestTemplate],
    /// Whether each request may be sent only once, in all trials together.
    pub once: bool,
    /// Provides the load, checks, warm-up and seed. The search itself sets the mode and the rate.
    pub scenario: &'a Scenario,
    /// The share of requests that may not take longer than the target, e.g. 0.99.
    pub quantile: f64,
    /// The latency target, from the arrival to the last byte.
    pub target: Seconds,
    /// The share of requests that may fail or find no free connection.
    pub errors: f64,
    /// Length of a short trial's measured window. A long trial's is [`LONG`] times that.
    pub time: Seconds,
    /// Arrival rate of the first trial, in requests per second.
    pub start: f64,
    /// The search ends when half the width of the interval is at most this share of the rate.
    pub precision: f64,
    /// Largest number of trials in the search.
    pub trials: u32,
    /// Ends the test early when set.
    pub cancel: Arc<AtomicBool>,
    /// Called with each trial of the search when it has ended.
    pub watch: &'a dyn Fn(&Trial),
}

/// The highest rate at which a server meets a target, with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Capacity {
    /// The rate, in requests per second, at which exactly the permitted share of requests is late in the long run;
    /// `None` if the trials do not show it.
    pub rate: Option<Level>,
    /// Whether the rate is known as precisely as requested.
    pub known: bool,
    /// Long trials at the lower end of the interval, made after the search: a second one if the first did not meet the
    /// target.
    pub checks: Vec<Trial>,
    /// All trials of the search, in order.
    pub trials: Vec<Trial>,
    /// Whether the list of URLs was used up before the search ended.
    pub exhausted: bool,
    /// The reason why the server can no longer be reached, if that ended the search.
    pub died: Option<String>,
    /// Other processes that used the CPU in trials where they took more than [`FOREIGN`] of it together; the busiest
    /// first.
    pub foreign: Vec<ForeignProcess>,
}

impl Capacity {
    /// Whether one of the trials after the search met the target at the lower end of the interval.
    #[must_use]
    pub fn confirmed(&self) -> bool {
        self.checks.last().is_some_and(|check| check.met)
    }
}

impl CapacityTest<'_> {
    /// Searches for the highest rate that meets the target.
    ///
    /// # Errors
    /// See [`load::Error`].
    pub fn run(&self) -> Result<Capacity, load::Error> {
        let patience = self.scenario.load.timeout.duration();
        (self.endpoint.accepts(patience)).map_err(andon_client::Error::Unreachable)?;
        let mut search = Threshold::new(self.start, 1.0 - self.quantile, self.precision);
        let mut capacity = Capacity {
            rate: None,
            known: false,
            checks: Vec::new(),
            trials: Vec::new(),
            exhausted: false,
            died: None,
            foreign: Vec::new(),
        };
        let mut state = TrialState::default();
        let lowest = FEWEST_REQUESTS / (LONGEST * self.time.0);
        while capacity.trials.len() < self.trials as usize && !capacity.known {
            let (rate, length) = search.next();
            if rate <= lowest {
                break;
            }
            let Some(window) = self.trial(rate, length, &mut state)? else {
                capacity.exhausted = !self.cancelled();
                break;
            };
            (self.watch)(&window.trial);
            search.record(&window.outcome);
            capacity.trials.push(window.trial);
            capacity.died = self.died(&window.trial);
            if capacity.died.is_some() {
                break;
            }
            (capacity.rate, capacity.known) = (search.estimate(), search.is_known());
        }
        if let (Some(rate), None, true) = (capacity.rate, &capacity.died, capacity.known) {
            while capacity.checks.len() < CHECKS && !capacity.confirmed() {
                let Some(window) = self.trial(rate.low, Length::Long, &mut state)? else {
                    break;
                };
                capacity.checks.push(window.trial);
            }
        }
        capacity.foreign = busiest(state.foreign);
        Ok(capacity)
    }

    /// Runs one window at `rate`; `None` if the test was cancelled, or if too few URLs are left.
    fn trial(
        &self,
        rate: f64,
        length: Length,
        state: &mut TrialState,
    ) -> Result<Option<Window>, load::Error> {
        let parts = if length == Length::Long { LONG } else { 1 };
        let part = (self.time.0).max((REQUESTS / rate).min(LONGEST * self.time.0));
        let templates = match self.once {
            false => self.templates,
            true => {
                let warmup = self.scenario.design.warmup.max.0;
                let arrivals = rate * (warmup + part * parts as f64);
                // Arrivals are random: this adds five standard deviations, and the arrivals until the client notices
                // the end.
                let most = arrivals + 5.0 * arrivals.sqrt() + rate * MARGIN;
                let from = state.used_requests;
                let Some(slice) = self.templates.get(from..from + most.ceil() as usize) else {
                    return Ok(None);
                };
                state.used_requests += slice.len();
                slice
            }
        };
        state.trials += 1;
        let window = self.drive(rate, Seconds(part), parts, templates, state)?;
        Ok(window.filter(|_| !self.cancelled()))
    }

    /// Returns why the server can no longer be reached, after a trial without a single good reply; `None` if it can be
    /// reached.
    fn died(&self, trial: &Trial) -> Option<String> {
        if trial.completed > 0 {
            return None;
        }
        // A server that restarts is reachable again after a moment.
        let start = Instant::now();
        loop {
            match self.endpoint.accepts(Duration::from_secs(1)) {
                Ok(()) => return None,
                // A server whose backlog is full is busy, not dead.
                Err(why) if why.kind() == io::ErrorKind::TimedOut => return None,
                Err(why) if start.elapsed() > RESTART || self.cancelled() => {
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

/// Returns the busiest processes, each name once with its largest share.
fn busiest(mut processes: Vec<ForeignProcess>) -> Vec<ForeignProcess> {
    processes.sort_by(|a, b| a.name.cmp(&b.name).then(b.share.total_cmp(&a.share)));
    processes.dedup_by(|later, first| later.name == first.name);
    ForeignProcess::busiest(processes, MOST_FOREIGN)
}

/// State that is carried from trial to trial.
#[derive(Default)]
struct TrialState {
    /// Number of requests used up, if each may be sent only once.
    used_requests: usize,
    /// Number of trials so far; gives each trial arrivals of its own.
    trials: u64,
    foreign: Vec<ForeignProcess>,
}

/// Number of requests that a trial aims for, since the 99th percentile of fewer means little. At low rates, trials are
/// extended until this many are expected.
const REQUESTS: f64 = 200.0;

/// Length of the longest trial at a low rate, as a multiple of the usual length.
const LONGEST: f64 = 6.0;

/// The search does not try rates so low that even the longest trial would have fewer requests than this.
const FEWEST_REQUESTS: f64 = 10.0;

/// Largest number of long trials that confirm the result after the search.
const CHECKS: usize = 2;

/// Longest time in seconds between the end of a window and the moment when the client notices it; requests still arrive
/// until then.
const MARGIN: f64 = 0.5;

/// How long a server may be unreachable, e.g. while it restarts, before it counts as dead.
const RESTART: Duration = Duration::from_secs(3);

/// Share of all CPUs above which use by other processes is reported.
pub const FOREIGN: f64 = 0.05;

/// Largest number of other processes that are named.
const MOST_FOREIGN: usize = 3;
