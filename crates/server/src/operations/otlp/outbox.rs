//! The queue of one signal of OTLP: traces, metrics or logs. Adding to the queue never waits; a background task sends
//! its content to the collector.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::collector::{Collector, Receipt, SendError, compress};
use super::{logs, metrics, spans};
use crate::operations::metrics::exports::{Exports, Signal};

/// The queue of one signal (traces, metrics or logs), and the task that sends its content.
#[derive(Debug)]
pub(super) struct Outbox {
    signal: Signal,
    queue: mpsc::Sender<Batch>,
    exports: Arc<Exports>,
    sending: JoinHandle<()>,
}

/// What is queued at a time: spans of a request, a log record, or the metrics of one moment.
#[derive(Debug)]
struct Batch {
    items: Vec<Value>,
    /// Number of spans, log records or data points.
    count: usize,
}

impl Outbox {
    /// Starts the task of a queue, which pauses before it sends a message again. Once `ending` is true, a pause under
    /// way ends at once, and no other begins. Needs a tokio runtime.
    pub(super) fn start(
        signal: Signal,
        collector: Arc<Collector>,
        exports: Arc<Exports>,
        ending: watch::Receiver<bool>,
    ) -> Self {
        let (queue, receiver) = mpsc::channel(most_waiting(signal));
        let courier = Courier {
            signal,
            collector,
            exports: exports.clone(),
            ending,
            is_reached: true,
            is_rejecting: false,
        };
        Self {
            signal,
            queue,
            exports,
            sending: tokio::spawn(courier.send_all(receiver)),
        }
    }

    /// Queues items, which are `count` spans, log records or data points. If the queue is full, they are counted as
    /// dropped.
    pub(super) fn push(&self, items: Vec<Value>, count: usize) {
        // Do not log here, because log records pass through this queue.
        if self.queue.try_send(Batch { items, count }).is_err() {
            self.exports.count_dropped(self.signal, count);
        }
    }

    /// Waits until all queued items are sent or dropped.
    pub(super) async fn finish(self) {
        drop(self.queue);
        // An error means that the task has panicked.
        let _ = self.sending.await;
    }
}

/// Sends the messages of one signal (traces, metrics or logs) to the collector.
struct Courier {
    signal: Signal,
    collector: Arc<Collector>,
    exports: Arc<Exports>,
    ending: watch::Receiver<bool>,
    /// Whether the collector accepted the last message.
    is_reached: bool,
    /// Whether the collector rejected a part of the last message that it accepted.
    is_rejecting: bool,
}

impl Courier {
    /// Sends queued items until the queue is closed. Those that arrive within a short time of each other go into one
    /// message.
    async fn send_all(mut self, mut receiver: mpsc::Receiver<Batch>) {
        while let Some(mut batch) = receiver.recv().await {
            let gathering = async {
                while batch.count < most_together(self.signal)
                    && let Some(next) = receiver.recv().await
                {
                    batch.items.extend(next.items);
                    batch.count += next.count;
                }
            };
            // Ends with enough items for a message, or after `GATHERING`.
            let _ = tokio::time::timeout(GATHERING, gathering).await;
            self.deliver(batch).await;
        }
    }

    async fn deliver(&mut self, Batch { items, count }: Batch) {
        let resource = &self.collector.resource;
        let message = match self.signal {
            Signal::Traces => spans::message(resource, items),
            Signal::Metrics => metrics::message(resource, items),
            Signal::Logs => logs::message(resource, items),
        };
        let outcome = match compress(&message) {
            Ok(body) => self.send(body).await,
            // Never happens, because writing to memory does not fail.
            Err(_) => return self.exports.count_dropped(self.signal, count),
        };
        let rejected_count = match &outcome {
            Ok(receipt) => receipt.rejected.min(count),
            Err(_) => count,
        };
        self.exports.count_sent(self.signal, count - rejected_count);
        self.exports.count_dropped(self.signal, rejected_count);
        self.report(&outcome, count);
    }

