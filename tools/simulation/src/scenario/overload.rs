//! Requests for more work than a fleet can do, each for a different image. If a node rejects a request, the load
//! balancer tries another node, up to a maximum number of nodes.

use std::time::Duration;

use serde::Serialize;

use super::Arrivals;
use crate::fleet::{Fleet, Setup, THREADS};
use crate::images::MILLIS;
use crate::node::Sources;
use crate::random::Random;
use crate::tally::Tally;

/// Settings of an overload: requests for more work than a fleet can do.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Overload {
    /// The number of nodes.
    pub nodes: usize,
    /// The rate of requests, as a multiple of the rate that all worker threads can handle.
    pub times: f64,
    /// The maximum number of nodes that the load balancer tries for a request.
    pub tries: u32,
    /// Duration of the measurement in seconds. It begins after two seconds of the same load.
    pub seconds: u64,
}

/// The outcome of an overload.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The overload that was simulated.
    pub overload: Overload,
    /// The outcomes of the requests.
    pub tally: Tally,
    /// The work that was done, in per cent of what all threads can do.
    pub goodput: f64,
}

/// Simulates an overload.
pub async fn run(overload: Overload, seed: u64) -> Outcome {
    let fleet = Fleet::start(Setup {
        nodes: overload.nodes,
        room: 1,
        sources: Sources::Network,
        shares: false,
        factor: None,
        tries: overload.tries,
        images: 0,
    })
    .await;
    let mut random = Random::new(seed);
    let threads = (overload.nodes * THREADS) as f64;
    let mean = MILLIS.iter().sum::<u64>() as f64 / MILLIS.len() as f64 / 1000.0;
    let rate = overload.times * threads / mean;
    let mut image = 0;
    let mut next = |_: &mut Random| {
        image += 1;
        image
    };
    let arrivals = |seconds| Arrivals {
        rate,
        time: Duration::from_secs(seconds),
    };
    arrivals(LEAD_IN)
        .at(&fleet, &mut random, &mut next, |_| {})
        .await;
    fleet.take_tally();
    let before = fleet.made().work();
    let counted = arrivals(overload.seconds);
    counted.at(&fleet, &mut random, &mut next, |_| {}).await;
    let work = fleet.made().work() - before;
    let tally = fleet.take_tally();
    fleet.settle().await;
    Outcome {
        overload,
        tally,
        goodput: 100.0 * work.as_secs_f64() / (threads * overload.seconds as f64),
    }
}

/// Time in seconds until queues and predictions are steady.
const LEAD_IN: u64 = 2;
