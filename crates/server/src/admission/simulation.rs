//! Simulations that test the queue's rules on thousands of jobs, on a clock that only the test moves.

use std::collections::BTreeMap;
use std::time::Duration;

use super::queue::{Now, Price, Queue, Refusal, Rules};
use crate::error::Cause;

/// A simulated server without threads, where jobs take exactly as long as the test says.
struct Simulation {
    queue: Queue<usize>,
    now: Now,
    bytes: u64,
    jobs: Vec<Record>,
    /// The running jobs: when each ends, its id in the queue, and its index in `jobs`.
    running: Vec<(Now, u64, usize)>,
    threads: usize,
}

/// What a job needs, and when it arrived and began.
#[derive(Clone, Copy, Debug)]
struct Record {
    time: Duration,
    bytes: u64,
    arrived: Now,
    began: Option<Now>,
}

const TARGET_WAIT: Duration = Duration::from_millis(500);
const MAX_WAIT: Duration = Duration::from_secs(2);
const NEVER: Now = Duration::from_secs(1_000_000);

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

impl Simulation {
    fn new(threads: usize, bytes: u64) -> Self {
        Self::with_queue(threads, bytes, 1_000_000)
    }

    fn with_queue(threads: usize, bytes: u64, most_waiting: usize) -> Self {
        let rules = Rules {
            threads,
            most_waiting,
            target_wait: TARGET_WAIT,
            max_wait: MAX_WAIT,
        };
        Self {
            queue: Queue::new(rules, bytes),
            now: Duration::ZERO,
            bytes,
            jobs: Vec::new(),
            running: Vec::new(),
            threads,
        }
    }

    /// Lets a job arrive that takes exactly as long as predicted. Returns its index in `jobs` if it is admitted.
    fn arrive(&mut self, time: Duration, bytes: u64, deadline: Now) -> Result<usize, Cause> {
        self.admit(time, bytes, deadline)
            .map_err(|refusal| refusal.cause)
    }

    fn admit(&mut self, time: Duration, bytes: u64, deadline: Now) -> Result<usize, Refusal> {
        let turn = self.queue.expect(self.now, time, deadline, None)?;
        let number = self.jobs.len();
        let price = Price {
            time,
            decode: Duration::ZERO,
            bytes,
        };
        let alone = |_: &usize, _: &usize| false;
        self.queue
            .join(self.now, turn, price, deadline, number, alone)?;
        self.jobs.push(Record {
            time,
            bytes,
            arrived: self.now,
            began: None,
        });
        self.start();
        Ok(number)
    }

    fn start(&mut self) {
        while self.running.len() < self.threads {
            let Some((id, number)) = self.queue.next(self.now) else {
                break;
            };
            self.jobs[number].began = Some(self.now);
            self.running
                .push((self.now + self.jobs[number].time, id, number));
        }
        self.check();
    }

    /// Asserts the invariants that must hold at all times.
    fn check(&self) {
        let held: u64 = self
            .running
            .iter()
            .map(|(_, _, number)| self.jobs[*number].bytes)
            .sum();
        assert_eq!(held, self.queue.budget().used());
        assert!(held <= self.bytes, "{held} of {} bytes", self.bytes);
        assert_eq!(self.running.len(), self.queue.running());
    }

    /// Moves the clock to `until`, ending jobs that finish until then.
    fn run_until(&mut self, until: Now) {
        while let Some(index) = (0..self.running.len())
            .min_by_key(|index| self.running[*index].0)
            .filter(|index| self.running[*index].0 <= until)
        {
            let (end, id, _) = self.running.swap_remove(index);
            self.now = end;
            self.queue.done(id);
            self.start();
        }
        self.now = until;
    }

    fn wait(&self, number: usize) -> Duration {
        let job = self.jobs[number];
        job.began.expect("it began") - job.arrived
    }
}

/// A pseudo-random number generator, which yields the same numbers for the same seed.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, end: u64) -> u64 {
        // The MMIX generator; its high bits are good enough.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

