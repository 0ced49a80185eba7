//! The queue: decides which requests are admitted and which job is next. It only computes, on a clock that callers pass
//! in, without threads or sockets.
//!
//! A request goes through three steps. [`Queue::expect`] admits or rejects it before its file is read, by an estimate
//! of its work. [`Queue::join`] puts its job into the queue when the plan is known. [`Queue::next`] takes the job out
//! for a worker thread.
//!
//! **Order.** A job's turn is its arrival time plus `AGEING` times its predicted time, but at most plus `MOST_AGEING`.
//! Light work overtakes heavy work, but no job that arrives later than another job's turn can overtake that job.
//!
//! **Admission.** A request is rejected if its predicted queueing delay at its own turn is too long, whatever the other
//! requests are like. Their number counts only beyond `Rules::most_waiting`, a backstop against wrong predictions. The
//! limit of the delay is `max_wait` while there are few requests (`Rules::always_admitted`), so that a wrong prediction
//! cannot reject clients that wait for each response, and for the first `BURST` of a longer queue. After that, the
//! queue counts as overloaded and the limit is `target_wait`: admitting more requests would only delay all of them.
//!
//! **Shared decodes.** Jobs that can share one decode form a batch, whose decode counts once. A request that may join a
//! batch is always admitted, unless the queue is full: it costs little, and the batch already has its turn. The members
//! are taken out of the queue together, regardless of their own turns. Their memory is released when the last of them
//! ends. See `Queue::take_along`.
//!
//! **Memory.** A job starts when its planned peak fits into the rest of the budget. Jobs that fit may overtake one that
//! does not for the time `PASSING`. After that no job starts until that one fits.

use std::collections::BTreeMap;
use std::time::Duration;

use andon_cache::Key;

use super::budget::Budget;
use super::seats::GRACE;
use crate::error::Cause;

pub use super::rules::{Now, Refusal, Rules};
pub use super::work::Price;

/// The queue of jobs, including the admitted requests whose jobs are still to come and the jobs that worker threads are
/// running.
#[derive(Debug)]
pub struct Queue<J> {
    rules: Rules,
    budget: Budget,
    expected: BTreeMap<Turn, Expected>,
    waiting: BTreeMap<Turn, Waiting<J>>,
    running: Vec<Running>,
    /// Number of worker threads that are stuck in their jobs.
    stuck_threads: usize,
    next_id: u64,
    /// The time since which the predicted wait has been above `Rules::target_wait`. It is reset only when the wait has
    /// fallen below a fraction of that (`RECOVERED`).
    over_target_since: Option<Now>,
    /// The job at the head of the queue if it does not fit into memory, and the time since which it could otherwise
    /// have started.
    blocked: Option<(Turn, Now)>,
}

/// A job's position in the queue: the time of its turn, and its id. The earlier time goes first or, at the same time,
/// the earlier id.
pub type Turn = (Now, u64);

/// A request that was admitted and whose job is not in the queue yet.
#[derive(Clone, Copy, Debug)]
struct Expected {
    time: Duration,
    source: Option<Key>,
}

#[derive(Debug)]
/// A job in the queue.
struct Waiting<J> {
    price: Price,
    source: Option<Key>,
    /// Jobs with the same number here share one decode. It is the id of the first of them, so usually the job's own.
    batch: u64,
    deadline: Now,
    /// Whether the time of the decode counts as part of this job. Of jobs that share a decode, it counts for the one
    /// whose turn is first.
    decodes: bool,
    job: J,
}

#[derive(Debug)]
/// A job that a worker thread is running.
struct Running {
    id: u64,
    /// Id of the job together with which this one was taken, which is usually its own. Running jobs with the same id
    /// share their peak memory.
    shared_peak: u64,
    start: Now,
    deadline: Now,
    price: Price,
}

impl<J> Queue<J> {
    /// Creates an empty queue for work that may reserve up to `bytes` of memory in total.
    pub fn new(rules: Rules, bytes: u64) -> Self {
        Self {
            rules,
            budget: Budget::new(bytes),
            expected: BTreeMap::new(),
            waiting: BTreeMap::new(),
            running: Vec::new(),
            stuck_threads: 0,
            next_id: 0,
            over_target_since: None,
            blocked: None,
        }
    }

