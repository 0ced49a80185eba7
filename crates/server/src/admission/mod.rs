//! Admission: who may cost this machine something, when, and how much of it.
//!
//! A request that needs pixels first [enters](Admission::enter), before anything is read for it; a file is
//! then fetched and planned elsewhere, in the fetcher's slots, and the work [runs](Admission::run) on one
//! of a fixed number of pixel threads, one job each at a time. Both steps may refuse, at once and with the
//! time after which to come back. `queue` holds the rules, `budget` and `cgroup` the memory, `calibration`
//! what a plan's cost means on this machine.
//!
//! A job whose request is dropped leaves the queue, or is asked to stop if it runs already. A panic in a
//! job costs that job, not the thread.

mod budget;
mod calibration;
mod cgroup;
mod company;
mod counters;
mod queue;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
mod together;
mod wanted;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use andon_pixels::{Cores, Decoded, Plan, Task};
use tokio::sync::oneshot;

use self::calibration::{Calibration, Kind};
use self::company::Company;
use self::queue::{Now, Price, Queue, Rules};
use self::together::Member;
use crate::config::Config;
use crate::error::Error;

pub(crate) use self::budget::Shares;
pub use self::counters::{Counters, Gauges};
pub use self::queue::Cause;
pub(crate) use self::together::Opening;
pub(crate) use self::wanted::Wanted;

/// The pixel threads and the line before them. Dropping it lets the threads end after their current job.
#[derive(Debug)]
pub(crate) struct Admission {
    hall: Arc<Hall>,
    /// The largest source file that may wait, in bytes.
    most_source_bytes: u64,
}

/// A request was let in: its work is expected.
#[derive(Debug)]
pub(crate) struct Ticket {
    hall: Arc<Hall>,
    guess: Duration,
    used: bool,
}

/// What a piece of work is expected to take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    kind: Kind,
    nanos: u64,
    /// Beside the source, whose bytes are counted where they are held.
    peak_bytes: u64,
    source_bytes: u64,
}

/// A refusal for load. `Display` is part of a public sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Why.
    pub cause: Cause,
    /// Whole seconds after which the line should be gone.
    pub retry_after: u32,
}

impl Admission {
    /// Starts the pixel threads.
    ///
    /// # Errors
    /// When the system gives no more threads.
    pub(crate) fn start(config: &Config, shares: Shares) -> io::Result<Self> {
        let rules = Rules {
            threads: config.workers(),
            most_waiting: config.queue,
            max_wait: config.max_wait.0,
        };
        let admission = Self {
            hall: Arc::new(Hall::new(rules, shares.pixels, config.lend_idle)),
            most_source_bytes: shares.sources,
        };
        for number in 0..rules.threads {
            let hall = admission.hall.clone();
            thread::Builder::new()
                .name(format!("pixel-{number}"))
                .spawn(move || hall.work())?;
        }
        Ok(admission)
    }

    /// Lets a request in that will work on files of so many bytes (0: not known yet) and has to be ready
    /// by `deadline`. Costs next to nothing, so that a refusal does.
    ///
    /// # Errors
    /// `Refused`; `Pixels(Limit)` for files that are larger than the memory's share for files.
    pub(crate) fn enter(&self, bytes: u64, deadline: Instant) -> Result<Ticket, Error> {
        let now = self.hall.now();
        let deadline = self.hall.time_of(deadline);
        let mut state = self.hall.lock();
        if bytes > self.most_source_bytes {
            state.counters.refused_memory += 1;
            return Err(over_budget(bytes, self.most_source_bytes));
        }
        let guess = state.calibration.guess(bytes);
        if let Err(cause) = state.queue.expect(now, guess, deadline) {
            return Err(state.refuse(cause, now));
        }
        state.counters.admitted += 1;
        drop(state);
        Ok(Ticket {
            hall: self.hall.clone(),
            guess,
            used: false,
        })
    }