#[test]
fn light_work_overtakes_heavy_work() {
    let mut simulation = Simulation::new(1, 1000);
    simulation.arrive(millis(100), 1, NEVER).unwrap();
    let heavy = simulation.arrive(millis(400), 1, NEVER).unwrap();
    let light = simulation.arrive(millis(5), 1, NEVER).unwrap();
    simulation.run_until(millis(1000));
    assert_eq!(simulation.wait(light), millis(100));
    assert_eq!(simulation.wait(heavy), millis(105));
}

#[test]
fn equals_are_served_in_the_order_in_which_they_came() {
    let mut simulation = Simulation::new(1, 1000);
    let jobs: Vec<usize> = (0..20)
        .map(|_| simulation.arrive(millis(10), 1, NEVER).unwrap())
        .collect();
    simulation.run_until(millis(1000));
    assert!(
        jobs.windows(2)
            .all(|pair| simulation.wait(pair[0]) < simulation.wait(pair[1]))
    );
}

/// The bound: nothing that arrives later than `min(4 × its time, MOST_AGEING)` after a job can overtake it. A job
/// therefore waits no longer than that plus the work that was admitted until then.
#[test]
fn no_stream_of_light_work_starves_a_heavy_job() {
    let mut simulation = Simulation::new(1, 1000);
    simulation.arrive(millis(10), 1, NEVER).unwrap();
    let heavy = simulation.arrive(millis(300), 1, NEVER).unwrap();
    // Twice as much light work as one thread can do, for a minute.
    let mut refused = 0;
    for tick in 1..12_000 {
        simulation.run_until(millis(5 * tick));
        refused += usize::from(simulation.arrive(millis(10), 1, NEVER).is_err());
    }
    assert!(refused > 5_000, "{refused}");
    let began = simulation.jobs[heavy].began.expect("it was not starved");
    let arrived = simulation.jobs[heavy].arrived;
    for (number, job) in simulation.jobs.iter().enumerate() {
        let overtook = number > heavy && job.began.is_some_and(|time| time < began);
        assert!(!overtook || job.arrived <= arrived + millis(4 * 300));
    }
    assert!(simulation.wait(heavy) <= millis(4 * 300) + MAX_WAIT);
}

#[test]
fn admitted_work_waits_no_longer_than_promised_and_no_thread_is_idle_under_overload() {
    let mut dice = Dice(7);
    let mut simulation = Simulation::new(2, u64::MAX);
    // About five times what two threads can do, for a minute.
    for tick in 0..17_000 {
        simulation.run_until(Duration::from_micros(3500 * tick));
        let time = millis(10 + dice.below(50));
        let _ = simulation.arrive(time, 1, NEVER);
    }
    let end = simulation.now;
    simulation.run_until(end + MAX_WAIT * 4);
    let mut waits: Vec<Duration> = (0..simulation.jobs.len())
        .map(|number| simulation.wait(number))
        .collect();
    waits.sort();
    let worked: Duration = simulation.jobs.iter().map(|job| job.time).sum();
    assert!(worked >= end * 2, "{worked:?} of work in 2 × {end:?}");
    // Thirty-two jobs per thread are always admitted: about a second of these.
    let p99 = waits[waits.len() * 99 / 100];
    assert!(p99 < millis(1400), "{p99:?}");
    assert!(waits[waits.len() - 1] <= MAX_WAIT * 2);
}

#[test]
fn ten_times_the_load_leaves_the_slowest_below_a_second_and_a_half_and_a_busy_day_rejects_nobody() {
    for seed in 0..5 {
        let (_, rejected_when_busy) = slowest_hundredth(0.8, seed);
        let (overload, rejected) = slowest_hundredth(10.0, seed);
        assert!(rejected_when_busy == 0.0, "{rejected_when_busy}");
        assert!(rejected > 0.5, "{rejected}");
        assert!(overload < millis(1500), "{overload:?}");
    }
}

