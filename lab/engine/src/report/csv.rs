//! A CSV file for spreadsheets and R with one line per block, including discarded and failed ones.

use super::input::{arm, status};
use super::table::harmless;
use super::{Format, ReportInput};
use crate::record::Block;
use crate::scenario::Metric;

pub(super) const FORMAT: Format = Format {
    name: "csv",
    file: "blocks.csv",
    about: "one line per block; units are in the names of the columns",
    print: |input| Ok(print(input).into_bytes()),
};

type Column = (&'static str, fn(&ReportInput<'_>, &Block) -> String);

const COLUMNS: &[Column] = &[
    ("block", |_, it| it.index.to_string()),
    ("pair", |_, it| it.pair.to_string()),
    ("attempt", |_, it| it.attempt.to_string()),
    ("arm", |_, it| arm(it.arm).to_owned()),
    ("variant", |m, it| m.name(it).to_owned()),
    ("status", |_, it| status(it)),
    ("window_s", |_, it| float(it.load.seconds)),
    ("sent", |_, it| it.load.sent.to_string()),
    ("completed", |_, it| it.load.completed.to_string()),
    ("failed", |_, it| it.load.failures.all().to_string()),
    ("missed_sends", |_, it| it.load.missed_sends.to_string()),
    ("bytes_total", |_, it| it.load.bytes_total.to_string()),
    ("bytes_body", |_, it| it.load.bytes_body.to_string()),
    ("throughput_per_s", |_, it| metric(Metric::Throughput, it)),
    ("p50_s", |_, it| metric(Metric::P50, it)),
    ("p90_s", |_, it| metric(Metric::P90, it)),
    ("p99_s", |_, it| metric(Metric::P99, it)),
    ("mean_s", |_, it| float(it.load.total.mean())),
    ("max_s", |_, it| float(it.load.total.max())),
    ("server_cpu_s_per_request", |_, it| {
        metric(Metric::CpuSPerRequest, it)
    }),
    ("server_user_s", |_, it| float(it.server.user_seconds)),
    ("server_system_s", |_, it| float(it.server.system_seconds)),
    ("server_rss_peak_bytes", |_, it| metric(Metric::Rss, it)),
    ("server_threads_peak", |_, it| {
        it.server.threads_peak.to_string()
    }),
    ("server_context_switches", |_, it| {
        it.server.context_switches.to_string()
    }),
    ("client_cpu_s", |_, it| float(it.client.cpu_seconds)),
    ("client_busy_share", |_, it| float(it.client.busy)),
    ("in_flight", |_, it| float(it.load.in_flight)),
    ("user_share", |_, it| float(it.system.user)),
    ("system_share", |_, it| float(it.system.system)),
    ("iowait_share", |_, it| float(it.system.iowait)),
    ("steal_share", |_, it| float(it.system.steal)),
    ("foreign_share", |_, it| float(it.noise.foreign)),
    ("runnable", |_, it| float(it.system.runnable)),
    ("load_1", |_, it| float(it.system.load_1)),
    ("probe_before_s", |_, it| float(it.noise.probe.before)),
    ("probe_after_s", |_, it| float(it.noise.probe.after)),
    ("warmup_s", |_, it| float(it.warmup.seconds)),
    ("steady", |_, it| it.warmup.steady.to_string()),
];

fn print(input: &ReportInput<'_>) -> String {
    let mut out = line(COLUMNS.iter().map(|(head, _)| (*head).to_owned()));
    for block in &input.run.blocks {
        out += &line(COLUMNS.iter().map(|(_, cell)| cell(input, block)));
    }
    out
}

/// Joins fields into a CSV line and quotes those that need it (RFC 4180).
pub(super) fn line(fields: impl Iterator<Item = String>) -> String {
    let quoted = |field: String| {
        let field = harmless(&field);
        if field.contains(['"', ',']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field
        }
    };
    let fields: Vec<String> = fields.map(quoted).collect();
    format!("{}\n", fields.join(","))
}

fn metric(metric: Metric, block: &Block) -> String {
    metric.of(block).map_or(String::new(), float)
}

/// Formats a number with at most nine decimals, or as an empty field if it is not finite.
fn float(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    let text = format!("{value:.9}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}
