//! Shows variants side by side in the terms of `ab`, the benchmark of Apache.

use super::outcome::quotable;
use super::units::{self, fixed};
use super::{Format, ReportInput, Table, text};
use crate::analysis::Summary;
use crate::record::Latencies;
use crate::scenario::Metric;

pub(super) const FORMAT: Format = Format {
    name: "ab",
    file: "ab.txt",
    about: "variants side by side in the words of ab",
    print: |input| {
        let mut all = tables(input);
        all.push(served_within(input));
        let text: Vec<String> = all.iter().map(Table::text).collect();
        let mut text = text.join("\n");
        // The findings may say that the rate is the client's limit rather than the server's.
        if !input.analysis.findings.is_empty() {
            text::findings(&mut text, input);
        }
        Ok(text.into_bytes())
    },
};

/// Largest width of a table in characters. One variant is shown beside the baseline even if it does not fit.
const ROOM: usize = 130;
/// Width of the label column in characters.
const LABEL: usize = 37;
/// Width of a ratio with its interval, in characters.
const RATIO: usize = 26;

/// Returns tables with the results of all variants beside the baseline, as many tables as the width [`ROOM`] requires,
/// then one with the connection times if there are any.
pub(super) fn tables(input: &ReportInput<'_>) -> Vec<Table> {
    let all: Vec<&Summary> = input.variants().collect();
    let Some((baseline, others)) = all.split_first() else {
        return Vec::new();
    };
    let mut tables: Vec<Table> = groups(baseline, others)
        .into_iter()
        .map(|others| side_by_side(input, baseline, others))
        .collect();
    let times = connection_times(&all);
    if !times.rows.is_empty() {
        tables.push(times);
    }
    tables
}

