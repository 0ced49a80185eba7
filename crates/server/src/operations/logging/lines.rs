//! Lines on their way to standard error. They pass through a bounded channel to one thread. If nobody reads the log,
//! lines are dropped and counted, but requests never wait.

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::oneshot;

/// The channel for lines to standard error.
#[derive(Debug)]
pub(crate) struct Lines {
    queue: SyncSender<Piece>,
    lost_lines: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Piece {
    /// A line, including its line end.
    Line(String),
    /// A mark: the sender is used when everything queued before it is written.
    Mark(oneshot::Sender<()>),
}

impl Lines {
    /// Returns the only instance of this process, since there is only one standard error.
    pub(crate) fn of_this_process() -> &'static Self {
        static LINES: OnceLock<Lines> = OnceLock::new();
        LINES.get_or_init(Self::start)
    }

    fn start() -> Self {
        let (queue, pieces) = sync_channel(MOST_WAITING);
        let lost_lines = Arc::new(AtomicU64::new(0));
        let counter = lost_lines.clone();
        // If the thread cannot be started, lines are lost, but requests are answered.
        let _ = std::thread::Builder::new()
            .name("andon-log".to_owned())
            .spawn(move || write(&pieces, &counter));
        Self { queue, lost_lines }
    }

    /// Queues a line, or counts it as lost if there is no room.
    pub(crate) fn push(&self, line: String) {
        if self.queue.try_send(Piece::Line(line)).is_err() {
            self.lost_lines.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until everything queued so far is written, but only for a few seconds.
    pub(crate) async fn flush(&self) {
        let (mark, reply) = oneshot::channel();
        let flushing = async {
            let mut piece = Piece::Mark(mark);
            while let Err(TrySendError::Full(back)) = self.queue.try_send(piece) {
                piece = back;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            // An error means that the thread has ended.
            let _ = reply.await;
        };
        let _ = tokio::time::timeout(LONGEST_FLUSH, flushing).await;
    }
}

/// Runs the writing thread. Everything that waits is written at once, with a pause before the next write: a thread that
/// sleeps in the channel is woken by every line, at the cost of the thread that queues it.
fn write(pieces: &Receiver<Piece>, lost_lines: &AtomicU64) {
    while let Ok(first) = pieces.recv() {
        let (mut text, mut marks) = (String::new(), Vec::new());
        for piece in std::iter::once(first).chain(pieces.try_iter().take(MOST_WAITING)) {
            match piece {
                Piece::Line(line) => text.push_str(&line),
                Piece::Mark(mark) => marks.push(mark),
            }
        }
        // If standard error is closed, the failure cannot be reported anywhere else.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
        for mark in marks {
            // The task that waits for the mark may have been dropped.
            let _ = mark.send(());
        }
        let lost = lost_lines.swap(0, Ordering::Relaxed);
        if lost > 0 {
            tracing::warn!(
                lost,
                "lines were lost: standard error is not read fast enough"
            );
        }
        std::thread::sleep(BETWEEN_WRITES);
    }
}

/// Maximum number of lines that wait for standard error, enough for a few hundred thousand requests per second.
const MOST_WAITING: usize = 4096;

const BETWEEN_WRITES: Duration = Duration::from_millis(10);

const LONGEST_FLUSH: Duration = Duration::from_secs(5);
