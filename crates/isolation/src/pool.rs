//! The pool of worker processes: which workers are in use, which callers wait for one, and how workers ended.

mod counters;
mod lease;
mod suspects;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use andon_pixels::{Error, Interrupt, Result};
use rustix::net::sockopt::{Timeout, set_socket_timeout};

use crate::channel::{Channel, NoTimeout};
use crate::job::{Hello, Kind, VERSION};
use crate::process::{Program, Starter};
use counters::Counters;
pub use counters::{Counts, Death};
pub(crate) use lease::{Lease, Question};
pub(crate) use suspects::Suspects;

/// Number of worker processes, and the resources that they may use.
#[derive(Debug)]
pub struct Settings {
    /// The program that worker processes are started from.
    pub program: Program,
    /// Number of workers to keep ready: the number of threads that use them.
    pub ready: usize,
    /// Maximum memory in bytes that the plan of a request may need. A worker may allocate 1.5 times as much, whatever
    /// its job.
    pub memory: u64,
    /// Maximum bytes of free buffers that each worker keeps, wiped, between its jobs. Values above
    /// [`AT_REST`](crate::AT_REST) minus [`BARE`](crate::BARE) have no further effect.
    pub kept: u64,
    /// A file that every worker can read, for example one of fonts; see [`as_process`](crate::as_process).
    pub shared: Option<File>,
    /// How long a file is refused after two workers died while processing it.
    pub suspect: Duration,
}

/// A pool without workers yet: only the process that starts them is running.
#[derive(Debug)]
pub struct Prepared {
    settings: Settings,
    starter: Starter,
}

impl Prepared {
    /// Starts the process that will start the workers. Call this before this process drops the privileges that starting
    /// a process needs.
    ///
    /// # Errors
    /// If the system cannot start a process.
    pub fn new(settings: Settings) -> io::Result<Self> {
        let memory = settings.memory.saturating_add(settings.memory / 2);
        let starter = Starter::new(
            &settings.program,
            [memory, settings.kept],
            settings.shared.as_ref(),
        )?;
        Ok(Self { settings, starter })
    }

    /// Starts the workers, and the thread that keeps the configured number of them ready.
    #[must_use]
    pub fn start(self) -> Arc<Pool> {
        Pool::new(&self.settings, self.starter)
    }
}

/// Worker processes, shared by the threads of this process.
#[derive(Debug)]
pub struct Pool {
    ready: usize,
    state: Mutex<State>,
    /// Signals that a worker was returned or started, or that none can be started.
    changed: Condvar,
    orders: Sender<Order>,
    counters: Counters,
    pub(crate) suspects: Suspects,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Worker>,
    /// The prober, a worker that only reads headers, while it is idle.
    prober: Option<Worker>,
    /// Whether the prober, the worker that only reads headers, is in use or has been ordered.
    prober_away: bool,
    /// Number of workers in use, not counting the prober, which only reads headers.
    busy: usize,
    /// Number of workers that were ordered but have not started yet, not counting the prober, which only reads headers.
    pending: usize,
    /// When starting workers began to fail, and the latest error; `None` if workers can be started.
    failure: Option<(Instant, String)>,
}

/// One worker process, and its statistics.
#[derive(Debug)]
pub(crate) struct Worker {
    socket: OwnedFd,
    number: u32,
    jobs: u32,
    resident: u64,
    /// Whether the worker only reads headers.
    prober: bool,
}

/// An order to the thread that starts and ends workers.
#[derive(Debug)]
enum Order {
    Start {
        prober: bool,
    },
    End {
        worker: u32,
        how: End,
        reply: Option<Sender<io::Result<ExitStatus>>>,
    },
}

#[derive(Clone, Copy, Debug)]
enum End {
    /// Kill the worker, whatever it is doing.
    Kill,
    /// Wait for the worker to end, because one side has closed its socket.
    Wait,
}

impl Pool {
    fn new(settings: &Settings, starter: Starter) -> Arc<Self> {
        let (orders, order_receiver) = mpsc::channel();
        let pool = Arc::new(Self {
            ready: settings.ready.max(1),
            state: Mutex::default(),
            changed: Condvar::new(),
            orders,
            counters: Counters::default(),
            suspects: Suspects::new(settings.suspect),
        });
        pool.keep(starter, order_receiver)
    }