    /// Sends a message, and repeats it after a pause if the collector may accept it then, up to [`MOST_ATTEMPTS`] times.
    async fn send(&mut self, body: Bytes) -> Result<Receipt, SendError> {
        let mut pause = FIRST_PAUSE;
        let mut attempts = 1;
        loop {
            let outcome = self.collector.send(self.signal, body.clone()).await;
            let Some(error) = outcome.as_ref().err().filter(|error| error.may_pass()) else {
                return outcome;
            };
            let requested_pause = error.retry_after().unwrap_or_default().min(LONGEST_PAUSE);
            if attempts == MOST_ATTEMPTS || *self.ending.borrow() {
                return outcome;
            }
            // Jitter keeps servers that failed at the same time from retrying at the same time.
            let jitter = pause.mul_f64(f64::from(random()) / 510.0);
            self.wait(requested_pause.max(pause) + jitter).await;
            pause *= 2;
            attempts += 1;
        }
    }

    /// Waits, but no longer than until the server ends.
    async fn wait(&mut self, time: Duration) {
        let is_ending = self.ending.wait_for(|is_ending| *is_ending);
        // If the exporter was replaced, the channel is closed, and the remaining items are sent with the usual pauses.
        let end = async {
            if is_ending.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let _ = tokio::time::timeout(time, end).await;
    }

    /// Logs when the collector starts or stops accepting messages, and when it starts rejecting parts of them.
    fn report(&mut self, outcome: &Result<Receipt, SendError>, count: usize) {
        let (collector, signal) = (&*self.collector, self.signal.name());
        let was_reached = std::mem::replace(&mut self.is_reached, outcome.is_ok());
        match (outcome, was_reached) {
            (Err(error), true) => {
                tracing::warn!(%collector, signal, %error, count, "the collector does not accept telemetry; it is dropped");
            }
            (Ok(_), false) => {
                tracing::info!(%collector, signal, "the collector accepts telemetry again")
            }
            (Err(_), false) | (Ok(_), true) => {}
        }
        let Ok(Receipt { rejected, message }) = outcome else {
            return;
        };
        let was_rejecting = std::mem::replace(&mut self.is_rejecting, *rejected > 0);
        if *rejected > 0 && !was_rejecting {
            tracing::warn!(%collector, signal, rejected, count, message, "the collector rejects a part of the telemetry");
        }
    }
}

/// Maximum number of batches that wait for the collector; spans of one request take some kilobytes.
fn most_waiting(signal: Signal) -> usize {
    match signal {
        Signal::Traces => 1024,
        Signal::Metrics => 2,
        Signal::Logs => 2048,
    }
}

/// Number of spans or log records at which a message is sent without waiting for more. Metrics of different moments are
/// never sent in one message.
fn most_together(signal: Signal) -> usize {
    match signal {
        Signal::Traces | Signal::Logs => 512,
        Signal::Metrics => 0,
    }
}

/// Returns a random number.
fn random() -> u8 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0u8).to_be_bytes()[0]
}

const GATHERING: Duration = Duration::from_secs(1);

/// Maximum number of times that a message is sent.
const MOST_ATTEMPTS: u32 = 5;

/// The shortest pause before a message is sent again for the first time; each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause that a collector may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::SystemTime;

    use serde_json::json;

    use super::*;
    use crate::config::{Config, Environment};
    use crate::prometheus::{Format, MetricSet};

    fn dropped(exports: &Exports) -> String {
        let mut set = MetricSet::new(SystemTime::UNIX_EPOCH);
        exports.write(&mut set);
        let text = set.text(Format::Text);
        let mut lines = text.lines();
        let name = "andon_otlp_dropped_total{signal=\"metrics\"} ";
        let count = lines.find_map(|line| line.strip_prefix(name));
        count.expect("a counter").to_owned()
    }

    #[tokio::test]
    async fn what_finds_no_room_and_what_nobody_takes_is_counted_as_dropped() {
        // Nobody listens at the port of the discard service.
        let text = "[otlp]\nurl = \"http://127.0.0.1:9\"";
        let config = Config::parse(text, Path::new("/etc/andon")).unwrap();
        let collector = Collector::of(&config, &Environment::of(&[]));
        let collector = Arc::new(collector.unwrap().expect("a collector"));
        let exports = Arc::<Exports>::default();
        let (_ending, is_ending) = watch::channel(true);
        let outbox = Outbox::start(Signal::Metrics, collector, exports.clone(), is_ending);
        // The task has not begun yet, so the queue fills.
        for _ in 0..most_waiting(Signal::Metrics) + 3 {
            outbox.push(vec![json!({})], 10);
        }
        assert_eq!(dropped(&exports), "30");
        outbox.finish().await;
        assert_eq!(dropped(&exports), "50");
    }
}
