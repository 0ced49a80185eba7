//! Sums up the outcomes of requests. All connections share one lock, which is held for about a microsecond per reply
//! and contended by one or two threads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::connection::Head;
use super::replies::Replies;
use super::{Drive, RequestTemplate, Window};
use crate::record::{Bin, ConnectionUse, Failures, Latencies, LoadResult, Point, UrlResult};
use crate::scenario::{BodyCheck, Check, Mode};

/// The facts about one request that are known before its reply.
pub(super) struct Turn {
    connection: usize,
    url: usize,
    due: Instant,
    /// The time at which the client began to send the request, before any new connection was opened.
    pub(super) started: Instant,
    /// How long connecting took, if a new connection was needed.
    pub(super) connected: Option<Duration>,
    /// Whether the measured window was open when the request began and, if the window ends after a number of requests,
    /// had room for it.
    admitted: bool,
}

impl Turn {
    pub(super) fn new(connection: usize, url: usize, due: Instant, admitted: bool) -> Self {
        Self {
            connection,
            url,
            due,
            started: due,
            connected: None,
            admitted,
        }
    }
}

/// The outcome of one request.
pub(super) enum Outcome {
    /// A whole reply arrived. Its body is passed separately.
    Replied(Head),
    /// No whole reply arrived, with the kind of failure and its reason.
    Failed(Failure, String),
}

/// Why no whole reply arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    Connect,
    Timeout,
    Cut,
}

/// Records the requests of one block.
pub(super) struct Recorder {
    numbers: AtomicU64,
    counting: Counting,
    check: Check,
    expected: Vec<u16>,
    window: Window,
    sums: Mutex<Sums>,
}

/// The rule that decides whether a request belongs to the measured window.
#[derive(Clone, Copy)]
enum Counting {
    /// The request began while the window was open and still lacked requests. Applies if the window ends after a number
    /// of requests.
    Admitted,
    /// The request ended within the window.
    Ended,
    /// The request was due within the window.
    Due,
}

struct Sums {
    opened: Option<Instant>,
    last_end: Option<Instant>,
    result: LoadResult,
    replies: Replies,
    last_reply: Vec<Option<Instant>>,
    /// Number and latencies of the good replies since the last call of [`Recorder::take_bin`].
    recent: (u64, Latencies),
    bin: OpenBin,
    stride: u64,
    over: u64,
    late: Duration,
}

#[derive(Default)]
struct OpenBin {
    index: u64,
    completed: u64,
    late: u64,
    latencies: Latencies,
}

impl Recorder {
    pub(super) fn new(drive: &Drive<'_>, connections: u32) -> Self {
        let url = |template: &RequestTemplate| UrlResult {
            url: template.target.clone(),
            ..UrlResult::default()
        };
        let expected = |template: &RequestTemplate| {
            if template.status == 0 {
                drive.check.status
            } else {
                template.status
            }
        };
        Self {
            numbers: AtomicU64::new(0),
            counting: match (drive.window, drive.load.mode) {
                (Window::Requests(_), _) => Counting::Admitted,
                (Window::For(_), Mode::Open) => Counting::Due,
                (Window::For(_), Mode::Closed | Mode::Single) => Counting::Ended,
            },
            check: drive.check.clone(),
            expected: drive.templates.iter().map(expected).collect(),
            window: drive.window,
            sums: Mutex::new(Sums {
                opened: None,
                last_end: None,
                result: LoadResult {
                    connections,
                    urls: drive.templates.iter().take(MOST_URLS).map(url).collect(),
                    per_connection: vec![ConnectionUse::default(); connections as usize],
                    ..LoadResult::default()
                },
                replies: Replies::new(drive.check.body, drive.templates.len()),
                last_reply: vec![None; connections as usize],
                recent: Default::default(),
                bin: OpenBin::default(),
                stride: 1,
                over: 0,
                late: drive.late,
            }),
        }
    }

    /// Returns the next sequence number, which determines the URL to request.
    pub(super) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Opens the measured window.
    pub(super) fn open(&self, at: Instant) {
        self.sums().opened = Some(at);
    }

