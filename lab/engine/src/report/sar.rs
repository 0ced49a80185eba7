//! A report in the style of `sar`: what the machine did in each block's measured window, with the CPU and memory use of
//! server and client.

use super::input::status;
use super::units::fixed;
use super::{Format, ReportInput, Table};
use crate::record::{Block, SystemLoad};

pub(super) const FORMAT: Format = Format {
    name: "sar",
    file: "sar.txt",
    about: "the machine in each block's window, in the words of sar",
    print: |input| {
        let tables = [averages(input), blocks(input)];
        Ok(tables.map(|table| table.text()).join("\n").into_bytes())
    },
};

const HEADS: [&str; 16] = [
    "%user", "%system", "%iowait", "%steal", "%idle", "runq", "blocked", "cswch/s", "proc/s",
    "%psi", "ldavg-1*", "srv CPUs", "thr", "RSS MB", "cli CPUs", "%foreign",
];

/// Table of means over the blocks that count, with one row per variant.
pub(super) fn averages(input: &ReportInput<'_>) -> Table {
    let mut table = Table::new("sar-like: means over the blocks that count")
        .words(["variant"])
        .figures(HEADS.into_iter().take(15));
    for summary in &input.analysis.summaries {
        if summary.blocks == 0 {
            continue;
        }
        let per_second = |seconds: f64| (summary.seconds > 0.0).then(|| seconds / summary.seconds);
        let mut row = vec![summary.name.clone()];
        row.extend(system(&summary.system));
        row.extend([
            fixed(summary.server_cpus(), 2),
            summary.server.threads_peak.to_string(),
            fixed(Some(summary.server.rss_peak as f64 / 1e6), 1),
            fixed(per_second(summary.client.cpu_seconds), 2),
        ]);
        table.row(row);
    }
    table.note(LOAD_AVERAGE);
    table
}

/// Table with one row per block, in the order in which they ran.
pub(super) fn blocks(input: &ReportInput<'_>) -> Table {
    let mut table = Table::new("sar-like: each block's window")
        .figures(["block"])
        .words(["variant"])
        .figures(HEADS)
        .words(["status"]);
    for block in &input.run.blocks {
        let mut row = vec![block.index.to_string(), input.name(block).to_owned()];
        if block.failure.is_none() {
            row.extend(system(&block.system));
            row.extend(server(block));
        }
        row.resize(table.columns.len() - 1, String::new());
        row.push(status(block));
        table.row(row);
    }
    table.note(LOAD_AVERAGE);
    table
}

const LOAD_AVERAGE: &str = "* a load average decays over minutes: compare it between windows of equal length only; \
     runq is the mean of the instantaneous counts.";

fn system(it: &SystemLoad) -> Vec<String> {
    let shares = [it.user, it.system, it.iowait, it.steal, it.idle];
    let mut cells: Vec<String> = shares.map(|share| fixed(Some(share * 100.0), 2)).into();
    cells.extend([it.runnable, it.blocked].map(|count| fixed(Some(count), 1)));
    cells.extend([it.context_switches, it.forks].map(|rate| fixed(Some(rate), 1)));
    cells.push(fixed(it.pressure.map(|share| share * 100.0), 1));
    cells.push(fixed(Some(it.load_1), 2));
    cells
}

fn server(block: &Block) -> Vec<String> {
    let seconds = block.load.seconds;
    let cpus = |used: f64| fixed((seconds > 0.0).then(|| used / seconds), 2);
    vec![
        cpus(block.server.cpu_seconds()),
        block.server.threads_peak.to_string(),
        fixed(Some(block.server.rss_peak as f64 / 1e6), 1),
        cpus(block.client.cpu_seconds),
        fixed(Some(block.noise.foreign * 100.0), 2),
    ]
}
