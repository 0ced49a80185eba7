//! The worker threads of a node, behind the server's own queue. A simulated thread sleeps for the time that an image
//! takes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use andon_server::calibration::{Calibration, Kind};
use andon_server::queue::{Price, Queue, Rules, Turn};
use andon_server::{Cause, Config};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::images::Work;
use crate::locks::lock;

/// The queue and the worker threads of a node.
#[derive(Debug)]
pub struct Workers {
    began: Instant,
    deadline: Duration,
    state: Mutex<State>,
    made: Made,
}

/// Counts of the results that the worker threads of all nodes made, and the time they took. Clones share the counts.
#[derive(Clone, Debug, Default)]
pub struct Made(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    begun: Mutex<HashMap<u32, u32>>,
    micros: AtomicU64,
}

impl Made {
    /// Returns the number of times that a thread has begun to make this image.
    pub fn begun(&self, image: u32) -> u32 {
        lock(&self.0.begun).get(&image).copied().unwrap_or(0)
    }

    /// Returns how many images threads have begun to make in total, counting repetitions.
    pub fn all_begun(&self) -> u64 {
        let begun = lock(&self.0.begun);
        begun.values().map(|times| u64::from(*times)).sum()
    }

    /// Returns the number of times that threads have begun to make images below `first_new`, plus the number of times
    /// that they have begun other images again.
    pub fn begun_again(&self, first_new: u32) -> u64 {
        let begun = lock(&self.0.begun);
        let again = |(image, times): (&u32, &u32)| times - u32::from(*image >= first_new);
        begun.iter().map(again).map(u64::from).sum()
    }

    /// Returns the total working time for the results that are finished.
    pub fn work(&self) -> Duration {
        Duration::from_micros(self.0.micros.load(Ordering::Relaxed))
    }
}

#[derive(Debug)]
struct State {
    queue: Queue<Job>,
    calibration: Calibration,
    idle: usize,
}

#[derive(Debug)]
struct Job {
    image: u32,
    work: Work,
    done: oneshot::Sender<()>,
}

impl Workers {
    /// Creates a node's workers with `threads` threads, and otherwise the server's defaults.
    pub fn new(threads: usize, made: Made) -> Arc<Self> {
        let config = Config::default();
        let rules = Rules {
            threads,
            most_waiting: config.queue,
            target_wait: config.target_wait.0,
            max_wait: config.max_wait.0,
        };
        Arc::new(Self {
            began: Instant::now(),
            deadline: config.timeouts.request.0,
            state: Mutex::new(State {
                queue: Queue::new(rules, MEMORY),
                calibration: Calibration::default(),
                idle: threads,
            }),
            made,
        })
    }

    /// Returns how long work on a source of this many bytes is expected to take.
    pub fn expected_cost(&self, source_bytes: u64) -> Duration {
        lock(&self.state).calibration.guess(source_bytes)
    }

    /// Makes an image: it is admitted, fetched, queued and worked on. Dropping the future withdraws it from the queue.
    ///
    /// # Errors
    /// Why the request or its job was rejected.
    pub async fn make(self: &Arc<Self>, image: u32) -> Result<(), Cause> {
        let work = Work::of(image);
        let deadline = self.now() + self.deadline;
        let turn = self.enter(work, deadline)?;
        let mut place = Place {
            workers: Arc::clone(self),
            stage: Stage::Expected(turn),
        };
        sleep(FETCH).await;
        place.stage = Stage::Over;
        let (done, answer) = oneshot::channel();
        let job = Job { image, work, done };
        place.stage = Stage::Waiting(self.join(turn, deadline, job)?);
        self.start();
        let answered = answer.await;
        place.stage = Stage::Over;
        // The sender is dropped only with the whole node, and then nothing waits here.
        answered.map_err(|_| Cause::Deadline)
    }

    fn enter(&self, work: Work, deadline: Duration) -> Result<Turn, Cause> {
        let mut state = lock(&self.state);
        let guess = state.calibration.guess(work.source_bytes);
        let turn = state.queue.expect(self.now(), guess, deadline, None);
        turn.map_err(|refusal| refusal.cause)
    }

    fn join(&self, turn: Turn, deadline: Duration, job: Job) -> Result<u64, Cause> {
        let mut state = lock(&self.state);
        let price = Price {
            time: state.calibration.time(KIND, job.work.planned),
            decode: Duration::ZERO,
            bytes: 0,
        };
        let alone = |_: &Job, _: &Job| false;
        let joined = state
            .queue
            .join(self.now(), turn, price, deadline, job, alone);
        joined.map_err(|refusal| refusal.cause)
    }

    /// Assigns the next jobs to idle threads.
    fn start(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        while state.idle > 0
            && let Some((id, job)) = state.queue.next(self.now())
        {
            state.idle -= 1;
            *lock(&self.made.0.begun).entry(job.image).or_default() += 1;
            tokio::spawn(Arc::clone(self).work(id, job));
        }
    }

    async fn work(self: Arc<Self>, id: u64, job: Job) {
        let Job { work, done, .. } = job;
        sleep(work.takes).await;
        let mut state = lock(&self.state);
        state.queue.done(id);
        let (nanos, bytes) = (work.planned, work.source_bytes);
        state.calibration.learn(KIND, nanos, bytes, work.takes);
        state.idle += 1;
        drop(state);
        let micros = work.takes.as_micros() as u64;
        self.made.0.micros.fetch_add(micros, Ordering::Relaxed);
        // Sending fails when the request no longer waits.
        let _ = done.send(());
        self.start();
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }
}

/// A place in the queue, which is released on drop.
struct Place {
    workers: Arc<Workers>,
    stage: Stage,
}

#[derive(Clone, Copy)]
enum Stage {
    /// The request is admitted, but its job is not in the queue yet.
    Expected(Turn),
    /// The job is in the queue, or a thread is working on it.
    Waiting(u64),
    Over,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = lock(&self.workers.state);
        match self.stage {
            Stage::Expected(turn) => state.queue.forget(turn),
            // A job that a thread has begun continues to its end.
            Stage::Waiting(id) => drop(state.queue.withdraw(id)),
            Stage::Over => {}
        }
    }
}

/// The kind of work of all images for the calibration: formats of the source and of the result.
const KIND: Kind = ("jpeg", "jpeg");

/// Time for reading a source from its origin over a network.
const FETCH: Duration = Duration::from_millis(15);

/// Memory for jobs in bytes. Memory is not simulated, so jobs use none of it.
const MEMORY: u64 = 1 << 30;