#[test]
fn overload_ends_with_the_queue_and_a_queue_that_swings_is_no_new_burst() {
    let mut simulation = Simulation::new(1, u64::MAX);
    let count = |simulation: &mut Simulation| {
        let more = |_: &i32| simulation.arrive(millis(5), 1, NEVER).is_ok();
        (0..1000).take_while(more).count()
    };
    // A burst: everything up to `max_wait`, which is two seconds here.
    assert_eq!(count(&mut simulation), 401);
    // It is still there: nobody, until the wait is below the target; then no more than that.
    for wait in [1000, 600] {
        simulation.run_until(MAX_WAIT - millis(wait));
        assert_eq!(count(&mut simulation), 0, "{wait} ms");
    }
    simulation.run_until(MAX_WAIT - millis(400));
    assert_eq!(count(&mut simulation), 20);
    // It was gone: this is another burst.
    let now = simulation.now;
    simulation.run_until(now + MAX_WAIT);
    assert_eq!(count(&mut simulation), 401);
}

#[test]
fn a_rejection_says_how_long_the_wait_would_have_been_and_what_the_limit_is() {
    let mut simulation = Simulation::new(1, u64::MAX);
    simulation.arrive(millis(3000), 1, NEVER).unwrap();
    let refusal = simulation.admit(millis(10), 1, NEVER).unwrap_err();
    let expected = Refusal {
        cause: Cause::Wait,
        wait: millis(3000),
        limit: MAX_WAIT,
    };
    assert_eq!(refusal, expected);
    simulation.run_until(millis(2500));
    let refusal = simulation.admit(millis(10), 1, millis(2600)).unwrap_err();
    let expected = Refusal {
        cause: Cause::Deadline,
        wait: millis(510),
        limit: millis(100),
    };
    assert_eq!(refusal, expected);
}

/// Simulates a minute of random arrivals, at `times` the rate that two threads can handle. Returns the time, wait and
/// work, within which 99 % of the admitted jobs are done, and the fraction of jobs that were rejected.
fn slowest_hundredth(times: f64, seed: u64) -> (Duration, f64) {
    const WORK: [u64; 8] = [3, 5, 6, 8, 10, 12, 18, 36];
    let mean = WORK.iter().sum::<u64>() as f64 / WORK.len() as f64 / 1e3;
    let mut dice = Dice(seed);
    let mut simulation = Simulation::new(2, u64::MAX);
    let (mut asked, mut refused) = (0u32, 0u32);
    let mut now = 0.0;
    while now < 60.0 {
        let chance = (dice.below(1 << 20) + 1) as f64 / f64::from(1 << 20);
        now -= chance.ln() * mean / 2.0 / times;
        simulation.run_until(Duration::from_secs_f64(now));
        let time = millis(WORK[dice.below(WORK.len() as u64) as usize]);
        asked += 1;
        refused += u32::from(simulation.arrive(time, 1, NEVER).is_err());
    }
    simulation.run_until(NEVER);
    let mut took: Vec<Duration> = (0..simulation.jobs.len())
        .map(|number| simulation.wait(number) + simulation.jobs[number].time)
        .collect();
    took.sort();
    (
        took[took.len() * 99 / 100],
        f64::from(refused) / f64::from(asked),
    )
}

#[test]
fn a_burst_is_let_in_up_to_the_longest_wait_and_no_further() {
    let mut simulation = Simulation::new(2, 1000);
    let let_in = (0..1000)
        .filter(|_| simulation.arrive(millis(50), 1, NEVER).is_ok())
        .count();
    // Two seconds for two threads are 80 jobs; those at the edges are the one that waits exactly so long,
    // and those that run.
    assert!((80..=83).contains(&let_in), "{let_in}");
    assert_eq!(
        simulation.arrive(millis(50), 1, NEVER).unwrap_err(),
        Cause::Wait
    );
    // Light work has less ahead of it, even now.
    simulation.run_until(millis(60));
    assert!(simulation.arrive(millis(1), 1, NEVER).is_ok());
}

#[test]
fn the_count_is_a_backstop() {
    let mut simulation = Simulation::with_queue(2, 1000, 3);
    let outcomes: Vec<_> = (0..6)
        .map(|_| simulation.arrive(millis(1), 1, NEVER).err())
        .collect();
    assert_eq!(outcomes[..5], [None; 5]);
    assert_eq!(outcomes[5], Some(Cause::Count));
}

