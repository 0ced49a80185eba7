//! One connection, from its first request to its last.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use super::patience::{Attention, Patience};
use crate::app::App;
use crate::config::Timeouts;

/// How connections are treated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manners {
    pub(crate) timeouts: Timeouts,
}

/// Serves a connection until either side ends it, or until `stopping` turns true and its accepted
/// requests are answered.
pub(crate) async fn serve<S>(
    stream: S,
    app: Arc<App>,
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
        service_fn(move |request| {
            let answering = attention.answering();
            let app = app.clone();
            async move {
                let response = app.answer(request).await;
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