    /// Runs `job` on a pixel thread when its turn has come and its planned peak fits into memory. It may
    /// borrow the other threads while nobody waits for them. Dropping the future withdraws it.
    ///
    /// # Errors
    /// The job's own; `Refused`; `Pixels(Limit)` for a plan that is larger than all the memory there is;
    /// `Panicked`.
    #[cfg(test)]
    async fn run<T: Send + 'static>(
        &self,
        ticket: Ticket,
        work: Work,
        wanted: Arc<Wanted>,
        job: impl FnOnce(&dyn Cores) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.run_opened(ticket, work, wanted, None, |cores, _| job(cores))
            .await
    }

    /// Runs `job` on a pixel thread when its turn has come and its planned peak fits into memory. It may
    /// borrow the other threads while nobody waits for them, and is handed what it begins with if that
    /// was decoded together with others' (see [`together`]). Dropping the future withdraws it.
    ///
    /// # Errors
    /// The job's own; `Refused`; `Pixels(Limit)` for a plan that is larger than all the memory there is;
    /// `Panicked`.
    pub(crate) async fn run_opened<T: Send + 'static>(
        &self,
        ticket: Ticket,
        work: Work,
        wanted: Arc<Wanted>,
        opening: Option<Opening>,
        job: impl FnOnce(&dyn Cores, Option<Decoded>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let hall = self.hall.clone();
        let run = Box::new(move |decoded| {
            let result = catch_unwind(AssertUnwindSafe(|| job(&*hall, decoded)));
            let result = result.unwrap_or(Err(Error::Panicked));
            let outcome = match &result {
                Ok(_) => Outcome::Done,
                Err(Error::Panicked) => Outcome::Panicked,
                Err(_) => Outcome::Failed,
            };
            Finished {
                outcome,
                // Fails when the client left meanwhile: then nobody is there to tell.
                tell: Box::new(move || drop(reply.send(result))),
            }
        });
        let job = Job {
            work,
            wanted: wanted.clone(),
            opening,
            run,
        };
        let id = self.hall.join(ticket, job)?;
        let mut withdraw = Withdraw {
            hall: &self.hall,
            wanted,
            id,
            answered: false,
        };
        let result = answer.await;
        withdraw.answered = true;
        result.unwrap_or(Err(Error::Panicked))
    }

    /// How it stands.
    pub(crate) fn gauges(&self) -> Gauges {
        let now = self.hall.now();
        let state = self.hall.lock();
        Gauges {
            waiting: state.queue.waiting(),
            running: state.queue.running(),
            predicted_wait: state.queue.backlog(now),
            budget_used: state.queue.budget().used(),
            budget_total: state.queue.budget().total(),
            counters: state.counters,
        }
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.hall.lock().closed = true;
        self.hall.changed.notify_all();
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.used {
            let mut state = self.hall.lock();
            state.queue.forget(self.guess);
            state.counters.dropped += 1;
        }
    }
}

impl Work {
    /// What `plan` says, for a source of so many bytes; they are counted elsewhere until it is done.
    pub(crate) fn of(plan: &Plan, source_bytes: u64) -> Self {
        Self {
            kind: match plan.is_copy() {
                true => (plan.info().format, "copy"),
                false => (plan.info().format, plan.format()),
            },
            nanos: plan.cost().nanos,
            peak_bytes: plan.peak_bytes().saturating_sub(plan.holding().file),
            source_bytes,
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.cause {
            Cause::Count => "too many requests are waiting already",
            Cause::Wait => "the work that is waiting already would take too long",
            Cause::Deadline => "there is too much to do to be ready in time",
        })?;
        write!(f, "; try again in {} s", self.retry_after)
    }
}

impl Cause {
    /// One word for logs and metrics.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Count => "queue",
            Self::Wait => "busy",
            Self::Deadline => "hopeless",
        }
    }
}

/// What requests and pixel threads share.
struct Hall {
    began: Instant,
    lends: bool,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    queue: Queue<Job>,
    calibration: Calibration,
    counters: Counters,
    /// Pixel threads with nothing to do.
    idle: usize,
    /// Parts of running jobs that idle threads were woken for; never more than there are of those.
    lent: VecDeque<Task>,
    closed: bool,
}

struct Job {
    work: Work,
    wanted: Arc<Wanted>,
    opening: Option<Opening>,
    run: Run,
}

