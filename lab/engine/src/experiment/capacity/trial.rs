//! One measured window at one rate, and whether it met the target.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::{CapacityTest, FOREIGN, TrialState};
use crate::experiment::block::push;
use crate::launch;
use crate::load::{self, Drive, RequestTemplate};
use crate::record::LoadResult;
use crate::sample::{ClientThreads, Sampler, Watched};
use crate::scenario::{Load, Mode, Seconds};
use crate::stats::{Count, TrialOutcome, median};

/// One measured window at one rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// The requested arrival rate, in requests per second.
    pub rate: f64,
    /// Length of the window in seconds.
    pub seconds: f64,
    /// Number of replies that arrived complete and as expected.
    pub completed: u64,
    /// Number of completed replies that took longer than the target.
    pub late: u64,
    /// Number of requests without a good reply.
    pub failed: u64,
    /// Number of arrivals for which no connection was free.
    pub missed: u64,
    /// The latency, in seconds, of the quantile that the target limits, e.g. the 99th percentile.
    pub latency: f64,
    /// Whether latency rose throughout the window, by a considerable part of the target. A longer window would then
    /// have missed the target.
    pub rising: bool,
    /// Share of its threads' time that the client was busy. Near 1, the trial shows the speed of the client.
    pub client_busy: f64,
    /// CPU used by processes other than server and client, as a share of all CPUs; 0 if the server's processes are not
    /// known.
    pub foreign: f64,
    /// Whether the target was met without more failures than permitted.
    pub met: bool,
}

/// A trial with its outcome in the form that the search takes.
pub(super) struct Window {
    pub(super) trial: Trial,
    pub(super) outcome: TrialOutcome,
}

impl CapacityTest<'_> {
    /// Drives one measured window at `rate` requests per second. It has `parts` parts that each last `part`. `None` if
    /// the test was cancelled.
    pub(super) fn drive(
        &self,
        rate: f64,
        part: Seconds,
        parts: usize,
        templates: &[RequestTemplate],
        state: &mut TrialState,
    ) -> Result<Option<Window>, load::Error> {
        let load = Load {
            mode: Mode::Open,
            rate,
            ..self.scenario.load.clone()
        };
        let threads = ClientThreads::default();
        let roots = launch::running(self.endpoint).ok();
        let is_local = roots.is_some();
        let sampler = Sampler::start(
            roots.map(Watched::Running),
            threads.clone(),
            SAMPLE,
            Instant::now(),
        );
        let edges = Mutex::new(Vec::new());
        let outcome = load::drive(&Drive {
            endpoint: self.endpoint.clone(),
            templates,
            load: &load,
            check: &self.scenario.check,
            warmup: &self.scenario.design.warmup,
            window: load::Window::For(Seconds(part.0 * parts as f64).duration()),
            seed: self.scenario.seed.wrapping_add(state.trials),
            cancel: self.cancel.clone(),
            late: self.target.duration(),
            threads,
            edge: &|| push(&edges, sampler.mark()),
            progress: &|_| {},
        });
        let samples = sampler.finish();
        let outcome = outcome?;
        if outcome.cancelled {
            return Ok(None);
        }
        let mut foreign = 0.0;
        if let ([from, to], true) = (&edges.into_inner().unwrap_or_default()[..], is_local) {
            foreign = samples.noise(*from, *to, Default::default()).foreign;
            if foreign > FOREIGN {
                state.foreign.extend(samples.foreign(*from, *to));
            }
        }
        let result = &outcome.result;
        let slices = slices(result, part.0, parts);
        let late: f64 = slices.iter().map(|slice| slice.late).sum();
        let rising = rising(result, self.target.0);
        let is_lost = self.is_lost(result);
        let allowed = (1.0 - self.quantile) * result.completed as f64;
        let trial = Trial {
            rate,
            seconds: result.seconds,
            completed: result.completed,
            late: late as u64,
            failed: result.failures.all(),
            missed: result.missed_sends,
            latency: result.total.quantile(self.quantile),
            rising,
            client_busy: outcome.client.busy,
            foreign,
            met: !is_lost && !rising && late <= allowed,
        };
        let trial_outcome = match is_lost || rising {
            true => TrialOutcome::TooHigh,
            false => TrialOutcome::Counts(slices),
        };
        Ok(Some(Window {
            trial,
            outcome: trial_outcome,
        }))
    }

    /// Whether more requests failed than permitted, by more than chance.
    fn is_lost(&self, result: &LoadResult) -> bool {
        let bad = (result.failures.all() + result.missed_sends) as f64;
        let all = result.completed as f64 + bad;
        let permitted = self.errors * all;
        let chance = CHANCE * (permitted * (1.0 - self.errors)).sqrt();
        result.completed == 0 || bad > permitted + chance
    }
}