    /// Returns the number of good replies since the last call and their median latency in seconds.
    pub(super) fn take_bin(&self) -> (u64, f64) {
        let (completed, latencies) = std::mem::take(&mut self.sums().recent);
        (completed, latencies.quantile(0.5))
    }

    /// Returns the number of requests of the measured window that have ended.
    pub(super) fn counted_requests(&self) -> u64 {
        self.sums().over
    }

    /// Returns when the last request of the measured window ended, or the current time if none has.
    pub(super) fn last_end(&self) -> Instant {
        self.sums().last_end.unwrap_or_else(Instant::now)
    }

    pub(super) fn bodies(&self) -> BTreeMap<String, Bytes> {
        self.sums().replies.bodies()
    }

    /// Records one request and its outcome. Returns whether it was the last of a window that ends after a number of
    /// requests.
    pub(super) fn record(&self, turn: &Turn, outcome: Outcome, body: &[u8]) -> bool {
        let end = Instant::now();
        let mut sums = self.sums();
        let reply = match &outcome {
            Outcome::Replied(head) => Some(sums.replies.index_of(turn.url, head, body)),
            Outcome::Failed(..) => None,
        };
        let trouble = self.trouble(&sums, turn.url, &outcome, body);
        if trouble.is_none() {
            sums.recent.0 += 1;
            sums.recent.1.record(end.duration_since(turn.due));
        }
        let Some(opened) = sums.opened else {
            return false;
        };
        if !self.belongs(turn, opened, end) {
            return false;
        }
        sums.over += 1;
        sums.last_end = Some(end);
        if let Some(reply) = reply {
            sums.replies.count(turn.url, reply);
        }
        sums.add(turn, opened, end, &outcome, body.len() as u64, trouble);
        matches!(self.window, Window::Requests(total) if sums.over == total)
    }

    fn belongs(&self, turn: &Turn, opened: Instant, end: Instant) -> bool {
        let inside = |at: Instant| match self.window {
            Window::For(time) => at >= opened && at < opened + time,
            Window::Requests(_) => at >= opened,
        };
        match self.counting {
            Counting::Admitted => turn.admitted,
            Counting::Ended => inside(end),
            Counting::Due => inside(turn.due),
        }
    }

    /// Returns which failure a request counts as, and why, or `None` if it went well.
    fn trouble(
        &self,
        sums: &Sums,
        url: usize,
        outcome: &Outcome,
        body: &[u8],
    ) -> Option<(Count, String)> {
        let head = match outcome {
            Outcome::Failed(failure, why) => {
                let count: Count = match failure {
                    Failure::Connect => |failures| &mut failures.connect,
                    Failure::Timeout => |failures| &mut failures.timeout,
                    Failure::Cut => |failures| &mut failures.cut,
                };
                return Some((count, why.clone()));
            }
            Outcome::Replied(head) => head,
        };
        let status = match self.expected[url] {
            0 => head.status < 400,
            expected => head.status == expected,
        };
        let (expected_type, length) = (&self.check.media_type, body.len() as u64);
        let first = sums.replies.first_length(url);
        if !status {
            let expected = match self.expected[url] {
                0 => "below 400".to_owned(),
                expected => expected.to_string(),
            };
            let why = format!("status {}, expected {expected}", head.status);
            Some((|failures| &mut failures.status, why))
        } else if !expected_type.is_empty() && head.media_type != *expected_type {
            let why = format!("type {}, expected {expected_type}", head.media_type);
            Some((|failures| &mut failures.media_type, why))
        } else if self.check.body == BodyCheck::Length && first != Some(length) {
            let why = format!("{length} B, first {} B", first.unwrap_or(0));
            Some((|failures| &mut failures.length, why))
        } else {
            None
        }
    }

    /// Closes the record and returns the results of the measured window.
    pub(super) fn finish(&self, opened: Instant, closed: Instant) -> LoadResult {
        let mut sums = self.sums();
        sums.close_bin();
        let seconds = closed.saturating_duration_since(opened).as_secs_f64();
        for id in 0..sums.last_reply.len() {
            let since = sums.last_reply[id].unwrap_or(opened);
            let wait = closed.saturating_duration_since(since).as_secs_f64();
            let connection = &mut sums.result.per_connection[id];
            connection.longest_wait = connection.longest_wait.max(wait);
        }
        let mut result = std::mem::take(&mut sums.result);
        result.seconds = seconds;
        result.sent = sums.over;
        result.bodies = sums.replies.counted_bodies();
        if seconds > 0.0 {
            result.in_flight = result.service.mean() * result.service.count() as f64 / seconds;
        }
        result
    }

