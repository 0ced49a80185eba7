//! The demands on the results of the simulation: each limits one quantity of the tables by a maximum or a minimum.

use serde::Serialize;

use crate::fleet::POLL;
use crate::node::Sources;
use crate::report::thousands;
use crate::scenario::timeline::{self, Day, Phase};
use crate::table::Table;

/// A demand on one quantity of the simulation's results.
#[derive(Clone, Debug, Serialize)]
pub struct Demand {
    /// The name of the quantity.
    pub name: String,
    /// The value that the simulation gave.
    pub value: f64,
    /// The limit: a maximum or a minimum.
    pub limit: f64,
    /// Whether the limit is a maximum.
    pub is_most: bool,
    /// The unit of value and limit.
    pub unit: &'static str,
}

impl Demand {
    fn most(name: impl Into<String>, value: f64, limit: f64, unit: &'static str) -> Self {
        Self {
            name: name.into(),
            value,
            limit,
            is_most: true,
            unit,
        }
    }

    fn least(name: impl Into<String>, value: f64, limit: f64, unit: &'static str) -> Self {
        Self {
            is_most: false,
            ..Self::most(name, value, limit, unit)
        }
    }

    /// Returns whether the demand is met. NaN, which means that nothing was measured, never meets it.
    #[must_use]
    pub fn is_met(&self) -> bool {
        match self.is_most {
            true => self.value <= self.limit,
            false => self.value >= self.limit,
        }
    }
}

/// Returns all demands on the results of a table.
#[must_use]
pub fn all(table: &Table) -> Vec<Demand> {
    let mut demands = bursts(table);
    demands.extend(hit_ratios(table));
    for (day, phases) in &table.days {
        demands.extend(of_day(day, phases));
    }
    demands.extend(purges(table));
    demands.extend(rings(table));
    let planted = &table.planted;
    demands.push(Demand::most(
        format!(
            "{} planted or torn objects: used",
            thousands(planted.planted)
        ),
        planted.used as f64,
        0.0,
        "objects",
    ));
    demands.push(Demand::least(
        "objects that nobody touched: used",
        100.0 * planted.untouched_used as f64 / planted.untouched as f64,
        100.0,
        "%",
    ));
    for outcome in &table.overloads {
        let times = outcome.overload.times;
        demands.push(Demand::least(
            format!(
                "goodput at {times} × the capacity, tries: {}",
                outcome.overload.tries
            ),
            outcome.goodput,
            95.0,
            "% of capacity",
        ));
    }
    demands
}

fn bursts(table: &Table) -> Vec<Demand> {
    let mut demands = Vec::new();
    for outcome in &table.bursts {
        let burst = &outcome.burst;
        // With a bound, a burst is spread over as many nodes as its share of all requests requires: with α 0.9 that is
        // the number of the model, with α 1.0 twice as many, and without other requests all nodes.
        let limit = match (burst.factor, burst.among) {
            (None, _) => 1.0,
            (Some(_), Some(0.9)) => 50.0,
            (Some(_), _) => continue,
        };
        let name = format!(
            "times that one image is made for {} requests at once{}{}",
            thousands(u64::from(burst.requests)),
            burst
                .factor
                .map_or(String::new(), |c| format!(", bounded loads {c}")),
            if burst.store_is_down {
                ", store down"
            } else {
                ""
            },
        );
        demands.push(Demand::most(name, f64::from(outcome.begun), limit, ""));
        let tally = &outcome.tally;
        let wrong = tally.wrong + tally.lost;
        demands.push(Demand::most(
            "– wrong or lost",
            wrong as f64,
            0.0,
            "requests",
        ));
    }
    demands
}

fn hit_ratios(table: &Table) -> [Demand; 2] {
    let rows = &table.hit_ratios;
    // NaN, which means that nothing was counted, is the largest value.
    let most =
        |values: &mut dyn Iterator<Item = f64>| values.max_by(f64::total_cmp).unwrap_or(f64::NAN);
    let apart = most(&mut rows.iter().map(|row| (row.lru - row.model).abs()));
    let behind = most(&mut rows.iter().map(|row| row.model - row.andon));
    [
        Demand::most("LRU and the model apart, at most", apart, 1.0, "points"),
        Demand::most(
            "Andon's memory tier below the model, at most",
            behind,
            1.0,
            "points",
        ),
    ]
}

