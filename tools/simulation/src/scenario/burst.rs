//! Many requests for one image at the same moment, in a fleet that has nothing in memory.

use std::time::Duration;

use serde::Serialize;

use crate::bucket::Weather;
use crate::fleet::{Fleet, Setup};
use crate::node::Sources;
use crate::random::Random;
use crate::tally::Tally;
use crate::zipf::{Zipf, shares};

/// Settings of a burst: many requests for one image at the same moment.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Burst {
    /// The number of nodes.
    pub nodes: usize,
    /// The number of requests for the image of the burst.
    pub requests: u32,
    /// The load limit of a node, if any: the maximum number of requests under way, as a multiple of the mean over the
    /// nodes that are up.
    pub factor: Option<f64>,
    /// If set, requests for other images arrive together with those of the burst. All requests are then drawn from five
    /// million images by Zipf's law with this exponent, until the most popular image, which is that of the burst, has
    /// been requested `requests` times.
    pub among: Option<f64>,
    /// Whether the store is down.
    pub store_is_down: bool,
}

/// The outcome of a burst.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The burst that was simulated.
    pub burst: Burst,
    /// The outcomes of all requests, including those for other images.
    pub tally: Tally,
    /// The number of times that worker threads began to make the image of the burst.
    pub begun: u32,
    /// The number of nodes that have the image of the burst in memory afterwards.
    pub holders: u32,
}

/// Simulates a burst.
pub async fn run(burst: Burst, seed: u64) -> Outcome {
    let fleet = Fleet::start(Setup {
        nodes: burst.nodes,
        room: 1000,
        sources: Sources::Network,
        shares: true,
        factor: burst.factor,
        tries: 2,
        images: 0,
    })
    .await;
    if burst.store_is_down {
        fleet.store().set(Weather::Down);
    }
    match burst.among {
        None => (0..burst.requests).for_each(|_| fleet.request(HOTTEST)),
        Some(alpha) => {
            let shares = shares(IMAGES, alpha);
            let (zipf, mut random) = (Zipf::of(&shares), Random::new(seed));
            let mut left = burst.requests;
            while left > 0 {
                let image = zipf.draw(&mut random);
                left -= u32::from(image == HOTTEST);
                fleet.request(image);
            }
        }
    }
    fleet.settle().await;
    // Until then, uploads end, and nothing else is in flight.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let key = crate::images::key(HOTTEST);
    let holds = |number: &u32| fleet.node(*number).at_hand(&key).is_some();
    let holders = fleet.numbers().filter(holds).count() as u32;
    Outcome {
        burst,
        tally: fleet.take_tally(),
        begun: fleet.made().begun(HOTTEST),
        holders,
    }
}

const HOTTEST: u32 = 0;
const IMAGES: usize = 5_000_000;