    /// Applies other rules and another budget from now on. Admitted requests stay admitted.
    pub(super) fn resize(&mut self, rules: Rules, bytes: u64) {
        self.rules = rules;
        self.budget.resize(bytes);
    }

    /// Sets the number of worker threads that are stuck at the moment.
    pub(super) fn set_stuck(&mut self, threads: usize) {
        self.stuck_threads = threads;
    }

    /// Admits a request whose work is estimated to take `guess`. `source` identifies the exact bytes that it starts
    /// with, if other requests may start with the same bytes. For an admitted request, either [`Queue::join`] or
    /// [`Queue::forget`] must be called later.
    ///
    /// # Errors
    /// The reason why the request is not admitted.
    pub fn expect(
        &mut self,
        now: Now,
        guess: Duration,
        deadline: Now,
        source: Option<Key>,
    ) -> Result<Turn, Refusal> {
        self.check_count(now)?;
        let mut request = Expected {
            time: guess,
            source,
        };
        let turn = (self.turn(now, guess), self.next_id);
        if self.may_share(source) {
            request.time = guess.mul_f64(WITHOUT_DECODE);
        } else {
            self.check(now, guess, turn, deadline)?;
        }
        self.next_id += 1;
        self.expected.insert(turn, request);
        self.watch(now);
        Ok(turn)
    }

    /// Removes a request that was admitted for `turn` and whose job will not be put into the queue.
    pub fn forget(&mut self, turn: Turn) {
        self.expected.remove(&turn);
    }

    /// Puts the job of a request that was admitted for the turn `expected` into the queue and returns the job's id,
    /// unless it would wait too long or miss its deadline at the `price` that its plan predicts. The request gives up
    /// its earlier turn in both cases. `joins` returns whether two jobs can share one decode.
    ///
    /// The caller must have rejected jobs whose plans need more bytes than the whole budget.
    ///
    /// # Errors
    /// The reason why the job is not admitted after all.
    pub fn join(
        &mut self,
        now: Now,
        expected: Turn,
        price: Price,
        deadline: Now,
        job: J,
        joins: impl Fn(&J, &J) -> bool,
    ) -> Result<u64, Refusal> {
        let source = self.expected.remove(&expected).and_then(|it| it.source);
        let id = expected.1;
        let turn = (self.turn(now, price.time), id);
        let batch = self
            .waiting
            .values()
            .find(|other| joins(&other.job, &job))
            .map(|other| other.batch)
            .filter(|batch| self.members(*batch) <= MOST_ALONG);
        if batch.is_none() {
            self.check(now, price.time, turn, deadline)?;
        }
        let waiting = Waiting {
            price,
            source,
            batch: batch.unwrap_or(id),
            deadline,
            decodes: true,
            job,
        };
        self.waiting.insert(turn, waiting);
        if let Some(batch) = batch {
            self.settle(batch);
        }
        self.watch(now);
        Ok(id)
    }

    /// Takes the next job that may start now out of the queue, and returns its id and the job. That is the job whose
    /// turn is first or, if it does not fit into memory, for a while the first one that does. The job counts as running
    /// from now on.
    pub fn next(&mut self, now: Now) -> Option<(u64, J)> {
        let first = *self.waiting.first_key_value()?.0;
        let turn = if self.fits(first) {
            first
        } else {
            let since = match self.blocked {
                Some((turn, since)) if turn == first => since,
                _ => now,
            };
            self.blocked = Some((first, since));
            // Other jobs do not wait for one that needs the memory of a stuck job.
            if now.saturating_sub(since) >= PASSING && self.will_fit(first, now) {
                return None;
            }
            *self.waiting.keys().find(|turn| self.fits(**turn))?
        };
        let price = self.waiting.get(&turn)?.price;
        self.budget.take(price.bytes);
        let job = self.begin(now, turn, turn.1, price);
        self.watch(now);
        job
    }