/// Runs a job to its end, whatever that is, perhaps from what was decoded for it.
type Run = Box<dyn FnOnce(Option<Decoded>) -> Finished + Send>;

struct Finished {
    outcome: Outcome,
    /// Hands the result over: after the books are closed, so that whoever reads it finds the place free.
    tell: Box<dyn FnOnce()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    Failed,
    Panicked,
}

impl Hall {
    fn new(rules: Rules, bytes: u64, lends: bool) -> Self {
        Self {
            began: Instant::now(),
            lends,
            state: Mutex::new(State {
                queue: Queue::new(rules, bytes),
                calibration: Calibration::default(),
                counters: Counters::default(),
                idle: 0,
                lent: VecDeque::new(),
                closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    fn join(&self, mut ticket: Ticket, job: Job) -> Result<u64, Error> {
        let now = self.now();
        let (work, deadline) = (job.work, job.wanted.deadline());
        let mut state = self.lock();
        let total = state.queue.budget().total();
        ticket.used = true;
        if !state.queue.budget().could_ever_hold(work.peak_bytes) {
            state.queue.forget(ticket.guess);
            state.counters.refused_memory += 1;
            return Err(over_budget(work.peak_bytes, total));
        }
        let price = Price {
            time: state.calibration.time(work.kind, work.nanos),
            bytes: work.peak_bytes,
        };
        let deadline = self.time_of(deadline);
        let joined = state.queue.join(now, ticket.guess, price, deadline, job);
        let id = joined.map_err(|cause| state.refuse(cause, now))?;
        drop(state);
        self.changed.notify_one();
        Ok(id)
    }

    /// A pixel thread's life.
    fn work(self: &Arc<Self>) {
        while let Some(next) = self.next() {
            match next {
                Next::Jobs(jobs) => self.run_together(jobs),
                // Whoever lent it notices a panic by its missing result.
                Next::Part(task) => drop(catch_unwind(AssertUnwindSafe(task))),
            }
        }
    }

    fn next(&self) -> Option<Next> {
        let mut state = self.lock();
        loop {
            if let Some(task) = state.lent.pop_front() {
                return Some(Next::Part(task));
            }
            let now = self.now();
            if let Some(taken) = state.queue.next(now) {
                let along = state.along(now, &taken);
                return Some(Next::Jobs(std::iter::once(taken).chain(along).collect()));
            }
            if state.closed && state.queue.waiting() == 0 {
                return None;
            }
            state.idle += 1;
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// Runs a job, which decodes for itself if nothing was decoded for it.
    fn run(&self, (id, job): Taken, decoded: Option<Decoded>) {
        let began = Instant::now();
        let Job {
            work, opening, run, ..
        } = job;
        let alone = decoded.is_none();
        if alone && opening.is_some_and(|opening| !opening.plan.is_copy()) {
            self.lock().counters.decodes += 1;
        }
        let finished = run(decoded);
        // A part of the work tells nothing about the whole.
        let took = alone.then(|| (&work, began.elapsed()));
        self.finish(id, took, finished.outcome);
        (finished.tell)();
    }

    /// Decodes once for all of them, and lets idle threads go on with those they can take.
    fn run_together(self: &Arc<Self>, jobs: Vec<Taken>) {
        let members: Vec<_> = jobs.iter().filter_map(|(_, job)| job.member()).collect();
        let decoded = together::decode(&members, &**self);
        drop(members);
        let Some(decoded) = decoded else {
            for taken in jobs {
                self.run(taken, None);
            }
            return;
        };
        let mut state = self.lock();
        state.counters.decodes += 1;
        state.counters.decodes_shared += decoded.len() as u64 - 1;
        drop(state);
        let parts: Vec<Task> = jobs
            .into_iter()
            .zip(decoded)
            .map(|(taken, decoded)| {
                let hall = self.clone();
                Box::new(move || hall.run(taken, Some(decoded))) as Task
            })
            .collect();
        let kept: Vec<Task> = parts
            .into_iter()
            .filter_map(|part| self.lend(part))
            .collect();
        for part in kept {
            part();
        }
    }

    /// Closes the books on a job; `took` is what all of its work took, if it was done here.
    fn finish(&self, id: u64, took: Option<(&Work, Duration)>, outcome: Outcome) {
        let mut state = self.lock();
        state.queue.done(id);
        state.counters.done += 1;
        match outcome {
            Outcome::Done => {
                if let Some((work, took)) = took {
                    let (kind, nanos, bytes) = (work.kind, work.nanos, work.source_bytes);
                    state.calibration.learn(kind, nanos, bytes, took);
                }
            }
            // It may have ended long before its work was done.
            Outcome::Failed => {}
            Outcome::Panicked => state.counters.panicked += 1,
        }
        drop(state);
        // The memory it gave back may be enough for several.
        self.changed.notify_all();
    }

    fn now(&self) -> Now {
        self.time_of(Instant::now())
    }

    fn time_of(&self, instant: Instant) -> Now {
        instant.saturating_duration_since(self.began)
    }

    /// No code panics while it holds the lock, so that a poisoned state is still a whole one.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a pixel thread does next.
enum Next {
    /// One, and those that go along with it.
    Jobs(Vec<Taken>),
    /// A part of a job that runs on another thread.
    Part(Task),
}

/// A job that left the line, and its number there.
type Taken = (u64, Job);

impl Job {
    fn member(&self) -> Option<Member<'_>> {
        Some(Member {
            opening: self.opening.as_ref()?,
            wanted: self.wanted.clone(),
        })
    }
}

/// Idle pixel threads are lent while nobody waits for one: a single picture is done sooner, and under
/// load every picture has one thread.
impl Cores for Hall {
    fn lend(&self, task: Task) -> Option<Task> {
        if !self.lends {
            return Some(task);
        }
        let mut state = self.lock();
        if state.queue.waiting() > 0 || state.lent.len() >= state.idle {
            return Some(task);
        }
        state.lent.push_back(task);
        state.counters.lent += 1;
        drop(state);
        self.changed.notify_one();
        None
    }
}

impl State {
    /// Takes those along that begin with the same decode as `first`.
    fn along(&mut self, now: Now, (id, first): &Taken) -> Vec<Taken> {
        let Some(opening) = &first.opening else {
            return Vec::new();
        };
        let calibration = &self.calibration;
        let mut company = Company::of(opening.plan.holding(), self.queue.threads());
        let mut taken = first.work.peak_bytes;
        self.queue.along(now, *id, |job, free| {
            let own = job.opening.as_ref().filter(|own| opening.joins(own))?;
            let larger = company.with(own.plan.holding());
            let bytes = larger.bytes().saturating_sub(taken);
            if bytes > free {
                return None;
            }
            company = larger;
            taken += bytes;
            let nanos = job.work.nanos.saturating_sub(own.plan.decode_nanos());
            let time = calibration.time(job.work.kind, nanos);
            Some(Price { time, bytes })
        })
    }

    fn refuse(&mut self, cause: Cause, now: Now) -> Error {
        self.counters.refused(cause);
        let seconds = self.queue.backlog(now).as_secs_f64().ceil();
        Error::Refused(Rejection {
            cause,
            retry_after: (seconds as u32).clamp(1, LONGEST_RETRY),
        })
    }
}

impl fmt::Debug for Hall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hall")
            .field("waiting", &self.lock().queue.waiting())
            .finish_non_exhaustive()
    }
}

/// Withdraws a job when its future goes before there is an answer.
struct Withdraw<'a> {
    hall: &'a Hall,
    wanted: Arc<Wanted>,
    id: u64,
    answered: bool,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        self.wanted.forget();
        let mut state = self.hall.lock();
        state.counters.dropped += 1;
        let job = state.queue.withdraw(self.id);
        drop(state);
        // Whoever stood in its way may go on.
        self.hall.changed.notify_all();
        drop(job);
    }
}

fn over_budget(value: u64, limit: u64) -> Error {
    Error::Pixels(andon_pixels::Error::Limit {
        name: "memory_budget",
        value,
        limit,
    })
}

/// Seconds; nobody should be sent away for longer because of a wrong prediction.
const LONGEST_RETRY: u32 = 60;
