//! The client: connections that ask a server for a list of URLs, and write down what came.
//!
//! One worker loop (`worker`) serves every kind of load. A `Pacer` says when the next request is
//! due (at once in a closed loop, at its arrival in an open one) and a `Stop` says whether there is a
//! next one and whether it counts. Between them lies the `course`: ramp-up, warm-up, measured window, end.
//!
//! The client shares the machine with the server, so it is kept lean: one thread by default, replies compared
//! with the last known ones before they are hashed, images decoded only after the block. What it costs is
//! measured and reported, and [`null`] tells what it could do at best.

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

/// One entry of the list of what is asked.
#[derive(Clone, Debug)]
pub struct RequestTemplate {
    /// The target as sent, e.g. `/a.jpg?w=10`.
    pub target: String,
    /// Relative frequency where the order is by weight.
    pub weight: f64,
    /// Method.
    pub method: String,
    /// Headers. `Host` is added where it misses.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Bytes,
    /// Expected status; 0: what the check says.
    pub status: u16,
}

impl RequestTemplate {
    /// A plain GET.
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
    /// After this time.
    For(Duration),
    /// After so many requests.
    Requests(u64),
}

/// Everything that a block's load needs.
pub struct Drive<'a> {
    /// The address of the server.
    pub endpoint: Endpoint,
    /// What to ask; not empty.
    pub asked: &'a [RequestTemplate],
    /// The connections and the rate of the load.
    pub load: &'a Load,
    /// What replies must be.
    pub check: &'a Check,
    /// When warm-up ends. Without any, and without ramp-up, the very first request counts.
    pub warmup: &'a WarmupRule,
    /// When the window ends.
    pub window: Window,
    /// Fixes order and arrivals.
    pub seed: u64,
    /// Ends everything early when set.
    pub cancel: Arc<AtomicBool>,
    /// Replies that take longer are counted as late in the slices of the window.
    pub late: Duration,
    /// Gets the client's threads, for samplers.
    pub threads: ClientThreads,
    /// Called when the window opens and when it closes.
    pub edge: &'a (dyn Fn() + Sync),
    /// Called a few times a second.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// What a progress bar shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Is the window open?
    pub measuring: bool,
    /// Share of the window that is over, 0 to 1.
    pub done: f64,
    /// Good replies per second of late.
    pub rate: f64,
}

/// The requests of one block and their responses, as counts and times.
#[derive(Debug)]
pub struct Driven {
    /// The window.
    pub result: LoadResult,
    /// What the client cost in it.
    pub client: ClientCost,
    /// How warm-up went.
    pub warmup: Warmup,
    /// When the first connection was opened.
    pub began: Instant,
    /// When warm-up began: all connections were there.
    pub ramped: Instant,
    /// When the window opened.
    pub opened: Instant,
    /// The time at which the window closed.
    pub closed: Instant,
    /// Every distinct body, by its hash.
    pub bodies: BTreeMap<String, Bytes>,
    /// Was it cancelled?
    pub cancelled: bool,
}

/// Requests at given times, instead of at a rate.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// When each arrives after the start, in order, and the index of what is asked.
    pub requests: Vec<(Duration, u32)>,
}

/// Why no load could be driven at all. What goes wrong with single requests is in the result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What the client itself says: a request that cannot be sent, a server that cannot be reached.
    #[error(transparent)]
    Asking(#[from] andon_client::Error),
    /// A list without URLs.
    #[error("there is nothing to ask: give URLs with `urls`, `[[load.url]]` or -L")]
    NothingAsked,
    /// An open loop without a rate.
    #[error("an open loop needs `rate`, the requests per second that arrive")]
    NoRate,
    /// A list of CPUs that cannot be read, or that this process may not use.
    #[error("{0}")]
    Cpus(String),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Asking(error.into())
    }
}

/// Drives one block's load and returns when its window has closed.
///
/// # Errors
/// See [`Error`]; a server that answers badly or not at all is no error here.
pub fn drive(drive: &Drive<'_>) -> Result<Driven, Error> {
    run(drive, None)
}

/// Drives an open loop whose requests arrive as a script says, and returns when all are over: the window of
/// `drive` must be their number, without warm-up.
///
/// # Errors
/// See [`Error`].
pub fn replay(drive: &Drive<'_>, script: &Script) -> Result<Driven, Error> {
    let known = |(_, url): &(Duration, u32)| (*url as usize) < drive.asked.len();
    if script.requests.is_empty() || !script.requests.iter().all(known) {
        return Err(Error::NothingAsked);
    }
    run(drive, Some(script))
}

fn run(drive: &Drive<'_>, script: Option<&Script>) -> Result<Driven, Error> {
    if drive.asked.is_empty() {
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
        requests: connection::prepare(drive.asked, &host, drive.load)?,
        sequence: match script {
            Some(script) => Sequence::scripted(script),
            None => Sequence::new(drive.asked, drive.load.order, drive.seed),
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

/// The client's threads.
struct Client {
    connections: u32,
    threads: u32,
    /// Those it may use; none: all.
    cpus: Vec<usize>,
    pacing: Pacing,
    stop: Option<Arc<AfterRequests>>,
    ramp: Duration,
    began: Instant,
}

impl Client {
    fn run(&self, drive: &Drive<'_>, shared: &Arc<Shared>) -> Result<Driven, Error> {
        std::thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            let threads: Vec<_> = (0..self.threads)
                .map(|thread| {
                    let tell = tell.clone();
                    let client_threads = drive.threads.clone();
                    scope.spawn(move || {
                        let mut fails = Fails(Some(&shared.course));
                        let ended = self.thread(thread, shared, &tell, &client_threads);
                        if ended.is_ok() {
                            fails.0 = None;
                        }
                        ended
                    })
                })
                .collect();
            drop(tell);
            // All are there, and registered.
            told.iter().take(self.threads as usize).for_each(drop);
            if let Pacing::Open(schedule) = &self.pacing {
                scope.spawn(|| schedule.dispatch(self.began + self.ramp, &shared.course));
            }
            let mut driven = course::conduct(drive, shared, self.threads, self.began);
            for thread in threads {
                thread
                    .join()
                    .unwrap_or_else(|_| Err(io::Error::other("one of its threads panicked")))?;
            }
            driven.result = shared.recorder.finish(driven.opened, driven.closed);
            if let Pacing::Open(schedule) = &self.pacing {
                driven.result.missed_sends = schedule.missed(driven.opened, driven.closed);
            }
            driven.bodies = shared.recorder.bodies();
            Ok(driven)
        })
    }

    /// One thread with its share of the connections, until the last has finished.
    fn thread(
        &self,
        thread: u32,
        shared: &Arc<Shared>,
        tell: &mpsc::Sender<()>,
        client_threads: &ClientThreads,
    ) -> io::Result<()> {
        let _registered = client_threads.register();
        cpus::stay_on(&self.cpus)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let _ = tell.send(());
        runtime.block_on(async {
            let mut connections = JoinSet::new();
            for id in (0..self.connections).filter(|id| id % self.threads == thread) {
                self.spawn(id, shared.clone(), &mut connections);
            }
            while let Some(ended) = connections.join_next().await {
                ended.map_err(io::Error::other)?;
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

/// A thread that ends without having done its work, by an error or a panic, ends the whole course: nobody else
/// does its share, and the window would never be over.
struct Fails<'a>(Option<&'a Course>);

impl Drop for Fails<'_> {
    fn drop(&mut self) {
        if let Some(course) = self.0 {
            course.fail();
        }
    }
}
