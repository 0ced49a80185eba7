//! The course of the load in one block (a period of load on one server): ramp-up, warm-up until steady, the measured
//! window, the end.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::worker::Shared;
use super::{Drive, Driven, Progress, Window};
use crate::record::{ClientCost, Warmup};
use crate::stats::steady;

/// The current state of a block's load, shared by all connections.
pub(super) struct Course {
    phase: AtomicU8,
    cancel: Arc<AtomicBool>,
    /// Whether one of the client's threads has failed.
    failed: AtomicBool,
    /// Becomes true when the first request may be sent.
    started: watch::Sender<bool>,
    /// Becomes true when the load is over, so that connections stop waiting.
    over: watch::Sender<bool>,
    /// Whether all counted requests have ended, if the window ends after a number of requests.
    finished: Mutex<bool>,
    finish: Condvar,
}

/// Phase of a block's load, as far as connections need to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Requests are sent, but not counted.
    Warmup,
    /// The measured window is open.
    Measure,
    /// No more requests are sent.
    End,
}

impl Course {
    /// Creates the state of a load that begins with warm-up. If `at_once` is set, there is no warm-up: requests wait
    /// until the measured window opens.
    pub(super) fn new(cancel: Arc<AtomicBool>, at_once: bool) -> Self {
        Self {
            phase: AtomicU8::new(Phase::Warmup as u8),
            cancel,
            failed: AtomicBool::new(false),
            started: watch::Sender::new(!at_once),
            over: watch::Sender::new(false),
            finished: Mutex::new(false),
            finish: Condvar::new(),
        }
    }

    pub(super) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Warmup,
            1 => Phase::Measure,
            _ => Phase::End,
        }
    }

    /// Waits until the first request may be sent.
    pub(super) async fn start(&self) {
        // The sender lives as long as the course, so that waiting cannot fail.
        let _ = self.started.subscribe().wait_for(|started| *started).await;
    }

    /// Opens the measured window.
    fn measure(&self) {
        self.phase.store(Phase::Measure as u8, Ordering::Release);
        self.started.send_replace(true);
    }

    /// Returns a receiver whose value becomes true when the load is over.
    pub(super) fn over(&self) -> watch::Receiver<bool> {
        self.over.subscribe()
    }

    /// Records that the last counted request has ended.
    pub(super) fn finished(&self) {
        *self.finished.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.finish.notify_all();
    }

    /// Ends the load: no more requests are sent.
    pub(super) fn end(&self) {
        self.phase.store(Phase::End as u8, Ordering::Release);
        self.over.send_replace(true);
    }

    /// Records that one of the client's threads has failed, so that nothing waits for its requests.
    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
        self.finished();
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }

    /// Waits for `time`, or until the last counted request has ended. Returns whether it has.
    fn wait(&self, time: Duration) -> bool {
        let finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
        *self
            .finish
            .wait_timeout_while(finished, time, |finished| !*finished)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }
}

/// Moves the load from phase to phase, from outside the client's threads, until its end. `threads` is the number of
/// these threads, and `began` the time at which ramp-up began. The result and the bodies of the returned value are left
/// empty.
pub(super) fn conduct(drive: &Drive<'_>, shared: &Shared, threads: u32, began: Instant) -> Driven {
    let course = &shared.course;
    let ramp = drive.load.ramp.duration();
    while began.elapsed() < ramp && !course.cancelled() {
        std::thread::sleep(BIN.min(ramp.saturating_sub(began.elapsed())));
    }
    let ramped = Instant::now();
    let steady = warm_up(drive, shared, ramped);
    (drive.edge)();
    let cpu_before = drive.threads.cpu_seconds();
    let opened = Instant::now();
    shared.recorder.open(opened);
    course.measure();
    let closed = measure(drive, shared, opened);
    let cpu = drive.threads.cpu_seconds() - cpu_before;
    course.end();
    (drive.edge)();
    let seconds = closed.duration_since(opened).as_secs_f64();
    Driven {
        result: crate::record::LoadResult::default(),
        client: ClientCost {
            cpu_seconds: cpu,
            threads,
            busy: if seconds > 0.0 {
                cpu / seconds / f64::from(threads)
            } else {
                0.0
            },
            ceiling: 0.0,
        },
        warmup: Warmup {
            seconds: opened.duration_since(ramped).as_secs_f64(),
            steady,
        },
        began,
        ramped,
        opened,
        closed,
        bodies: std::collections::BTreeMap::new(),
        cancelled: course.cancelled(),
    }
}

/// Waits until rate and median latency have settled, within the limits of the warm-up rule. Returns whether they have.
fn warm_up(drive: &Drive<'_>, shared: &Shared, since: Instant) -> bool {
    let (min, max) = (drive.warmup.min.duration(), drive.warmup.max.duration());
    let mut bins: Vec<(f64, f64)> = Vec::new();
    shared.recorder.take_bin();
    let mut last = Instant::now();
    loop {
        let settled = bins.len() >= SETTLED && steady(&bins[bins.len() - SETTLED..]);
        let time = since.elapsed();
        if time >= max || (time >= min && settled) || shared.course.cancelled() {
            return settled;
        }
        std::thread::sleep(BIN.min(max.saturating_sub(time)));
        let seconds = last.elapsed().as_secs_f64();
        last = Instant::now();
        let (completed, p50) = shared.recorder.take_bin();
        let rate = completed as f64 / seconds;
        bins.push((rate, p50));
        (drive.progress)(Progress {
            measuring: false,
            done: 0.0,
            rate,
        });
    }
}

/// Waits until the window is over; returns its end.
fn measure(drive: &Drive<'_>, shared: &Shared, opened: Instant) -> Instant {
    let mut last = opened;
    loop {
        let time_left = match drive.window {
            Window::For(time) => time.saturating_sub(opened.elapsed()),
            Window::Requests(_) => BIN,
        };
        let finished = shared.course.wait(time_left.min(BIN));
        if shared.course.cancelled() {
            return Instant::now();
        }
        match drive.window {
            Window::For(time) if opened.elapsed() >= time => return opened + time,
            Window::Requests(_) if finished => return shared.recorder.last_end(),
            Window::For(_) | Window::Requests(_) => {}
        }
        let seconds = last.elapsed().as_secs_f64();
        last = Instant::now();
        let (completed, _) = shared.recorder.take_bin();
        let done = match drive.window {
            Window::For(time) => opened.elapsed().as_secs_f64() / time.as_secs_f64().max(1e-9),
            Window::Requests(total) => {
                shared.recorder.counted_requests() as f64 / total.max(1) as f64
            }
        };
        (drive.progress)(Progress {
            measuring: true,
            done: done.min(1.0),
            rate: completed as f64 / seconds.max(1e-9),
        });
    }
}

/// Length of the time slices by which warm-up is judged, and interval of the progress reports.
const BIN: Duration = Duration::from_millis(250);
/// Number of successive time slices over which the load must be steady for warm-up to end before its maximum.
const SETTLED: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_whose_thread_has_failed_waits_for_nothing() {
        let course = Course::new(Arc::default(), true);
        course.fail();
        // If the course waited, this test would not end.
        assert!(course.wait(Duration::MAX) && course.cancelled());
    }
}
