//! The highest rate of arrivals at which a server that somebody else started meets a target for its latency.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::load::{self, Drive, Endpoint, RequestTemplate, Window};
use crate::sample::ClientThreads;
use crate::scenario::{Load, Mode, Scenario, Seconds};
use crate::stats::{Level, UpDown};

/// What is asked of whom, and what it has to meet.
pub struct CapacityTest<'a> {
    /// Whom.
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
    /// Length of a trial's measured window.
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

/// One window at one rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// Requests per second that arrived, as asked for.
    pub rate: f64,
    /// Length of the window in seconds.
    pub seconds: f64,
    /// Whole and expected replies.
    pub completed: u64,
    /// Requests without one.
    pub failed: u64,
    /// Arrivals for which no connection was free.
    pub missed: u64,
    /// The latency that is held against the target, in seconds.
    pub latency: f64,
    /// Share of its threads' time that the client was busy: near 1, the trial says how fast the client is.
    pub client_busy: f64,
    /// Was the target met, without a failure?
    pub met: bool,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Capacity {
    /// Requests per second at which half of the trials meet the target; nothing where the trials do not tell.
    pub rate: Option<Level>,
    /// A longer trial at the lower end of the interval.
    pub check: Option<Trial>,
    /// All others in their order.
    pub trials: Vec<Trial>,
    /// Did the list of URLs end before the search?
    pub exhausted: bool,
}

impl CapacityTest<'_> {
    /// Searches.
    ///
    /// # Errors
    /// See [`load::Error`].
    pub fn run(&self) -> Result<Capacity, load::Error> {
        let patience = self.scenario.load.timeout.duration();
        (self.endpoint.accepts(patience)).map_err(load::Error::Unreachable)?;
        let mut search = UpDown::new(self.start, STEP);
        let mut found = Capacity {
            rate: None,
            check: None,
            trials: Vec::new(),
            exhausted: false,
        };
        let mut used = 0;
        let lowest = FEWEST_REQUESTS / (LONGEST * self.time.0);
        while found.trials.len() < self.trials as usize && search.level() > lowest {
            let Some(trial) = self.trial(search.level(), self.time.0, &mut used)? else {
                found.exhausted = !self.cancelled();
                break;
            };
            (self.watch)(&trial);
            search.tell(trial.met);
            found.trials.push(trial);
            found.rate = search.estimate();
            if found
                .rate
                .is_some_and(|rate| rate.half_width() <= self.precision)
            {
                break;
            }
        }
        if let Some(rate) = found.rate {
            found.check = self.trial(rate.low, CHECK * self.time.0, &mut used)?;
        }
        Ok(found)
    }

    /// One window; nothing if it was cancelled, or if there are not enough URLs left.
    fn trial(
        &self,
        rate: f64,
        seconds: f64,
        used: &mut usize,
    ) -> Result<Option<Trial>, load::Error> {
        let seconds = seconds.max((REQUESTS / rate).min(LONGEST * self.time.0));
        let load = Load {
            mode: Mode::Open,
            rate,
            ..self.scenario.load.clone()
        };
        let asked = match self.once {
            false => self.asked,
            true => {
                let warmup = self.scenario.design.warmup.max.0;
                let arrivals = rate * (warmup + seconds);
                // Arrivals are random: five standard deviations more, and those until the client notices the end.
                let most = arrivals + 5.0 * arrivals.sqrt() + rate * MARGIN;
                let Some(left) = self.asked.get(*used..*used + most.ceil() as usize) else {
                    return Ok(None);
                };
                *used += left.len();
                left
            }
        };
        let driven = load::drive(&Drive {
            endpoint: self.endpoint.clone(),
            asked,
            load: &load,
            check: &self.scenario.check,
            warmup: &self.scenario.design.warmup,
            window: Window::For(Seconds(seconds).duration()),
            seed: self.scenario.seed,
            cancel: self.cancel.clone(),
            threads: ClientThreads::default(),
            edge: &|| {},
            progress: &|_| {},
        })?;
        if driven.cancelled || self.cancelled() {
            return Ok(None);
        }
        let seen = &driven.result;
        let (failed, missed) = (seen.failures.all(), seen.missed_sends);
        let latency = seen.total.quantile(self.quantile);
        Ok(Some(Trial {
            rate,
            seconds: seen.seconds,
            completed: seen.completed,
            failed,
            missed,
            latency,
            client_busy: driven.client.busy,
            met: seen.completed > 0 && failed == 0 && missed == 0 && latency <= self.target.0,
        }))
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// Ratio of neighbouring rates.
const STEP: f64 = 1.04;

/// Fewer requests have no 99th percentile: trials at low rates are longer.
const REQUESTS: f64 = 200.0;

/// Longest trial at a low rate, as a multiple of the usual length.
const LONGEST: f64 = 6.0;

/// The search does not go below the rate that gives this many requests in the longest trial.
const FEWEST_REQUESTS: f64 = 10.0;

/// Length of the last trial, as a multiple of the usual length.
const CHECK: f64 = 3.0;

/// Seconds of arrivals between the end of a window and its notice.
const MARGIN: f64 = 0.5;
