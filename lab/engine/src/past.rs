//! Turns past traffic and saved runs into requests that can be sent again.

use std::collections::BTreeMap;
use std::time::Duration;

pub use andon_client::{Past, Request};

use crate::load::{RequestTemplate, Script};
use crate::record::Run;
use crate::stats::Random;

/// Returns the requests that a variant of a saved run received in its first block that counts. Blocks record a sample
/// of single requests. If the sample holds all of them, the times are exact. Otherwise the good replies of each time
/// slice are spread evenly over it, and their URLs are drawn at random by how often each was requested.
#[must_use]
pub fn of_run(run: &Run, variant: u32) -> Past {
    let mut past = Past::default();
    let of_variant = |block: &&crate::record::Block| block.variant == variant && block.counts();
    let Some(block) = run.blocks.iter().find(of_variant) else {
        return past;
    };
    let load = &block.load;
    let request = |at: f64, url: usize| {
        let url = load.urls.get(url)?;
        Some(Request {
            at: at.max(0.0),
            method: "GET".to_owned(),
            target: url.url.clone(),
            status: 0,
        })
    };
    if load.points.len() as u64 == load.sent {
        let all = load.points.iter();
        past.requests = all
            .filter_map(|it| request(it.at - it.latency, it.url as usize))
            .collect();
        past.requests.sort_by(|a, b| a.at.total_cmp(&b.at));
        return past;
    }
    let mut sum = 0;
    let upto: Vec<u64> = (load.urls.iter())
        .map(|url| {
            sum += url.completed + url.failures;
            sum
        })
        .collect();
    let mut random = Random::new(run.header.scenario.seed);
    for bin in &load.bins {
        for at in 0..bin.completed {
            let draw = (random.unit() * sum as f64) as u64;
            let url = upto.partition_point(|upto| *upto <= draw);
            let within = (at as f64 + 0.5) / bin.completed as f64;
            past.requests
                .extend(request(bin.at + within * bin.seconds, url));
        }
    }
    past
}

/// Returns the distinct requests, the most frequent first, and a script of when to send them. `speed` is the factor by
/// which the original timing is sped up.
#[must_use]
pub fn script(past: &Past, speed: f64) -> (Vec<RequestTemplate>, Script) {
    let key = |request: &Request| {
        let Request { method, target, .. } = request;
        (method.clone(), target.clone(), request.status)
    };
    let mut counts: BTreeMap<_, u64> = BTreeMap::new();
    for request in &past.requests {
        *counts.entry(key(request)).or_default() += 1;
    }
    let mut distinct: Vec<_> = counts.into_iter().collect();
    distinct.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let places: BTreeMap<_, u32> = (distinct.iter().zip(0..))
        .map(|((key, _), place)| (key.clone(), place))
        .collect();
    let requests = past.requests.iter().map(|request| {
        let at = Duration::try_from_secs_f64(request.at / speed).unwrap_or(Duration::MAX);
        (at, places[&key(request)])
    });
    let requests = requests.collect();
    let templates = distinct
        .into_iter()
        .map(|((method, target, status), _)| RequestTemplate {
            method,
            status,
            ..RequestTemplate::get(&target)
        });
    (templates.collect(), Script { requests })
}

#[cfg(test)]
mod tests;
