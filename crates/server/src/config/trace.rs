//! `[trace]`: where the spans of traced requests are sent.

use andon_settings::check;
use serde::Deserialize;

use super::{BaseUrl, ConfigError};

/// The `[trace]` table: where the spans of traced requests are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TraceConfig {
    /// URL of a collector that accepts OTLP over HTTP; `/v1/traces` is appended.
    pub otlp: Option<BaseUrl>,
}

impl TraceConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let Some(collector) = &self.otlp else {
            return Ok(());
        };
        check(cfg!(feature = "otlp"), "trace.otlp", || {
            "this binary cannot export spans; build it with `--features otlp`, or leave the key out"
                .to_owned()
        })?;
        check(collector.0.scheme() == "http", "trace.otlp", || {
            format!(
                "{} is not http; name a collector of this machine or network, which can speak TLS to others",
                collector.0
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::config::Config;

    fn message(collector: &str) -> String {
        let text = format!("[trace]\notlp = \"{collector}\"");
        let parsed = Config::parse(&text, Path::new("/etc/andon"));
        parsed.map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[cfg(feature = "otlp")]
    #[test]
    fn a_collector_is_reached_by_plain_http() {
        assert_eq!(message("http://127.0.0.1:4318"), "");
        let said = message("https://collector.example:4318");
        assert!(
            said.contains("collector.example") && said.contains("is not http"),
            "{said}"
        );
    }

    #[cfg(not(feature = "otlp"))]
    #[test]
    fn a_binary_that_cannot_export_says_so() {
        let said = message("http://127.0.0.1:4318");
        assert!(
            said.contains("trace.otlp") && said.contains("--features otlp"),
            "{said}"
        );
    }
}
