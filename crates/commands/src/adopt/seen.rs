//! Reads the distinct URLs of logs, with the number of requests for each.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use andon_client::Past;
use anyhow::{Context, bail};

/// The contents of one or more logs.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Path and query of every distinct GET with status 200, and the number of requests for it, the most frequent
    /// first.
    pub(super) targets: Vec<(String, u64)>,
    /// Number of ignored requests, by reason.
    pub(super) left_out: BTreeMap<String, u64>,
    /// Seconds from the first request to the last, summed over the logs.
    pub(super) seconds: f64,
}

/// Reads all logs, one after the other, and adds up their requests.
pub(super) fn read(logs: &[PathBuf]) -> anyhow::Result<Seen> {
    let mut contents = Seen::default();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for log in logs {
        let name = log.display().to_string();
        let file = File::open(log).with_context(|| name.clone())?;
        let past = Past::of_log(BufReader::new(file)).with_context(|| name.clone())?;
        contents.seconds += past.seconds();
        for (why, count) in past.left_out {
            *contents.left_out.entry(why).or_default() += count;
        }
        for request in past.requests {
            let why = match (&*request.method, request.status) {
                ("GET", 200) => {
                    *counts.entry(request.target).or_default() += 1;
                    continue;
                }
                ("GET", status) => format!("answered with {status}"),
                (method, _) => method.to_owned(),
            };
            *contents.left_out.entry(why).or_default() += 1;
        }
    }
    if counts.is_empty() {
        let names: Vec<String> = logs.iter().map(|log| log.display().to_string()).collect();
        bail!(
            "{} has no GET that was answered with 200; lines need a method, a path, a status and a time, in text or JSON (docs/migration.md has the formats)",
            names.join(", ")
        );
    }
    contents.targets = counts.into_iter().collect();
    contents
        .targets
        .sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(contents)
}
