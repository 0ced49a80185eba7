//! Spans of traced requests for a collector (OTLP over HTTP), in builds with the cargo feature `otlp`.
//!
//! The client that begins a trace decides whether it is recorded: a request is exported when its `traceparent` header
//! says that it is sampled. Requests never wait for the collector. Spans that it does not take in time are dropped.

mod collector;
mod span;

use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::JoinHandle;

use self::collector::Collector;
use crate::config::BaseUrl;
use crate::operations::entry::Entry;

/// Queues spans and sends them to a collector from a background task.
#[derive(Debug)]
pub(super) struct Exporter {
    queue: mpsc::Sender<Vec<Value>>,
    sending: JoinHandle<()>,
}

impl Exporter {
    /// Starts an exporter to the collector at `base`. Needs a tokio runtime.
    pub(super) fn start(base: &BaseUrl) -> Self {
        let (queue, queued) = mpsc::channel(MOST_WAITING);
        let sending = tokio::spawn(send_all(queued, Collector::at(base)));
        Self { queue, sending }
    }

    /// Queues the spans of a request if its trace is sampled. If the queue is full, they are dropped.
    pub(super) fn export(&self, entry: &Entry) {
        let Some(trace) = entry.trace.as_ref().filter(|trace| trace.is_sampled()) else {
            return;
        };
        match self.queue.try_send(span::of(entry, trace)) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => {
                tracing::debug!("a trace is dropped: too many wait for the collector");
            }
        }
    }

    /// Sends the spans that are still queued, and gives up after a few seconds.
    pub(super) async fn finish(self) {
        drop(self.queue);
        // A collector that hangs is not waited for.
        let _ = tokio::time::timeout(LAST, self.sending).await;
    }
}

/// Sends queued spans until the queue is closed. Spans that arrive within a short time of each other go into one
/// message.
async fn send_all(mut queued: mpsc::Receiver<Vec<Value>>, collector: Collector) {
    let mut is_reached = true;
    while let Some(mut spans) = queued.recv().await {
        let gathering = async {
            while spans.len() < MOST_TOGETHER
                && let Some(more) = queued.recv().await
            {
                spans.extend(more);
            }
        };
        // Over when enough have come, or the time has.
        let _ = tokio::time::timeout(GATHERING, gathering).await;
        let count = spans.len();
        let sent = collector.send(span::request(spans)).await;
        match (&sent, is_reached) {
            (Ok(()), false) => tracing::info!(%collector, "the collector takes spans again"),
            (Err(error), true) => {
                tracing::warn!(%collector, %error, spans = count, "the collector takes no spans; they are dropped");
            }
            (Ok(()), true) | (Err(_), false) => {}
        }
        is_reached = sent.is_ok();
    }
}

/// Maximum number of requests whose spans wait for the collector; those of one request take some kilobytes.
const MOST_WAITING: usize = 1024;

/// Approximate maximum number of spans in one message.
const MOST_TOGETHER: usize = 512;

const GATHERING: Duration = Duration::from_secs(1);

/// Time limit for sending the spans that are still queued at shutdown.
const LAST: Duration = Duration::from_secs(5);
