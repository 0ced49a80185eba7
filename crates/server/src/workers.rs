//! The pixel threads: a fixed number, one job each at a time, and a queue with an end.
//!
//! A request first takes a [`Place`]; without one it is refused at once, before any file is read for
//! it. A job whose request is dropped leaves the queue, or is asked to stop if it runs already. A
//! panic in a job costs that job, not the thread.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use andon_pixels::Interrupt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// The threads and their queue. Dropping it lets the threads end after their current job.
#[derive(Debug)]
pub(crate) struct Workers {
    queue: Arc<Queue>,
    places: Arc<Semaphore>,
}

/// The right to have one job waiting or running.
#[derive(Debug)]
pub(crate) struct Place(#[allow(dead_code, reason = "held for its Drop")] OwnedSemaphorePermit);

/// The job panicked; its thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Whether a job's result is still wanted: until its deadline, and while its client is there.
#[derive(Debug)]
pub(crate) struct Wanted {
    gone: AtomicBool,
    deadline: Instant,
}

impl Workers {
    /// Starts `threads` pixel threads behind a queue of `waiting` places.
    ///
    /// # Errors
    /// When the system gives no more threads.
    pub(crate) fn start(threads: usize, waiting: usize) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let workers = Self {
            places: Arc::new(Semaphore::new(
                threads.saturating_add(waiting).min(MOST_PLACES),
            )),
            queue: queue.clone(),
        };
        for number in 0..threads {
            let queue = queue.clone();
            thread::Builder::new()
                .name(format!("pixel-{number}"))
                .spawn(move || queue.work())?;
        }
        Ok(workers)
    }

    /// A place, if one is free right now.
    pub(crate) fn admit(&self) -> Option<Place> {
        self.places.clone().try_acquire_owned().ok().map(Place)
    }

    /// Runs `job` on a pixel thread. Dropping the future withdraws the job.
    ///
    /// # Errors
    /// [`Panicked`].
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        place: Place,
        wanted: Arc<Wanted>,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Panicked> {
        let (reply, answer) = oneshot::channel();
        let id = self.queue.push(Box::new(move || {
            let result = catch_unwind(AssertUnwindSafe(job)).map_err(|_| Panicked);
            // Before the reply, so that whoever reads it finds the place free.
            drop(place);
            // Fails when the client left meanwhile: then nobody is there to tell.
            let _ = reply.send(result);
        }));
        let _withdraw = Withdraw {
            queue: &self.queue,
            wanted,
            id,
        };
        answer.await.unwrap_or(Err(Panicked))
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.changed.notify_all();
    }
}

impl Wanted {
    /// Wanted until `deadline`.
    pub(crate) fn until(deadline: Instant) -> Self {
        Self {
            gone: AtomicBool::new(false),
            deadline,
        }
    }
}

impl Interrupt for Wanted {
    fn interrupted(&self) -> bool {
        self.gone.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    next_id: u64,
    closed: bool,
}

struct Job {
    id: u64,
    run: Box<dyn FnOnce() + Send>,
}

impl Queue {
    fn push(&self, run: Box<dyn FnOnce() + Send>) -> u64 {
        let mut state = self.lock();
        let id = state.next_id;
        state.next_id += 1;
        state.waiting.push_back(Job { id, run });
        drop(state);
        self.changed.notify_one();
        id
    }

    /// Takes a job out that no thread has begun.
    fn remove(&self, id: u64) -> Option<Job> {
        let waiting = &mut self.lock().waiting;
        let index = waiting.iter().position(|job| job.id == id)?;
        waiting.remove(index)
    }

    /// A pixel thread's life.
    fn work(&self) {
        while let Some(job) = self.next() {
            (job.run)();
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.waiting.pop_front() {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// No code panics while it holds the lock, so that a poisoned state is still a whole one.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue")
            .field("waiting", &self.lock().waiting.len())
            .finish()
    }
}

/// Withdraws a job when its future goes, finished or not.
struct Withdraw<'a> {
    queue: &'a Queue,
    wanted: Arc<Wanted>,
    id: u64,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        self.wanted.gone.store(true, Ordering::Relaxed);
        drop(self.queue.remove(self.id));
    }
}

/// Tokio's semaphores hold no more.
const MOST_PLACES: usize = Semaphore::MAX_PERMITS;

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    fn wanted() -> Arc<Wanted> {
        Arc::new(Wanted::until(Instant::now() + Duration::from_secs(60)))
    }

    #[tokio::test]
    async fn a_job_runs_and_its_place_is_free_again() {
        let workers = Workers::start(1, 0).unwrap();
        for round in 0..10 {
            let place = workers.admit().expect("the only place is free");
            assert_eq!(workers.run(place, wanted(), move || round).await, Ok(round));
        }
    }

    #[tokio::test]
    async fn one_more_than_threads_and_queue_finds_no_place() {
        let workers = Workers::start(2, 3).unwrap();
        let places: Vec<_> = std::iter::from_fn(|| workers.admit()).take(6).collect();
        assert_eq!(places.len(), 5);
    }

    #[tokio::test]
    async fn a_panic_costs_the_job_and_not_the_thread() {
        let workers = Workers::start(1, 0).unwrap();
        let place = workers.admit().unwrap();
        let result = workers
            .run(place, wanted(), || std::panic::resume_unwind(Box::new(())))
            .await;
        assert_eq!(result, Err::<(), _>(Panicked));
        let place = workers.admit().expect("the place came back");
        assert_eq!(workers.run(place, wanted(), || 7).await, Ok(7));
    }

    #[tokio::test]
    async fn a_withdrawn_job_leaves_the_queue_and_a_running_one_is_told() {
        let workers = Workers::start(1, 1).unwrap();
        let (begun, has_begun) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let running_wanted = wanted();
        let mut running = Box::pin(workers.run(
            workers.admit().unwrap(),
            running_wanted.clone(),
            move || {
                begun.send(()).unwrap();
                released.recv().unwrap();
            },
        ));
        let mut waiting = Box::pin(workers.run(workers.admit().unwrap(), wanted(), || {
            unreachable!("it was withdrawn")
        }));
        // Polled once each, the first job is on its thread and the second in the queue.
        assert!(
            tokio::time::timeout(Duration::ZERO, &mut running)
                .await
                .is_err()
        );
        has_begun.recv().unwrap();
        let second: Result<Result<(), _>, _> =
            tokio::time::timeout(Duration::ZERO, &mut waiting).await;
        assert!(second.is_err());
        assert!(workers.admit().is_none());

        drop(waiting);
        assert!(workers.admit().is_some(), "its place is free");
        drop(running);
        assert!(running_wanted.interrupted());
        release.send(()).unwrap();
    }
}
