//! Who is let in and who is next: arithmetic on a clock that is handed in, without threads or sockets.
//!
//! A request passes three times. [`Queue::expect`] lets it in or refuses it before its file is read, by a
//! guess of its work. [`Queue::join`] puts it in line once its plan is known, [`Queue::next`] takes it out
//! for a pixel thread.
//!
//! **Order.** A job's turn is its arrival plus [`AGEING`] times its predicted time, at most `max_wait`:
//! light work overtakes heavy, but nothing that arrives later than that much after a job can overtake it.
//!
//! **Length.** What counts is the predicted wait, not the number of jobs. A burst may wait `max_wait`. A
//! line that has not been empty for [`BURST`] is no burst but overload; then a wait of [`STANDING`] jobs is
//! enough to keep every thread busy, and more would only make everybody late.
//!
//! **Company.** Jobs that can use what another one makes first go along with it, out of their turn: what
//! they save is more than they make others wait. What they take is given back when the last of them is
//! done: they share it. See [`Queue::along`].
//!
//! **Memory.** A job starts when its planned peak fits into what is left of the budget. Jobs that fit may
//! pass one that does not, for [`PASSING`] of `max_wait`; then nothing starts until it fits.

use std::collections::BTreeMap;
use std::time::Duration;

use super::budget::Budget;

/// Time since the server started.
pub(super) type Now = Duration;

/// The line, what is on its way to it, and what has left it for a thread.
#[derive(Debug)]
pub(super) struct Queue<J> {
    rules: Rules,
    budget: Budget,
    expected: Expected,
    waiting: BTreeMap<Turn, Waiting<J>>,
    running: Vec<Running>,
    next_id: u64,
    /// Since when the line has not been empty.
    standing: Option<Now>,
    /// The first in line that does not fit into memory, and since when it could have started otherwise.
    blocked: Option<(Turn, Now)>,
    /// A running mean of the predicted times of what joined, in seconds.
    mean: f64,
}

/// What does not change while a server runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Pixel threads.
    pub(super) threads: usize,
    /// Most requests that are let in beside those that run: a backstop.
    pub(super) most_waiting: usize,
    /// The longest predicted wait.
    pub(super) max_wait: Duration,
}

/// What is known of a job before it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Price {
    /// Its predicted time on one thread.
    pub(super) time: Duration,
    /// The most bytes it plans to hold.
    pub(super) bytes: u64,
}

/// Why a request is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// As many wait as may (`queue`).
    Count,
    /// The predicted wait is too long (`max_wait`).
    Wait,
    /// It would not be ready by its deadline.
    Deadline,
}

/// Requests that were let in and are not in line yet.
#[derive(Clone, Copy, Debug, Default)]
struct Expected {
    count: usize,
    time: Duration,
}

/// When it is whose turn; ids tell equals apart, the earlier one first.
type Turn = (Now, u64);

#[derive(Debug)]
struct Waiting<J> {
    price: Price,
    job: J,
}

#[derive(Debug)]
struct Running {
    id: u64,
    /// Whom it goes along with: itself, mostly.
    company: u64,
    began: Now,
    price: Price,
}

impl<J> Queue<J> {
    pub(super) fn new(rules: Rules, bytes: u64) -> Self {
        Self {
            rules,
            budget: Budget::new(bytes),
            expected: Expected::default(),
            waiting: BTreeMap::new(),
            running: Vec::new(),
            next_id: 0,
            standing: None,
            blocked: None,
            mean: 0.0,
        }
    }

    /// Lets a request in whose work is guessed to take `guess`, or tells why not. Whoever is let in either
    /// joins or is [forgotten](Self::forget).
    pub(super) fn expect(&mut self, now: Now, guess: Duration, deadline: Now) -> Result<(), Cause> {
        let let_in = self.expected.count + self.waiting.len();
        let free = self.rules.threads.saturating_sub(self.running.len());
        if let_in >= self.rules.most_waiting.saturating_add(free) {
            return Err(Cause::Count);
        }
        let ahead = self.ahead(now, self.turn(now, guess)) + self.expected.time;
        self.check(now, guess, ahead, deadline)?;
        self.expected.count += 1;
        self.expected.time += guess;
        Ok(())
    }

    /// Somebody who was let in with this guess will not join.
    pub(super) fn forget(&mut self, guess: Duration) {
        self.expected.count = self.expected.count.saturating_sub(1);
        self.expected.time = self.expected.time.saturating_sub(guess);
    }

    /// Puts a job in line that was let in, or tells why its price is too high after all. `guess` is the
    /// one it was let in with; it is forgotten either way.
    ///
    /// A job that plans with more bytes than the whole budget never gets here.
    pub(super) fn join(
        &mut self,
        now: Now,
        guess: Duration,
        price: Price,
        deadline: Now,
        job: J,
    ) -> Result<u64, Cause> {
        self.forget(guess);
        let turn = (self.turn(now, price.time), self.next_id);
        self.check(now, price.time, self.ahead(now, turn.0), deadline)?;
        self.next_id += 1;
        let seconds = price.time.as_secs_f64();
        self.mean += (seconds - self.mean) * MEAN_WEIGHT;
        self.waiting.insert(turn, Waiting { price, job });
        self.standing.get_or_insert(now);
        Ok(turn.1)
    }

