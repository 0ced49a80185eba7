//! A sequence of events in the life of a fleet. Each begins a phase, in which requests are counted. In the first phase
//! nothing happens. Then the store is slow, down and hanging, nodes are lost and come back, all nodes are restarted,
//! pages are published, and the number of nodes is doubled.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::Arrivals;
use crate::bucket::Weather;
use crate::fleet::{Fleet, Setup};
use crate::node::Sources;
use crate::random::Random;
use crate::tally::Tally;
use crate::zipf::{Zipf, shares};

/// Settings of a sequence of phases: the size of the fleet, the popularity of its images, and the length of the phases.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Day {
    /// The initial number of nodes.
    pub nodes: usize,
    /// The exponent of Zipf's law.
    pub alpha: f64,
    /// The initial number of images per node. They are in the store and, as far as there is room, in memory.
    pub images_per_node: usize,
    /// Capacity of each node's memory tier, as a number of images.
    pub room: u64,
    /// Requests per second and node.
    pub rate: f64,
    /// Where nodes read source images from.
    pub sources: Sources,
    /// Length of each phase in seconds, except the one in which all nodes restart.
    pub seconds: u64,
    /// Length in seconds of the phase in which all nodes restart.
    pub restart_seconds: u64,
}

/// What was counted in one phase.
#[derive(Clone, Debug, Serialize)]
pub struct Phase {
    /// The event with which the phase begins.
    pub name: &'static str,
    /// The outcomes of the requests in the phase.
    pub tally: Tally,
    /// How often worker threads began to make a result.
    pub begun: u64,
    /// How often worker threads began to make a result of an image of which a result had been made before.
    pub begun_again: u64,
    /// How often worker threads began to make the image of a published page, for the page with the highest count.
    pub begun_for_a_page: u32,
    /// The largest number of requests that a node received, divided by the mean over all nodes.
    pub most_requests: f64,
}

/// Simulates all phases in turn and returns what was counted in them. The warm-up is left out.
pub async fn pass(day: Day, seed: u64) -> Vec<Phase> {
    let images = (day.images_per_node * day.nodes) as u32;
    let fleet = Fleet::start(Setup {
        nodes: day.nodes,
        room: day.room,
        sources: day.sources,
        shares: true,
        factor: None,
        tries: 2,
        images,
    })
    .await;
    fleet.fill().await;
    let mut run = Run {
        day,
        zipf: Zipf::of(&shares(images as usize, day.alpha)),
        random: Random::new(seed),
        fresh: Fresh {
            first: images,
            drawn: 0,
        },
        published: PUBLISHED,
        phases: Vec::new(),
        fleet: Arc::clone(&fleet),
    };
    let tenth: Vec<u32> = fleet.numbers().filter(|number| number % 10 == 0).collect();

    run.phase(WARM_UP).await;
    run.phases.clear();
    run.phase(STEADY).await;

    fleet.store().set(Weather::Slow(Duration::from_secs(2)));
    run.phase(SLOW).await;
    fleet.store().set(Weather::Down);
    run.phase(DOWN).await;
    fleet.store().set(Weather::Hangs);
    run.phase(HANGS).await;
    fleet.store().set(Weather::Usual);
    run.phase(STORE_BACK).await;

    fleet.lose(&tenth);
    run.phase(LOST).await;
    fleet.bring_back(&tenth).await;
    run.phase(BACK).await;

    let restarts = tokio::spawn(restart_all(Arc::clone(&fleet), day.restart_seconds));
    run.phase(RESTARTS).await;
    // The restarts have ended when the phase has. A panic in them is a panic here.
    restarts.await.expect("restarts do not panic");
    run.phase(PAGES).await;
    fleet.grow(2 * day.nodes).await;
    run.phase(DOUBLED).await;
    run.phases
}

/// Restarts all nodes within `seconds` seconds, a hundredth of them at a time.
async fn restart_all(fleet: Arc<Fleet>, seconds: u64) {
    let numbers: Vec<u32> = fleet.numbers().collect();
    let group = numbers.len().div_ceil(100);
    let start = tokio::time::Instant::now();
    let mut groups = tokio::task::JoinSet::new();
    for (index, group) in numbers.chunks(group).enumerate() {
        let at = Duration::from_millis(index as u64 * seconds * 9);
        tokio::time::sleep_until(start + at).await;
        let (fleet, group) = (Arc::clone(&fleet), group.to_vec());
        groups.spawn(async move { fleet.restart(&group).await });
    }
    groups.join_all().await;
}