    /// Starts the thread that keeps workers ready. The thread ends when the pool is dropped.
    fn keep(self: Arc<Self>, mut starter: Starter, orders: Receiver<Order>) -> Arc<Self> {
        let weak = Arc::downgrade(&self);
        let handle = thread::Builder::new()
            .name("processes".to_owned())
            .spawn(move || {
                let mut pause = None;
                while let Some(order) = next(&orders, pause) {
                    match order {
                        Order::Start { prober } => {
                            let result = start(&mut starter, prober);
                            pause = result.is_err().then_some(PAUSE);
                            let Some(pool) = weak.upgrade() else { return };
                            pool.record_start(result, prober);
                        }
                        Order::End { worker, how, reply } => {
                            let status = match how {
                                End::Kill => starter.kill(worker),
                                End::Wait => starter.wait(worker),
                            };
                            if let Some(reply) = reply {
                                let _ = reply.send(status);
                            }
                        }
                    }
                }
            });
        let mut state = self.lock();
        match handle {
            Ok(_) => {
                self.complete(&mut state);
            }
            Err(error) => state.failure = Some((Instant::now(), error.to_string())),
        }
        drop(state);
        self
    }

    /// Takes a worker, waiting until one is available.
    ///
    /// # Errors
    /// `Internal` if no worker is in use and none can be started; `Interrupted` if `interrupt` ends the wait.
    pub(crate) fn take(&self, interrupt: &dyn Interrupt) -> Result<Worker> {
        let mut state = self.lock();
        loop {
            if let Some(worker) = state.idle.pop() {
                state.busy += 1;
                return Ok(worker);
            }
            if let (Some((_, why)), 0) = (&state.failure, state.busy) {
                return Err(Error::Internal(format!("no worker process: {why}")));
            }
            if interrupt.interrupted() {
                return Err(Error::Interrupted);
            }
            // Up to two for each thread: a caller that converts an animation reads it with one worker and writes it with
            // another.
            if state.failure.is_none() && state.pending == 0 && state.busy < 2 * self.ready {
                self.order(&mut state, false);
            }
            let result = self.changed.wait_timeout(state, MOMENT);
            state = result.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes the worker that reads headers, or any other worker if that one is busy.
    ///
    /// # Errors
    /// Those of [`take`](Self::take).
    pub(crate) fn take_prober(&self, interrupt: &dyn Interrupt) -> Result<Worker> {
        let mut state = self.lock();
        if let Some(prober) = state.prober.take() {
            state.prober_away = true;
            return Ok(prober);
        }
        drop(state);
        self.take(interrupt)
    }

    /// Takes back a worker whose job is done. Ends it if it has reached its maximum number of jobs, or if enough others
    /// are idle.
    fn give_back(&self, worker: Worker) {
        if worker.jobs >= MOST_JOBS {
            self.replace(worker);
            return;
        }
        self.counters.resident(worker.number, worker.resident);
        let mut state = self.lock();
        if worker.prober {
            state.prober = Some(worker);
            state.prober_away = false;
            return;
        }
        state.busy -= 1;
        if state.idle.len() < self.ready {
            state.idle.push(worker);
            self.changed.notify_one();
        } else {
            drop(state);
            self.end(worker, End::Wait, None);
        }
    }

    /// Ends a worker that has reached its maximum number of jobs, and orders a replacement if one is needed.
    fn replace(&self, worker: Worker) {
        self.record_loss(worker.prober);
        self.end(worker, End::Wait, None);
    }

    /// Ends a worker that is in use, and returns how it ended.
    fn end_now(&self, worker: Worker, how: End) -> io::Result<ExitStatus> {
        self.record_loss(worker.prober);
        let (reply, status) = mpsc::channel();
        self.end(worker, how, Some(reply));
        status
            .recv()
            .unwrap_or_else(|_| Err(io::Error::other("the process that starts workers is gone")))
    }

    fn end(&self, worker: Worker, how: End, reply: Option<Sender<io::Result<ExitStatus>>>) {
        let Worker { socket, number, .. } = worker;
        // The worker ends when it finds its socket closed.
        drop(socket);
        self.counters.forget(number);
        let order = Order::End {
            worker: number,
            how,
            reply,
        };
        let _ = self.orders.send(order);
    }

    /// Records that a worker in use has ended, and orders a replacement before it is needed.
    fn record_loss(&self, prober: bool) {
        let mut state = self.lock();
        match prober {
            true => state.prober_away = false,
            false => state.busy -= 1,
        }
        if state.failure.is_none() {
            self.complete(&mut state);
        }
    }

    fn order(&self, state: &mut State, prober: bool) {
        if self.orders.send(Order::Start { prober }).is_ok() {
            match prober {
                true => state.prober_away = true,
                false => state.pending += 1,
            }
        }
    }

    fn record_start(&self, result: io::Result<Worker>, prober: bool) {
        let mut state = self.lock();
        match prober {
            true => state.prober_away = false,
            false => state.pending = state.pending.saturating_sub(1),
        }
        match result {
            Ok(worker) => {
                self.counters.started.fetch_add(1, Ordering::Relaxed);
                match prober {
                    true => state.prober = Some(worker),
                    false => state.idle.push(worker),
                }
                if state.failure.take().is_some() {
                    tracing::warn!("worker processes can be started again");
                    self.complete(&mut state);
                }
            }
            Err(error) => {
                if state.failure.is_none() {
                    tracing::error!(%error, "no worker process could be started: it is tried every second");
                }
                let since = state
                    .failure
                    .take()
                    .map_or_else(Instant::now, |(since, _)| since);
                state.failure = Some((since, error.to_string()));
            }
        }
        self.changed.notify_all();
    }

    /// Orders workers until the configured number is running.
    fn complete(&self, state: &mut State) {
        for _ in state.idle.len() + state.busy + state.pending..self.ready {
            self.order(state, false);
        }
        if state.prober.is_none() && !state.prober_away {
            self.order(state, true);
        }
    }

    /// Returns the counters, and the present number of workers.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let state = self.lock();
        let idle = state.idle.len() + usize::from(state.prober.is_some());
        let busy = state.busy + usize::from(state.prober_away);
        self.counters.counts(idle, busy, self.suspects.len())
    }

    /// Returns when starting workers began to fail; `None` if workers can be started. The pool retries every second.
    #[must_use]
    pub fn failed(&self) -> Option<Instant> {
        self.lock().failure.as_ref().map(|(since, _)| *since)
    }

    /// Clears the list of suspect files, so that files on which workers died are tried again.
    pub fn forgive(&self) {
        self.suspects.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is safe to use, because no code that holds it can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time after which a failed start of a worker is retried.
const PAUSE: Duration = Duration::from_secs(1);

/// Number of jobs after which a worker is replaced, so that data which jobs left in its memory is freed.
const MOST_JOBS: u32 = 1000;

/// Interval at which a caller that waits for a worker or its answer checks whether the result is still needed.
pub(crate) const MOMENT: Duration = Duration::from_millis(10);

/// Waits for the next order and returns it. If none arrives within `pause`, returns an order to start a worker, so that
/// a failed start is retried. Returns `None` if the pool was dropped.
fn next(orders: &Receiver<Order>, pause: Option<Duration>) -> Option<Order> {
    let Some(pause) = pause else {
        return orders.recv().ok();
    };
    match orders.recv_timeout(pause) {
        Ok(order) => Some(order),
        Err(RecvTimeoutError::Timeout) => Some(Order::Start { prober: false }),
        Err(RecvTimeoutError::Disconnected) => None,
    }
}

/// Starts a worker and waits for its [`Hello`].
fn start(starter: &mut Starter, prober: bool) -> io::Result<Worker> {
    let (number, socket) = starter.start()?;
    handshake(number, socket, prober).inspect_err(|_| {
        let _ = starter.kill(number);
    })
}

fn handshake(number: u32, socket: OwnedFd, prober: bool) -> io::Result<Worker> {
    let hello: Hello = {
        let mut channel = Channel::new(&socket, NoTimeout);
        match channel.next()? {
            (Kind::Hello, lengths) => channel.value(lengths, 0)?,
            _ => return Err(io::Error::other("a worker process began otherwise")),
        }
    };
    if hello.version != VERSION {
        let why = format!("version {} instead of {VERSION}", hello.version);
        return Err(io::Error::other(why));
    }
    if let Some(why) = hello.confinement_error {
        tracing::warn!("a worker process may do more than compute: {why}");
    }
    for which in [Timeout::Recv, Timeout::Send] {
        set_socket_timeout(&socket, which, Some(MOMENT))?;
    }
    Ok(Worker {
        socket,
        number,
        jobs: 0,
        resident: 0,
        prober,
    })
}
