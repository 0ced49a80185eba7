//! Lines on their way to standard error. They pass through a bounded channel to one thread, so that a
//! log nobody reads costs lines, which are counted, and never a request.

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::oneshot;

/// The way to standard error.
#[derive(Debug)]
pub(crate) struct Lines {
    waiting: SyncSender<Piece>,
    lost: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Piece {
    /// With its end of line.
    Line(String),
    /// Somebody waits until all before it is written.
    Mark(oneshot::Sender<()>),
}

impl Lines {
    /// There is one standard error, and so one who writes to it.
    pub(crate) fn of_this_process() -> &'static Self {
        static LINES: OnceLock<Lines> = OnceLock::new();
        LINES.get_or_init(Self::start)
    }

    fn start() -> Self {
        let (waiting, pieces) = sync_channel(MOST_WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let counted = lost.clone();
        // Without a thread, and without memory for one, lines are lost and requests are not.
        let _ = std::thread::Builder::new()
            .name("andon-log".to_owned())
            .spawn(move || write(&pieces, &counted));
        Self { waiting, lost }
    }

    /// Hands over a line, or counts it as lost.
    pub(crate) fn push(&self, line: String) {
        if self.waiting.try_send(Piece::Line(line)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until everything that was handed over is written, for a few seconds at most.
    pub(crate) async fn flush(&self) {
        let (mark, written) = oneshot::channel();
        let flushing = async {
            let mut piece = Piece::Mark(mark);
            while let Err(TrySendError::Full(back)) = self.waiting.try_send(piece) {
                piece = back;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            // It also ends when the thread has.
            let _ = written.await;
        };
        let _ = tokio::time::timeout(LONGEST_FLUSH, flushing).await;
    }
}

/// The writing thread: everything that waits goes out in one write. Between two writes it waits for a moment, for while
/// it sleeps in the channel every line wakes it up, at the cost of whoever hands the line over.
fn write(pieces: &Receiver<Piece>, lost: &AtomicU64) {
    while let Ok(first) = pieces.recv() {
        let (mut text, mut marks) = (String::new(), Vec::new());
        for piece in std::iter::once(first).chain(pieces.try_iter().take(MOST_WAITING)) {
            match piece {
                Piece::Line(line) => text.push_str(&line),
                Piece::Mark(mark) => marks.push(mark),
            }
        }
        // When standard error is gone there is nobody left to tell.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
        for mark in marks {
            // Whoever waited may have left.
            let _ = mark.send(());
        }
        let lost = lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            tracing::warn!(
                lost,
                "lines were lost: standard error is not read fast enough"
            );
        }
        std::thread::sleep(BETWEEN_WRITES);
    }
}

/// Lines that wait for standard error: those of a few hundred thousand requests a second.
const MOST_WAITING: usize = 4096;

const BETWEEN_WRITES: Duration = Duration::from_millis(10);

const LONGEST_FLUSH: Duration = Duration::from_secs(5);
