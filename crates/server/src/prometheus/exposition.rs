//! Prometheus' text format, version 0.0.4, and OpenMetrics 1.0, which has exemplars.

use std::fmt::Write as _;

use super::Exemplar;

/// The format of an exposition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// Prometheus' text format, which every scraper reads.
    #[default]
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

/// A text of metrics that is being written: each family first, then its samples.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    text: String,
    family: &'static str,
    pub(super) format: Format,
}

impl Exposition {
    /// Creates an empty text.
    pub(crate) fn new(format: Format) -> Self {
        Self {
            format,
            ..Self::default()
        }
    }

    /// Begins a family for a value that only grows.
    pub(crate) fn counter(&mut self, name: &'static str, help: &'static str) {
        self.family(name, help, "counter");
    }

    /// Begins a family for a current value, which may rise and fall.
    pub(crate) fn gauge(&mut self, name: &'static str, help: &'static str) {
        self.family(name, help, "gauge");
    }

    /// Begins a family for a distribution of values.
    pub(crate) fn histogram(&mut self, name: &'static str, help: &'static str) {
        self.family(name, help, "histogram");
    }

    fn family(&mut self, name: &'static str, help: &'static str, kind: &'static str) {
        self.family = name;
        // There a counter's samples have a suffix that its family has not.
        let name = match (self.format, kind) {
            (Format::OpenMetrics, "counter") => name.trim_end_matches("_total"),
            _ => name,
        };
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Writes the only sample of the family that was begun last, without labels. Writes nothing for `None`.
    pub(crate) fn value(&mut self, value: impl Into<Option<f64>>) {
        if let Some(value) = value.into() {
            self.sample("", &[], value);
        }
    }

    /// Writes one sample of the family that was begun last. `suffix` is appended to the family's name, such as
    /// `_bucket`.
    pub(crate) fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: f64) {
        self.sample_with(suffix, labels, value, None);
    }

    /// Writes one sample of the family that was begun last, with an exemplar if the format has exemplars.
    pub(super) fn sample_with(
        &mut self,
        suffix: &str,
        labels: &[(&str, &str)],
        value: f64,
        exemplar: Option<&Exemplar>,
    ) {
        let _ = write!(self.text, "{}{suffix}", self.family);
        for (index, (name, label)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{before}{name}=\"{}\"", escaped(label));
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

    /// Returns the finished text.
    pub(crate) fn finish(mut self) -> String {
        if self.format == Format::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        self.text
    }
}

fn escaped(label: &str) -> String {
    label
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_follows_its_family_and_its_labels_are_escaped() {
        let mut out = Exposition::default();
        out.gauge("andon_x_bytes", "What x holds.");
        out.sample("", &[("of", "a\"b\\c\nd"), ("at", "e")], 1.5);
        out.value(1e9);
        assert_eq!(
            out.finish(),
            "# HELP andon_x_bytes What x holds.\n# TYPE andon_x_bytes gauge\n\
             andon_x_bytes{of=\"a\\\"b\\\\c\\nd\",at=\"e\"} 1.5\nandon_x_bytes 1000000000\n"
        );
    }

    #[test]
    fn a_counter_of_openmetrics_has_a_suffix_that_its_family_has_not() {
        let mut out = Exposition::new(Format::OpenMetrics);
        out.counter("andon_x_total", "How often x was.");
        out.value(2.0);
        assert_eq!(
            out.finish(),
            "# HELP andon_x How often x was.\n# TYPE andon_x counter\nandon_x_total 2\n# EOF\n"
        );
    }
}
