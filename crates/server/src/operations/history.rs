//! The last 15 minutes of the server in steps of 5 seconds, for the live dashboard. It takes about 30 KB, whatever the
//! load: each step is the difference of counters that exist anyway.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::prometheus::{Buckets, quantile};

/// Time between two samples of the server's activity.
pub(crate) const STEP: Duration = Duration::from_secs(5);

/// Number of samples of the server's activity that are kept: 15 minutes.
const MOST: usize = 180;

/// Counters since the start, and gauges, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Totals {
    /// Requests by class: 2xx, 3xx, 4xx, 5xx, and those whose client left.
    pub(crate) requests: [u64; 5],
    /// Requests that were rejected because of the load.
    pub(crate) rejected: u64,
    /// Durations of answers, by bucket of the histogram.
    pub(crate) answers: Buckets,
    /// Processor time of this process in seconds, without that of worker processes.
    pub(crate) cpu: f64,
    /// Time in seconds that images took on worker threads, including that of worker processes.
    pub(crate) work: f64,
    /// Look-ups in the cache that found a fresh result, a stale one, and none.
    pub(crate) lookups: [u64; 3],
    /// Bytes of results that were sent.
    pub(crate) result_bytes: u64,
    /// Bytes of the sources that the sent results were made from.
    pub(crate) source_bytes: u64,
    /// Jobs in the queue now.
    pub(crate) waiting: usize,
    /// Jobs that run now.
    pub(crate) running: usize,
}

/// The activity of the server between two samples.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// End of the time that the sample covers, in milliseconds since 1970.
    at: u64,
    /// Length of the time that the sample covers, in seconds.
    seconds: f64,
    /// How much the counters grew in the time that the sample covers, and the gauges as they were at its end.
    of: Totals,
}

/// The samples of the last 15 minutes. Reloads keep them.
#[derive(Debug, Default)]
pub(crate) struct History(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    before: Option<(Instant, Totals)>,
    samples: VecDeque<Sample>,
}

impl History {
    /// Adds a sample of the time since the previous call. The first call adds none.
    pub(crate) fn add(&self, totals: Totals, now: Instant) {
        let mut state = self.lock();
        if let Some((start, before)) = state.before.replace((now, totals)) {
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            let sample = Sample {
                at: since.map_or(0, |since| since.as_millis() as u64),
                seconds: now.duration_since(start).as_secs_f64(),
                of: totals.since(&before),
            };
            if state.samples.len() == MOST {
                state.samples.pop_front();
            }
            state.samples.push_back(sample);
        }
    }

    /// Returns all samples, oldest first, as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let samples: Vec<Value> = self.lock().samples.iter().map(Sample::json).collect();
        json!({ "step_ms": STEP.as_millis() as u64, "most": MOST, "samples": samples })
    }

    /// Returns the last sample as JSON, or null.
    pub(crate) fn last(&self) -> Value {
        let state = self.lock();
        state.samples.back().map_or(Value::Null, Sample::json)
    }

    /// Locks the samples. No code panics while it holds this lock, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Totals {
    /// Returns how much each counter has grown since `before`, with the gauges as they are now. A reload resets the counters
    /// of the cache: if a counter is smaller than before, all of it has been counted since.
    fn since(&self, before: &Self) -> Self {
        let growth = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
        Self {
            requests: std::array::from_fn(|at| growth(self.requests[at], before.requests[at])),
            rejected: growth(self.rejected, before.rejected),
            answers: std::array::from_fn(|at| growth(self.answers[at], before.answers[at])),
            cpu: (self.cpu - before.cpu).max(0.0),
            work: (self.work - before.work).max(0.0),
            lookups: std::array::from_fn(|at| growth(self.lookups[at], before.lookups[at])),
            result_bytes: growth(self.result_bytes, before.result_bytes),
            source_bytes: growth(self.source_bytes, before.source_bytes),
            waiting: self.waiting,
            running: self.running,
        }
    }
}

impl Sample {
    fn json(&self) -> Value {
        let of = &self.of;
        let per_second = |time: f64| (time / self.seconds.max(0.001) * 100.0).round() / 100.0;
        let quantiles = [0.5, 0.95, 0.99].map(|share| quantile(&of.answers, share));
        let millis = quantiles.map(|it| it.map(|it| (it * 1e5).round() / 100.0));
        json!({
            "at": self.at,
            "seconds": (self.seconds * 1e3).round() / 1e3,
            "requests": of.requests,
            "rejected": of.rejected,
            "ms": millis,
            "cores": per_second(of.cpu),
            "threads": per_second(of.work),
            "waiting": of.waiting,
            "running": of.running,
            "lookups": of.lookups,
            "result_bytes": of.result_bytes,
            "source_bytes": of.source_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(requests: u64, cpu: f64) -> Totals {
        let mut answers = Buckets::default();
        answers[0] = requests;
        Totals {
            requests: [requests, 0, 0, 0, 0],
            answers,
            cpu,
            ..Totals::default()
        }
    }

    #[test]
    fn a_step_is_the_difference_of_two_readings() {
        let history = History::default();
        let began = Instant::now();
        history.add(totals(100, 7.0), began);
        assert_eq!(history.last(), Value::Null);
        history.add(totals(110, 12.0), began + STEP);
        let last = history.last();
        assert_eq!(last["requests"][0], 10);
        assert_eq!(last["seconds"], 5.0);
        assert_eq!(last["cores"], 1.0);
        assert!(last["ms"][0].as_f64().unwrap() <= 0.5, "{last}");
    }

    #[test]
    fn no_more_than_15_minutes_are_kept() {
        let history = History::default();
        let began = Instant::now();
        for step in 0..500 {
            history.add(totals(step.into(), 0.0), began + STEP * step);
        }
        let json = history.to_json();
        assert_eq!(json["samples"].as_array().unwrap().len(), 180);
    }

    #[test]
    fn a_counter_that_starts_anew_is_not_taken_for_a_negative_step() {
        let history = History::default();
        let began = Instant::now();
        history.add(totals(100, 7.0), began);
        history.add(totals(3, 0.0), began + STEP);
        assert_eq!(history.last()["requests"][0], 3);
        assert_eq!(history.last()["cores"], 0.0);
    }
}
