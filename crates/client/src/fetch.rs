//! Fetches complete responses, one after the other, to examine them rather than to time them.

use std::io::{self, ErrorKind};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::tls::refused_certificate;
use super::{Connection, Endpoint, Error, HttpVersion, Tls};

/// An HTTP client with one connection, which it reopens if the server has closed it.
#[derive(Debug)]
pub struct Fetcher {
    endpoint: Endpoint,
    tls: Option<Tls>,
    headers: HeaderMap,
    connection: Option<Connection>,
    runtime: Runtime,
}

/// A complete response to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// The HTTP status.
    pub status: u16,
    /// Headers in the order of the response, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Vec<u8>,
}

impl Fetched {
    /// Returns the values of a header, joined by commas, or `None` if the response has no such header. `name` must be
    /// in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        let values = self.headers.iter().filter(|(key, _)| key == name);
        let values: Vec<&str> = values.map(|(_, value)| value.as_str()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }
}

impl Fetcher {
    /// Creates a client that sends these headers with every request. If they do not include `Host`, it is set to
    /// `host`.
    ///
    /// # Errors
    /// If a header is invalid, or the runtime cannot be created for lack of threads or file descriptors.
    pub fn new(
        endpoint: Endpoint,
        host: &str,
        headers: &[(String, String)],
    ) -> Result<Self, Error> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let (name, value) = header(name, value)?;
            map.append(name, value);
        }
        if !map.contains_key(HOST) {
            let value = HeaderValue::from_str(host).map_err(|why| Error::InvalidRequest {
                what: host.to_owned(),
                why: why.to_string(),
            })?;
            map.insert(HOST, value);
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(Self {
            endpoint,
            tls: None,
            headers: map,
            connection: None,
            runtime,
        })
    }

    /// Uses TLS for all connections that are opened from now on.
    pub fn secure(&mut self, tls: Tls) {
        self.tls = Some(tls);
    }

    /// Opens a connection, which the next request uses.
    ///
    /// # Errors
    /// If the server cannot be reached, or its certificate is not accepted.
    pub fn connect(&mut self) -> Result<(), Error> {
        let attempt = open(&self.endpoint, self.tls.as_ref());
        let result = self.runtime.block_on(attempt);
        let unreachable = |error: io::Error| {
            if let Some(why) = refused_certificate(&error) {
                return Error::Certificate(format!("{}: {why}", self.endpoint));
            }
            let why = match (error.kind(), error.get_ref()) {
                // A protocol error, whose kind is generic: use its message instead.
                (ErrorKind::Other | ErrorKind::InvalidData, Some(why)) => why.to_string(),
                (kind, _) => kind.to_string(),
            };
            let why = format!("{}: {why}", self.endpoint);
            Error::Unreachable(io::Error::new(error.kind(), why))
        };
        self.connection = Some(result.map_err(unreachable)?);
        Ok(())
    }

    /// Requests a target. `headers` replace the client's headers of the same names. Redirects are not followed.
    ///
    /// # Errors
    /// If no complete response arrives within a minute, if the body is longer than 256 MiB, or if a header is invalid.
    pub fn get(&mut self, target: &str, headers: &[(&str, &str)]) -> io::Result<Fetched> {
        let request = Request::get(target).body(Full::default());
        let mut request = request.map_err(io::Error::other)?;
        request.headers_mut().clone_from(&self.headers);
        for (name, value) in headers {
            let (name, value) = header(name, value).map_err(io::Error::other)?;
            request.headers_mut().insert(name, value);
        }
        let (endpoint, tls, idle_connection) =
            (&self.endpoint, self.tls.as_ref(), self.connection.take());
        let exchange = async {
            // The server may have closed the idle connection; then the request is sent again over a new one.
            if let Some(mut idle_connection) = idle_connection
                && idle_connection.ready().await.is_ok()
                && let Ok(fetched) = read(&mut idle_connection, request.clone()).await
            {
                return Ok((fetched, idle_connection));
            }
            let mut fresh = open(endpoint, tls).await?;
            let fetched = read(&mut fresh, request).await?;
            Ok((fetched, fresh))
        };
        let late = || io::Error::new(ErrorKind::TimedOut, "no whole reply within a minute");
        let fetched = (self.runtime).block_on(async { timeout(PATIENCE, exchange).await });
        let (fetched, connection) = fetched.unwrap_or_else(|_| Err(late()))?;
        self.connection = Some(connection);
        Ok(fetched)
    }
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), Error> {
    let wrong = |why: &dyn std::fmt::Display| Error::InvalidRequest {
        what: format!("{name}: {value}"),
        why: why.to_string(),
    };
    Ok((
        HeaderName::from_bytes(name.as_bytes()).map_err(|why| wrong(&why))?,
        HeaderValue::from_str(value).map_err(|why| wrong(&why))?,
    ))
}

async fn open(endpoint: &Endpoint, tls: Option<&Tls>) -> io::Result<Connection> {
    match (endpoint, tls) {
        (Endpoint::Tcp(address), Some(tls)) => Connection::open_secure(*address, tls).await,
        _ => Connection::open(endpoint, HttpVersion::One).await,
    }
}

async fn read(
    connection: &mut Connection,
    request: Request<Full<bytes::Bytes>>,
) -> io::Result<Fetched> {
    let reply = connection.send(request).await.map_err(io::Error::other)?;
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = reply.headers().iter();
    let mut fetched = Fetched {
        status: reply.status().as_u16(),
        headers: headers
            .map(|(name, value)| (name.as_str().to_owned(), text(value)))
            .collect(),
        body: Vec::new(),
    };
    let mut incoming = reply.into_body();
    while let Some(frame) = incoming.frame().await {
        let frame = frame.map_err(io::Error::other)?;
        fetched
            .body
            .extend_from_slice(frame.data_ref().map_or(&[], |data| data));
        if fetched.body.len() > MOST {
            return Err(io::Error::new(ErrorKind::FileTooLarge, "more than 256 MiB"));
        }
    }
    Ok(fetched)
}

const PATIENCE: Duration = Duration::from_secs(60);
const MOST: usize = 256 << 20;
