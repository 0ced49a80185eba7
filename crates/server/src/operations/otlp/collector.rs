//! The collector that telemetry is sent to, by POST requests of OTLP over HTTP with JSON bodies.

use std::fmt;
use std::io::{self, Write as _};
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::client::legacy;
use serde_json::{Value, json};
use url::Url;

use crate::config::{Config, ConfigError, Environment, OtlpTarget};
use crate::error::OriginError;
use crate::net::Guard;
use crate::operations::metrics::exports::Signal;
use crate::operations::otlp::values;
use crate::origins::{Connector, pool, retry_after, trouble};

/// A collector, and the data that all messages to it share.
pub(crate) struct Collector {
    http: legacy::Client<Connector, Full<Bytes>>,
    base: Url,
    headers: HeaderMap,
    /// The resource of each message.
    pub(super) resource: Value,
}

/// A collector's answer to a message that it accepted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Receipt {
    /// Number of spans, data points or log records that the collector rejected.
    pub(super) rejected: usize,
    /// Why the collector rejected a part of the message, or a warning; empty without either.
    pub(super) message: String,
}

/// Why the collector did not accept a message.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    #[error("{}", reason(.0))]
    Connection(OriginError),
    #[error("it answered {status}{}", hint(.status, .signal))]
    Status {
        status: StatusCode,
        /// The `Retry-After` header in seconds.
        retry_after: Option<u32>,
        signal: Signal,
    },
    #[error("it did not answer within {} s", PATIENCE.as_secs())]
    Late,
}

impl Collector {
    /// Returns the collector that the configuration or the environment names, if any does. Does not connect to it yet.
    ///
    /// # Errors
    /// If a key or variable is invalid.
    pub(crate) fn of(
        config: &Config,
        environment: &Environment,
    ) -> Result<Option<Self>, ConfigError> {
        let Some(target) = OtlpTarget::of(config, environment)? else {
            return Ok(None);
        };
        let connector = Connector::new(Guard::of_collector(), config.otlp.ca.as_deref(), CONNECT)
            .map_err(|why| ConfigError::new("otlp.ca", why))?;
        let attributes = target.resource.iter();
        let attributes = attributes.map(|(name, value)| values::text(name, value));
        Ok(Some(Self {
            http: pool(1).build(connector),
            base: target.url,
            headers: target.headers,
            resource: json!({ "attributes": attributes.collect::<Vec<_>>() }),
        }))
    }

    /// Sends one message.
    ///
    /// # Errors
    /// If the collector does not accept the message within [`PATIENCE`].
    pub(super) async fn send(&self, signal: Signal, body: Bytes) -> Result<Receipt, SendError> {
        let sending = tokio::time::timeout(PATIENCE, self.post(signal, body));
        sending.await.unwrap_or(Err(SendError::Late))
    }

    async fn post(&self, signal: Signal, body: Bytes) -> Result<Receipt, SendError> {
        let bad_endpoint = |_| SendError::Connection(OriginError::Garbled);
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.endpoint(signal).parse::<Uri>().map_err(bad_endpoint)?;
        let headers = request.headers_mut();
        headers.clone_from(&self.headers);
        for (name, value) in [
            (CONTENT_TYPE, "application/json"),
            (CONTENT_ENCODING, "gzip"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers
            .entry(USER_AGENT)
            .or_insert(HeaderValue::from_static(NAME));
        let response = self.http.request(request).await;
        let response = response.map_err(|error| SendError::Connection(trouble(&error)))?;
        let status = response.status();
        match status.is_success() {
            true => Ok(receipt(response).await),
            false => Err(SendError::Status {
                status,
                retry_after: retry_after(response.headers()),
                signal,
            }),
        }
    }

    fn endpoint(&self, signal: Signal) -> String {
        let base = self.base.as_str().trim_end_matches('/');
        format!("{base}/v1/{}", signal.name())
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Collector({self})")
    }
}

impl fmt::Display for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.base.as_str())
    }
}

impl SendError {
    /// Whether the collector may accept the same message later. The statuses are those of OTLP's specification.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Connection(trouble) => !matches!(trouble, OriginError::Insecure(_)),
            Self::Status { status, .. } => matches!(
                *status,
                StatusCode::TOO_MANY_REQUESTS
                    | StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT
            ),
            Self::Late => true,
        }
    }

    /// How long the collector asks not to be sent anything.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => {
                retry_after.map(|it| Duration::from_secs(it.into()))
            }
            Self::Connection(_) | Self::Late => None,
        }
    }
}

