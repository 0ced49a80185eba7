//! `[otlp]`: the collector that traces, metrics and logs are sent to.

mod target;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use andon_settings::{Secret, check};
use hyper::header::{self, HeaderName, HeaderValue};
use serde::Deserialize;
use url::Url;

use super::{ConfigError, Span};

pub(crate) use target::{OtlpTarget, otlp_warnings};

/// The `[otlp]` table: the collector that traces, metrics and logs are sent to by OTLP over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OtlpConfig {
    /// The collector's base URL. Without one, here or in the environment, no telemetry is sent.
    pub url: Option<CollectorUrl>,
    /// Whether requests of sampled traces are sent as spans.
    pub traces: bool,
    /// Whether the metrics that `/metrics` shows are sent to the collector, too.
    pub metrics: bool,
    /// Whether the server's own log lines are sent.
    pub logs: bool,
    /// Whether each request is sent as a log record.
    pub access_log: bool,
    /// The time between two exports of metrics.
    pub interval: Span,
    /// Headers of each request to the collector.
    pub headers: OtlpHeaders,
    /// Headers whose values are in environment variables: the names of headers, and of their variables.
    pub headers_env: BTreeMap<String, String>,
    /// A PEM file with certificate authorities that are trusted in addition to the public ones.
    pub ca: Option<PathBuf>,
    /// Resource attributes, such as `service.name`.
    pub resource: BTreeMap<String, String>,
}

/// The base URL of a collector, to which `/v1/traces`, `/v1/metrics` and `/v1/logs` are appended.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct CollectorUrl(pub Url);

/// Headers by name. Their values may be secrets, and are not printed.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct OtlpHeaders(BTreeMap<String, Secret>);

/// Advice for configurations of earlier versions, which set `otlp` in the table `[trace]`: the key's path, and what to
/// write instead.
pub(super) const ADVICE: &[(&str, &str)] = &[("trace", "`otlp` in [trace] is `url` in [otlp] now")];

impl Default for OtlpConfig {
    fn default() -> Self {
        Self {
            url: None,
            traces: true,
            metrics: true,
            logs: true,
            access_log: false,
            interval: Span(Duration::from_secs(60)),
            headers: OtlpHeaders::default(),
            headers_env: BTreeMap::new(),
            ca: None,
            resource: BTreeMap::new(),
        }
    }
}

impl TryFrom<String> for CollectorUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // Even a text that is no URL may contain a password, so the error does not print it.
        if text.contains('@') {
            return Err(
                "a URL with a name or password in it ends up in logs; use `headers_env`".to_owned(),
            );
        }
        let Ok(url) = Url::parse(&text) else {
            return Err(wrong(&text, "is no URL"));
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong(&text, "is neither http nor https"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong(
                &text,
                "has a query or a fragment, after which no path can follow",
            ));
        }
        let ends = ["/v1/traces", "/v1/metrics", "/v1/logs"];
        if let Some(end) = ends.iter().find(|end| url.path().ends_with(**end)) {
            return Err(wrong(&text, &format!("ends with {end}, which is appended")));
        }
        Ok(Self(url))
    }
}

fn wrong(text: &str, why: &str) -> String {
    format!("`{text}` {why}; write it like \"http://127.0.0.1:4318\"")
}

/// Prints the names only.
impl fmt::Debug for OtlpHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl OtlpConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let interval = self.interval.0;
        check(
            (SHORTEST_INTERVAL..=LONGEST_INTERVAL).contains(&interval),
            "otlp.interval",
            || format!("{interval:?} is not between \"1s\" and \"1h\"; \"60s\" is a good value"),
        )?;
        for (name, value) in &self.headers.0 {
            let key = format!("otlp.headers.{name}");
            header(name, value.reveal()).map_err(|why| ConfigError::new(key, why))?;
        }
        for name in self.headers_env.keys() {
            let key = format!("otlp.headers_env.{name}");
            header(name, "").map_err(|why| ConfigError::new(&*key, why))?;
            let is_twice = (self.headers.0.keys()).any(|other| other.eq_ignore_ascii_case(name));
            check(!is_twice, key, || {
                "is in `otlp.headers` as well; keep one".to_owned()
            })?;
        }
        Ok(())
    }
}

