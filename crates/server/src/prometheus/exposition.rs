//! Prometheus' text format, version 0.0.4.

use std::fmt::Write as _;

/// A text in the making: a family first, then its samples.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    text: String,
    family: &'static str,
}

impl Exposition {
    /// What the reply's Content-Type says.
    pub(crate) const MEDIA_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// Something that only grows.
    pub(crate) fn counter(&mut self, name: &'static str, help: &'static str) {
        self.family(name, help, "counter");
    }

    /// Something that is now.
    pub(crate) fn gauge(&mut self, name: &'static str, help: &'static str) {
        self.family(name, help, "gauge");
    }

    /// How something is spread.
    pub(crate) fn histogram(&mut self, name: &'static str, help: &'static str) {
        self.family(name, help, "histogram");
    }

    fn family(&mut self, name: &'static str, help: &'static str, kind: &'static str) {
        self.family = name;
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// One sample of the family that was named last; `suffix` is `_bucket` and the like.
    pub(crate) fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: f64) {
        let _ = write!(self.text, "{}{suffix}", self.family);
        for (index, (name, label)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{before}{name}=\"{}\"", escaped(label));
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }

    /// The finished text.
    pub(crate) fn finish(self) -> String {
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
        out.sample("", &[], 1e9);
        assert_eq!(
            out.finish(),
            "# HELP andon_x_bytes What x holds.\n# TYPE andon_x_bytes gauge\n\
             andon_x_bytes{of=\"a\\\"b\\\\c\\nd\",at=\"e\"} 1.5\nandon_x_bytes 1000000000\n"
        );
    }
}
