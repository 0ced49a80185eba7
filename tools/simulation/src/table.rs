//! Runs all simulations on several threads, and collects the results.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::hit_ratio::{self, Case, HitRatio, Keys, Routing};
use crate::locks::lock;
use crate::node::Sources;
use crate::ring::Evenness;
use crate::scenario::burst::{self, Burst};
use crate::scenario::overload::{self, Overload};
use crate::scenario::timeline::{self, Day, Phase};
use crate::scenario::{Runtimes, planted, purge};
use crate::zipf::shares;

/// The size of the simulated fleets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// The published size: 1,000 nodes, and up to ten million requests for a hit ratio.
    Full,
    /// A size for a quick check: 100 nodes and a tenth of the requests.
    Quick,
    /// The size for tests: 20 nodes, which takes seconds.
    Small,
}

/// The results of all simulations.
#[derive(Debug, Default, Serialize)]
pub struct Table {
    /// Wall time of the whole run in seconds.
    pub seconds: f64,
    /// Name and wall time in seconds of each simulation, the slowest first.
    pub parts: Vec<(String, f64)>,
    /// How evenly rings distribute images and requests.
    pub rings: Vec<Evenness>,
    /// Hit ratios of memory tiers.
    pub hit_ratios: Vec<HitRatio>,
    /// Settings and phases of each simulated sequence of events in a fleet (see [`crate::scenario::timeline`]).
    pub days: Vec<(Day, Vec<Phase>)>,
    /// Outcomes of the simulated bursts of requests for one image.
    pub bursts: Vec<burst::Outcome>,
    /// Outcomes of the simulated overloads of a fleet.
    pub overloads: Vec<overload::Outcome>,
    /// Outcome of the scenario in which a source is purged.
    pub purge: purge::Outcome,
    /// Outcome of the scenario in which objects in the store are spoiled.
    pub planted: planted::Outcome,
}

/// The outcome of one simulation.
enum Outcome {
    Ring(Evenness),
    HitRatio(HitRatio),
    Day(Day, Vec<Phase>),
    Burst(burst::Outcome),
    Overload(overload::Outcome),
    Purge(purge::Outcome),
    Planted(planted::Outcome),
}

/// One simulation with its settings. Parts run in parallel.
#[derive(Clone, Copy, Debug)]
enum Part {
    Ring(usize, usize),
    HitRatio(Case),
    Day(Day),
    Burst(Burst),
    Overload(Overload),
    Purge(usize),
    Planted(u32, u32),
}

/// Runs all simulations whose names contain `only`, on `threads` threads.
pub fn run(size: Size, only: &str, runtimes: Runtimes, threads: usize, seed: u64) -> Table {
    let began = Instant::now();
    let keys = Keys::of(size.images());
    let mut parts = VecDeque::from(size.parts());
    parts.retain(|(_, part)| part.name().contains(only));
    let parts = Mutex::new(parts);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some((number, part)) = lock(&parts).pop_front() else {
                        break;
                    };
                    let began = Instant::now();
                    let outcome = part.run(size, &keys, runtimes, seed + number as u64);
                    let took = began.elapsed().as_secs_f64();
                    lock(&done).push((number, part.name(), took, outcome));
                }
            });
        }
    });
    let mut done = std::mem::take(&mut *lock(&done));
    done.sort_by_key(|(number, ..)| *number);
    let mut table = Table::default();
    for (_, name, took, outcome) in done {
        table.parts.push((name, took));
        table.add(outcome);
    }
    table.parts.sort_by(|one, other| other.1.total_cmp(&one.1));
    table.seconds = began.elapsed().as_secs_f64();
    table
}

impl Table {
    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Ring(row) => self.rings.push(row),
            Outcome::HitRatio(row) => self.hit_ratios.push(row),
            Outcome::Day(day, phases) => self.days.push((day, phases)),
            Outcome::Burst(row) => self.bursts.push(row),
            Outcome::Overload(row) => self.overloads.push(row),
            Outcome::Purge(row) => self.purge = row,
            Outcome::Planted(row) => self.planted = row,
        }
    }
}

impl Part {
    fn run(self, size: Size, keys: &Keys, runtimes: Runtimes, seed: u64) -> Outcome {
        let runtime = runtimes();
        match self {
            Self::Ring(nodes, points) => {
                Outcome::Ring(Evenness::of(nodes, points, &shares(size.images(), 0.9)))
            }
            Self::HitRatio(case) => Outcome::HitRatio(hit_ratio::run(case, keys, seed)),
            Self::Day(day) => Outcome::Day(day, runtime.block_on(timeline::pass(day, seed))),
            Self::Burst(burst) => Outcome::Burst(runtime.block_on(burst::run(burst, seed))),
            Self::Overload(overload) => {
                Outcome::Overload(runtime.block_on(overload::run(overload, seed)))
            }
            Self::Purge(nodes) => Outcome::Purge(runtime.block_on(purge::run(nodes, CUT))),
            Self::Planted(images, rounds) => {
                Outcome::Planted(runtime.block_on(planted::run(images, rounds, seed)))
            }
        }
    }

