//! Results of one variant over all of its blocks that count, without any comparison.

use serde::Serialize;

use super::client_limit::client_limit;

use crate::record::{
    Arm, Block, ClientCost, Failures, Latencies, Run, ServerCost, SystemLoad, UrlResult,
};
use crate::scenario::Metric;
use crate::stats::Spread;

/// Results of one variant, or of the A/A arm. Counts, times and histograms are sums over the blocks that count;
/// `system` and `in_flight` are means; peaks are the highest of all blocks.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The variant's name in reports.
    pub name: String,
    /// Index of the variant in the run's header.
    pub variant: u32,
    /// The blocks' part in their pairs. The baseline's blocks of all pairs are in one summary.
    pub arm: Arm,
    /// Number of blocks that count.
    pub blocks: u32,
    /// Number of blocks that were discarded because they were disturbed.
    pub discarded: u32,
    /// Number of blocks that failed.
    pub failed: u32,
    /// Each metric's spread over the blocks; metrics without a value in any block are left out.
    pub metrics: Vec<MetricSummary>,
    /// Total length of the measured windows in seconds.
    pub seconds: f64,
    /// Number of requests in the measured windows.
    pub sent: u64,
    /// Number of replies that arrived complete and as expected.
    pub completed: u64,
    /// Number of requests without a good reply, by kind of failure.
    pub failures: Failures,
    /// Number of arrivals that could not be sent (open loop).
    pub missed_sends: u64,
    /// Bytes received, reply heads included.
    pub bytes_total: u64,
    /// Bytes of reply bodies received.
    pub bytes_body: u64,
    /// Number of distinct replies, by URL and content.
    pub distinct_bodies: u32,
    /// Number of connections that the blocks were to keep busy; the largest of all blocks.
    pub connections: u32,
    /// Mean number of requests in flight.
    pub in_flight: f64,
    /// The longest time that a connection waited for a reply, in seconds.
    pub longest_wait: f64,
    /// Latencies from the intended start to the last byte, as in [`crate::record::LoadResult`].
    pub total: Latencies,
    /// Latencies from the true start to the last byte.
    pub service: Latencies,
    /// Times to open a connection; empty if connections were kept.
    pub connect: Latencies,
    /// Times from the true start to the reply's head.
    pub waiting: Latencies,
    /// Times by which the client itself sent late (open loop).
    pub send_lag: Latencies,
    /// Results for each URL.
    pub urls: Vec<UrlResult>,
    /// Resources that the server's process tree used.
    pub server: ServerCost,
    /// Load of the whole machine.
    pub system: SystemLoad,
    /// Resources that the client used. `busy` is a mean. `ceiling` is the highest request rate that the client can
    /// reach under this load: the higher of the measured limit and the rate of the fastest block.
    pub client: ClientCost,
}

/// A metric's values over the blocks that count.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MetricSummary {
    /// The metric that is summarized.
    pub metric: Metric,
    /// The spread of the metric's values over blocks, in the metric's unit.
    #[serde(flatten)]
    pub spread: Spread,
}

impl Summary {
    /// Returns the spread of a metric over the blocks; `None` if no block has a value.
    #[must_use]
    pub fn metric(&self, metric: Metric) -> Option<Spread> {
        let summary = self.metrics.iter().find(|it| it.metric == metric);
        summary.map(|it| it.spread)
    }

