//! Prometheus' text format, version 0.0.4, and OpenMetrics 1.0, which has exemplars.

use std::fmt::Write as _;

use super::histogram::BOUNDS;
use super::metric_set::{Family, Kind, MetricSet, Value};
use super::{Distribution, Exemplar};

/// A text format for metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Prometheus' text format, which every scraper reads.
    Text,
    OpenMetrics,
}

impl Format {
    /// Returns the `Content-Type` of the reply.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

impl MetricSet {
    /// Writes all metrics, each family followed by its samples.
    pub(crate) fn text(&self, format: Format) -> String {
        let mut out = Writer {
            text: String::new(),
            format,
        };
        for family in &self.families {
            out.family(family);
        }
        if format == Format::OpenMetrics {
            out.text.push_str("# EOF\n");
        }
        out.text
    }
}

/// A writer of one format into a `String`, which cannot fail.
struct Writer {
    text: String,
    format: Format,
}

impl Writer {
    fn family(&mut self, family: &Family) {
        let kind = match family.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        // In OpenMetrics, a counter's samples have the suffix `_total`, and its family has not.
        let name = match (self.format, family.kind) {
            (Format::OpenMetrics, Kind::Counter) => family.name.trim_end_matches("_total"),
            _ => family.name,
        };
        let help = family.help;
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for point in &family.points {
            let labels: Vec<_> = (point.labels.iter())
                .map(|(name, label)| (*name, label.as_str()))
                .collect();
            match &point.value {
                Value::Number(value) => self.sample(family.name, "", &labels, *value, None),
                Value::Distribution(it) => self.distribution(family.name, &labels, it),
            }
        }
    }

    fn distribution(&mut self, name: &str, labels: &[(&str, &str)], it: &Distribution) {
        let mut sum = 0;
        for (index, (count, exemplar)) in it.counts.iter().zip(&it.exemplars).enumerate() {
            sum += count;
            let bound = match (BOUNDS.get(index), self.format) {
                (None, _) => "+Inf".to_owned(),
                (Some(bound), Format::Text) => bound.to_string(),
                // OpenMetrics requires a decimal point, which `Debug` always writes.
                (Some(bound), Format::OpenMetrics) => format!("{bound:?}"),
            };
            let labels: Vec<_> = labels.iter().copied().chain([("le", &*bound)]).collect();
            self.sample(name, "_bucket", &labels, sum as f64, exemplar.as_ref());
        }
        self.sample(name, "_sum", labels, it.seconds, None);
        self.sample(name, "_count", labels, sum as f64, None);
    }

    /// Writes one sample, with an exemplar if the format has exemplars.
    fn sample(
        &mut self,
        name: &str,
        suffix: &str,
        labels: &[(&str, &str)],
        value: f64,
        exemplar: Option<&Exemplar>,
    ) {
        let _ = write!(self.text, "{name}{suffix}");
        for (index, (name, label)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{before}{name}=\"{}\"", escape(label));
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = write!(self.text, " {value}");
        if let (Format::OpenMetrics, Some(exemplar)) = (self.format, exemplar) {
            let _ = write!(self.text, " # {exemplar}");
        }
        self.text.push('\n');
    }
}

fn escape(label: &str) -> String {
    label
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_sample_follows_its_family_and_its_labels_are_escaped() {
        let mut out = MetricSet::new(SystemTime::UNIX_EPOCH);
        out.gauge("andon_x_bytes", "What x holds.");
        out.sample(&[("of", "a\"b\\c\nd"), ("at", "e")], 1.5);
        out.value(1e9);
        assert_eq!(
            out.text(Format::Text),
            "# HELP andon_x_bytes What x holds.\n# TYPE andon_x_bytes gauge\n\
             andon_x_bytes{of=\"a\\\"b\\\\c\\nd\",at=\"e\"} 1.5\nandon_x_bytes 1000000000\n"
        );
    }

    #[test]
    fn a_counter_of_openmetrics_has_a_suffix_that_its_family_has_not() {
        let mut out = MetricSet::new(SystemTime::UNIX_EPOCH);
        out.counter("andon_x_total", "How often x was.");
        out.value(2.0);
        assert_eq!(
            out.text(Format::OpenMetrics),
            "# HELP andon_x How often x was.\n# TYPE andon_x counter\nandon_x_total 2\n# EOF\n"
        );
    }
}