    /// Takes the jobs that share a decode with the job `first`, which was just taken, out of the queue in order of
    /// their turns. `price` is called with a waiting job and the number of free bytes. It returns the job's costs if
    /// the job shares the decode and fits into these bytes, otherwise `None`. The jobs count as running from now on.
    pub(super) fn take_along(
        &mut self,
        now: Now,
        first: u64,
        mut price: impl FnMut(&J, u64) -> Option<Price>,
    ) -> Vec<(u64, J)> {
        let mut turns = Vec::new();
        for (turn, waiting) in &self.waiting {
            if turns.len() == MOST_ALONG {
                break;
            }
            if let Some(price) = price(&waiting.job, self.budget.free()) {
                self.budget.take(price.bytes);
                turns.push((*turn, price));
            }
        }
        let begin = |(turn, price)| self.begin(now, turn, first, price);
        turns.into_iter().filter_map(begin).collect()
    }

    /// Takes the waiting job at `turn` out of the queue. It counts as running from now on, at this price, for which the
    /// caller has reserved the memory. `shared_peak` is the id of the job together with which it was taken.
    fn begin(&mut self, now: Now, turn: Turn, shared_peak: u64, price: Price) -> Option<(u64, J)> {
        let Waiting {
            batch,
            deadline,
            job,
            ..
        } = self.waiting.remove(&turn)?;
        self.running.push(Running {
            id: turn.1,
            shared_peak,
            start: now,
            deadline,
            price,
        });
        self.settle(batch);
        Some((turn.1, job))
    }

    /// Removes a running job that has ended. Memory that it shares with other running jobs is released when the last of
    /// them ends.
    pub fn done(&mut self, id: u64) {
        if let Some(index) = self.running.iter().position(|job| job.id == id) {
            let job = self.running.swap_remove(index);
            let mut others = self.running.iter_mut();
            match others.find(|other| other.shared_peak == job.shared_peak) {
                Some(other) => other.price.bytes += job.price.bytes,
                None => self.budget.give_back(job.price.bytes),
            }
        }
    }

    /// Takes a job that no thread has started out of the queue, or returns `None` if there is no such job.
    pub fn withdraw(&mut self, id: u64) -> Option<J> {
        let turn = *self.waiting.keys().find(|turn| turn.1 == id)?;
        let Waiting { batch, job, .. } = self.waiting.remove(&turn)?;
        self.settle(batch);
        Some(job)
    }