/// Counts all and late replies in each part of the window. Replies after its end count in the last part.
fn slices(result: &LoadResult, part: f64, parts: usize) -> Vec<Count> {
    let mut slices = vec![Count::default(); parts];
    for bin in &result.bins {
        let index = ((bin.at / part) as usize).min(parts - 1);
        slices[index].all += bin.completed as f64;
        slices[index].late += bin.late as f64;
    }
    slices
}

/// Whether the median latency rises from quarter to quarter of the window, by more than [`RISE`] of the target in all.
/// The queue then grows as long as requests come this fast.
fn rising(result: &LoadResult, target: f64) -> bool {
    let quarter = |index: usize| {
        let (from, to) = (index as f64, index as f64 + 1.0);
        let place = |at: f64| at / result.seconds * 4.0;
        let bins = result.bins.iter().filter(|bin| bin.completed > 0);
        let inside = bins.filter(|bin| (from..to).contains(&place(bin.at)));
        let medians: Vec<f64> = inside.map(|bin| bin.p50).collect();
        median(&medians).unwrap_or_default()
    };
    let quarters = [0, 1, 2, 3].map(quarter);
    let grows = quarters.is_sorted_by(|a, b| a < b);
    result.completed >= FEWEST_TO_RISE && grows && quarters[3] - quarters[0] > RISE * target
}

const SAMPLE: Duration = Duration::from_millis(500);

/// Number of standard deviations by which failures may exceed the permitted number by chance.
const CHANCE: f64 = 2.5;

/// Rise of the median latency, as a share of the target, that shows a growing queue.
const RISE: f64 = 0.25;

/// Number of replies needed to judge a rise. Medians of fewer replies rise by chance.
const FEWEST_TO_RISE: u64 = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Bin;

    /// Returns a window of 8 s with a bin for each second; `medians` are their median latencies in milliseconds.
    fn window(medians: [u32; 8]) -> LoadResult {
        let bins = medians.into_iter().enumerate().map(|(at, median)| Bin {
            at: at as f64,
            seconds: 1.0,
            completed: 20,
            p50: f64::from(median) / 1000.0,
            p99: 0.0,
            late: u64::from(median / 100),
        });
        LoadResult {
            seconds: 8.0,
            completed: 160,
            bins: bins.collect(),
            ..LoadResult::default()
        }
    }

    #[test]
    fn latency_that_rises_all_through_the_window_is_a_queue_that_grows() {
        let growing = window([10, 20, 30, 40, 50, 60, 70, 80]);
        assert!(rising(&growing, 0.2));
        assert!(!rising(&growing, 2.0), "a small part of the target");
        assert!(!rising(&window([10, 80, 70, 20, 30, 90, 10, 20]), 0.2));
        assert!(!rising(&window([10; 8]), 0.2));
    }

    #[test]
    fn late_replies_are_counted_by_the_parts_of_the_window() {
        let counts = slices(&window([0, 100, 0, 0, 0, 200, 0, 0]), 4.0, 2);
        let late: Vec<f64> = counts.iter().map(|count| count.late).collect();
        assert_eq!(late, [1.0, 2.0]);
        assert!(counts.iter().all(|count| (count.all - 80.0).abs() < 1e-9));
    }
}
