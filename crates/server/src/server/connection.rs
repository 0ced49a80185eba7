//! One connection, from its first request to its last.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use super::io_threads;
use super::reload::Current;
use crate::config::Timeouts;
use crate::error::Error;
use crate::handler::App;
use crate::http::Sending;
use crate::http::Simple;
use crate::http::{Ceilings, ConnectionSlot};
use crate::http::{FastPath, FastResponder};
use crate::http::{TimeoutStream, Waits};
use crate::net::Peer;
use crate::operations::entry::Entry;
use crate::request::route::Purpose;
use crate::response::Reply;

/// How connections are treated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionConfig {
    pub(crate) timeouts: Timeouts,
    pub(crate) ceilings: Ceilings,
}

/// Answers the requests of one connection.
pub(crate) struct Responder {
    pub(crate) peer: Peer,
    pub(crate) purpose: Purpose,
    pub(crate) current: Arc<Current>,
    pub(crate) slot: ConnectionSlot,
    /// The listener is closed: one more request is answered.
    leaving: AtomicBool,
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
        }
    }

    /// Does the connection end with the request that is answered next?
    fn is_last(&self, app: &App) -> bool {
        self.leaving.load(Ordering::Relaxed)
            || self.slot.over_limit.is_some()
            || app.readiness.is_stopping()
    }

    /// Answers a request with the configuration of this moment; a connection over the limit has only one.
    async fn reply(&self, request: Request<Incoming>) -> Reply {
        let app = self.current.app();
        let route = app.route(self.purpose, request.uri().path(), self.peer);
        // Where a chunked body ends, a careless proxy in front may see otherwise than we do, or have gone
        // by a Content-Length beside it: what follows must not be taken for a request (RFC 9112, 11.2).
        let chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
        let last = chunked || self.is_last(&app);
        let mut reply = match self.slot.over_limit {
            Some(over_limit) if !route.is_for_monitoring() => {
                app.refuse(&request, self.peer, &Error::ConnectionLimit(over_limit))
            }
            _ => app.dispatch(route, self.purpose, request, self.peer).await,
        };
        if last {
            let close = HeaderValue::from_static("close");
            reply.headers_mut().insert(header::CONNECTION, close);
        }
        reply
    }

    /// Writes down what was no request: hyper has refused it, and no handler has seen it.
    fn left(&self, ended: hyper::Result<()>) {
        let Err(error) = ended else { return };
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

impl FastResponder for Arc<Responder> {
    /// Last requests, and those for metrics, are answered by hyper.
    fn answer(&self, asked: &Simple<'_>, head: &mut Vec<u8>) -> Option<Bytes> {
        let app = self.current.app();
        if self.purpose != Purpose::Images || self.is_last(&app) {
            return None;
        }
        let body = app.at_once(asked, self.peer, head)?;
        io_threads::answered();
        Some(body)
    }
}

/// Serves a connection until either side ends it, or until `stopping` turns true and its accepted
/// requests are answered.
pub(crate) async fn serve<S>(
    stream: S,
    responder: Responder,
    connection_config: ConnectionConfig,
    mut stopping: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Timeouts {
        header,
        keep_alive,
        write,
        ..
    } = connection_config.timeouts;
    let activity = responder.slot.activity.clone();
    let waits = Waits {
        idle: keep_alive.0,
        head: match responder.slot.over_limit {
            None => header.0,
            Some(_) => header.0.min(OVER_LIMIT_HEAD),
        },
        write: write.0,
    };
    let responder = Arc::new(responder);
    let stream = TimeoutStream::new(stream, activity.clone(), waits);
    let stream = FastPath::new(stream, activity.clone(), responder.clone());
    let service = {
        let (activity, responder) = (activity.clone(), responder.clone());
        service_fn(move |request| {
            let answering = activity.answering();
            let responder = responder.clone();
            async move {
                let reply = responder.reply(request).await;
                Ok::<_, Infallible>(reply.map(|body| Sending::new(body, answering)))
            }
        })
    };
    let mut connection = pin!(
        http1::Builder::new()
            // All waiting is `TimeoutStream`'s: hyper knows nothing of requests that are answered beneath it.
            .header_read_timeout(None)
            .max_header_size(MOST_HEADER_BYTES)
            // A reply in pieces is read no faster than its client takes it.
            .max_buf_size(MOST_BUFFERED)
            // A client that closes its own direction looks like one that left, and is taken for one: work
            // that nobody waits for is dropped.
            .half_close(false)
            .serve_connection(TokioIo::new(stream), service)
    );

    // Errors of a connection are its client's: it left, timed out or spoke no HTTP. hyper has
    // answered what can be answered.
    tokio::select! {
        biased;
        () = activity.evicted() => return,
        ended = connection.as_mut() => return responder.left(ended),
        _ = stopping.wait_for(|stopping| *stopping) => {}
    }
    // Whoever has just connected, or has just been answered, may have a request on the way.
    responder.leaving.store(true, Ordering::Relaxed);
    if activity.waits().is_none_or(|waits| waits < ON_THE_WAY)
        && let Ok(ended) = tokio::time::timeout(ON_THE_WAY, connection.as_mut()).await
    {
        return responder.left(ended);
    }
    connection.as_mut().graceful_shutdown();
    responder.left(connection.await);
}

/// Request line and headers of one request together; more is answered with 431.
const MOST_HEADER_BYTES: usize = 64 << 10;

/// A connection over the limit has its request ready.
const OVER_LIMIT_HEAD: Duration = Duration::from_secs(1);

/// Bytes that hyper holds of one direction: a head, with room for what came right behind it, or the
/// reply's piece that is being written.
const MOST_BUFFERED: usize = 2 * MOST_HEADER_BYTES;

/// A request that was sent before the server was told to stop is here by then.
const ON_THE_WAY: Duration = Duration::from_millis(500);
