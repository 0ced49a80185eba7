//! Which requests are admitted and which job is next: arithmetic on a clock that is handed in, without
//! threads or sockets.
//!
//! A request passes three times. [`Queue::expect`] admits or rejects it before its file is read, by an
//! estimate of its work. [`Queue::join`] puts its job into the queue once the plan is known, [`Queue::next`]
//! takes it out for a worker thread.
//!
//! **Order.** A job's turn is its arrival plus `AGEING` times its predicted time, at most
//! `MOST_AGEING`: light work overtakes heavy, but nothing that arrives later than that much after a job
//! can overtake it.
//!
//! **Admission.** A request is rejected for its predicted queueing delay at its own turn, never for how
//! many others there are or what they are like. Up to `max_wait` everything is admitted while there are
//! few (`Rules::always_admitted`), so that a wrong prediction cannot reject what clients that wait for
//! their replies ask for, and for the first `BURST` of a longer queue. After that it is overload, and
//! the limit is `target_wait`: more would only make everybody late.
//!
//! **Shared decodes.** Jobs that can use one decode form a batch, whose decode counts once. A request
//! that may join a batch is always admitted: it costs little, and its turn has been paid for. Members are
//! taken out of the queue together, out of their turn. What they hold is given back when the last of them
//! is done. See `Queue::along`.
//!
//! **Memory.** A job starts when its planned peak fits into what is left of the budget. Jobs that fit may
//! pass one that does not, for `PASSING`; then nothing starts until it fits.

use std::collections::BTreeMap;
use std::time::Duration;

use andon_cache::Key;

use super::budget::Budget;
use super::seats::GRACE;
use crate::error::Cause;

/// Time since the server started.
pub type Now = Duration;

/// The queue, the requests that are on their way to it, and the jobs that have left it for a thread.
#[derive(Debug)]
pub struct Queue<J> {
    rules: Rules,
    budget: Budget,
    expected: BTreeMap<Turn, Expected>,
    waiting: BTreeMap<Turn, Waiting<J>>,
    running: Vec<Running>,
    /// Worker threads that do not come back from their jobs.
    lost: usize,
    next_id: u64,
    /// Since when the predicted wait has been above the target; it counts until it is a fraction of it.
    over_target: Option<Now>,
    /// The first in the queue that does not fit into memory, and since when it could have started
    /// otherwise.
    blocked: Option<(Turn, Now)>,
}

/// What the configuration says. A reload may change all of it.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Worker threads.
    pub threads: usize,
    /// Most requests that are admitted beside those that run: a backstop.
    pub most_waiting: usize,
    /// The longest predicted wait under lasting overload.
    pub target_wait: Duration,
    /// The longest predicted wait at all.
    pub max_wait: Duration,
}

/// What is known of a job before it runs.
#[derive(Clone, Copy, Debug)]
pub struct Price {
    /// Its predicted time on one thread, alone.
    pub time: Duration,
    /// The part of it that a batch needs once.
    pub decode: Duration,
    /// The most bytes it plans to hold.
    pub bytes: u64,
}

impl Price {
    /// That of a job whose decode is done already, or counted elsewhere.
    pub(super) fn without_decode(self) -> Self {
        Self {
            time: self.time.saturating_sub(self.decode),
            decode: Duration::ZERO,
            ..self
        }
    }
}

/// A request that is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Which of the rules it failed.
    pub cause: Cause,
    /// How long it would have waited: at its own turn, or behind all others for [`Cause::Count`].
    pub wait: Duration,
    /// What it would have had to be below; for [`Cause::Count`], nothing.
    pub limit: Duration,
}

/// When it is whose turn; ids tell equals apart, the earlier one first.
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
    /// The id of the job that was the first of its batch: its own, mostly.
    batch: u64,
    deadline: Now,
    /// Does the batch's decode count here? It does for the member whose turn is first.
    decodes: bool,
    job: J,
}

#[derive(Debug)]
struct Running {
    id: u64,
    /// The job that it went along with: itself, mostly.
    shared_peak: u64,
    began: Now,
    deadline: Now,
    price: Price,
}

impl Rules {
    /// Requests that are admitted whatever the predicted wait is, up to `max_wait`: those of so many
    /// clients that wait for each reply. Predictions are wrong now and then, above all those of a server
    /// that was just started; so few jobs are not overload in any case.
    pub(super) fn always_admitted(&self) -> usize {
        self.threads
            .saturating_mul(CLIENTS_PER_THREAD)
            .max(CLIENTS_AT_LEAST)
    }
}

impl<J> Queue<J> {
    /// An empty queue for work that may reserve `bytes` of memory in total.
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

    /// Other rules and another budget from now on; what was admitted stays.
    pub(super) fn resize(&mut self, rules: Rules, bytes: u64) {
        self.rules = rules;
        self.budget.resize(bytes);
    }

    /// So many of the worker threads are stuck at the moment.
    pub(super) fn lose(&mut self, threads: usize) {
        self.lost = threads;
    }

    /// Admits a request whose work is estimated as `guess`, or tells why not. `source` names the very bytes
    /// that it begins with, if others may begin with them, too. What is admitted either joins or is
    /// [forgotten](Self::forget).
    ///
    /// # Errors
    /// Why it is not admitted.
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

    /// A request that was admitted for this turn will not join.
    pub fn forget(&mut self, turn: Turn) {
        self.expected.remove(&turn);
    }

    /// Puts the job of a request into the queue that was admitted for the turn `expected`, or tells why its
    /// price is too high after all; the former turn is forgotten either way. `joins` tells whether two
    /// jobs can use one decode.
    ///
    /// A job that plans with more bytes than the whole budget never gets here.
    ///
    /// # Errors
    /// Why it is not admitted after all.
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

