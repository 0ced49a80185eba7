//! The queue: which requests are admitted and which job is next. It is pure arithmetic on a clock that callers pass in,
//! without threads or sockets.
//!
//! A request goes through three steps. [`Queue::expect`] admits or rejects it before its file is read, by an estimate
//! of its work. [`Queue::join`] puts its job into the queue once the plan is known. [`Queue::next`] takes the job out
//! for a worker thread.
//!
//! **Order.** A job's turn is its arrival time plus `AGEING` times its predicted time, but at most plus `MOST_AGEING`.
//! Light work overtakes heavy work, but nothing that arrives later than a job's turn can overtake that job.
//!
//! **Admission.** A request is rejected for its predicted queueing delay at its own turn, whatever the others are like.
//! Their number counts only beyond `Rules::most_waiting`, a limit for what predictions have missed. The limit is `max_wait` while there are few requests
//! (`Rules::always_admitted`), so that a wrong prediction cannot reject clients that wait for each reply, and for the
//! first `BURST` of a longer queue. After that, the queue counts as overloaded and the limit is `target_wait`:
//! admitting more would only delay everyone.
//!
//! **Shared decodes.** Jobs that can share one decode form a batch, whose decode counts once. A request that may join a
//! batch is always admitted, unless the queue is full: it costs little, and the batch has its turn already. The members
//! are taken out of the queue together, regardless of their own turns. The memory they hold is given back when the last
//! of them is done. See `Queue::along`.
//!
//! **Memory.** A job starts when its planned peak fits into what is left of the budget. Jobs that fit may overtake one
//! that does not for `PASSING`. Then nothing starts until that one fits.

use std::collections::BTreeMap;
use std::time::Duration;

use andon_cache::Key;

use super::budget::Budget;
use super::seats::GRACE;
use crate::error::Cause;

pub use super::rules::{Now, Refusal, Rules};
pub use super::work::Price;

/// The queue of jobs, with the requests whose jobs are still to come and the jobs that worker threads are running.
#[derive(Debug)]
pub struct Queue<J> {
    rules: Rules,
    budget: Budget,
    expected: BTreeMap<Turn, Expected>,
    waiting: BTreeMap<Turn, Waiting<J>>,
    running: Vec<Running>,
    /// Worker threads that are stuck in their jobs.
    lost: usize,
    next_id: u64,
    /// Since when the predicted wait has been above the target. It is reset only when the wait has fallen below a
    /// fraction of the target (`RECOVERED`).
    over_target: Option<Now>,
    /// The job at the head of the queue if it does not fit into memory, and since when it could otherwise have started.
    blocked: Option<(Turn, Now)>,
}

/// A position in the queue: the time of the turn, then the id, so that of equal times the earlier id goes first.
pub type Turn = (Now, u64);

/// A request that was admitted and whose job is not in the queue yet.
#[derive(Clone, Copy, Debug)]
struct Expected {
    time: Duration,
    source: Option<Key>,
}

#[derive(Debug)]
struct Waiting<J> {
    price: Price,
    source: Option<Key>,
    /// Id of the first job of this job's batch, which is usually its own.
    batch: u64,
    deadline: Now,
    /// Whether the batch's decode counts as part of this job, as it does for the member whose turn is first.
    decodes: bool,
    job: J,
}

