//! The client: connections that request a list of URLs from a server, and record the replies.
//!
//! One worker loop (`worker`) serves every kind of load. A `Pacer` says when the next request is due (at once in a
//! closed loop, at its arrival in an open one) and a `Stop` says whether there is a next one and whether it counts. The
//! `course` moves the load through its phases: ramp-up, warm-up, measured window, end.
//!
//! The client shares the machine with the server, so it is kept lean: it has one thread by default, compares replies
//! with known ones before it hashes them, and decodes images only after the block. Its cost is measured and reported,
//! and [`null`] shows the most that it could achieve.

mod connection;
mod course;
pub mod null;
mod pacer;
mod recorder;
mod replies;
mod sequence;
mod stop;
mod worker;

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::task::JoinSet;

use crate::record::{ClientCost, LoadResult, Warmup};
use crate::sample::ClientThreads;
use crate::scenario::{Check, Load, Mode, WarmupRule, cpus};
pub use andon_client::Endpoint;

use course::Course;
use pacer::{Closed, Open, Pacing};
use recorder::Recorder;
use sequence::Sequence;
use stop::{AfterRequests, AtEnd};
use worker::Shared;

/// One entry of the list of requests to send.
#[derive(Clone, Debug)]
pub struct RequestTemplate {
    /// The target as sent, e.g. `/a.jpg?w=10`.
    pub target: String,
    /// Relative frequency, used when URLs are drawn by weight.
    pub weight: f64,
    /// HTTP method.
    pub method: String,
    /// Header fields. Over HTTP/1.1, `Host` is added if it is missing.
    pub headers: Vec<(String, String)>,
    /// Request body.
    pub body: Bytes,
    /// Expected status; 0 for the one that the scenario's check expects.
    pub status: u16,
}

impl RequestTemplate {
    /// Creates a plain GET request.
    #[must_use]
    pub fn get(target: &str) -> Self {
        Self {
            target: target.to_owned(),
            weight: 1.0,
            method: "GET".to_owned(),
            headers: Vec::new(),
            body: Bytes::new(),
            status: 0,
        }
    }
}

/// When the measured window ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// The window ends after this time.
    For(Duration),
    /// The window ends when this many requests have ended.
    Requests(u64),
}

/// Everything that is needed to drive the load of one block.
pub struct Drive<'a> {
    /// The address of the server.
    pub endpoint: Endpoint,
    /// The requests to send; must not be empty.
    pub templates: &'a [RequestTemplate],
    /// The connections and the rate of the load.
    pub load: &'a Load,
    /// The checks that every reply must pass.
    pub check: &'a Check,
    /// When warm-up ends. Without warm-up and ramp-up, the very first request counts.
    pub warmup: &'a WarmupRule,
    /// When the measured window ends.
    pub window: Window,
    /// Seed that determines the order of URLs and the times of arrivals.
    pub seed: u64,
    /// Ends the load early when set.
    pub cancel: Arc<AtomicBool>,
    /// Latency above which a good reply counts as late in its time slice ([`Bin::late`](crate::record::Bin::late));
    /// `Duration::MAX` if there is no limit.
    pub late: Duration,
    /// Registry to which the client's threads are added, so that samplers can read their CPU time.
    pub threads: ClientThreads,
    /// Called when the window opens and when it closes.
    pub edge: &'a (dyn Fn() + Sync),
    /// Called a few times per second.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// Progress of a block's load, for a progress bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Whether the measured window is open.
    pub measuring: bool,
    /// Elapsed share of the window, 0 to 1.
    pub done: f64,
    /// Good replies per second since the previous progress report.
    pub rate: f64,
}