/// Divides the variants into groups that fit beside the baseline on a screen, each with at least one variant if there
/// is any.
fn groups<'a>(baseline: &Summary, others: &'a [&'a Summary]) -> Vec<&'a [&'a Summary]> {
    let width = |it: &Summary| it.name.chars().count().max(12) + 2;
    let start = LABEL + width(baseline) + " (baseline)".len();
    let (mut groups, mut from, mut width_so_far) = (Vec::new(), 0, start);
    for (at, other) in others.iter().enumerate() {
        let more = width(other) + RATIO;
        if at > from && width_so_far + more > ROOM {
            groups.push(&others[from..at]);
            (from, width_so_far) = (at, start);
        }
        width_so_far += more;
    }
    groups.push(&others[from..]);
    groups
}

/// A row of a table of variants: its label, the function that formats its cells, and the metric by which variants are
/// compared, if any.
type Row = (&'static str, fn(&Summary) -> String, Option<Metric>);

const ROWS: &[Row] = &[
    (
        "Blocks counted / discarded / failed",
        |it| format!("{} / {} / {}", it.blocks, it.discarded, it.failed),
        None,
    ),
    (
        "Concurrency asked / in flight",
        |it| {
            let connections = fixed(measured(it, f64::from(it.connections)), 0);
            format!("{connections} / {}", fixed(measured(it, it.in_flight), 1))
        },
        None,
    ),
    (
        "Time taken for tests [s]",
        |it| fixed(measured(it, it.seconds), 3),
        None,
    ),
    ("Complete requests", |it| it.completed.to_string(), None),
    ("Failed requests", |it| it.failures.to_string(), None),
    ("Sends missed", |it| it.missed_sends.to_string(), None),
    ("Distinct bodies", |it| it.distinct_bodies.to_string(), None),
    (
        "Total transferred [bytes]",
        |it| it.bytes_total.to_string(),
        None,
    ),
    (
        "Body transferred [bytes]",
        |it| it.bytes_body.to_string(),
        None,
    ),
    ("Bytes per body", |it| fixed(it.bytes_per_reply(), 0), None),
    (
        "Requests per second [#/sec]",
        |it| fixed(rate(it), 2),
        Some(Metric::Throughput),
    ),
    (
        "Server CPU per request [ms]",
        |it| fixed(cpu(it).map(ms), 3),
        Some(Metric::CpuSPerRequest),
    ),
    ("Server CPUs used", |it| fixed(it.server_cpus(), 2), None),
    (
        "Client CPU per request [ms]",
        |it| fixed(client_cpu(it).map(ms), 3),
        None,
    ),
    (
        "Client's threads busy [%]",
        |it| fixed(measured(it, it.client.busy * 100.0), 1),
        None,
    ),
    (
        "Client's own limit [#/sec]",
        |it| fixed((it.client.ceiling > 0.0).then_some(it.client.ceiling), 0),
        None,
    ),
    (
        "Server memory, peak [MB]",
        |it| fixed(served(it, it.server.rss_peak as f64 / 1e6), 1),
        Some(Metric::Rss),
    ),
    (
        "Time per request, mean [ms]",
        |it| fixed(mean(&it.total), 3),
        None,
    ),
    (
        "Time per request, across all [ms]",
        |it| fixed(rate(it).filter(|it| *it > 0.0).map(|it| 1e3 / it), 3),
        None,
    ),
    (
        "Transfer rate [Kbytes/sec]",
        |it| fixed(per_second(it, it.bytes_total as f64 / 1024.0), 2),
        None,
    ),
    (
        "50% served within [ms]",
        |it| quantile(&it.total, 0.50),
        Some(Metric::P50),
    ),
    (
        "90% served within [ms]",
        |it| quantile(&it.total, 0.90),
        Some(Metric::P90),
    ),
    (
        "99% served within [ms]",
        |it| quantile(&it.total, 0.99),
        Some(Metric::P99),
    ),
];

fn side_by_side(input: &ReportInput<'_>, baseline: &Summary, others: &[&Summary]) -> Table {
    let load = &input.run.header.scenario.load;
    let mut table = Table::new(format!(
        "ab-like: keep-alive {}",
        if load.keepalive { "on" } else { "off" }
    ))
    .words([""])
    .figures([format!("{} (baseline)", baseline.name)]);
    for other in others {
        table = table.figures([other.name.clone()]).words(["ratio [95 %]"]);
    }
    for (label, cell, metric) in ROWS {
        let mut row = vec![(*label).to_owned(), cell(baseline)];
        for other in others {
            let comparison = metric.and_then(|metric| input.comparison(other.variant, metric));
            let estimate = comparison.and_then(quotable);
            row.push(cell(other));
            row.push(estimate.map_or(String::new(), |it| {
                let interval = units::interval(it.interval_95.low, it.interval_95.high);
                format!("{} {interval}", units::ratio(it.ratio))
            }));
        }
        table.row(row);
    }
    table
}

/// The table that ab calls "Connection Times", with a group of rows per variant.
fn connection_times(all: &[&Summary]) -> Table {
    let heads = ["min", "mean", "sd", "median", "p90", "p99", "max"];
    let mut table = Table::new("Connection times [ms]")
        .words(["", ""])
        .figures(heads);
    for summary in all {
        let parts = [
            ("Connect", &summary.connect),
            ("Waiting", &summary.waiting),
            ("Processing", &summary.service),
            ("Total", &summary.total),
            ("Send lag", &summary.send_lag),
        ];
        let mut name = summary.name.as_str();
        for (part, times) in parts {
            // Without new connections there are no connect times, and in a closed loop there is no send lag.
            if times.count() == 0 || (part == "Send lag" && times.max() < 1e-6) {
                continue;
            }
            let mut row = vec![std::mem::take(&mut name).to_owned(), part.to_owned()];
            row.extend(
                [times.min(), times.mean(), times.deviation()].map(|it| fixed(Some(ms(it)), 2)),
            );
            row.extend([0.50, 0.90, 0.99].map(|share| quantile(times, share)));
            row.push(fixed(Some(ms(times.max())), 2));
            table.row(row);
        }
    }
    table.note("A dash: fewer than ten requests lie beyond, too few for this quantile.");
    table
}

/// The last table of ab's output: percentiles of response times.
fn served_within(input: &ReportInput<'_>) -> Table {
    let names: Vec<String> = input.variants().map(|it| it.name.clone()).collect();
    let title = "Percentage of the requests served within a certain time [ms]";
    let mut table = Table::new(title).figures(["%"]).figures(names);
    for percent in [50, 66, 75, 80, 90, 95, 98, 99] {
        let share = f64::from(percent) / 100.0;
        let cells = input.variants().map(|it| quantile(&it.total, share));
        table.row(std::iter::once(percent.to_string()).chain(cells));
    }
    let longest = input
        .variants()
        .map(|it| some(&it.total).then(|| ms(it.total.max())));
    let longest = longest.map(|it| fixed(it, 2));
    table.row(std::iter::once("100".to_owned()).chain(longest));
    table
}

/// Formats a quantile in ms, or a dash if fewer than ten requests lie beyond it.
pub(super) fn quantile(times: &Latencies, share: f64) -> String {
    fixed(stands(times, share).then(|| ms(times.quantile(share))), 2)
}

/// Returns whether at least ten requests lie beyond a quantile. With fewer, its value is a matter of chance.
pub(super) fn stands(times: &Latencies, share: f64) -> bool {
    times.count() as f64 * (1.0 - share) > 9.999
}

/// Returns the variant with the highest rate of good replies. Variants may differ only in their number of connections.
pub(super) fn fastest<'a>(input: &ReportInput<'a>) -> Option<&'a Summary> {
    let measured = input.variants().filter(|it| rate(it).is_some());
    measured.max_by(|a, b| rate(a).unwrap_or(0.0).total_cmp(&rate(b).unwrap_or(0.0)))
}

/// Returns the good replies per second over all measured windows.
pub(super) fn rate(it: &Summary) -> Option<f64> {
    per_second(it, it.completed as f64)
}

fn per_second(it: &Summary, count: f64) -> Option<f64> {
    (it.seconds > 0.0).then(|| count / it.seconds)
}

/// Returns the server's CPU seconds per good reply, if its processes were seen.
pub(super) fn cpu(it: &Summary) -> Option<f64> {
    (it.completed > 0 && it.server.is_known())
        .then(|| it.server.cpu_seconds() / it.completed as f64)
}

fn client_cpu(it: &Summary) -> Option<f64> {
    (it.completed > 0).then(|| it.client.cpu_seconds / it.completed as f64)
}

/// Returns `value` if at least one block was measured, and `None` otherwise, because a reported 0 would look like a
/// measurement.
fn measured(it: &Summary, value: f64) -> Option<f64> {
    (it.blocks > 0).then_some(value)
}

/// Returns `value`, a metric of the server's processes, or `None` if these were never observed.
fn served(it: &Summary, value: f64) -> Option<f64> {
    it.server.is_known().then_some(value)
}

fn mean(times: &Latencies) -> Option<f64> {
    some(times).then(|| ms(times.mean()))
}

fn some(times: &Latencies) -> bool {
    times.count() > 0
}

fn ms(seconds: f64) -> f64 {
    seconds * 1e3
}
