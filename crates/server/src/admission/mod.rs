//! Admission control: which requests may use this machine, when, and how much of it.
//!
//! A request that needs pixels first [enters](Admission::enter), before anything is read for it. Its file is then
//! fetched and planned elsewhere, within the limits of the fetcher, and the work [runs](Admission::run) on one of a
//! fixed number of pixel threads, each of which runs one job at a time. Both steps may reject the request immediately,
//! with the time after which to retry. `queue` holds the rules, `budget` and `cgroup` the memory, `calibration` the
//! relation between planned and real time on this machine. All of this survives a reload of the configuration, which
//! may [resize](Admission::resize) it.
//!
//! A job whose request is dropped leaves the queue or, if it already runs, is asked to stop. A panic in a job ends that
//! job, not its thread.

#[cfg(test)]
mod batches;
mod budget;
pub mod calibration;
mod cancel;
mod cgroup;
#[cfg(test)]
mod closed_loop;
mod counters;
mod frames;
#[cfg(test)]
mod lost;
mod placement;
pub(crate) mod priority;
pub mod queue;
pub(crate) mod resources;
mod seats;
mod shared_decode;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use andon_cache::Key;
use andon_pixels::{Bound, Cores, Cost, Decoded, Plan, STACK, SharedPeak, Task, buffers};
use tokio::sync::{Notify, oneshot};

use andon_isolation::confine;

use self::calibration::Calibration;
use self::frames::Frames;
use self::placement::Placement;
use self::priority::Working;
use self::queue::{Now, Price, Queue, Refusal, Rules, Turn};
use self::seats::Seats;
use self::shared_decode::Member;
use crate::config::{Config, SandboxMode};
use crate::error::{Error, Rejection, Stuck};

pub(crate) use self::budget::Shares;
/// Bytes of free buffers that each worker process of a server with this configuration may keep between its jobs.
#[must_use]
pub fn kept_by_process(config: &Config) -> u64 {
    Shares::of(config).kept_by_process(config.workers())
}

pub(crate) use self::calibration::Kind;
pub(crate) use self::cancel::CancelToken;
pub use self::counters::{Counters, Gauges};
pub(crate) use self::seats::AtWork;
pub(crate) use self::shared_decode::DecodeInput;

/// The pixel threads and the queue in front of them. When this is dropped, the threads finish all jobs that are queued
/// and end.
#[derive(Debug)]
pub(crate) struct Admission {
    pool: Arc<Pool>,
}

/// An admitted request, whose job is expected to follow. Dropping it unused gives its place in the queue back.
#[derive(Debug)]
pub(crate) struct Admitted {
    pool: Arc<Pool>,
    turn: Turn,
    used: bool,
}

/// The predicted costs of a piece of work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    kind: Kind,
    nanos: u64,
    /// The part of `nanos` that decoding takes.
    decode_nanos: u64,
    /// Planned peak memory in bytes without the source file, which is counted where it is held.
    peak_bytes: u64,
    source_bytes: u64,
}

impl Admission {
    /// Starts the pixel threads.
    ///
    /// # Errors
    /// If the system cannot start more threads, or cannot restrict them as `sandbox.mode = "required"` demands.
    pub(crate) fn start(config: &Config, shares: Shares) -> io::Result<Self> {
        let admission = Self {
            pool: Arc::new(Pool::new(rules(config), shares, config.steal_work)),
        };
        Pool::start_threads(&admission.pool, &mut admission.pool.lock(), config)?;
        Ok(admission)
    }

    /// Applies another configuration while the server runs. Additional threads start at once; surplus ones end after
    /// their current job. Admitted requests are still served, and what calibration has learned is kept.
    ///
    /// # Errors
    /// As for `start`. The rules and shares then stay as they were.
    pub(crate) fn resize(&self, config: &Config, shares: Shares) -> io::Result<()> {
        let mut state = self.pool.lock();
        Pool::start_threads(&self.pool, &mut state, config)?;
        state.queue.resize(rules(config), shares.pixels);
        state.most_source_bytes = shares.sources;
        state.steals = config.steal_work;
        drop(state);
        self.pool.frames.resize(shares.frames);
        self.pool.changed.notify_all();
        self.pool.eased.notify_waiters();
        Ok(())
    }

