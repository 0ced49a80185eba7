//! A day of a fleet in a few minutes: it is steady, its store is slow, down and hangs, nodes are lost and come back, all
//! are restarted, pages are published, and the number of nodes is doubled.

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

/// How large, and how popular its images are.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Day {
    /// Nodes.
    pub nodes: usize,
    /// Of Zipf's law.
    pub alpha: f64,
    /// Images per node that there are from the beginning, in the store and, as far as there is room, in memory.
    pub images_per_node: usize,
    /// Images that the memory tier of a node has room for.
    pub room: u64,
    /// Requests per second and node.
    pub rate: f64,
    /// Where sources are.
    pub sources: Sources,
    /// Seconds of each phase,
    pub seconds: u64,
    /// and of the one in which all nodes restart.
    pub restart_seconds: u64,
}

/// What a phase came to.
#[derive(Clone, Debug, Serialize)]
pub struct Phase {
    /// The event with which the phase begins.
    pub name: &'static str,
    /// To requests.
    pub tally: Tally,
    /// Results that worker threads began to make.
    pub begun: u64,
    /// Of these, results of images that had been made before.
    pub begun_again: u64,
    /// How often the result of a page's image was begun, of the one for which that happened most often.
    pub begun_for_a_page: u32,
    /// The most requests of a node, over the mean.
    pub most_requests: f64,
}

/// Lets a day pass.
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
    // It is over when the phase is; a panic there would be one here.
    restarts.await.expect("restarts do not panic");
    run.phase(PAGES).await;
    fleet.grow(2 * day.nodes).await;
    run.phase(DOUBLED).await;
    run.phases
}

/// Restarts all nodes within so many seconds, a hundredth of them at a time.
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
    /// The next image that everybody wants at once.
    published: u32,
    phases: Vec<Phase>,
}

/// New images: a twentieth of all requests are for one of the last ones, four for each of them.
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

    /// How often results were begun so far, and how often of images that there had been results of.
    fn begun(&self) -> (u64, u64) {
        let made = self.fleet.made();
        let again = made.begun_again(self.fresh.first);
        (made.all_begun(), again)
    }
}

const WARM_UP: &str = "warming up";
/// Nothing happens.
pub const STEADY: &str = "steady";
/// Answers of the store take two seconds.
pub const SLOW: &str = "store answers in 2 s";
/// The store refuses everything.
pub const DOWN: &str = "store down";
/// The store answers nothing.
pub const HANGS: &str = "store hangs";
/// It is well again.
pub const STORE_BACK: &str = "store back";
/// A tenth of the nodes is lost at once.
pub const LOST: &str = "a tenth of the nodes lost";
/// They come back.
pub const BACK: &str = "they are back, empty";
/// All nodes are restarted.
pub const RESTARTS: &str = "rolling restart of all";
/// Every second everybody wants the same new image.
pub const PAGES: &str = "10 requests per node at once, each second";
/// Twice the nodes.
pub const DOUBLED: &str = "twice the nodes";

/// Requests for each new image, on average.
const REQUESTS_EACH: u32 = 4;
/// How many of the new images are still requested.
const LAST: u64 = 50;
/// Numbers of images that nothing else has.
const PUBLISHED: u32 = 1 << 30;
