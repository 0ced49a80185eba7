//! Checks the simulation's demands for fleets of a few nodes, within seconds. `./dev simulate` checks them for 1,000.

use std::sync::Arc;

use andon_server::Config;
use andon_simulation::bucket::Link;
use andon_simulation::fleet::store_config;
use andon_simulation::hit_ratio::{self, Case, Keys, Routing};
use andon_simulation::table::{self, Size};
use andon_simulation::{demand, report};
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder
        .enable_time()
        .start_paused(true)
        .max_blocking_threads(1)
        .build()
        .expect("a runtime")
}

#[test]
fn a_small_fleet_meets_every_demand() {
    let table = table::run(Size::Small, "", runtime, 2, 1);
    let demands = demand::all(&table);
    let missed = demands.iter().filter(|demand| !demand.is_met()).count();
    assert_eq!(missed, 0, "\n{}", report::markdown(&table, &demands));
    assert!(demands.len() > 30, "{}", demands.len());
}

#[test]
fn the_same_seed_gives_the_same_hit_ratios() {
    let case = Case {
        nodes: 10,
        routing: Routing::ByImage,
        alpha: 0.9,
        images: 20_000,
        requests: 100_000,
        memory: 4 << 20,
    };
    let keys = Keys::of(case.images);
    let [one, again, other] = [1, 1, 2].map(|seed| hit_ratio::run(case, &keys, seed));
    assert_eq!((one.andon, one.lru), (again.andon, again.lru));
    assert_ne!(one.andon, other.andon);
}

#[test]
fn nodes_use_the_store_as_the_server_does_by_default() {
    let config = Config::parse(
        "[[origin]]\nfs.root = \".\"\n[store]\nfs.root = \"results\"\nsecret_env = \"SECRET\"",
        ".".as_ref(),
    );
    let server = config.expect("parses").store.expect("a store");
    let ours = store_config(&Arc::new(Link::new(Arc::default())));
    let theirs = [server.wait.0, server.timeout.0, server.poll.0];
    assert_eq!([ours.wait, ours.timeout, ours.poll], theirs);
    assert_eq!(ours.queue, server.queue.0);
}
