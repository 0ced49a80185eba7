//! One connection, from its first request to its last.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use super::Peer;
use super::patience::{Attention, Patience};
use crate::config::Timeouts;
use crate::handler::upload;
use crate::reload::Current;
use crate::response::Reply;

/// How connections are treated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manners {
    pub(crate) timeouts: Timeouts,
}

/// What is at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Pictures, and whatever else the configuration allows there.
    Pictures,
    /// The server's figures alone.
    Metrics,
}

/// Who is served, what, and by whom.
pub(crate) struct Guest {
    pub(crate) peer: Peer,
    pub(crate) purpose: Purpose,
    pub(crate) current: Arc<Current>,
}

impl Guest {
    /// Answers a request with the configuration of this moment.
    async fn answer(&self, request: Request<Incoming>) -> Reply {
        let app = self.current.app();
        match self.purpose {
            Purpose::Metrics => app.figures(&request),
            Purpose::Pictures if app.shows_figures(&request, self.peer) => app.figures(&request),
            Purpose::Pictures if upload::is_one(&request) => app.upload(request, self.peer).await,
            Purpose::Pictures => app.answer(request, self.peer).await,
        }
    }
}

/// Serves a connection until either side ends it, or until `stopping` turns true and its accepted
/// requests are answered.
pub(crate) async fn serve<S>(
    stream: S,
    guest: Guest,
    manners: Manners,
    mut stopping: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Timeouts {
        header,
        keep_alive,
        write,
        ..
    } = manners.timeouts;
    let attention = Arc::new(Attention::default());
    let stream = Patience::new(stream, attention.clone(), header.0, write.0);
    let service = {
        let attention = attention.clone();
        let guest = Arc::new(guest);
        service_fn(move |request| {
            let answering = attention.answering();
            let guest = guest.clone();
            async move {
                let response = guest.answer(request).await;
                drop(answering);
                Ok::<_, Infallible>(response)
            }
        })
    };
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            // hyper counts the wait for a request as part of its head; the head alone is `Patience`'s.
            .header_read_timeout(keep_alive.0)
            .max_header_size(MOST_HEADER_BYTES)
            // A client that closes its own direction looks like one that left, and is taken for one: work
            // that nobody waits for is dropped.
            .half_close(false)
            .serve_connection(TokioIo::new(stream), service)
    );

    // Errors of a connection are its client's: it left, timed out or spoke no HTTP. hyper has
    // answered what can be answered.
    tokio::select! {
        biased;
        _ = connection.as_mut() => return,
        _ = stopping.wait_for(|stopping| *stopping) => {}
    }
    if !attention.was_asked()
        && tokio::time::timeout(FIRST_REQUEST, connection.as_mut())
            .await
            .is_ok()
    {
        return;
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// Request line and headers of one request together; more is answered with 431.
const MOST_HEADER_BYTES: usize = 64 << 10;

/// A connection that was opened just before the server was told to stop has its request on the way.
const FIRST_REQUEST: Duration = Duration::from_millis(500);