    fn name(self) -> String {
        match self {
            Self::Ring(nodes, points) => format!("ring of {nodes} nodes with {points} points"),
            Self::HitRatio(case) => format!("hit ratio, {} nodes, α {}", case.nodes, case.alpha),
            Self::Day(day) => format!("day, α {}, {:?}", day.alpha, day.sources),
            Self::Burst(burst) => format!("burst at {} nodes", burst.nodes),
            Self::Overload(overload) => format!("overload of {} nodes", overload.nodes),
            Self::Purge(nodes) => format!("purge at {nodes} nodes"),
            Self::Planted(images, rounds) => format!("{images} objects, {rounds} times"),
        }
    }
}

impl Size {
    /// Returns `full`, `quick` or `small`, whichever belongs to this size of the simulation.
    const fn of<T: Copy>(self, full: T, quick: T, small: T) -> T {
        match self {
            Self::Full => full,
            Self::Quick => quick,
            Self::Small => small,
        }
    }

    /// Returns the number of nodes in the largest fleets.
    #[must_use]
    pub const fn nodes(self) -> usize {
        self.of(1000, 100, 20)
    }

    /// Returns the number of images for rings and hit ratios.
    const fn images(self) -> usize {
        self.of(5_000_000, 500_000, 50_000)
    }

    /// Returns all simulations, each with its position in the table. Those that take longest are first.
    fn parts(self) -> Vec<(usize, Part)> {
        let mut parts: Vec<Part> = Vec::new();
        parts.extend(self.days().map(Part::Day));
        parts.extend(self.overloads().map(Part::Overload));
        parts.extend(self.bursts().map(Part::Burst));
        parts.push(Part::Planted(self.of(20_000, 5000, 500), self.of(6, 3, 3)));
        parts.push(Part::Purge(self.nodes()));
        parts.extend(self.cases().into_iter().map(Part::HitRatio));
        parts.extend(
            self.rings()
                .map(|(nodes, points)| Part::Ring(nodes, points)),
        );
        parts.into_iter().enumerate().collect()
    }

    fn days(self) -> impl Iterator<Item = Day> {
        let day = move |(alpha, sources, nodes, seconds, restart_seconds)| Day {
            nodes,
            alpha,
            images_per_node: 200,
            room: 150,
            rate: 100.0,
            sources,
            seconds,
            restart_seconds,
        };
        let all = [
            (0.9, Sources::Network, self.nodes(), 4, self.of(20, 40, 30)),
            (
                0.7,
                Sources::Network,
                self.nodes(),
                self.of(1, 6, 4),
                self.of(36, 40, 30),
            ),
            (
                1.0,
                Sources::Network,
                self.nodes(),
                self.of(1, 6, 4),
                self.of(12, 40, 30),
            ),
            (0.9, Sources::Files, self.nodes() / 10, 6, 30),
        ];
        let days = if self == Self::Small { 1 } else { all.len() };
        all.into_iter().take(days).map(day)
    }

    fn overloads(self) -> impl Iterator<Item = Overload> {
        [1, 2].into_iter().map(move |tries| Overload {
            nodes: self.of(50, 20, 10),
            times: 2.0,
            tries,
            seconds: 3,
        })
    }

    fn bursts(self) -> impl Iterator<Item = Burst> {
        let (all, some) = (10 * self.nodes() as u32, 2 * self.nodes() as u32);
        let bursts = [
            (None, None, false, all),
            (None, None, true, all),
            (Some(1.25), Some(0.9), false, some),
            (Some(1.25), Some(0.9), true, some),
            (Some(1.25), Some(1.0), false, some),
            (Some(1.25), None, false, all),
        ];
        bursts
            .into_iter()
            .map(move |(factor, among, store_is_down, requests)| Burst {
                nodes: self.nodes(),
                requests,
                factor,
                among,
                store_is_down,
            })
    }

    fn rings(self) -> impl Iterator<Item = (usize, usize)> {
        let nodes = self.nodes();
        [
            (nodes, 16),
            (nodes, 160),
            (nodes, 1600),
            (10, 16),
            (10, 160),
        ]
        .into_iter()
    }

    /// Returns the settings of all simulations of hit ratios, the larger ones first.
    fn cases(self) -> Vec<Case> {
        let mut cases = Vec::new();
        let kinds = [
            (self.nodes(), Routing::ByImage, 10_000_000, TINY),
            (
                self.nodes(),
                Routing::ByImage,
                self.of(1_000_000, 3_000_000, 3_000_000),
                LARGE,
            ),
            (self.of(100, 30, 10), Routing::ByImage, 2_000_000, LARGE),
            (16, Routing::ByImage, 1_000_000, LARGE),
            (4, Routing::ByImage, 500_000, LARGE),
            (4, Routing::RoundRobin, 500_000, LARGE),
        ];
        for (nodes, routing, requests, memory) in kinds {
            for alpha in [0.7, 0.9, 1.0] {
                cases.push(Case {
                    nodes,
                    routing,
                    alpha,
                    images: self.images(),
                    requests: requests / self.of(1, 10, 20),
                    memory: memory / self.of(1, 10, 20),
                });
            }
        }
        cases
    }
}

/// How long nodes are cut off from the store in the purge scenario.
const CUT: Duration = Duration::from_secs(20);
/// Size of a memory tier in bytes: the default of `[cache] memory`.
const LARGE: u64 = 256 << 20;
/// Size of a memory tier in bytes, too small for the results that one of 1,000 nodes owns.
const TINY: u64 = 24 << 20;
