//! One connection, from its first request to its last.

use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use andon_dialects::OWN_ERRORS;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::AsyncRead;
use tokio::sync::{Notify, watch};

use super::current::{ConnectionConfig, Current};
use crate::config::Timeouts;
use crate::error::Error;
use crate::handler::App;
use crate::http::{Arrival, ControlFrames, Sending, Simple};
use crate::http::{ConnectionSlot, HTTP2, Wire, read_client};
use crate::http::{FastBody, FastPath, FastResponder, SendFile};
use crate::http::{TimeoutStream, Tls, Waits};
use crate::net::Peer;
use crate::operations::entry::Entry;
use crate::request::route::Purpose;
use crate::response::body::Body;
use crate::response::{self, Reply};

/// Answers the requests of one connection.
pub(crate) struct Responder {
    pub(crate) peer: Peer,
    pub(crate) purpose: Purpose,
    pub(crate) current: Arc<Current>,
    pub(crate) slot: ConnectionSlot,
    /// Whether the connection is about to end: at most one more request on it is answered.
    leaving: AtomicBool,
    /// Notified when the last request that the server answers on an HTTP/2 connection arrives, so that the server
    /// begins to close the connection.
    had_last: Notify,
}

impl Responder {
    pub(crate) fn new(
        peer: Peer,
        purpose: Purpose,
        current: Arc<Current>,
        slot: ConnectionSlot,
    ) -> Self {
        Self {
            peer,
            purpose,
            current,
            slot,
            leaving: AtomicBool::new(false),
            had_last: Notify::new(),
        }
    }

    /// Whether the connection ends with the next request that is answered.
    fn is_last(&self, app: &App) -> bool {
        self.leaving.load(Ordering::Relaxed)
            || !self.slot.is_within_limits()
            || app.readiness.is_stopping()
    }

    /// Answers a request with the current configuration. On a connection that exceeds a limit on connections, it is the
    /// only request that is answered.
    async fn reply(&self, request: Request<Incoming>) -> Reply {
        let app = self.current.app();
        let headers = request.headers();
        let visitor = app.proxies.visitor(self.peer, |name| {
            let lines = headers.get_all(name).iter();
            lines.map(HeaderValue::as_bytes)
        });
        let route = app.route(self.purpose, request.uri().path(), visitor, headers);
        // A careless proxy in front may see the end of a chunked body elsewhere than this server does, or may have relied on
        // a Content-Length that came with it. What follows the body must not be taken for a request (RFC 9112, 11.2).
        let is_chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
        // HTTP/2 closes connections with a frame of its own instead of a header, and has no chunked bodies.
        let is_http2 = request.version() == Version::HTTP_2;
        if is_http2 && self.is_last(&app) {
            self.had_last.notify_one();
        }
        let is_last = (is_chunked || self.is_last(&app)) && !is_http2;
        let mut reply = match self.slot.over_limit {
            Some(over_limit) if !route.is_for_monitoring() => {
                app.refuse(&request, visitor.peer, &Error::ConnectionLimit(over_limit))
            }
            _ => app.dispatch(route, self.purpose, request, visitor).await,
        };
        if is_last {
            let close = HeaderValue::from_static("close");
            reply.headers_mut().insert(header::CONNECTION, close);
        }
        reply
    }