/// The outcome of driving the load of one block.
#[derive(Debug)]
pub struct Driven {
    /// Result of the measured window.
    pub result: LoadResult,
    /// Resources that the client used during the measured window.
    pub client: ClientCost,
    /// Length and result of the warm-up.
    pub warmup: Warmup,
    /// When the load began, that is, when the first connection was due to open.
    pub began: Instant,
    /// When ramp-up ended and warm-up began.
    pub ramped: Instant,
    /// When the measured window opened.
    pub opened: Instant,
    /// When the measured window closed.
    pub closed: Instant,
    /// Distinct reply bodies by their hash, as far as they were kept.
    pub bodies: BTreeMap<String, Bytes>,
    /// Whether the load was cancelled.
    pub cancelled: bool,
}

/// Requests that arrive at given times instead of at a rate.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// For each request, in order: its arrival time since the start, and the index of its `RequestTemplate` in
    /// `Drive::templates`.
    pub requests: Vec<(Duration, u32)>,
}

/// Why no load could be driven at all. Failures of single requests are part of the result instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the client itself: a request cannot be sent, or the server cannot be reached.
    #[error(transparent)]
    Asking(#[from] andon_client::Error),
    /// The list of requests is empty, or a script has none or names one that is not in the list.
    #[error("there is nothing to ask: give URLs with `urls`, `[[load.url]]` or -L")]
    NothingAsked,
    /// An open loop has no rate.
    #[error("an open loop needs `rate`, the requests per second that arrive")]
    NoRate,
    /// The list of CPUs cannot be parsed, or it names a CPU that this process may not use.
    #[error("{0}")]
    Cpus(String),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Asking(error.into())
    }
}

/// Drives the load of one block and returns when its window has closed.
///
/// # Errors
/// See [`Error`]. A server that replies badly or not at all is not an error here.
pub fn drive(drive: &Drive<'_>) -> Result<Driven, Error> {
    run(drive, None)
}

/// Drives an open loop whose requests arrive at the times of a script, and returns when all of them are over. `drive`
/// must have no warm-up, and its window must end after as many requests as the script has.
///
/// # Errors
/// See [`Error`].
pub fn replay(drive: &Drive<'_>, script: &Script) -> Result<Driven, Error> {
    let is_listed = |(_, url): &(Duration, u32)| (*url as usize) < drive.templates.len();
    if script.requests.is_empty() || !script.requests.iter().all(is_listed) {
        return Err(Error::NothingAsked);
    }
    run(drive, Some(script))
}

fn run(drive: &Drive<'_>, script: Option<&Script>) -> Result<Driven, Error> {
    if drive.templates.is_empty() {
        return Err(Error::NothingAsked);
    }
    if drive.load.mode == Mode::Open && drive.load.rate <= 0.0 {
        return Err(Error::NoRate);
    }
    let cpus =
        cpus::usable(&drive.load.cpus).map_err(|why| Error::Cpus(format!("`load.cpus`: {why}")))?;
    let host = match &drive.endpoint {
        Endpoint::Tcp(address) => address.to_string(),
        Endpoint::Unix(_) => "localhost".to_owned(),
    };
    let connections = match drive.load.mode {
        Mode::Single => 1,
        Mode::Closed | Mode::Open => drive.load.connections.max(1),
    };
    let at_once = drive.warmup.max.0 <= 0.0 && drive.load.ramp.0 <= 0.0;
    let shared = Arc::new(Shared {
        endpoint: drive.endpoint.clone(),
        requests: connection::prepare(drive.templates, &host, drive.load)?,
        sequence: match script {
            Some(script) => Sequence::scripted(script),
            None => Sequence::new(drive.templates, drive.load.order, drive.seed),
        },
        course: Course::new(drive.cancel.clone(), at_once),
        recorder: Recorder::new(drive, connections),
        keepalive: drive.load.keepalive,
        http: drive.load.http,
        timeout: drive.load.timeout.duration(),
        cut_at_end: drive.load.mode != Mode::Open,
    });
    let client = Client {
        connections,
        threads: drive.load.threads.clamp(1, connections),
        cpus,
        pacing: match script {
            Some(script) => Pacing::scripted(script),
            None => Pacing::new(drive.load, drive.seed),
        },
        stop: match drive.window {
            Window::For(_) => None,
            Window::Requests(total) => Some(Arc::new(AfterRequests::new(total))),
        },
        ramp: drive.load.ramp.duration(),
        began: Instant::now(),
    };
    client.run(drive, &shared)
}

