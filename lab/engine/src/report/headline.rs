//! The five most important metrics of a load test: rate, median, 99th percentile, errors and CPU per request.

use super::table::harmless;
use super::units::{self, UNKNOWN};
use super::{ReportInput, ab};
use crate::analysis::Summary;

/// Returns one line for each of the five metrics. If the server was measured at several numbers of connections, the
/// lines are about the one with the highest rate. `unknown` says why the server's CPU time is not known.
#[must_use]
pub fn lines(input: &ReportInput<'_>, unknown: &str) -> Vec<String> {
    let Some(it) = ab::fastest(input) else {
        return vec!["Nothing was measured.".to_owned()];
    };
    let levels = input.variants().count();
    let level = if levels > 1 {
        format!(" (the highest of {levels} levels, {})", harmless(&it.name))
    } else {
        String::new()
    };
    let rate = ab::rate(it).map_or_else(|| UNKNOWN.to_owned(), units::number);
    vec![
        line("Requests per second", &format!("{rate}{level}")),
        line("Latency, median (p50)", &quantile(it, 0.50)),
        line("Latency, p99", &quantile(it, 0.99)),
        line("Errors", &errors(it)),
        line("Server CPU per request", &cpu(it, unknown)),
    ]
}

fn line(label: &str, value: &str) -> String {
    format!("{label:24}{value}")
}

fn quantile(it: &Summary, share: f64) -> String {
    let count = it.total.count();
    if ab::stands(&it.total, share) {
        return units::duration(it.total.quantile(share));
    }
    format!("{UNKNOWN} (fewer than ten of {count} requests lie beyond it)")
}

fn errors(it: &Summary) -> String {
    if it.failures.all() == 0 {
        return format!("0 of {} requests", it.sent);
    }
    let mut text = format!("{} of {} requests", it.failures, it.sent);
    let failing = it.urls.iter().filter(|url| url.failures > 0);
    if let Some(url) = failing.max_by_key(|url| url.failures) {
        let why = url.reason.as_deref().unwrap_or("no reason is known");
        text += &format!(", most of them {}: {}", harmless(&url.url), harmless(why));
    }
    text
}

fn cpu(it: &Summary, unknown: &str) -> String {
    match ab::cpu(it) {
        Some(seconds) => units::duration(seconds),
        None => format!("{UNKNOWN} ({unknown})"),
    }
}