    /// Returns the mean size of a reply body in bytes; `None` without replies.
    #[must_use]
    pub fn bytes_per_reply(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.bytes_body as f64 / self.completed as f64)
    }

    /// Returns the number of CPUs that the server used on average, e.g. 1.7; `None` without a measured window, or if
    /// the server's processes are not known.
    #[must_use]
    pub fn server_cpus(&self) -> Option<f64> {
        (self.seconds > 0.0 && self.server.is_known())
            .then(|| self.server.cpu_seconds() / self.seconds)
    }

    fn of(run: &Run, name: String, variant: u32, arm: Arm, blocks: &[&Block]) -> Self {
        let counting: Vec<&Block> = blocks.iter().copied().filter(|b| b.counts()).collect();
        let merged = |part: fn(&Block) -> &Latencies| {
            let mut all = Latencies::new();
            counting.iter().for_each(|block| all.add(part(block)));
            all
        };
        let sum = |part: fn(&Block) -> u64| counting.iter().map(|block| part(block)).sum();
        Self {
            name,
            variant,
            arm,
            blocks: counting.len() as u32,
            discarded: blocks.iter().filter(|b| b.discarded.is_some()).count() as u32,
            failed: blocks.iter().filter(|b| b.failure.is_some()).count() as u32,
            metrics: metrics(&counting),
            seconds: counting.iter().map(|block| block.load.seconds).sum(),
            sent: sum(|block| block.load.sent),
            completed: sum(|block| block.load.completed),
            failures: failures(&counting),
            missed_sends: sum(|block| block.load.missed_sends),
            bytes_total: sum(|block| block.load.bytes_total),
            bytes_body: sum(|block| block.load.bytes_body),
            distinct_bodies: distinct_bodies(&counting),
            connections: counting
                .iter()
                .map(|block| block.load.connections)
                .max()
                .unwrap_or(0),
            in_flight: mean(&counting, |block| block.load.in_flight),
            longest_wait: counting.iter().map(|b| longest_wait(b)).fold(0.0, f64::max),
            total: merged(|block| &block.load.total),
            service: merged(|block| &block.load.service),
            connect: merged(|block| &block.load.connect),
            waiting: merged(|block| &block.load.waiting),
            send_lag: merged(|block| &block.load.send_lag),
            urls: urls(&counting),
            server: server(&counting),
            system: system(&counting),
            client: client(run, &counting),
        }
    }
}

/// Returns one summary per variant, then that of the A/A arm if it ran.
pub(super) fn all(run: &Run) -> Vec<Summary> {
    let of = |keep: &dyn Fn(&Block) -> bool| -> Vec<&Block> {
        run.blocks.iter().filter(|block| keep(block)).collect()
    };
    let mut summaries = Vec::new();
    for (at, variant) in run.header.variants.iter().enumerate() {
        let at = at as u32;
        let arm = if at == 0 { Arm::Baseline } else { Arm::Variant };
        let blocks = of(&|block| block.variant == at && block.arm == arm);
        summaries.push(Summary::of(run, variant.name.clone(), at, arm, &blocks));
    }
    let aa_blocks = of(&|block| block.arm == Arm::Again);
    if !aa_blocks.is_empty() {
        let name = again_name(run);
        summaries.push(Summary::of(run, name, 0, Arm::Again, &aa_blocks));
    }
    summaries
}

/// Returns the A/A arm's name in reports, e.g. `baseline again`.
pub(super) fn again_name(run: &Run) -> String {
    let baseline = run.header.variants.first();
    format!(
        "{} again",
        baseline.map_or("baseline", |it| it.name.as_str())
    )
}

/// Returns the longest time in seconds that one of a block's connections waited for a reply.
pub(super) fn longest_wait(block: &Block) -> f64 {
    let waits = block.load.per_connection.iter().map(|it| it.longest_wait);
    waits.fold(0.0, f64::max)
}

fn metrics(blocks: &[&Block]) -> Vec<MetricSummary> {
    let summary = |metric: Metric| {
        let values: Vec<f64> = blocks.iter().filter_map(|block| metric.of(block)).collect();
        Spread::of(&values).map(|spread| MetricSummary { metric, spread })
    };
    Metric::ALL.into_iter().filter_map(summary).collect()
}

fn failures(blocks: &[&Block]) -> Failures {
    let mut all = Failures::default();
    for block in blocks {
        all += block.load.failures;
    }
    all
}

fn distinct_bodies(blocks: &[&Block]) -> u32 {
    let mut replies: Vec<_> = blocks
        .iter()
        .flat_map(|block| &block.load.bodies)
        .map(|body| (body.url, &body.reply))
        .collect();
    replies.sort_unstable();
    replies.dedup();
    replies.len() as u32
}

