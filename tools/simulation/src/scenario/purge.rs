//! A source changes and is purged by way of one node, while some nodes are cut off from the store and others restart.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::fleet::{Fleet, POLL, Setup};
use crate::node::Sources;

/// When and how many times the purged version was served.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Outcome {
    /// The number of nodes.
    pub nodes: usize,
    /// Whether the purge reached the log that nodes share.
    pub reached_the_log: bool,
    /// The last time at which a node that was never cut off served the purged version, in seconds after the purge. 0 if
    /// none did.
    pub last_old: f64,
    /// The last time at which a node that had been cut off served the purged version, in seconds after it was
    /// reconnected. 0 if none did.
    pub last_old_after_healing: f64,
    /// How often a node that was restarted after the purge served the purged version.
    pub old_after_restart: u64,
    /// How often a node served the purged version while it was cut off.
    pub old_while_cut: u64,
    /// The number of requests that were answered.
    pub requests: u64,
    /// The number of requests that were not answered.
    pub failed: u64,
}

/// Simulates the purge of an image in a fleet of `nodes` nodes. A tenth of them are cut off from the store for the time
/// `cut` after the purge, and another tenth restart one second after it.
pub async fn run(nodes: usize, cut: Duration) -> Outcome {
    let fleet = Fleet::start(Setup {
        nodes,
        room: 10,
        sources: Sources::Network,
        shares: true,
        factor: None,
        tries: 1,
        images: 1,
    })
    .await;
    let mut failed = 0;
    for number in fleet.numbers() {
        failed += u64::from(fleet.version_at(number, IMAGE).await != Ok(Some(0)));
    }
    let is_cut = |number: u32| number % 10 == 1;
    let restarts = |number: u32| number % 10 == 2;
    let cut_off: Vec<u32> = fleet.numbers().filter(|number| is_cut(*number)).collect();
    set_cut(&fleet, &cut_off, true);
    let mut outcome = Outcome {
        nodes,
        failed,
        reached_the_log: fleet.change_and_purge(IMAGE, 0).await,
        ..Outcome::default()
    };
    let purged = Instant::now();
    let mut is_healed = false;
    let mut restarted = None;
    while purged.elapsed() < cut + 3 * POLL {
        if purged.elapsed() >= Duration::from_secs(1) && restarted.is_none() {
            let numbers: Vec<u32> = fleet.numbers().filter(|it| restarts(*it)).collect();
            let fleet = Arc::clone(&fleet);
            restarted = Some(tokio::spawn(async move { fleet.restart(&numbers).await }));
        }
        if purged.elapsed() >= cut && !is_healed {
            is_healed = true;
            set_cut(&fleet, &cut_off, false);
        }
        let mut asked = JoinSet::new();
        for number in fleet.numbers() {
            let fleet = Arc::clone(&fleet);
            asked.spawn(async move {
                let version = fleet.version_at(number, IMAGE).await;
                (number, version, Instant::now())
            });
        }
        for (number, version, at) in asked.join_all().await {
            let after = at - purged;
            let Ok(version) = version else {
                outcome.failed += 1;
                continue;
            };
            outcome.requests += 1;
            if version == Some(1) {
                continue;
            }
            let is_new = restarted.as_ref().is_some_and(|it| it.is_finished());
            if is_cut(number) && !is_healed {
                outcome.old_while_cut += 1;
            } else if is_cut(number) {
                let last = &mut outcome.last_old_after_healing;
                *last = last.max(after.saturating_sub(cut).as_secs_f64());
            } else if restarts(number) && is_new {
                outcome.old_after_restart += 1;
            } else {
                outcome.last_old = outcome.last_old.max(after.as_secs_f64());
            }
        }
        sleep(Duration::from_millis(50)).await;
    }
    outcome
}

fn set_cut(fleet: &Fleet, numbers: &[u32], is_cut: bool) {
    for number in numbers {
        if let Some(link) = fleet.node(*number).link() {
            link.cut(is_cut);
        }
    }
}

const IMAGE: u32 = 0;