    /// Answers a request on HTTP/1.1, with a body that keeps the connection from being taken for idle.
    fn respond(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<Sending<Body>>, Infallible>> {
        let answering = self.slot.activity.answering();
        async move {
            let reply = self.reply(request).await;
            Ok(reply.map(|body| Sending::new(body, None, answering)))
        }
    }

    /// Answers a request on HTTP/2, with a body that keeps the connection from being taken for idle and whose memory is
    /// counted until the client has received it.
    fn respond_counted(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<Sending<Body>>, Infallible>> {
        let answering = self.slot.activity.answering();
        async move {
            let mut reply = self.reply(request).await;
            let memory = self.current.app().reply_memory.clone();
            let hold = match memory.hold(reply.body().memory(), &self.slot).await {
                Ok(hold) => hold,
                Err(error) => {
                    tracing::debug!(client = %self.peer, "no memory for a reply on HTTP/2");
                    reply = response::error(&error, error.status(), OWN_ERRORS);
                    None
                }
            };
            Ok(reply.map(|body| Sending::new(body, hold, answering)))
        }
    }

    /// Logs input that hyper has refused because it is not a valid request, and that no handler has seen. Other outcomes of
    /// a connection are not logged.
    fn log_malformed(&self, result: hyper::Result<()>) {
        let Err(error) = result else { return };
        let status = match error.is_parse_too_large() {
            true => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            false => StatusCode::BAD_REQUEST,
        };
        if error.is_parse() {
            let entry = Entry::malformed(self.peer, status, error.to_string());
            self.current.app().log.record(&entry);
        }
    }
}

impl FastResponder for Responder {
    /// Answers a request that needs no waiting. Returns `None` for a request that hyper has to answer, such as the last
    /// one of a connection, or one for metrics.
    fn answer(
        &self,
        simple: &Simple<'_>,
        sends_files: bool,
        head: &mut Vec<u8>,
    ) -> Option<FastBody> {
        let app = self.current.app();
        if self.purpose != Purpose::Images || self.is_last(&app) {
            return None;
        }
        let client = |name| simple.client(name).into_iter();
        let peer = app.proxies.client(self.peer, client);
        app.at_once(simple, peer, sends_files, head)
    }
}

/// What a client sends on a connection before its first request.
pub(crate) struct Preface {
    /// Whether the connection begins with a header of the PROXY protocol.
    pub(crate) is_proxied: bool,
    /// The certificate for the TLS handshake; `None` without TLS.
    pub(crate) tls: Option<Tls>,
}

impl Preface {
    /// Whether the connection begins with a request, without a PROXY header or a TLS handshake.
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_proxied && self.tls.is_none()
    }
}

/// Reads the PROXY header and performs the TLS handshake, if the connection has them, and then serves the connection.
/// Plain TCP connections are served by [`serve`] directly.
pub(crate) async fn serve_other(
    mut stream: Box<dyn Wire>,
    preface: Preface,
    mut responder: Responder,
    connection_config: ConnectionConfig,
    stopping: watch::Receiver<bool>,
) {
    let timeout = head_timeout(&responder, &connection_config.timeouts);
    if preface.is_proxied {
        match tokio::time::timeout(timeout, read_client(&mut stream)).await {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(client))) => {
                responder.peer = Peer::Tcp(client.to_canonical());
                let ceilings = &connection_config.ceilings;
                responder.slot.belongs_to(responder.peer, ceilings);
            }
            Ok(Err(error)) => {
                tracing::debug!(client = %responder.peer, %error, "no PROXY protocol");
                return;
            }
            Err(_) => return,
        }
    }
    let mut is_http2 = false;
    if let Some(tls) = preface.tls {
        let handshake = tokio::select! {
            () = responder.slot.activity.eviction() => return,
            handshake = tokio::time::timeout(timeout, tls.accept(stream)) => handshake,
        };
        stream = match handshake {
            Ok(Ok(stream)) => {
                is_http2 = stream.get_ref().1.alpn_protocol() == Some(HTTP2);
                Box::new(stream)
            }
            Ok(Err(error)) => {
                tracing::debug!(client = %responder.peer, %error, "no TLS");
                return;
            }
            Err(_) => return,
        };
    }
    match is_http2 {
        true => serve_http2(stream, responder, connection_config, stopping).await,
        false => {
            let arrival = Arrival::default();
            serve(stream, arrival, responder, connection_config, stopping).await;
        }
    }
}

/// Serves an HTTP/1.1 connection, the first bytes of which may have been read into `arrival`, until either side ends it
/// or until `stopping` turns true and its accepted requests are answered.
pub(crate) async fn serve<S>(
    stream: S,
    arrival: Arrival,
    responder: Responder,
    connection_config: ConnectionConfig,
    stopping: watch::Receiver<bool>,
) where
    S: AsyncRead + SendFile + Unpin + Send + 'static,
{
    let timeouts = connection_config.timeouts;
    let activity = responder.slot.activity.clone();
    let waits = Waits {
        idle: timeouts.keep_alive.0,
        head: head_timeout(&responder, &timeouts),
        write: timeouts.write.0,
        stall: None,
    };
    let responder = Arc::new(responder);
    let stream = TimeoutStream::new(stream, activity.clone(), waits);
    let stream = FastPath::new(stream, activity, responder.clone(), arrival);
    let service = service_fn(|request| responder.clone().respond(request));
    let connection = http1::Builder::new()
        // `TimeoutStream` enforces all timeouts, because hyper does not see the requests that the fast path answers.
        .header_read_timeout(None)
        .max_header_size(MOST_HEADER_BYTES)
        // A small buffer, so that a reply in pieces is read no faster than its client takes it.
        .max_buf_size(MOST_BUFFERED)
        // A client that closes its own direction cannot be told from one that has left, and is treated as such: work for
        // its requests is dropped.
        .half_close(false)
        .serve_connection(TokioIo::new(stream), service);
    let shut_down = |connection: Pin<&mut _>| http1::Connection::graceful_shutdown(connection);
    end(pin!(connection), shut_down, &responder, stopping).await;
}