/// Compresses a message.
///
/// # Errors
/// Never in practice, because the message is written to memory.
pub(super) fn compress(message: &Value) -> io::Result<Bytes> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    serde_json::to_writer(&mut gzip, message)?;
    gzip.flush()?;
    gzip.finish().map(Bytes::from)
}

/// Reads the response to an accepted message. A response that cannot be read counts as one without rejections.
async fn receipt(response: Response<Incoming>) -> Receipt {
    let body = Limited::new(response.into_body(), MOST_BYTES)
        .collect()
        .await;
    body.map_or_else(|_| Receipt::default(), |body| read(&body.to_bytes()))
}

fn read(body: &[u8]) -> Receipt {
    let response: Value = serde_json::from_slice(body).unwrap_or_default();
    let partial = &response["partialSuccess"];
    let keys = ["rejectedSpans", "rejectedDataPoints", "rejectedLogRecords"];
    let count = |key: &&str| {
        let count = &partial[*key];
        // An int64 is text in the JSON of protobuf, but a number may be sent, too.
        let text = count.as_str().and_then(|text| text.parse().ok());
        text.or_else(|| count.as_u64())
    };
    let message = partial["errorMessage"].as_str().unwrap_or_default();
    Receipt {
        rejected: keys
            .iter()
            .find_map(count)
            .and_then(|it| usize::try_from(it).ok())
            .unwrap_or_default(),
        message: message.chars().take(MOST_MESSAGE).collect(),
    }
}

fn reason(trouble: &OriginError) -> String {
    match trouble {
        OriginError::UnknownName => "its name could not be resolved".to_owned(),
        OriginError::Unreachable(kind, address) => format!("no connection to {address}: {kind}"),
        OriginError::Insecure(why) => format!(
            "no secure connection could be made ({why}); `otlp.ca` names a file of further authorities to trust"
        ),
        OriginError::Slow { after, .. } => format!("no connection within {after:?}"),
        OriginError::Garbled => {
            "it does not speak HTTP/1.1; the port for gRPC is another one than that for HTTP (4318)"
                .to_owned()
        }
        _ => "the connection broke off".to_owned(),
    }
}

/// Returns a hint for the operator on a status; empty if there is none.
fn hint(status: &StatusCode, signal: &Signal) -> String {
    match *status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "; its key or token belongs into `otlp.headers_env`".to_owned()
        }
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
            let name = signal.name();
            format!("; if it takes no {name}, set `otlp.{name} = false`")
        }
        _ => String::new(),
    }
}

const NAME: &str = concat!("andon/", env!("CARGO_PKG_VERSION"));

/// Time limit for connecting, sending the message and reading the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time limit for opening a connection, including the TLS handshake.
const CONNECT: Duration = Duration::from_secs(5);

/// Maximum bytes of a response that are read.
const MOST_BYTES: usize = 64 << 10;

/// Maximum characters of a collector's message in the log.
const MOST_MESSAGE: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_says_how_many_were_rejected_and_why() {
        let of = |rejected, message: &str| Receipt {
            rejected,
            message: message.to_owned(),
        };
        for (body, expected) in [
            ("", of(0, "")),
            ("{}", of(0, "")),
            ("{\"partialSuccess\":{}}", of(0, "")),
            (
                "{\"partialSuccess\":{\"rejectedSpans\":\"3\",\"errorMessage\":\"too old\"}}",
                of(3, "too old"),
            ),
            ("{\"partialSuccess\":{\"rejectedDataPoints\":2}}", of(2, "")),
            (
                "{\"partialSuccess\":{\"rejectedLogRecords\":\"-1\"}}",
                of(0, ""),
            ),
            ("{\"partialSuccess\":[7]}", of(0, "")),
            ("not JSON", of(0, "")),
        ] {
            assert_eq!(read(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn only_what_may_pass_is_sent_again() {
        let of = |status| SendError::Status {
            status: StatusCode::from_u16(status).unwrap(),
            retry_after: None,
            signal: Signal::Traces,
        };
        for status in [429, 502, 503, 504] {
            assert!(of(status).may_pass(), "{status}");
        }
        for status in [301, 400, 401, 404, 413, 500, 501] {
            assert!(!of(status).may_pass(), "{status}");
        }
        assert!(!SendError::Connection(OriginError::Insecure(String::new())).may_pass());
        assert!(SendError::Connection(OriginError::UnknownName).may_pass());
    }
}