fn of_day(day: &Day, phases: &[Phase]) -> Vec<Demand> {
    let name = match day.sources {
        Sources::Network => format!("α {:.1}", day.alpha),
        Sources::Files => format!("α {:.1}, files", day.alpha),
    };
    let phase = |name: &str| phases.iter().find(|phase| phase.name == name);
    let wrong: u64 = phases.iter().map(|phase| phase.tally.wrong).sum();
    let mut demands = vec![Demand::most(
        format!("{name}: wrong results"),
        wrong as f64,
        0.0,
        "",
    )];
    if let Some(steady) = phase(timeline::STEADY) {
        let broken = [timeline::SLOW, timeline::DOWN, timeline::HANGS];
        for phase in broken.into_iter().filter_map(phase) {
            demands.extend(without_the_store(&name, steady, phase));
        }
        if let Some(restarts) = phase(timeline::RESTARTS) {
            demands.extend(of_restarts(&name, day, steady, restarts));
        }
    }
    if let Some(lost) = phase(timeline::LOST) {
        let errors = lost.tally.per_cent(errors(lost));
        let name = format!("{name}, {}: errors", lost.name);
        demands.push(Demand::most(name, errors, 0.1, "% of requests"));
    }
    if let Some(pages) = phase(timeline::PAGES) {
        let begun = f64::from(pages.begun_for_a_page);
        let name = format!("{name}, {}: times that its image is made", pages.name);
        demands.push(Demand::most(name, begun, 1.0, ""));
    }
    // If sources are files, the store is a hedge: a node makes the result itself whenever that is expected to be
    // faster.
    if let (Some(doubled), Sources::Network) = (phase(timeline::DOUBLED), day.sources) {
        let (store, again) = (doubled.tally.store as f64, doubled.begun_again as f64);
        let name = format!("{name}, {}: known images from the store", doubled.name);
        let from_store = 100.0 * store / (store + again);
        demands.push(Demand::least(name, from_store, 95.0, "%"));
    }
    demands
}

/// Returns the limit for a demand: `demanded`, or the wider `of_few` if the phase `steady` has fewer than [`FEW`]
/// requests, as in tests. Random variation is then larger than what the demand is to detect.
fn limit(demanded: f64, of_few: f64, steady: &Phase) -> f64 {
    match steady.tally.requests < FEW {
        true => of_few,
        false => demanded,
    }
}

fn errors(phase: &Phase) -> u64 {
    phase.tally.lost + phase.tally.rejected
}

fn without_the_store(day: &str, steady: &Phase, phase: &Phase) -> [Demand; 3] {
    let tally = &phase.tally;
    let fewer = steady.tally.per_cent(steady.tally.memory) - tally.per_cent(tally.memory);
    let later = tally.misses.quantile(0.99) - tally.making.quantile(0.99);
    let name = format!("{day}, {}: errors", phase.name);
    [
        Demand::most(name, errors(phase) as f64, 0.0, ""),
        Demand::most(
            "– fewer hits in memory",
            fewer,
            limit(1.0, 3.0, steady),
            "points",
        ),
        Demand::most("– p99 of misses over p99 of making", later, 50.0, "ms"),
    ]
}

/// Returns the demands on a rolling restart of all nodes. The number of results made is limited relative to the number
/// expected without restarts: one for each new image, plus as many repetitions as the phase `steady` has in the same
/// time.
fn of_restarts(day: &str, setup: &Day, steady: &Phase, restarts: &Phase) -> Vec<Demand> {
    let longer = restarts.tally.requests as f64 / steady.tally.requests as f64;
    let first = (restarts.begun - restarts.begun_again) as f64;
    let usual = first + longer * steady.begun_again as f64;
    let more = 100.0 * restarts.begun as f64 / usual;
    let later = restarts.tally.quantile(0.99) / steady.tally.quantile(0.99);
    let name = format!("{day}, {}", restarts.name);
    let mut demands = vec![
        Demand::most(format!("{name}: errors"), errors(restarts) as f64, 0.0, ""),
        Demand::most("– p99", later, 2.0, "× steady"),
    ];
    if setup.sources == Sources::Network {
        let most = limit(105.0, 120.0, steady);
        demands.push(Demand::most("– results made", more, most, "% of steady"));
    }
    demands
}

fn purges(table: &Table) -> Vec<Demand> {
    let purge = &table.purge;
    let latest = (POLL + SKEW).as_secs_f64();
    let unknown = u64::from(!purge.reached_the_log) + purge.failed;
    vec![
        Demand::most("purge: last old result", purge.last_old, latest, "s"),
        Demand::most(
            "– of nodes that were cut off, after that",
            purge.last_old_after_healing,
            latest,
            "s",
        ),
        Demand::most(
            "– of nodes that restarted",
            purge.old_after_restart as f64,
            0.0,
            "",
        ),
        Demand::most("– not shared, or not answered", unknown as f64, 0.0, ""),
        // Otherwise the scenario did not test this.
        Demand::least(
            "– old results of nodes that were cut off",
            purge.old_while_cut as f64,
            1.0,
            "",
        ),
    ]
}

fn rings(table: &Table) -> Vec<Demand> {
    let largest = table.rings.iter().filter(|row| row.points == 160);
    largest
        .map(|row| {
            let off = 100.0 * (row.moved_by_doubling - 0.5).abs();
            let name = format!("{} nodes doubled: images moved, off a half", row.nodes);
            // With few nodes the distribution is less even.
            Demand::most(name, off, if row.nodes < 100 { 5.0 } else { 1.0 }, "points")
        })
        .collect()
}

const FEW: u64 = 50_000;

/// Added to the poll interval to give the maximum time after which a node may still serve a purged result. It allows
/// for different clocks and for the duration of polls and responses.
const SKEW: std::time::Duration = std::time::Duration::from_secs(2);