    /// Estimates how long work on a file of `bytes` will take, before anything else is known of the file.
    pub(crate) fn expected_cost(&self, bytes: u64) -> Duration {
        self.pool.lock().calibration.guess(bytes)
    }

    /// Admits a request that will work on files of `bytes` in total (0: not known yet) and must be finished by
    /// `deadline`. `source` identifies the exact bytes of the source if other requests may begin with them, too. This
    /// costs very little, so rejections are cheap.
    ///
    /// # Errors
    /// `Refused`; `Stuck`; `Pixels(Limit)` for files that are larger than the share of memory for source files.
    pub(crate) fn enter(
        &self,
        bytes: u64,
        source: Option<Key>,
        deadline: Instant,
    ) -> Result<Admitted, Error> {
        self.enter_for_part(bytes, bytes, source, deadline)
    }

    /// Admits a request as `enter` does, but for work that will probably read only `part` of the `bytes`.
    ///
    /// # Errors
    /// As for `enter`.
    pub(crate) fn enter_for_part(
        &self,
        bytes: u64,
        part: u64,
        source: Option<Key>,
        deadline: Instant,
    ) -> Result<Admitted, Error> {
        let now = self.pool.now();
        let deadline = self.pool.time_of(deadline);
        let mut state = self.pool.lock();
        let most = state.most_source_bytes;
        if bytes > most {
            state.counters.refused_memory += 1;
            return Err(over_budget(bytes, most));
        }
        let stuck = state.seats.stuck(Instant::now());
        if let Some(all) = stuck.all() {
            state.counters.refused_stuck += 1;
            return Err(Error::Stuck(all));
        }
        state.queue.lose(stuck.count);
        let guess = state.calibration.guess(part);
        let turn = match state.queue.expect(now, guess, deadline, source) {
            Ok(turn) => turn,
            Err(refusal) => return Err(state.refuse(refusal)),
        };
        state.counters.admitted += 1;
        drop(state);
        Ok(Admitted {
            pool: self.pool.clone(),
            turn,
            used: false,
        })
    }