    /// Returns the predicted queueing delay of a new request behind all others.
    pub(super) fn backlog(&self, now: Now) -> Duration {
        self.ahead(now, LAST) / self.divisor()
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    pub(super) fn budget(&self) -> Budget {
        self.budget
    }

    /// Returns the configured number of worker threads.
    pub(super) fn threads(&self) -> usize {
        self.rules.threads
    }

    /// Returns the turn of a job that arrives now and is predicted to take `time`: the time by which waiting jobs are
    /// ordered, earliest first. It is not when the job will start.
    fn turn(&self, now: Now, time: Duration) -> Now {
        now + time.saturating_mul(AGEING).min(MOST_AGEING)
    }

    /// Returns the total predicted time of all requests whose turns are before `turn`, and the remaining time of the
    /// running jobs.
    fn ahead(&self, now: Now, turn: Turn) -> Duration {
        let expected = self.expected.range(..turn).map(|(_, it)| it.time);
        let waiting = self.waiting.range(..turn).map(|(_, it)| it.time());
        let running = self
            .running
            .iter()
            .map(|job| job.price.time.saturating_sub(now.saturating_sub(job.start)));
        expected.chain(waiting).chain(running).sum()
    }

    /// Rejects a request if there are too many requests in the queue.
    fn check_count(&self, now: Now) -> Result<(), Refusal> {
        let count = self.expected.len() + self.waiting.len();
        let free = self.rules.threads.saturating_sub(self.running.len());
        if count < self.rules.most_waiting.saturating_add(free) {
            return Ok(());
        }
        Err(Refusal {
            cause: Cause::Count,
            wait: self.backlog(now),
            limit: Duration::ZERO,
        })
    }

    /// Rejects a request, predicted to take `time`, that would wait too long at `turn` or miss its deadline.
    fn check(&self, now: Now, time: Duration, turn: Turn, deadline: Now) -> Result<(), Refusal> {
        let ahead = self.ahead(now, turn);
        // An idle machine accepts everything: otherwise a wrong prediction would never be corrected.
        if ahead.is_zero() {
            return Ok(());
        }
        let wait = ahead / self.divisor();
        let count = self.expected.len() + self.waiting.len() + self.running.len();
        let limit = self.rules.limit(count, now, self.over_target_since);
        if wait > limit {
            Err(Refusal {
                cause: Cause::Wait,
                wait,
                limit,
            })
        } else if now + wait + time > deadline {
            Err(Refusal {
                cause: Cause::Deadline,
                wait: wait + time,
                limit: deadline.saturating_sub(now),
            })
        } else {
            Ok(())
        }
    }

    /// Updates the time since which the predicted wait has been above `Rules::target_wait`.
    fn watch(&mut self, now: Now) {
        let backlog = self.backlog(now);
        if backlog > self.rules.target_wait {
            self.over_target_since.get_or_insert(now);
        } else if backlog < self.rules.target_wait.mul_f64(RECOVERED) {
            self.over_target_since = None;
        }
    }

    /// Whether there are, or may soon be, jobs with which a job of this source could share a decode.
    fn may_share(&self, source: Option<Key>) -> bool {
        let expected = self.expected.values().map(|it| it.source);
        let all = expected.chain(self.waiting.values().map(|it| it.source));
        let count = all.filter(|other| *other == source).count();
        source.is_some() && (1..=MOST_ALONG).contains(&count)
    }

    fn members(&self, batch: u64) -> usize {
        let all = self.waiting.values();
        all.filter(|it| it.batch == batch).count()
    }

    /// Assigns the time of a shared decode to the one of its jobs whose turn is first, after the set of jobs has
    /// changed. `batch` is the number that all of them have in [`Waiting::batch`].
    fn settle(&mut self, batch: u64) {
        let members = self.waiting.values_mut().filter(|it| it.batch == batch);
        for (index, member) in members.enumerate() {
            member.decodes = index == 0;
        }
    }

    /// Whether the waiting job at `turn` fits into memory now. A job that was admitted under a larger budget than the
    /// current one starts when no other job is running.
    fn fits(&self, turn: Turn) -> bool {
        let fits = |bytes| self.budget.fits(bytes) || self.budget.used() == 0;
        let waiting = self.waiting.get(&turn);
        waiting.is_some_and(|waiting| fits(waiting.price.bytes))
    }

    /// Whether the waiting job at `turn` will fit into memory when all running jobs have ended, except those that are
    /// stuck.
    fn will_fit(&self, turn: Turn, now: Now) -> bool {
        let is_stuck = |job: &&Running| now.saturating_sub(job.deadline) >= GRACE;
        let stuck_bytes: u64 = (self.running.iter().filter(is_stuck))
            .map(|job| job.price.bytes)
            .sum();
        let rest = self.budget.total().saturating_sub(stuck_bytes);
        let waiting = self.waiting.get(&turn);
        waiting.is_some_and(|waiting| stuck_bytes == 0 || waiting.price.bytes <= rest)
    }

    /// Returns the number of worker threads that are not stuck, at least 1. Predicted times are divided by it, because
    /// these threads share the work.
    fn divisor(&self) -> u32 {
        let threads = self.rules.threads.saturating_sub(self.stuck_threads);
        u32::try_from(threads).unwrap_or(u32::MAX).max(1)
    }
}

impl<J> Waiting<J> {
    /// Returns the time that this job adds to the wait of others.
    fn time(&self) -> Duration {
        match self.decodes {
            true => self.price.time,
            false => self.price.without_decode().time,
        }
    }
}

/// A turn after all others.
const LAST: Turn = (Now::MAX, u64::MAX);

/// Lighter jobs may overtake a job for this many times its own predicted time.
const AGEING: u32 = 4;

/// Longest time for which lighter jobs may overtake a job.
const MOST_AGEING: Duration = Duration::from_secs(2);

/// Overload ends when the predicted wait falls below this fraction of `Rules::target_wait`. If it ended at
/// `target_wait` itself, a wait that fluctuates around that would count as a new burst each time.
const RECOVERED: f64 = 0.25;

/// How long other jobs may overtake a job that waits for memory.
const PASSING: Duration = Duration::from_millis(500);

/// Maximum number of jobs that may run along with another one: the number of sizes of one image on a typical page.
/// While they run, all other jobs wait for the thread.
const MOST_ALONG: usize = 15;

/// Estimated fraction of the work on an image that is not decoding, used before its plan is known.
const WITHOUT_DECODE: f64 = 0.25;