    /// The job whose turn it is, if it fits into memory: its id and itself. It runs from now on.
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
        let Waiting {
            price,
            batch,
            deadline,
            job,
            ..
        } = self.waiting.remove(&turn)?;
        self.budget.take(price.bytes);
        self.running.push(Running {
            id: turn.1,
            shared_peak: turn.1,
            began: now,
            deadline,
            price,
        });
        self.settle(batch);
        self.watch(now);
        Some((turn.1, job))
    }

    /// Takes out of the queue, in turn, the jobs that go along with the job `first` that was just taken.
    /// `price` tells what a job then takes of so many bytes that are free, or that it does not belong with
    /// it or does not fit. They run from now on.
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
        let mut along = Vec::new();
        for (turn, price) in turns {
            if let Some(Waiting {
                batch,
                deadline,
                job,
                ..
            }) = self.waiting.remove(&turn)
            {
                self.running.push(Running {
                    id: turn.1,
                    shared_peak: first,
                    began: now,
                    deadline,
                    price,
                });
                self.settle(batch);
                along.push((turn.1, job));
            }
        }
        along
    }

    /// A job that ran is over.
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

    /// Takes a job out that no thread has begun.
    pub fn withdraw(&mut self, id: u64) -> Option<J> {
        let turn = *self.waiting.keys().find(|turn| turn.1 == id)?;
        let Waiting { batch, job, .. } = self.waiting.remove(&turn)?;
        self.settle(batch);
        Some(job)
    }

    /// How long somebody would wait who lets everybody go first.
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

    /// Worker threads, as configured.
    pub(super) fn threads(&self) -> usize {
        self.rules.threads
    }

    fn turn(&self, now: Now, time: Duration) -> Now {
        now + time.saturating_mul(AGEING).min(MOST_AGEING)
    }

    /// The predicted work of everybody whose turn is before `turn`, and what is left of what runs.
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
        let limit = self.limit(now);
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

    /// The longest wait that is admitted right now.
    fn limit(&self, now: Now) -> Duration {
        let admitted = self.expected.len() + self.waiting.len() + self.running.len();
        let is_burst = |since: Now| now.saturating_sub(since) <= BURST;
        if admitted < self.rules.always_admitted() || self.over_target.is_none_or(is_burst) {
            self.rules.max_wait
        } else {
            self.rules.target_wait.min(self.rules.max_wait)
        }
    }

    /// Notes since when the queue has been longer than it should be for long.
    fn watch(&mut self, now: Now) {
        let backlog = self.backlog(now);
        if backlog > self.rules.target_wait {
            self.over_target.get_or_insert(now);
        } else if backlog < self.rules.target_wait.mul_f64(RECOVERED) {
            self.over_target = None;
        }
    }

    /// Is there a batch, or may there be one soon, that this source's next job could belong to?
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

    /// Members have come or gone: the decode counts for the first.
    fn settle(&mut self, batch: u64) {
        let members = self.waiting.values_mut().filter(|it| it.batch == batch);
        for (index, member) in members.enumerate() {
            member.decodes = index == 0;
        }
    }

    /// A job that was admitted under a larger budget than there is now runs alone.
    fn fits(&self, turn: Turn) -> bool {
        let fits = |bytes| self.budget.fits(bytes) || self.budget.used() == 0;
        let waiting = self.waiting.get(&turn);
        waiting.is_some_and(|waiting| fits(waiting.price.bytes))
    }

    /// Will it fit when the jobs that still make progress are done?
    fn will_fit(&self, turn: Turn, now: Now) -> bool {
        let is_stuck = |job: &&Running| now.saturating_sub(job.deadline) >= GRACE;
        let kept: u64 = (self.running.iter().filter(is_stuck))
            .map(|job| job.price.bytes)
            .sum();
        let left = self.budget.total().saturating_sub(kept);
        let waiting = self.waiting.get(&turn);
        waiting.is_some_and(|waiting| kept == 0 || waiting.price.bytes <= left)
    }

    /// What a time is divided by that all of them share.
    fn divisor(&self) -> u32 {
        let threads = self.rules.threads.saturating_sub(self.lost);
        u32::try_from(threads).unwrap_or(u32::MAX).max(1)
    }
}

impl<J> Waiting<J> {
    /// The time that this request adds to the wait of the others.
    fn time(&self) -> Duration {
        match self.decodes {
            true => self.price.time,
            false => self.price.without_decode().time,
        }
    }
}

/// Behind everybody.
const LAST: Turn = (Now::MAX, u64::MAX);

/// How many times its own time a job lets lighter ones go first.
const AGEING: u32 = 4;

/// It never lets them go first for longer than this.
const MOST_AGEING: Duration = Duration::from_secs(2);

/// How long a queue may be longer than the target before it is taken for overload: long enough for a page
/// full of images to ask for all of them.
const BURST: Duration = Duration::from_millis(100);

/// Overload has ended when the predicted wait is below this part of the target: a queue that swings around
/// the target is no new burst each time.
const RECOVERED: f64 = 0.25;

/// Clients per thread that are always admitted, one request each at a time.
const CLIENTS_PER_THREAD: usize = 32;

/// However few threads there are.
const CLIENTS_AT_LEAST: usize = 64;

/// How long others may pass a job that waits for memory.
const PASSING: Duration = Duration::from_millis(500);

/// Jobs that may go along with another one: as many as a page has sizes of one image. Others wait for
/// the thread meanwhile.
const MOST_ALONG: usize = 15;

/// The part of an image's work that is left without its decode, before its plan is known.
const WITHOUT_DECODE: f64 = 0.25;