    /// Runs `job` on a pixel thread when its turn has come and its planned peak fits into memory. The job may use idle
    /// threads as long as no other job waits for them. Dropping the future withdraws the job.
    ///
    /// # Errors
    /// Errors of the job; `Refused`; `Pixels(Limit)` for a plan that exceeds the whole memory budget; `Panicked`.
    #[cfg(test)]
    async fn run<T: Send + 'static>(
        &self,
        admitted: Admitted,
        work: Work,
        wanted: Arc<CancelToken>,
        job: impl FnOnce(&dyn Cores) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.run_with(admitted, work, wanted, None, |cores, _| job(cores))
            .await
    }

    /// Runs `job` on a pixel thread when its turn has come and its planned peak fits into memory. The job may use idle
    /// threads as long as no other job waits for them. It is handed its decoded frame if there is one already: from the
    /// cache, or decoded together with other jobs (see [`shared_decode`]) or to be cached. Dropping the future
    /// withdraws the job.
    ///
    /// # Errors
    /// Errors of the job; `Refused`; `Pixels(Limit)` for a plan that exceeds the whole memory budget; `Panicked`.
    pub(crate) async fn run_with<T: Send + 'static>(
        &self,
        admitted: Admitted,
        work: Work,
        wanted: Arc<CancelToken>,
        opening: Option<DecodeInput>,
        job: impl FnOnce(&dyn Cores, Option<Decoded>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let pool = self.pool.clone();
        let run = Box::new(move |decoded: Option<Result<Decoded, Error>>| {
            let run = || job(&*pool, decoded.transpose()?);
            let result = catch_unwind(AssertUnwindSafe(run));
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
        let id = self.pool.join(admitted, job)?;
        let mut withdraw = Withdraw {
            pool: &self.pool,
            wanted,
            id,
            answered: false,
        };
        let result = answer.await;
        withdraw.answered = true;
        result.unwrap_or(Err(Error::Panicked))
    }

    /// Removes all decoded frames from the cache.
    pub(crate) fn clear_frames(&self) {
        self.pool.frames.clear();
    }

    /// Returns the current state of the queue, the worker threads and the memory.
    pub(crate) fn gauges(&self) -> Gauges {
        let now = self.pool.now();
        let frames_bytes = self.pool.frames.bytes();
        let state = self.pool.lock();
        Gauges {
            frames_bytes,
            free_buffers_bytes: buffers::bytes(),
            waiting: state.queue.waiting(),
            running: state.queue.running(),
            predicted_wait: state.queue.backlog(now),
            budget_used: state.queue.budget().used(),
            budget_total: state.queue.budget().total(),
            threads: state.threads,
            stuck: state.seats.stuck(Instant::now()).count,
            counters: state.counters,
        }
    }

    /// Waits until `ready` returns a value for the current load. It is called again whenever a job has been started,
    /// finished or dropped, and when [`eased`](Self::eased) is notified.
    pub(crate) async fn until<T>(&self, mut ready: impl FnMut(&Gauges) -> Option<T>) -> T {
        loop {
            let mut eased = pin!(self.pool.eased.notified());
            // What happens from here on is heard.
            eased.as_mut().enable();
            if let Some(result) = ready(&self.gauges()) {
                return result;
            }
            eased.await;
        }
    }

    /// Returns the signal that wakes all callers of [`until`](Self::until).
    pub(crate) fn eased(&self) -> Arc<Notify> {
        self.pool.eased.clone()
    }

    /// Returns `Some` if every worker thread is at a job that should have ended long ago. No new work is begun then.
    pub(crate) fn stuck(&self) -> Option<Stuck> {
        self.pool.lock().seats.stuck(Instant::now()).all()
    }

    /// Returns the current job of each worker thread, or `None` for one without a job of its own.
    pub(crate) fn at_work(&self) -> Vec<Option<AtWork>> {
        self.pool.lock().seats.all()
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.pool.lock().closed = true;
        self.pool.changed.notify_all();
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if !self.used {
            let mut state = self.pool.lock();
            state.queue.forget(self.turn);
            state.counters.dropped += 1;
        }
    }
}

impl Work {
    /// Predicts the work of `plan` on a source of `source_bytes`, whose memory is counted elsewhere.
    pub(crate) fn of(plan: &Plan, source_bytes: u64) -> Self {
        Self {
            kind: match plan.is_copy() {
                true => (plan.info().format, "copy"),
                false => (plan.info().format, plan.format()),
            },
            nanos: plan.cost().nanos,
            decode_nanos: plan.decode_nanos(),
            peak_bytes: plan.peak_bytes().saturating_sub(plan.holding().file),
            source_bytes: source_bytes.saturating_sub(plan.unread()),
        }
    }

    /// Predicts work that only reads the pixels of a source of `source_bytes`, without making an image. `kind` says
    /// what for. The memory of the source is counted elsewhere.
    pub(crate) fn look(kind: Kind, cost: Cost, source_bytes: u64) -> Self {
        Self {
            kind,
            nanos: cost.nanos,
            decode_nanos: cost.nanos,
            peak_bytes: cost.scratch,
            source_bytes,
        }
    }
}

/// The state that requests and pixel threads share.
struct Pool {
    began: Instant,
    state: Mutex<State>,
    changed: Condvar,
    /// Notified whenever a job has been started, finished or dropped.
    eased: Arc<Notify>,
    frames: Frames,
}

struct State {
    queue: Queue<Job>,
    calibration: Calibration,
    counters: Counters,
    /// The largest source file that is admitted, in bytes.
    most_source_bytes: u64,
    steals: bool,
    /// Pixel threads that exist. For a while after a reload, there may be more than are configured.
    threads: usize,
    /// Pixel threads that have nothing to do.
    idle: usize,
    /// What each pixel thread is working on.
    seats: Seats,
    /// Parts of running jobs for which idle threads were woken and which they have not taken yet. There are never more
    /// of them than idle threads.
    stolen: VecDeque<Part>,
    /// Threads that are running a part of another thread's job.
    helping: usize,
    closed: bool,
}

struct Job {
    work: Work,
    wanted: Arc<CancelToken>,
    opening: Option<DecodeInput>,
    run: Run,
}

/// Runs a job to its end, whatever the outcome, starting from its decoded frame if there is one.
type Run = Box<dyn FnOnce(Option<Result<Decoded, Error>>) -> Finished + Send>;

/// What a job starts from.
enum Beginning {
    /// The source file: the job decodes what it needs.
    Source,
    /// A frame that was decoded for this job alone, and when that decode began.
    Own(Result<Decoded, Error>, Instant),
    /// A frame that was decoded for other jobs as well, or came from the cache.
    Shared(Decoded),
}

struct Finished {
    outcome: Outcome,
    /// Sends the result. It is called after the job has left the queue, so that the receiver finds its slot free.
    tell: Box<dyn FnOnce()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    Failed,
    Panicked,
}

impl Pool {
    fn new(rules: Rules, shares: Shares, steals: bool) -> Self {
        Self {
            began: Instant::now(),
            state: Mutex::new(State {
                queue: Queue::new(rules, shares.pixels),
                calibration: Calibration::default(),
                counters: Counters::default(),
                most_source_bytes: shares.sources,
                steals,
                threads: 0,
                idle: 0,
                seats: Seats::default(),
                stolen: VecDeque::new(),
                helping: 0,
                closed: false,
            }),
            changed: Condvar::new(),
            eased: Arc::default(),
            frames: Frames::new(shares.frames),
        }
    }

    /// Starts the pixel threads that are missing. They wait for the lock on `state` before they look for work, and may
    /// end again then.
    fn start_threads(pool: &Arc<Self>, state: &mut State, config: &Config) -> io::Result<()> {
        let mode = config.sandbox.mode;
        for number in state.threads..config.workers() {
            let seat = state.seats.take();
            if let Err(error) = Self::start_thread(pool, number, seat, mode) {
                state.seats.leave(seat);
                return Err(error);
            }
            state.threads += 1;
        }
        Ok(())
    }

    fn start_thread(
        pool: &Arc<Self>,
        number: usize,
        seat: usize,
        mode: SandboxMode,
    ) -> io::Result<()> {
        let working = pool.clone();
        let (starting, started) = sync_channel(1);
        thread::Builder::new()
            .name(format!("pixel-{number}"))
            .stack_size(STACK)
            .spawn(move || {
                priority::yield_to_replies(NICENESS);
                let restricted = match mode {
                    SandboxMode::Off => Ok(()),
                    SandboxMode::Auto | SandboxMode::Required => confine::thread(),
                };
                let goes_on = restricted.is_ok() || mode != SandboxMode::Required;
                // Somebody waits for it.
                let _ = starting.send(restricted);
                if goes_on {
                    working.work(seat);
                }
            })?;
        match started.recv().map_err(io::Error::other)? {
            Err(error) if mode == SandboxMode::Required => Err(error),
            Err(error) => {
                tracing::warn!(%error, number, "a worker thread runs without a filter of system calls");
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn join(&self, mut admitted: Admitted, job: Job) -> Result<u64, Error> {
        let now = self.now();
        let (work, deadline) = (job.work, job.wanted.deadline());
        let mut state = self.lock();
        let total = state.queue.budget().total();
        admitted.used = true;
        if !state.queue.budget().could_ever_hold(work.peak_bytes) {
            state.queue.forget(admitted.turn);
            state.counters.refused_memory += 1;
            return Err(over_budget(work.peak_bytes, total));
        }
        let mut price = state.calibration.price(&work);
        if job.opening.as_ref().is_some_and(|own| self.frames.has(own)) {
            price = price.without_decode();
        }
        let deadline = self.time_of(deadline);
        let turn = admitted.turn;
        let joined = state
            .queue
            .join(now, turn, price, deadline, job, Job::joins);
        let id = joined.map_err(|refusal| state.refuse(refusal))?;
        drop(state);
        self.changed.notify_one();
        Ok(id)
    }

    /// The main loop of a pixel thread.
    fn work(self: &Arc<Self>, seat: usize) {
        SEAT.set(Some(seat));
        let mut placement = Placement::new(seat, self.lock().queue.threads());
        let mut helped = false;
        while let Some(next) = self.next(seat, helped, &mut placement) {
            placement.release();
            helped = matches!(next, Next::Part(_));
            let _working = Working::begin();
            match next {
                Next::Jobs(jobs) => self.run_together(jobs),
                // A panic shows as a missing result in the job that lent the task.
                Next::Part(task) => drop(catch_unwind(AssertUnwindSafe(task))),
            }
        }
    }

    fn next(&self, seat: usize, helped: bool, placement: &mut Placement) -> Option<Next> {
        let mut state = self.lock();
        state.helping -= usize::from(helped);
        state.seats.is_idle(seat);
        let mut rested = false;
        loop {
            if let Some(part) = state.stolen.pop_front() {
                state.helping += 1;
                state.seats.helps(seat, part.deadline);
                return Some(Next::Part(part.task));
            }
            if state.threads > state.queue.threads() {
                state.threads -= 1;
                state.seats.leave(seat);
                drop(state);
                // Whatever woke this thread is for another one.
                self.changed.notify_all();
                return None;
            }
            let now = self.now();
            if let Some(taken) = state.queue.next(now) {
                let along = state.along(now, &taken);
                let work = taken.1.at_work(along.len());
                let all = std::iter::once(&taken).chain(&along);
                let deadline = all.map(|(_, job)| job.wanted.deadline()).max();
                state.seats.is_at(seat, work, deadline);
                let spare = state.spare_bytes();
                drop(state);
                self.eased.notify_waiters();
                buffers::allow(spare);
                return Some(Next::Jobs(std::iter::once(taken).chain(along).collect()));
            }
            if state.closed && state.queue.waiting() == 0 {
                state.threads -= 1;
                state.seats.leave(seat);
                return None;
            }
            if placement.is_free() {
                // It may have to move there: others need the lock meanwhile.
                drop(state);
                placement.bind();
                state = self.lock();
                continue;
            }
            // Those that had come too late have been dropped.
            self.eased.notify_waiters();
            (state, rested) = self.wait(state, rested);
        }
    }

    /// Waits for something to do. A thread that has not `rested` yet waits only for a moment; if nothing came and all
    /// other threads are idle, too, the buffers that were kept for the next image are freed. Also returns whether the
    /// thread has now rested.
    fn wait<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        rested: bool,
    ) -> (MutexGuard<'a, State>, bool) {
        state.idle += 1;
        let timed_out;
        (state, timed_out) = if rested {
            let waited = self.changed.wait(state);
            (waited.unwrap_or_else(PoisonError::into_inner), false)
        } else {
            let waited = self.changed.wait_timeout(state, REST);
            let (state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            (state, waited.timed_out())
        };
        let all_idle = state.idle == state.threads;
        state.idle -= 1;
        if timed_out && all_idle {
            drop(state);
            buffers::release();
            state = self.lock();
        }
        (state, rested || timed_out)
    }

    /// Runs a job, which decodes its source itself unless `beginning` has a decoded frame.
    fn run(&self, (id, job): Taken, beginning: Beginning) {
        let Job {
            work, opening, run, ..
        } = job;
        let (decoded, began) = match beginning {
            Beginning::Source => (None, Some(Instant::now())),
            Beginning::Own(decoded, began) => (Some(decoded), Some(began)),
            // A part of the work tells nothing about the whole.
            Beginning::Shared(decoded) => (Some(Ok(decoded)), None),
        };
        let alone = began.is_some();
        if alone && opening.is_some_and(|opening| !opening.plan.is_copy()) {
            self.lock().counters.decodes += 1;
        }
        let finished = run(decoded);
        let took = began.map(|began| (&work, began.elapsed()));
        self.finish(id, took, finished.outcome);
        (finished.tell)();
    }

    /// Runs jobs that were taken from the queue together. Those whose frames are not cached share one decode if
    /// possible, and idle threads are lent the jobs that they can take over.
    fn run_together(self: &Arc<Self>, jobs: Vec<Taken>) {
        let (mut begun, mut others) = (Vec::new(), Vec::new());
        for taken in jobs {
            let opening = taken.1.opening.as_ref();
            match opening.and_then(|opening| self.frames.get(opening)) {
                Some(decoded) => begun.push((taken, decoded)),
                None => others.push(taken),
            }
        }
        if !begun.is_empty() {
            self.lock().counters.frame_hits += begun.len() as u64;
        }
        match self.decode_for(&others) {
            Some(decoded) => begun.extend(others.into_iter().zip(decoded)),
            None => {
                for taken in others {
                    self.run_alone(taken);
                }
            }
        }
        let mut parts: Vec<Task> = begun
            .into_iter()
            .map(|(taken, decoded)| {
                let pool = self.clone();
                Box::new(move || pool.run(taken, Beginning::Shared(decoded))) as Task
            })
            .collect();
        // One stays on this thread: waking another one for it would only delay it.
        let own = parts.pop();
        let kept: Vec<Task> = parts
            .into_iter()
            .filter_map(|part| self.lend(part))
            .collect();
        for part in kept.into_iter().chain(own) {
            part();
        }
    }

    /// Decodes once for all `jobs`, and caches the frames that are worth it. Returns `None` if each job has to decode
    /// by itself.
    fn decode_for(&self, jobs: &[Taken]) -> Option<Vec<Decoded>> {
        let members: Vec<_> = jobs.iter().filter_map(|(_, job)| job.member()).collect();
        let decoded = shared_decode::decode(&members, self)?;
        for (member, decoded) in members.iter().zip(&decoded) {
            self.frames.put(member.opening, decoded);
        }
        let mut state = self.lock();
        state.counters.decodes += 1;
        state.counters.decodes_shared += decoded.len() as u64 - 1;
        Some(decoded)
    }

    /// Runs a job that shares its decode with no other job now.
    fn run_alone(&self, taken: Taken) {
        let began = Instant::now();
        let member = taken.1.member();
        let beginning = match member.filter(|member| self.frames.wants(member.opening)) {
            None => Beginning::Source,
            Some(member) => {
                let opening = member.opening;
                let decoded = shared_decode::decode_alone(member, self);
                if let Ok(decoded) = &decoded {
                    self.frames.put(opening, decoded);
                }
                Beginning::Own(decoded, began)
            }
        };
        self.run(taken, beginning);
    }

    /// Records that a job has ended. `took` is its work and how long all of that took, if all of it was done for this
    /// job alone.
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
        let spare = state.spare_bytes();
        drop(state);
        buffers::allow(spare);
        // The memory it gave back may be enough for several.
        self.changed.notify_all();
        self.eased.notify_waiters();
    }

    fn now(&self) -> Now {
        self.time_of(Instant::now())
    }

    fn time_of(&self, instant: Instant) -> Now {
        instant.saturating_duration_since(self.began)
    }

    /// Locks the state. No code panics while it holds the lock, so even a poisoned state is consistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of free buffers that may be kept for each thread: as much as a photograph of 15 megapixels decoded in full.
const KEPT_BYTES: u64 = 24 << 20;

/// How long a thread without work waits before it checks whether all others are idle, too.
const REST: Duration = Duration::from_secs(1);

/// What a pixel thread does next.
enum Next {
    /// Runs one job, together with those that share its decode.
    Jobs(Vec<Taken>),
    /// Runs a part of a job of another thread.
    Part(Task),
}

/// A job that was taken from the queue, and its id there.
type Taken = (u64, Job);

/// A part of a running job that another thread may do.
struct Part {
    task: Task,
    /// Deadline of the job that the part belongs to.
    deadline: Option<Instant>,
}

thread_local! {
    /// Index of this worker thread in `Seats`; `None` on other threads.
    static SEAT: Cell<Option<usize>> = const { Cell::new(None) };
}

impl Job {
    /// Whether one decode can serve both jobs.
    fn joins(&self, other: &Self) -> bool {
        let both = self.opening.as_ref().zip(other.opening.as_ref());
        both.is_some_and(|(one, other)| one.joins(other))
    }

    /// Describes this job, which starts now with `along` others that share its decode.
    fn at_work(&self, along: usize) -> AtWork {
        AtWork {
            kind: self.work.kind,
            plan: self.opening.as_ref().map(|opening| opening.plan.clone()),
            along,
            since: Instant::now(),
        }
    }

    fn member(&self) -> Option<Member<'_>> {
        Some(Member {
            opening: self.opening.as_ref()?,
            wanted: self.wanted.clone(),
        })
    }
}

/// Idle worker threads take tasks of a running job while the queue is empty: a single image is done sooner, and under
/// load every image has one thread.
impl Cores for Pool {
    fn lend(&self, task: Task) -> Option<Task> {
        let mut state = self.lock();
        if !state.steals || state.queue.waiting() > 0 || state.stolen.len() >= state.idle {
            return Some(task);
        }
        let deadline = SEAT.get().and_then(|seat| state.seats.deadline(seat));
        state.stolen.push_back(Part { task, deadline });
        state.counters.stolen += 1;
        drop(state);
        self.changed.notify_one();
        None
    }

    fn lends_soon(&self) -> bool {
        let state = self.lock();
        state.steals
            && state.queue.waiting() == 0
            && state.idle + state.helping > state.stolen.len()
    }
}

impl State {
    /// Bytes of free buffers that may be kept: what running jobs leave of the budget, but at most `KEPT_BYTES` for each
    /// thread and an eighth of the budget.
    fn spare_bytes(&self) -> u64 {
        let budget = self.queue.budget();
        let most = self.queue.threads() as u64 * KEPT_BYTES;
        budget.free().min(most).min(budget.total() / 8)
    }

    /// Takes further jobs from the queue that begin with the same decode as `first`.
    fn along(&mut self, now: Now, (id, first): &Taken) -> Vec<Taken> {
        let Some(opening) = &first.opening else {
            return Vec::new();
        };
        let calibration = &self.calibration;
        let mut shared_peak = SharedPeak::of(opening.plan.holding(), self.queue.threads());
        let mut taken = first.work.peak_bytes;
        self.queue.along(now, *id, |job, free| {
            let own = job.opening.as_ref().filter(|own| opening.joins(own))?;
            let larger = shared_peak.with(own.plan.holding());
            let bytes = larger.bytes().saturating_sub(taken);
            if bytes > free {
                return None;
            }
            shared_peak = larger;
            taken += bytes;
            let price = calibration.price(&job.work).without_decode();
            Some(Price { bytes, ..price })
        })
    }

    fn refuse(&mut self, refusal: Refusal) -> Error {
        let Refusal { cause, wait, limit } = refusal;
        self.counters.refused(cause);
        let seconds = wait.as_secs_f64().ceil();
        Error::Refused(Rejection {
            cause,
            wait,
            limit,
            retry_after: (seconds as u32).clamp(1, LONGEST_RETRY),
        })
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("waiting", &self.lock().queue.waiting())
            .finish_non_exhaustive()
    }
}

/// Withdraws a job when its future is dropped before there is an answer.
struct Withdraw<'a> {
    pool: &'a Pool,
    wanted: Arc<CancelToken>,
    id: u64,
    answered: bool,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        self.wanted.forget();
        let mut state = self.pool.lock();
        state.counters.dropped += 1;
        let job = state.queue.withdraw(self.id);
        drop(state);
        // Whoever stood in its way may go on.
        self.pool.changed.notify_all();
        self.pool.eased.notify_waiters();
        drop(job);
    }
}

fn rules(config: &Config) -> Rules {
    Rules {
        threads: config.workers(),
        most_waiting: config.queue,
        target_wait: config.target_wait.0,
        max_wait: config.max_wait.0,
    }
}

fn over_budget(value: u64, limit: u64) -> Error {
    Error::Pixels(andon_pixels::Error::Limit {
        bound: Bound::MEMORY_BUDGET,
        value,
        limit,
    })
}

/// Niceness of the pixel threads: where both want a core, they get a third of the weight of the threads that answer
/// requests.
const NICENESS: i32 = 5;

/// The longest `Retry-After` in seconds: no client should stay away longer because of a wrong prediction.
const LONGEST_RETRY: u32 = 60;
