//! The result of a run in the Prometheus text format, for a push gateway or the node exporter's textfile collector.
//! Values are in base units only.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::input::arm;
use super::outcome::quotable;
use super::table::harmless;
use super::{Format, ReportInput, ab, text};
use crate::analysis::Summary;
use crate::scenario::Metric;

pub(super) const FORMAT: Format = Format {
    name: "prom",
    file: "report.prom",
    about: "verdicts and figures as Prometheus text",
    print: |input| Ok(print(input).into_bytes()),
};

fn print(input: &ReportInput<'_>) -> String {
    let mut out = String::new();
    ratios(&mut out, input);
    figures(&mut out, input);
    latencies(&mut out, input);
    head(
        &mut out,
        "andon_lab_findings",
        "gauge",
        "Weaknesses that the experiment found in itself.",
    );
    let mut findings: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for finding in &input.analysis.findings {
        let key = (finding.name, text::severity(finding.severity));
        *findings.entry(key).or_default() += 1.0;
    }
    for ((check, severity), count) in findings {
        let labels = [("check", check), ("severity", severity)];
        sample(&mut out, "andon_lab_findings", &labels, count);
    }
    out
}

fn ratios(out: &mut String, input: &ReportInput<'_>) {
    let families: [(&str, &str); 4] = [
        ("andon_lab_verdict_info", "What can be said, as a word."),
        (
            "andon_lab_ratio",
            "Variant through baseline, geometric mean over pairs.",
        ),
        ("andon_lab_ratio_low", "Lower end of its 95 % interval."),
        ("andon_lab_ratio_high", "Upper end of its 95 % interval."),
    ];
    for (at, (name, about)) in families.into_iter().enumerate() {
        head(out, name, "gauge", about);
        for it in &input.analysis.comparisons {
            let mut labels = vec![
                ("variant", it.name.as_str()),
                ("baseline", it.baseline.as_str()),
                ("metric", it.metric.name()),
            ];
            let value = match (at, quotable(it)) {
                (0, _) => Some(1.0),
                (1, Some(estimate)) => Some(estimate.ratio),
                (2, Some(estimate)) => Some(estimate.interval_95.low),
                (_, Some(estimate)) => Some(estimate.interval_95.high),
                (_, None) => None,
            };
            if at == 0 {
                labels.push(("word", it.verdict.word()));
            }
            if let Some(value) = value {
                sample(out, name, &labels, value);
            }
        }
    }
}

type Figure = (&'static str, &'static str, fn(&Summary) -> Option<f64>);

const FIGURES: &[Figure] = &[
    (
        "andon_lab_requests_per_second",
        "Good replies per second.",
        ab::rate,
    ),
    ("andon_lab_completed_requests", "Good replies.", |it| {
        Some(it.completed as f64)
    }),
    (
        "andon_lab_failed_requests",
        "Requests without a good reply.",
        |it| Some(it.failures.all() as f64),
    ),
    (
        "andon_lab_server_cpu_seconds_per_request",
        "CPU time of the server's tree.",
        |it| it.metric(Metric::CpuSPerRequest).map(|it| it.mean),
    ),
    (
        "andon_lab_server_resident_bytes",
        "Most resident memory seen.",
        |it| Some(it.server.rss_peak as f64),
    ),
    ("andon_lab_body_bytes", "Mean length of a body.", |it| {
        it.bytes_per_reply()
    }),
    ("andon_lab_blocks", "Blocks that count.", |it| {
        Some(f64::from(it.blocks))
    }),
];

fn figures(out: &mut String, input: &ReportInput<'_>) {
    for (name, about, of) in FIGURES {
        head(out, name, "gauge", about);
        for summary in &input.analysis.summaries {
            if let Some(value) = of(summary) {
                sample(
                    out,
                    name,
                    &[("variant", &summary.name), ("arm", arm(summary.arm))],
                    value,
                );
            }
        }
    }
}

fn latencies(out: &mut String, input: &ReportInput<'_>) {
    let name = "andon_lab_response_seconds";
    head(
        out,
        name,
        "summary",
        "Response times, from the intended start to the last byte.",
    );
    for summary in &input.analysis.summaries {
        let times = &summary.total;
        let variant = [
            ("variant", summary.name.as_str()),
            ("arm", arm(summary.arm)),
        ];
        if times.count() > 0 {
            for quantile in ["0.5", "0.9", "0.99"] {
                let share = quantile.parse().unwrap_or(0.5);
                let labels = [variant[0], variant[1], ("quantile", quantile)];
                sample(out, name, &labels, times.quantile(share));
            }
        }
        let sum = times.mean() * times.count() as f64;
        sample(out, &format!("{name}_sum"), &variant, sum);
        sample(
            out,
            &format!("{name}_count"),
            &variant,
            times.count() as f64,
        );
    }
}

fn head(out: &mut String, name: &str, kind: &str, about: &str) {
    let _ = writeln!(out, "# HELP {name} {about}\n# TYPE {name} {kind}");
}

fn sample(out: &mut String, name: &str, labels: &[(&str, &str)], value: f64) {
    let labels: Vec<String> = labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escape(value)))
        .collect();
    let value = if value.is_nan() {
        "NaN".to_owned()
    } else {
        value.to_string()
    };
    let value = value.replace("inf", "+Inf");
    let _ = writeln!(out, "{name}{{{}}} {value}", labels.join(","));
}

fn escape(value: &str) -> String {
    harmless(value).replace('\\', "\\\\").replace('"', "\\\"")
}