    fn sums(&self) -> MutexGuard<'_, Sums> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Maximum number of URLs with results of their own, since the histogram of each takes up to 200 kB. A longer list is a
/// log that is replayed, which has its most frequent URLs first.
const MOST_URLS: usize = 1000;

/// Selects the counter of a kind of failure.
type Count = fn(&mut Failures) -> &mut u64;

impl Sums {
    fn add(
        &mut self,
        turn: &Turn,
        opened: Instant,
        end: Instant,
        outcome: &Outcome,
        length: u64,
        trouble: Option<(Count, String)>,
    ) {
        let good = trouble.is_none();
        let total = end.saturating_duration_since(turn.due);
        let at = end.saturating_duration_since(opened);
        let result = &mut self.result;
        if let Outcome::Replied(head) = outcome {
            result.bytes_body += length;
            result.bytes_total += length + head.bytes;
            result
                .waiting
                .record(head.at.saturating_duration_since(turn.started));
        }
        if let Some(connected) = turn.connected {
            result.connect.record(connected);
        }
        result
            .service
            .record(end.saturating_duration_since(turn.started));
        result
            .send_lag
            .record(turn.started.saturating_duration_since(turn.due));
        let url = result.urls.get_mut(turn.url);
        if let Some((count, why)) = trouble {
            *count(&mut result.failures) += 1;
            if let Some(url) = url {
                url.failures += 1;
                url.reason.get_or_insert(why);
            }
        } else {
            result.completed += 1;
            result.total.record(total);
            if let Some(url) = url {
                url.completed += 1;
                url.bytes_body += length;
                url.total.record(total);
            }
        }
        let since = self.last_reply[turn.connection].unwrap_or(opened);
        let connection = &mut result.per_connection[turn.connection];
        connection.completed += u64::from(good);
        connection.longest_wait = connection
            .longest_wait
            .max(end.saturating_duration_since(since).as_secs_f64());
        self.last_reply[turn.connection] = Some(end);
        self.point(turn.url, at, total, good);
        self.bin(at, total, good);
    }

    /// Adds a request to the sample, which holds every `stride`th. When the sample is full, every second point is
    /// dropped and the stride doubled.
    fn point(&mut self, url: usize, at: Duration, latency: Duration, good: bool) {
        if !self.over.is_multiple_of(self.stride) {
            return;
        }
        let points = &mut self.result.points;
        points.push(Point {
            at: at.as_secs_f64(),
            latency: latency.as_secs_f64(),
            url: url as u32,
            good,
        });
        if points.len() >= POINTS {
            let mut keep = false;
            points.retain(|_| {
                keep = !keep;
                keep
            });
            self.stride *= 2;
        }
    }

    fn bin(&mut self, at: Duration, latency: Duration, good: bool) {
        let index = (at.as_secs_f64() / BIN) as u64;
        while self.bin.index < index && self.result.bins.len() < MOST_BINS {
            self.close_bin();
        }
        if good {
            self.bin.completed += 1;
            self.bin.late += u64::from(latency > self.late);
            self.bin.latencies.record(latency);
        }
    }

    fn close_bin(&mut self) {
        let bin = std::mem::take(&mut self.bin);
        self.bin.index = bin.index + 1;
        self.result.bins.push(Bin {
            at: bin.index as f64 * BIN,
            seconds: BIN,
            completed: bin.completed,
            p50: bin.latencies.quantile(0.5),
            p99: bin.latencies.quantile(0.99),
            late: bin.late,
        });
    }
}

/// Length of a time slice of the window in seconds.
const BIN: f64 = 0.25;
/// Largest number of time slices into which the measured window is divided. Everything after the first hour goes into
/// the last one.
const MOST_BINS: usize = 14_400;
/// Size at which the sample of points for a block's scatter figure is halved.
const POINTS: usize = 2048;