    /// The job whose turn it is, if it fits into memory: its id and itself. It runs from now on.
    pub(super) fn next(&mut self, now: Now) -> Option<(u64, J)> {
        let first = *self.waiting.first_key_value()?.0;
        let turn = if self.fits(first) {
            first
        } else {
            let since = match self.blocked {
                Some((turn, since)) if turn == first => since,
                _ => now,
            };
            self.blocked = Some((first, since));
            if now.saturating_sub(since) >= self.rules.max_wait.mul_f64(PASSING) {
                return None;
            }
            *self.waiting.keys().find(|turn| self.fits(**turn))?
        };
        let Waiting { price, job } = self.waiting.remove(&turn)?;
        if !self.budget.take(price.bytes) {
            return None;
        }
        self.running.push(Running {
            id: turn.1,
            company: turn.1,
            began: now,
            price,
        });
        self.note_emptiness();
        Some((turn.1, job))
    }

    /// Takes out of the line, in turn, whoever goes along with the job `first` that was just taken. `price`
    /// tells what a job then takes of so many bytes that are free, or that it does not belong with it or
    /// does not fit. They run from now on.
    pub(super) fn along(
        &mut self,
        now: Now,
        first: u64,
        mut price: impl FnMut(&J, u64) -> Option<Price>,
    ) -> Vec<(u64, J)> {
        let mut along = Vec::new();
        let mut turns = Vec::new();
        for (turn, waiting) in &self.waiting {
            if turns.len() == MOST_ALONG {
                break;
            }
            if let Some(price) = price(&waiting.job, self.budget.free())
                && self.budget.take(price.bytes)
            {
                turns.push((*turn, price));
            }
        }
        for (turn, price) in turns {
            if let Some(Waiting { job, .. }) = self.waiting.remove(&turn) {
                self.running.push(Running {
                    id: turn.1,
                    company: first,
                    began: now,
                    price,
                });
                along.push((turn.1, job));
            }
        }
        self.note_emptiness();
        along
    }

    /// A job that ran is over.
    pub(super) fn done(&mut self, id: u64) {
        if let Some(index) = self.running.iter().position(|job| job.id == id) {
            let job = self.running.swap_remove(index);
            let mut others = self.running.iter_mut();
            match others.find(|other| other.company == job.company) {
                Some(other) => other.price.bytes += job.price.bytes,
                None => self.budget.give_back(job.price.bytes),
            }
        }
    }

    /// Takes a job out that no thread has begun.
    pub(super) fn withdraw(&mut self, id: u64) -> Option<J> {
        let turn = *self.waiting.keys().find(|turn| turn.1 == id)?;
        let job = self.waiting.remove(&turn).map(|waiting| waiting.job);
        self.note_emptiness();
        job
    }

    /// How long somebody would wait who lets everybody go first.
    pub(super) fn backlog(&self, now: Now) -> Duration {
        let everybody = self.ahead(now, Now::MAX) + self.expected.time;
        everybody / self.divisor()
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

    /// Pixel threads.
    pub(super) fn threads(&self) -> usize {
        self.rules.threads
    }

    fn turn(&self, now: Now, time: Duration) -> Now {
        now + time.saturating_mul(AGEING).min(self.rules.max_wait)
    }

    /// The predicted work of everybody whose turn is not after `turn`, and of what runs.
    fn ahead(&self, now: Now, turn: Now) -> Duration {
        let waiting = self.waiting.range(..=(turn, u64::MAX));
        let waiting: Duration = waiting.map(|(_, waiting)| waiting.price.time).sum();
        let running: Duration = self
            .running
            .iter()
            .map(|job| job.price.time.saturating_sub(now.saturating_sub(job.began)))
            .sum();
        waiting + running
    }

    fn check(&self, now: Now, time: Duration, ahead: Duration, deadline: Now) -> Result<(), Cause> {
        // An idle machine tries everything: only so a wrong prediction is ever found out.
        if ahead.is_zero() {
            return Ok(());
        }
        let wait = ahead / self.divisor();
        if wait > self.bound(now) {
            Err(Cause::Wait)
        } else if now + wait + time > deadline {
            Err(Cause::Deadline)
        } else {
            Ok(())
        }
    }

    /// The longest wait right now.
    fn bound(&self, now: Now) -> Duration {
        let longest = self.rules.max_wait;
        match self.standing {
            Some(since) if now.saturating_sub(since) > BURST => {
                Duration::from_secs_f64(self.mean * STANDING)
                    .max(longest / LEAST_STANDING)
                    .min(longest)
            }
            _ => longest,
        }
    }

    fn fits(&self, turn: Turn) -> bool {
        self.waiting
            .get(&turn)
            .is_some_and(|waiting| self.budget.fits(waiting.price.bytes))
    }

    fn note_emptiness(&mut self) {
        if self.waiting.is_empty() {
            self.standing = None;
        }
    }

    /// What a time is divided by that all of them share.
    fn divisor(&self) -> u32 {
        u32::try_from(self.rules.threads).unwrap_or(u32::MAX).max(1)
    }
}

/// How many times its own time a job lets lighter ones go first.
const AGEING: u32 = 4;

/// How long a line may stand before it is taken for overload: long enough for a page full of pictures to
/// ask for all of them.
const BURST: Duration = Duration::from_millis(100);

/// Jobs of mean length that a standing line may be long, per thread: enough to keep all of them busy, and
/// short enough that under overload the slowest hundredth takes about as long as at 80 % load. The price
/// at 80 %, with two threads and random arrivals: one request in five hundred is refused in the simulation,
/// one in fifty where the machine pauses now and then.
const STANDING: f64 = 8.0;

/// This part of `max_wait` a standing line may always be long.
const LEAST_STANDING: u32 = 32;

/// The part of `max_wait` for which others may pass a job that waits for memory.
const PASSING: f64 = 0.25;

/// Jobs that may go along with another one: as many as a page has sizes of one picture. Others wait for
/// the thread meanwhile.
const MOST_ALONG: usize = 15;

/// Weight of one job in the running mean.
const MEAN_WEIGHT: f64 = 0.05;