struct Run {
    day: Day,
    fleet: Arc<Fleet>,
    zipf: Zipf,
    random: Random,
    fresh: Fresh,
    /// The number of the image that was published last. Images of pages are numbered consecutively, and many clients
    /// request each of them at once.
    published: u32,
    phases: Vec<Phase>,
}

/// Images that are new during the simulation. A twentieth of all requests are for one of the newest of them, on average
/// four for each.
#[derive(Clone, Copy)]
struct Fresh {
    first: u32,
    drawn: u32,
}

impl Fresh {
    fn draw(&mut self, random: &mut Random) -> u32 {
        self.drawn += 1;
        let newest = self.drawn / REQUESTS_EACH;
        self.first + newest.saturating_sub(random.below(LAST) as u32)
    }
}

impl Run {
    async fn phase(&mut self, name: &'static str) {
        let fleet = Arc::clone(&self.fleet);
        let (begun, again) = self.begun();
        let arrivals = Arrivals {
            rate: self.day.rate * self.day.nodes as f64,
            time: Duration::from_secs(match name {
                RESTARTS => self.day.restart_seconds,
                _ => self.day.seconds,
            }),
        };
        let (zipf, fresh) = (&self.zipf, &mut self.fresh);
        let next = |random: &mut Random| match random.below(20) {
            0 => fresh.draw(random),
            _ => zipf.draw(random),
        };
        let is_published = name == PAGES;
        let first = self.published;
        let (published, crowd) = (&mut self.published, 10 * self.day.nodes);
        let page = |tick: u64| {
            if is_published && tick % 1000 == 500 {
                *published += 1;
                (0..crowd).for_each(|_| fleet.request(*published));
            }
        };
        arrivals.at(&fleet, &mut self.random, next, page).await;
        fleet.settle().await;
        let (begun_now, again_now) = self.begun();
        self.phases.push(Phase {
            name,
            tally: fleet.take_tally(),
            begun: begun_now - begun,
            begun_again: again_now - again,
            begun_for_a_page: (first..self.published)
                .map(|image| fleet.made().begun(image + 1))
                .max()
                .unwrap_or(0),
            most_requests: fleet.take_most_requests(),
        });
    }

    /// Returns how often worker threads have begun to make a result so far, and in how many of these cases a result of
    /// the image had been made before.
    fn begun(&self) -> (u64, u64) {
        let made = self.fleet.made();
        let again = made.begun_again(self.fresh.first);
        (made.all_begun(), again)
    }
}

const WARM_UP: &str = "warming up";
/// The phase in which nothing happens.
pub const STEADY: &str = "steady";
/// The phase in which the store takes two seconds to answer.
pub const SLOW: &str = "store answers in 2 s";
/// The phase in which the store refuses every request.
pub const DOWN: &str = "store down";
/// The phase in which the store never responds.
pub const HANGS: &str = "store hangs";
/// The phase in which the store works again.
pub const STORE_BACK: &str = "store back";
/// The phase that begins with the loss of a tenth of the nodes at once.
pub const LOST: &str = "a tenth of the nodes lost";
/// The phase in which the lost nodes are back, with nothing in memory.
pub const BACK: &str = "they are back, empty";
/// The phase in which all nodes are restarted.
pub const RESTARTS: &str = "rolling restart of all";
/// The phase in which many clients request the same new image at once, another one every second.
pub const PAGES: &str = "10 requests per node at once, each second";
/// The phase in which there are twice as many nodes.
pub const DOUBLED: &str = "twice the nodes";

/// The average number of requests for each new image.
const REQUESTS_EACH: u32 = 4;
/// Number of newest images from which requests for new images choose.
const LAST: u64 = 50;
/// Images that are published during the simulation get the numbers above this one. All other images have lower numbers.
const PUBLISHED: u32 = 1 << 30;