#[derive(Debug)]
struct Running {
    id: u64,
    /// Id of the job that this one was taken along with, which is usually its own. Running jobs with the same id share
    /// their peak memory.
    shared_peak: u64,
    began: Now,
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
            lost: 0,
            next_id: 0,
            over_target: None,
            blocked: None,
        }
    }

    /// Applies other rules and another budget from now on. What was admitted stays admitted.
    pub(super) fn resize(&mut self, rules: Rules, bytes: u64) {
        self.rules = rules;
        self.budget.resize(bytes);
    }

    /// Sets how many of the worker threads are stuck at the moment.
    pub(super) fn lose(&mut self, threads: usize) {
        self.lost = threads;
    }

    /// Admits a request whose work is estimated to take `guess`. `source` identifies the exact bytes that it begins
    /// with, if other requests may begin with them, too. An admitted request must later either join or be
    /// [forgotten](Self::forget).
    ///
    /// # Errors
    /// Why the request is not admitted.
    pub fn expect(
        &mut self,
        now: Now,
        guess: Duration,
        deadline: Now,
        source: Option<Key>,
    ) -> Result<Turn, Refusal> {
        self.check_count(now)?;
        let mut expected = Expected {
            time: guess,
            source,
        };
        let turn = (self.turn(now, guess), self.next_id);
        if self.may_share(source) {
            expected.time = guess.mul_f64(WITHOUT_DECODE);
        } else {
            self.check(now, guess, turn, deadline)?;
        }
        self.next_id += 1;
        self.expected.insert(turn, expected);
        self.watch(now);
        Ok(turn)
    }

    /// Removes a request that was admitted for `turn` and will not join.
    pub fn forget(&mut self, turn: Turn) {
        self.expected.remove(&turn);
    }

    /// Puts the job of a request that was admitted for the turn `expected` into the queue and returns its id, unless
    /// its price turns out too high. That turn is forgotten either way. `joins` tells whether two jobs can share one
    /// decode.
    ///
    /// The caller has already rejected jobs that plan with more bytes than the whole budget.
    ///
    /// # Errors
    /// Why the job is not admitted after all.
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

    /// Takes out the next job that may start now, and returns its id and the job. That is the job whose turn it is or,
    /// if it does not fit into memory, for a while the first that does. The job counts as running from now on.
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
            // Others do not stand back for one that waits for what a stuck job holds.
            if now.saturating_sub(since) >= PASSING && self.will_fit(first, now) {
                return None;
            }
            *self.waiting.keys().find(|turn| self.fits(**turn))?
        };
        let price = self.waiting.get(&turn)?.price;
        self.budget.take(price.bytes);
        let taken = self.begin(now, turn, turn.1, price);
        self.watch(now);
        taken
    }

    /// Takes the jobs that go along with the job `first`, which was just taken, out of the queue in order of their
    /// turns. `price` is called with a job and the number of free bytes. It returns what the job then costs, or `None`
    /// if the job does not belong with `first` or does not fit. The jobs count as running from now on.
    pub(super) fn along(
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

    /// Takes out a waiting job, which counts as running from now on at this price. The caller has reserved its memory.
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
            began: now,
            deadline,
            price,
        });
        self.settle(batch);
        Some((turn.1, job))
    }

    /// Removes a running job that has ended. Memory that it shares with other running jobs is given back when the last
    /// of them ends.
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

    /// Takes out a job that no thread has begun, or returns `None` if there is no such job.
    pub fn withdraw(&mut self, id: u64) -> Option<J> {
        let turn = *self.waiting.keys().find(|turn| turn.1 == id)?;
        let Waiting { batch, job, .. } = self.waiting.remove(&turn)?;
        self.settle(batch);
        Some(job)
    }

    /// Returns how long a request would wait if it let all others go first.
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

    /// Number of worker threads, as configured.
    pub(super) fn threads(&self) -> usize {
        self.rules.threads
    }

    fn turn(&self, now: Now, time: Duration) -> Now {
        now + time.saturating_mul(AGEING).min(MOST_AGEING)
    }

    /// Returns the total predicted time of all requests whose turns are before `turn`, and of what is left of the
    /// running jobs.
    fn ahead(&self, now: Now, turn: Turn) -> Duration {
        let expected = self.expected.range(..turn).map(|(_, it)| it.time);
        let waiting = self.waiting.range(..turn).map(|(_, it)| it.time());
        let running = self
            .running
            .iter()
            .map(|job| job.price.time.saturating_sub(now.saturating_sub(job.began)));
        expected.chain(waiting).chain(running).sum()
    }

    fn check_count(&self, now: Now) -> Result<(), Refusal> {
        let admitted = self.expected.len() + self.waiting.len();
        let free = self.rules.threads.saturating_sub(self.running.len());
        if admitted < self.rules.most_waiting.saturating_add(free) {
            return Ok(());
        }
        Err(Refusal {
            cause: Cause::Count,
            wait: self.backlog(now),
            limit: Duration::ZERO,
        })
    }

    fn check(&self, now: Now, time: Duration, turn: Turn, deadline: Now) -> Result<(), Refusal> {
        let ahead = self.ahead(now, turn);
        // An idle machine tries everything: only so a wrong prediction is ever found out.
        if ahead.is_zero() {
            return Ok(());
        }
        let wait = ahead / self.divisor();
        let admitted = self.expected.len() + self.waiting.len() + self.running.len();
        let limit = self.rules.limit(admitted, now, self.over_target);
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

    /// Updates since when the predicted wait has been above the target.
    fn watch(&mut self, now: Now) {
        let backlog = self.backlog(now);
        if backlog > self.rules.target_wait {
            self.over_target.get_or_insert(now);
        } else if backlog < self.rules.target_wait.mul_f64(RECOVERED) {
            self.over_target = None;
        }
    }

    /// Whether there is a batch, or may soon be one, that the next job of this source could join.
    fn may_share(&self, source: Option<Key>) -> bool {
        let expected = self.expected.values().map(|it| it.source);
        let all = expected.chain(self.waiting.values().map(|it| it.source));
        let same = all.filter(|other| *other == source).count();
        source.is_some() && (1..=MOST_ALONG).contains(&same)
    }

    fn members(&self, batch: u64) -> usize {
        let all = self.waiting.values();
        all.filter(|it| it.batch == batch).count()
    }

    /// Assigns the decode of a batch to the member whose turn is first, after members have come or gone.
    fn settle(&mut self, batch: u64) {
        let members = self.waiting.values_mut().filter(|it| it.batch == batch);
        for (index, member) in members.enumerate() {
            member.decodes = index == 0;
        }
    }

    /// Whether a waiting job fits into memory now. A job that was admitted under a larger budget than the current one
    /// runs when nothing else does.
    fn fits(&self, turn: Turn) -> bool {
        let fits = |bytes| self.budget.fits(bytes) || self.budget.used() == 0;
        let waiting = self.waiting.get(&turn);
        waiting.is_some_and(|waiting| fits(waiting.price.bytes))
    }

    /// Whether a waiting job will fit when all running jobs have ended, except those that are stuck.
    fn will_fit(&self, turn: Turn, now: Now) -> bool {
        let is_stuck = |job: &&Running| now.saturating_sub(job.deadline) >= GRACE;
        let kept: u64 = (self.running.iter().filter(is_stuck))
            .map(|job| job.price.bytes)
            .sum();
        let left = self.budget.total().saturating_sub(kept);
        let waiting = self.waiting.get(&turn);
        waiting.is_some_and(|waiting| kept == 0 || waiting.price.bytes <= left)
    }

    /// Number of threads that share the work: a total of predicted times is divided by it. At least 1.
    fn divisor(&self) -> u32 {
        let threads = self.rules.threads.saturating_sub(self.lost);
        u32::try_from(threads).unwrap_or(u32::MAX).max(1)
    }
}

impl<J> Waiting<J> {
    /// Time that this job adds to the wait of others.
    fn time(&self) -> Duration {
        match self.decodes {
            true => self.price.time,
            false => self.price.without_decode().time,
        }
    }
}

/// A turn behind all others.
const LAST: Turn = (Now::MAX, u64::MAX);

/// A job lets lighter ones go first for this many times its own predicted time.
const AGEING: u32 = 4;

/// The longest time for which a job lets lighter ones go first.
const MOST_AGEING: Duration = Duration::from_secs(2);

/// Overload ends when the predicted wait falls below this fraction of the target, so that a queue that swings around
/// the target is not a new burst each time.
const RECOVERED: f64 = 0.25;

/// How long other jobs may overtake a job that waits for memory.
const PASSING: Duration = Duration::from_millis(500);

/// The most jobs that may go along with another one: as many as a page has sizes of one image. While they run, all
/// others wait for the thread.
const MOST_ALONG: usize = 15;

/// Estimated fraction of the work on an image that is not decoding, used before its plan is known.
const WITHOUT_DECODE: f64 = 0.25;
