//! JMeter's aggregate report, with one line per variant and URL.

use super::units::fixed;
use super::{Format, ReportInput, Table, ab};
use crate::analysis::Summary;
use crate::record::Latencies;

pub(super) const FORMAT: Format = Format {
    name: "jmeter",
    file: "jmeter.txt",
    about: "JMeter's aggregate report per variant and URL",
    print: |input| Ok(table(input, usize::MAX).text().into_bytes()),
};

const HEADS: [&str; 15] = [
    "#Samples",
    "Average",
    "Median",
    "90%",
    "95%",
    "99%",
    "Min",
    "Max",
    "StdDev",
    "Error%",
    "Throughput/s",
    "KB/sec",
    "AvgBytes",
    "InFlight",
    "Stall",
];

/// Returns the report as a table with at most `urls` URLs per variant.
pub(super) fn table(input: &ReportInput<'_>, urls: usize) -> Table {
    let mut table = Table::new("JMeter-like: aggregate report, times in ms")
        .words(["Label"])
        .figures(HEADS);
    for summary in input.variants() {
        let line = Line::all(summary);
        let cells = [
            fixed(Some(summary.in_flight), 1),
            fixed(Some(summary.longest_wait * 1e3), 1),
        ];
        table.row(line.cells().into_iter().chain(cells));
        if summary.urls.len() > 1 {
            for line in Line::urls(summary).take(urls) {
                table.row(line.cells());
            }
        }
    }
    if input.variants().any(|it| it.urls.len() > urls) {
        table.note(format!("The first {urls} URLs of each variant."));
    }
    table.note("Stall: the longest time that a connection waited for a reply. InFlight: mean of requests under way.");
    table
}

/// Largest number of URLs per variant in HTML and Markdown reports: all URLs of a long list would make them too large.
pub(super) const MOST_URLS: usize = 60;

/// The values of one line of the report, which is for a whole variant or one of its URLs.
pub(super) struct Line<'a> {
    pub(super) label: String,
    pub(super) times: &'a Latencies,
    pub(super) good: u64,
    pub(super) bad: u64,
    pub(super) seconds: f64,
    pub(super) bytes: u64,
}

impl<'a> Line<'a> {
    /// Creates the line of the report for a whole variant.
    pub(super) fn all(summary: &'a Summary) -> Self {
        Self {
            label: summary.name.clone(),
            times: &summary.total,
            good: summary.completed,
            bad: summary.failures.all(),
            seconds: summary.seconds,
            bytes: summary.bytes_body,
        }
    }

    /// Creates one line of the report for each URL of a variant.
    pub(super) fn urls(summary: &'a Summary) -> impl Iterator<Item = Self> {
        summary.urls.iter().map(|url| Self {
            label: format!("{} {}", summary.name, url.url),
            times: &url.total,
            good: url.completed,
            bad: url.failures,
            seconds: summary.seconds,
            bytes: url.bytes_body,
        })
    }

    /// Returns the number of samples (JMeter's word for requests), good and bad.
    pub(super) fn samples(&self) -> u64 {
        self.good + self.bad
    }

    /// Returns the share of samples (JMeter's word for requests) that failed, or `None` without samples.
    pub(super) fn errors(&self) -> Option<f64> {
        (self.samples() > 0).then(|| self.bad as f64 / self.samples() as f64)
    }

    /// Divides a count by the total length of the measured windows in seconds; `None` if nothing was measured.
    pub(super) fn per_second(&self, count: f64) -> Option<f64> {
        (self.seconds > 0.0).then(|| count / self.seconds)
    }

    fn cells(&self) -> Vec<String> {
        let times = self.times;
        let some = times.count() > 0;
        let ms = |seconds: f64| fixed(some.then_some(seconds * 1e3), 2);
        let mut cells = vec![
            self.label.clone(),
            self.samples().to_string(),
            ms(times.mean()),
        ];
        cells.extend([0.50, 0.90, 0.95, 0.99].map(|share| ab::quantile(times, share)));
        cells.extend([ms(times.min()), ms(times.max()), ms(times.deviation())]);
        cells.push(fixed(self.errors().map(|it| it * 100.0), 2));
        cells.push(fixed(self.per_second(self.samples() as f64), 3));
        cells.push(fixed(self.per_second(self.bytes as f64 / 1024.0), 2));
        cells.push(fixed(
            (self.good > 0).then(|| self.bytes as f64 / self.good as f64),
            1,
        ));
        cells
    }
}