/// Settings that the client's threads share.
struct Client {
    connections: u32,
    threads: u32,
    /// CPUs that the threads may use; empty for all.
    cpus: Vec<usize>,
    pacing: Pacing,
    stop: Option<Arc<AfterRequests>>,
    ramp: Duration,
    began: Instant,
}

impl Client {
    fn run(&self, drive: &Drive<'_>, shared: &Arc<Shared>) -> Result<Driven, Error> {
        std::thread::scope(|scope| {
            let (registration, registrations) = mpsc::channel();
            let threads: Vec<_> = (0..self.threads)
                .map(|thread| {
                    let registration = registration.clone();
                    let client_threads = drive.threads.clone();
                    scope.spawn(move || {
                        let mut fails = Fails(Some(&shared.course));
                        let result = self.thread(thread, shared, &registration, &client_threads);
                        if result.is_ok() {
                            fails.0 = None;
                        }
                        result
                    })
                })
                .collect();
            drop(registration);
            // All threads have registered by now.
            registrations
                .iter()
                .take(self.threads as usize)
                .for_each(drop);
            if let Pacing::Open(schedule) = &self.pacing {
                scope.spawn(|| schedule.dispatch(self.began + self.ramp, &shared.course));
            }
            let mut outcome = course::conduct(drive, shared, self.threads, self.began);
            for thread in threads {
                thread
                    .join()
                    .unwrap_or_else(|_| Err(io::Error::other("one of its threads panicked")))?;
            }
            outcome.result = shared.recorder.finish(outcome.opened, outcome.closed);
            if let Pacing::Open(schedule) = &self.pacing {
                outcome.result.missed_sends =
                    schedule.missed_arrivals(outcome.opened, outcome.closed);
            }
            outcome.bodies = shared.recorder.bodies();
            Ok(outcome)
        })
    }

    /// Runs one thread with its share of the connections until the last of them has finished.
    fn thread(
        &self,
        thread: u32,
        shared: &Arc<Shared>,
        registration: &mpsc::Sender<()>,
        client_threads: &ClientThreads,
    ) -> io::Result<()> {
        let _registered = client_threads.register();
        cpus::stay_on(&self.cpus)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let _ = registration.send(());
        runtime.block_on(async {
            let mut connections = JoinSet::new();
            for id in (0..self.connections).filter(|id| id % self.threads == thread) {
                self.spawn(id, shared.clone(), &mut connections);
            }
            while let Some(result) = connections.join_next().await {
                result.map_err(io::Error::other)?;
            }
            Ok(())
        })
    }

    fn spawn(&self, id: u32, shared: Arc<Shared>, into: &mut JoinSet<()>) {
        let start = self.began + self.ramp / self.connections * id;
        let id = id as usize;
        match (&self.pacing, &self.stop) {
            (Pacing::Closed, None) => {
                into.spawn(worker::work(shared, id, start, Closed, Arc::new(AtEnd)));
            }
            (Pacing::Closed, Some(stop)) => {
                into.spawn(worker::work(shared, id, start, Closed, stop.clone()));
            }
            (Pacing::Open(schedule), None) => {
                let open = Open(schedule.clone());
                into.spawn(worker::work(shared, id, start, open, Arc::new(AtEnd)));
            }
            (Pacing::Open(schedule), Some(stop)) => {
                let open = Open(schedule.clone());
                into.spawn(worker::work(shared, id, start, open, stop.clone()));
            }
        }
    }
}

/// Drop guard of a client thread: ends the load of the whole block if the thread returns an error or panics. Otherwise
/// the window would never end, because no other thread takes over its share.
struct Fails<'a>(Option<&'a Course>);

impl Drop for Fails<'_> {
    fn drop(&mut self) {
        if let Some(course) = self.0 {
            course.fail();
        }
    }
}