#[test]
fn what_cannot_be_ready_by_its_deadline_is_refused_at_once() {
    let mut simulation = Simulation::new(1, 1000);
    simulation.arrive(millis(500), 1, NEVER).unwrap();
    assert_eq!(
        simulation.arrive(millis(200), 1, millis(600)),
        Err(Cause::Deadline)
    );
    assert!(simulation.arrive(millis(90), 1, millis(600)).is_ok());
}

#[test]
fn an_idle_machine_tries_even_what_looks_hopeless() {
    let mut simulation = Simulation::new(1, 1000);
    assert!(
        simulation
            .arrive(Duration::from_secs(60), 1, millis(10))
            .is_ok()
    );
}

#[test]
fn a_huge_job_lets_small_ones_pass_and_is_not_starved_by_them() {
    let mut simulation = Simulation::new(2, 100);
    let mut arrivals = BTreeMap::new();
    // Two streams of small jobs that together never leave room for a huge one.
    for tick in 0..600 {
        simulation.run_until(millis(10 * tick));
        if tick == 100 {
            let huge = simulation.arrive(millis(19), 90, NEVER).unwrap();
            arrivals.insert("huge", huge);
        }
        if let Ok(small) = simulation.arrive(millis(19), 30, NEVER)
            && tick == 110
        {
            arrivals.insert("small", small);
        }
    }
    simulation.run_until(millis(20_000));
    let huge = simulation.jobs[arrivals["huge"]];
    let small = simulation.jobs[arrivals["small"]];
    assert!(small.began.unwrap() < huge.began.unwrap(), "it passed");
    let wait = simulation.wait(arrivals["huge"]);
    assert!(wait <= MAX_WAIT / 4 + millis(100), "{wait:?}");
}

#[test]
fn planned_peaks_never_add_up_to_more_than_the_budget() {
    for seed in 0..50 {
        let mut dice = Dice(seed);
        let threads = 1 + dice.below(8) as usize;
        let bytes = 100 + dice.below(1000);
        let mut simulation = Simulation::new(threads, bytes);
        let mut let_in = 0;
        for _ in 0..2000 {
            let pause = millis(dice.below(30));
            simulation.run_until(simulation.now + pause);
            // `check` holds after every step.
            let size = dice.below(bytes + 1);
            let time = millis(1 + dice.below(100));
            let_in += usize::from(simulation.arrive(time, size, NEVER).is_ok());
            if dice.below(10) == 0 {
                // Somebody leaves.
                let id = dice.below(let_in as u64 + 1);
                if let Some(number) = simulation.queue.withdraw(id) {
                    assert!(simulation.jobs[number].began.is_none());
                    simulation.jobs[number].began = Some(simulation.now);
                    simulation.start();
                }
            }
        }
        simulation.run_until(simulation.now + NEVER);
        assert!(simulation.jobs.iter().all(|job| job.began.is_some()));
        assert_eq!(simulation.queue.budget().used(), 0);
        assert_eq!(simulation.queue.backlog(simulation.now), Duration::ZERO);
    }
}

#[test]
fn whoever_is_admitted_and_never_joins_leaves_nothing_behind() {
    let mut simulation = Simulation::with_queue(1, 1000, 0);
    let turn = simulation
        .queue
        .expect(Duration::ZERO, millis(10), NEVER, None)
        .unwrap();
    assert_eq!(
        simulation.arrive(millis(10), 1, NEVER).unwrap_err(),
        Cause::Count
    );
    simulation.queue.forget(turn);
    assert!(simulation.arrive(millis(10), 1, NEVER).is_ok());
}

#[test]
fn what_was_admitted_under_a_larger_budget_runs_alone_under_a_smaller_one() {
    let mut simulation = Simulation::new(2, 1000);
    for _ in 0..4 {
        simulation.arrive(millis(10), 500, NEVER).unwrap();
    }
    let rules = Rules {
        threads: 2,
        most_waiting: 10,
        target_wait: TARGET_WAIT,
        max_wait: MAX_WAIT,
    };
    simulation.queue.resize(rules, 400);
    simulation.run_until(millis(100));
    let began = |number: usize| simulation.jobs[number].began.unwrap();
    assert_eq!([0, 1, 2, 3].map(began), [0, 0, 10, 20].map(millis));
    assert_eq!(simulation.queue.budget().used(), 0);
}
