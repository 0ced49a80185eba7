//! The collector that spans are sent to: one POST request on a connection of its own per message.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::config::BaseUrl;

/// A collector that takes spans by OTLP over HTTP.
#[derive(Debug)]
pub(super) struct Collector {
    /// Host and port of the collector.
    address: String,
    path: String,
}

/// Why the collector did not take spans.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    #[error("it cannot be reached: {0}")]
    Connect(#[from] std::io::Error),
    #[error("the connection failed: {0}")]
    Connection(#[from] hyper::Error),
    #[error("no request can be made of its address: {0}")]
    Request(#[from] hyper::http::Error),
    #[error("it answered {0}")]
    Status(StatusCode),
    #[error("it did not answer within {} s", PATIENCE.as_secs())]
    Late,
}

impl Collector {
    /// The collector below this base URL.
    pub(super) fn at(base: &BaseUrl) -> Self {
        let url = &base.0;
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        Self {
            address: format!("{host}:{port}"),
            path: format!("{}/v1/traces", url.path().trim_end_matches('/')),
        }
    }

    /// Sends one message.
    ///
    /// # Errors
    /// When the collector did not take it within [`PATIENCE`].
    pub(super) async fn send(&self, message: Value) -> Result<(), SendError> {
        let sent = tokio::time::timeout(PATIENCE, self.post(message.to_string()));
        sent.await.unwrap_or(Err(SendError::Late))
    }

    async fn post(&self, body: String) -> Result<(), SendError> {
        let stream = TcpStream::connect(&self.address).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let request = Request::post(&self.path)
            .header(HOST, &self.address)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))?;
        // Ends when the sender goes.
        tokio::spawn(connection);
        let status = sender.send_request(request).await?.status();
        match status.is_success() {
            true => Ok(()),
            false => Err(SendError::Status(status)),
        }
    }
}

impl fmt::Display for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.address, self.path)
    }
}

/// Time limit for connecting, sending the message and reading the answer.
const PATIENCE: Duration = Duration::from_secs(10);