/// Serves an HTTP/2 connection, which carries many requests at a time.
async fn serve_http2(
    stream: Box<dyn Wire>,
    responder: Responder,
    connection_config: ConnectionConfig,
    stopping: watch::Receiver<bool>,
) {
    let timeouts = connection_config.timeouts;
    let idle = match responder.slot.over_limit {
        None => timeouts.keep_alive.0,
        Some(_) => OVER_LIMIT_HEAD,
    };
    let waits = Waits {
        idle,
        // The received bytes need not belong to the head of a request, so there is no shorter timeout for it.
        head: idle,
        write: timeouts.write.0,
        stall: Some(timeouts.request.0 + timeouts.write.0),
    };
    let responder = Arc::new(responder);
    let stream = TimeoutStream::new(stream, responder.slot.activity.clone(), waits);
    let stream = ControlFrames::new(stream);
    let service = service_fn(|mut request| {
        name_host(&mut request);
        responder.clone().respond_counted(request)
    });
    let connection = http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(MOST_STREAMS)
        .max_header_list_size(MOST_HEADER_BYTES as u32)
        .max_send_buf_size(MOST_HEADER_BYTES)
        // Limits on requests that are reset before they are handled (rapid reset), and on those that violate the protocol.
        .max_pending_accept_reset_streams(MOST_RESETS)
        .max_local_error_reset_streams(MOST_RESETS)
        .serve_connection(TokioIo::new(stream), service);
    let shut_down = |connection: Pin<&mut _>| http2::Connection::graceful_shutdown(connection);
    end(pin!(connection), shut_down, &responder, stopping).await;
}

/// Moves the host of an HTTP/2 request from its URL to the `Host` header, because all further code looks for path and
/// host where HTTP/1.1 has them.
fn name_host(request: &mut Request<Incoming>) {
    let mut url = std::mem::take(request.uri_mut()).into_parts();
    url.scheme = None;
    let host = url.authority.take();
    // Without a path it stays `/`.
    if let Ok(path) = Uri::from_parts(url) {
        *request.uri_mut() = path;
    }
    let host = host.and_then(|host| HeaderValue::from_str(host.as_str()).ok());
    if let Some(host) = host {
        request.headers_mut().insert(header::HOST, host);
    }
}

/// Returns how long the head of a request may take.
fn head_timeout(responder: &Responder, timeouts: &Timeouts) -> Duration {
    match responder.slot.over_limit {
        None => timeouts.header.0,
        Some(_) => timeouts.header.0.min(OVER_LIMIT_HEAD),
    }
}

/// Runs a connection until it ends or is evicted. Calls `shut_down` when the server stops listening, and after the last
/// request that it accepts on an HTTP/2 connection.
async fn end<C: Future<Output = hyper::Result<()>>>(
    mut connection: Pin<&mut C>,
    shut_down: impl Fn(Pin<&mut C>),
    responder: &Responder,
    mut stopping: watch::Receiver<bool>,
) {
    let activity = &responder.slot.activity;
    // The client is to blame for errors of its connection: it left, timed out or did not send HTTP. hyper has sent a
    // response where that is possible.
    let is_listening = tokio::select! {
        biased;
        () = activity.eviction() => return,
        result = connection.as_mut() => return responder.log_malformed(result),
        () = responder.had_last.notified() => true,
        _ = stopping.wait_for(|stopping| *stopping) => false,
    };
    // A client that has just connected, or has just been answered, may already have sent its next request.
    responder.leaving.store(true, Ordering::Relaxed);
    if !is_listening
        && activity.idle_time().is_none_or(|time| time < ON_THE_WAY)
        && let Ok(result) = tokio::time::timeout(ON_THE_WAY, connection.as_mut()).await
    {
        return responder.log_malformed(result);
    }
    shut_down(connection.as_mut());
    responder.log_malformed(connection.await);
}

/// Maximum size in bytes of a request line and its headers together; more is answered with 431.
const MOST_HEADER_BYTES: usize = 64 << 10;

/// Maximum number of requests that are open at a time on one HTTP/2 connection, as in most servers.
const MOST_STREAMS: u32 = 100;

/// Maximum number of reset streams at a time on one HTTP/2 connection; more of them end it.
const MOST_RESETS: usize = 20;

/// How long a client whose connection exceeds a limit on connections may take for the head of its request, which it
/// should have ready.
const OVER_LIMIT_HEAD: Duration = Duration::from_secs(1);

/// Bytes that hyper buffers for one direction: the head of a request, with room for what came right behind it, or the
/// part of a reply that is being written.
const MOST_BUFFERED: usize = 2 * MOST_HEADER_BYTES;

/// How long a stopping server waits on a connection for a request that was already sent.
const ON_THE_WAY: Duration = Duration::from_millis(500);