/// Returns a header of requests to a collector, with a value that is marked as sensitive.
///
/// # Errors
/// A sentence about what is wrong with the header, without its value.
fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let key = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| format!("\"{name}\" is no name of a header"))?;
    if RESERVED.contains(&key) {
        return Err(format!("{name} is set by the client itself"));
    }
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| format!("the value of {name} has characters that no header can have"))?;
    value.set_sensitive(true);
    Ok((key, value))
}

/// Headers that describe a message or belong to the connection, and cannot be configured.
const RESERVED: [HeaderName; 8] = [
    header::CONNECTION,
    header::CONTENT_ENCODING,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::EXPECT,
    header::HOST,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);

const LONGEST_INTERVAL: Duration = Duration::from_secs(3600);

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::config::Config;

    fn message(text: &str) -> String {
        let parsed = Config::parse(text, Path::new("/etc/andon"));
        parsed.map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn a_collector_is_reached_by_http_or_https() {
        for url in ["http://127.0.0.1:4318", "https://otlp.example/prefix/"] {
            assert_eq!(message(&format!("[otlp]\nurl = \"{url}\"")), "");
        }
    }

    #[test]
    fn what_cannot_work_is_refused_with_its_key_and_without_secrets() {
        for (text, key, said) in [
            (
                "url = \"ftp://a.test\"",
                "otlp.url",
                "neither http nor https",
            ),
            (
                "url = \"collector:4318\"",
                "otlp.url",
                "neither http nor https",
            ),
            (
                "url = \"http://me:s3cret@a.test\"",
                "otlp.url",
                "`headers_env`",
            ),
            ("url = \"me:s3cret@a.test\"", "otlp.url", "`headers_env`"),
            ("url = \"http://a.test/?key=s\"", "otlp.url", "a query"),
            (
                "url = \"http://a.test:4318/v1/metrics\"",
                "otlp.url",
                "ends with /v1/metrics, which is appended",
            ),
            ("interval = \"10ms\"", "otlp.interval", "10ms"),
            (
                "headers = { Host = \"s3cret\" }",
                "otlp.headers.Host",
                "by the client",
            ),
            (
                "headers = { \"a b\" = \"s3cret\" }",
                "otlp.headers",
                "\"a b\" is no name",
            ),
            (
                "headers = { a = \"s3cret\\n\" }",
                "otlp.headers.a",
                "the value of a has",
            ),
            (
                "headers = { a = \"s3cret\" }\nheaders_env = { A = \"KEY\" }",
                "otlp.headers_env.A",
                "keep one",
            ),
            ("header = { a = \"s3cret\" }", "", "did you mean `headers`?"),
            ("headers = \"a=s3cret\"", "otlp.headers", "a table"),
            ("headers = [\"a=s3cret\"]", "otlp.headers", "a table"),
            ("headers = { a = [\"s3cret\"] }", "otlp.headers.a", "a text"),
        ] {
            let error = message(&format!("[otlp]\n{text}"));
            assert!(
                error.contains(key) && error.contains(said),
                "{text}: {error}"
            );
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn the_table_of_old_is_refused_with_the_new_key() {
        let said = message("\n[trace]\notlp = \"http://127.0.0.1:4318\"");
        assert!(
            said.contains("line 2") && said.contains("`url` in [otlp]"),
            "{said}"
        );
    }

    #[test]
    fn values_of_headers_are_not_shown() {
        let text = "[otlp]\nheaders = { x-key = \"s3cret\" }";
        let config = Config::parse(text, Path::new("/etc/andon")).unwrap();
        let shown = format!("{:?}", config.otlp);
        assert!(
            shown.contains("x-key") && !shown.contains("s3cret"),
            "{shown}"
        );
    }
}