fn urls(blocks: &[&Block]) -> Vec<UrlResult> {
    let mut all: Vec<UrlResult> = Vec::new();
    for block in blocks {
        for (at, url) in block.load.urls.iter().enumerate() {
            match all.get_mut(at) {
                Some(sum) => {
                    sum.completed += url.completed;
                    sum.failures += url.failures;
                    sum.bytes_body += url.bytes_body;
                    sum.total.add(&url.total);
                    sum.reason = sum.reason.take().or_else(|| url.reason.clone());
                }
                None => all.push(url.clone()),
            }
        }
    }
    all
}

fn server(blocks: &[&Block]) -> ServerCost {
    blocks
        .iter()
        .map(|block| block.server)
        .fold(ServerCost::default(), |all, one| ServerCost {
            user_seconds: all.user_seconds + one.user_seconds,
            system_seconds: all.system_seconds + one.system_seconds,
            run_queue_seconds: all.run_queue_seconds + one.run_queue_seconds,
            threads_peak: all.threads_peak.max(one.threads_peak),
            processes_peak: all.processes_peak.max(one.processes_peak),
            rss_peak: all.rss_peak.max(one.rss_peak),
            context_switches: all.context_switches + one.context_switches,
            major_faults: all.major_faults + one.major_faults,
            storage_bytes: all.storage_bytes + one.storage_bytes,
        })
}

fn system(blocks: &[&Block]) -> SystemLoad {
    let mean = |part: fn(&SystemLoad) -> f64| mean(blocks, |block| part(&block.system));
    let pressures: Option<Vec<f64>> = blocks.iter().map(|block| block.system.pressure).collect();
    SystemLoad {
        user: mean(|it| it.user),
        system: mean(|it| it.system),
        iowait: mean(|it| it.iowait),
        steal: mean(|it| it.steal),
        idle: mean(|it| it.idle),
        runnable: mean(|it| it.runnable),
        blocked: mean(|it| it.blocked),
        load_1: mean(|it| it.load_1),
        context_switches: mean(|it| it.context_switches),
        forks: mean(|it| it.forks),
        pressure: pressures
            .and_then(|values| Spread::of(&values))
            .map(|it| it.mean),
        retransmits: blocks.iter().map(|block| block.system.retransmits).sum(),
    }
}

fn client(run: &Run, blocks: &[&Block]) -> ClientCost {
    ClientCost {
        cpu_seconds: blocks.iter().map(|block| block.client.cpu_seconds).sum(),
        threads: blocks
            .iter()
            .map(|block| block.client.threads)
            .max()
            .unwrap_or(0),
        busy: mean(blocks, |block| block.client.busy),
        ceiling: client_limit(run, blocks).map_or(0.0, |limit| limit.rate),
    }
}

/// Returns the mean of `part` over blocks; 0 without blocks, which cannot be misread because the summary's `blocks` is
/// 0 then too.
fn mean(blocks: &[&Block], part: impl Fn(&Block) -> f64) -> f64 {
    blocks.iter().map(|block| part(block)).sum::<f64>() / blocks.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn only_blocks_that_count_are_summed() {
        let mut run = fixture::run(2, 4, |_| {});
        let first = all(&run);
        run.blocks[0].discarded = Some("steal".into());
        let second = all(&run);
        assert_eq!(first.len(), 3);
        let baseline = run.blocks[0].variant as usize;
        assert_eq!(second[baseline].blocks + 1, first[baseline].blocks);
        assert_eq!(second[baseline].discarded, 1);
        let per_block = run.blocks[0].load.completed;
        assert_eq!(
            second[baseline].completed + per_block,
            first[baseline].completed
        );
        assert_eq!(second[baseline].total.count(), second[baseline].completed);
    }

    #[test]
    fn the_same_reply_in_many_blocks_is_one_body() {
        let run = fixture::run(2, 4, |_| {});
        assert_eq!(all(&run)[0].distinct_bodies, 1);
    }

    #[test]
    fn a_variant_without_blocks_has_an_empty_summary() {
        let mut run = fixture::run(2, 4, |_| {});
        run.blocks.clear();
        let summaries = all(&run);
        assert_eq!(summaries.len(), 2);
        assert_eq!(summaries[1].blocks, 0);
        assert!(summaries[1].metrics.is_empty());
    }
}
