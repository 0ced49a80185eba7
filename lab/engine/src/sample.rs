//! Sampling of `/proc` while a block runs. One thread takes a sample at a fixed interval (0.1 s by default) and one at
//! each edge of the measured window. The samples give the server's cost, the system's load, the noise measurements and
//! the timeline.

mod foreign;
mod machine;
mod probe;
mod samples;
mod system;
mod tree;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::proc::{self, Pid};

pub use probe::spin;
pub use samples::Samples;

use foreign::Scan;
use samples::Sample;
use system::System;
use tree::Tree;

/// The client's threads, registered so that the client's own CPU cost is known.
#[derive(Clone, Debug, Default)]
pub struct ClientThreads(Arc<Mutex<Threads>>);

#[derive(Debug, Default)]
struct Threads {
    running: Vec<Pid>,
    /// CPU seconds of the threads that have ended, which `/proc` no longer lists.
    ended: f64,
}

/// A thread's registration among the client's threads. The thread itself drops it when it ends.
#[derive(Debug)]
#[must_use]
pub struct RegisteredThread {
    threads: ClientThreads,
    thread: Pid,
}

impl ClientThreads {
    /// Registers the calling thread until the returned value is dropped.
    pub fn register(&self) -> RegisteredThread {
        let thread = rustix::thread::gettid().as_raw_pid();
        self.threads().running.push(thread);
        RegisteredThread {
            threads: self.clone(),
            thread,
        }
    }

    /// Returns the CPU seconds that the registered threads have used so far, including those that have ended.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        let threads = self.threads();
        let running = threads.running.iter();
        let running = running.filter_map(|thread| proc::thread_seconds(*thread));
        threads.ended + running.sum::<f64>()
    }

    fn threads(&self) -> MutexGuard<'_, Threads> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RegisteredThread {
    fn drop(&mut self) {
        let mut threads = self.threads.threads();
        threads.ended += proc::thread_seconds(self.thread).unwrap_or(0.0);
        threads.running.retain(|thread| *thread != self.thread);
    }
}

/// The process tree that is sampled.
#[derive(Clone, Debug)]
pub enum Watched {
    /// All descendants of this process, but not the process itself: for a server that the laboratory started, its guard
    /// ([`Launched::guard_pid`](crate::launch::Launched::guard_pid)).
    Below(Pid),
    /// These processes and all their descendants, for a server that was already running
    /// ([`running`](fn@crate::launch::running)).
    Running(Vec<Pid>),
}

/// A thread that takes samples until `finish` is called.
#[derive(Debug)]
pub struct Sampler {
    commands: Sender<Command>,
    thread: JoinHandle<Samples>,
}

enum Command {
    Mark(Sender<f64>),
    Finish,
}

impl Sampler {
    /// Starts sampling the machine and `server`, if given, at the interval `every`. Sample times are seconds since
    /// `origin`.
    #[must_use]
    pub fn start(
        server: Option<Watched>,
        client: ClientThreads,
        every: Duration,
        origin: Instant,
    ) -> Self {
        let (commands, inbox) = mpsc::channel();
        let every = every.max(SHORTEST);
        let thread = thread::spawn(move || run(server, &client, every, origin, &inbox));
        Self { commands, thread }
    }

    /// Takes a sample now and returns its time in seconds. If the edges of a window are marked, the counters there are
    /// exact; otherwise they are interpolated between the surrounding samples.
    #[must_use]
    pub fn mark(&self) -> f64 {
        let (reply, answer) = mpsc::channel();
        // Sending cannot fail: the thread lives until `finish` is called, which consumes the sampler.
        let _ = self.commands.send(Command::Mark(reply));
        answer.recv().unwrap_or_default()
    }

    /// Takes a last sample, ends the thread and returns all samples.
    #[must_use]
    pub fn finish(self) -> Samples {
        let _ = self.commands.send(Command::Finish);
        self.thread.join().unwrap_or_default()
    }
}

fn run(
    server: Option<Watched>,
    client: &ClientThreads,
    every: Duration,
    origin: Instant,
    inbox: &Receiver<Command>,
) -> Samples {
    let mut system = System::open();
    let mut tree = server.map(Tree::new);
    let mut samples = Samples::new(every.as_secs_f64());
    let mut scanned = 0.0;
    let mut take = |whole: bool, due: Option<Instant>| {
        let now = Instant::now();
        let mut sample = Sample {
            at: now.saturating_duration_since(origin).as_secs_f64(),
            late: due.map(|due| now.saturating_duration_since(due).as_secs_f64()),
            ..Sample::default()
        };
        system.read(client.cpu_seconds(), &mut sample);
        if let Some(tree) = &mut tree {
            tree.read(whole, &mut sample);
        }
        let at = sample.at;
        samples.push(sample);
        if due.is_none() || at - scanned >= SCAN_EACH {
            let members = tree.as_ref().map(Tree::members).unwrap_or_default();
            samples.scan(Scan::read(at, &members));
            scanned = at;
        }
        at
    };
    take(true, None);
    let mut due = Instant::now() + every;
    for count in 1_u64.. {
        match inbox.recv_timeout(due.saturating_duration_since(Instant::now())) {
            Ok(Command::Mark(reply)) => {
                // The caller may have stopped waiting. The sample is taken all the same.
                let _ = reply.send(take(true, None));
            }
            Err(RecvTimeoutError::Timeout) => {
                take(count.is_multiple_of(WHOLE_EACH), Some(due));
                // Missed samples are skipped.
                while due <= Instant::now() {
                    due += every;
                }
            }
            Ok(Command::Finish) | Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    take(true, None);
    samples
}

/// Every n-th sample also reads the values of each thread. This costs more than all other readings of the sample
/// together.
const WHOLE_EACH: u64 = 5;

/// Seconds between two scans of all processes of the machine.
const SCAN_EACH: f64 = 1.0;

/// Shortest interval between samples. With a shorter one, sampling itself would be a load.
const SHORTEST: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests;
