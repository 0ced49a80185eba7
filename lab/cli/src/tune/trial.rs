//! The trials of `andon-lab tune`: experiments that compare the current settings with a few others, with the same
//! server program.

use std::collections::BTreeMap;
use std::path::Path;

use andon_lab::experiment::Error;
use andon_lab::scenario::{
    Pairs, Scenario, Seconds, Share, Until, UrlEntry, VariantEntry, WarmupRule,
};
use anyhow::Context;
use toml::{Table, Value};

use super::subject::Subject;

/// One experiment: the current settings against a few candidates.
pub(super) struct Trial {
    /// The name of the trial, used as the folder of its run.
    pub(super) name: &'static str,
    /// The question that the trial answers, for the report.
    pub(super) question: &'static str,
    /// Whether every response is rendered rather than taken from the cache.
    cold: bool,
    /// Whether each variant sends a `Connection` header of its own: its value is the variant's setting `connection`, or
    /// `keep-alive`.
    connection: bool,
    pub(super) candidates: Vec<Candidate>,
}

/// Settings that are tried instead of the current ones.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) set: BTreeMap<String, Value>,
    /// Whether the candidate may be recommended when it wins. Otherwise it only shows what a setting gains or costs.
    pub(super) can_win: bool,
}

/// The length of blocks and the number of pairs, as chosen by `--quick`.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    pub(super) quick: bool,
}

/// Returns the trials for the few settings that matter.
pub(super) fn all(subject: &Subject, cores: i64, effort: Effort) -> Vec<Trial> {
    let mut trials = vec![workers(subject, cores)];
    trials.push(cache(subject, effort));
    if !effort.quick {
        trials.push(Trial {
            name: "keep-alive",
            question: "what connections that are kept are worth, cached results",
            cold: false,
            connection: true,
            candidates: vec![candidate(
                "clients that close each connection",
                [("connection", "close".into())],
                false,
            )],
        });
    }
    trials
}

/// Compares numbers of worker threads. One fewer than there are cores leaves headroom for sockets and the disk, while
/// more threads than cores overlap waits. The trial also toggles `steal_work`.
fn workers(subject: &Subject, cores: i64) -> Trial {
    let current = match subject.get("workers").and_then(Value::as_integer) {
        Some(workers) if workers > 0 => workers,
        _ => cores,
    };
    let mut counts = vec![(cores - 1).max(1), cores, cores * 2];
    counts.dedup();
    counts.retain(|count| *count != current);
    let mut candidates: Vec<Candidate> = counts
        .into_iter()
        .map(|count| {
            candidate(
                &format!("workers = {count}"),
                [("workers", count.into())],
                true,
            )
        })
        .collect();
    let lends = subject.get("steal_work").and_then(Value::as_bool) != Some(false);
    candidates.push(candidate(
        &format!("steal_work = {}", !lends),
        [("steal_work", (!lends).into())],
        true,
    ));
    Trial {
        name: "workers",
        question: "worker threads, every image made anew",
        cold: true,
        connection: false,
        candidates,
    }
}

/// Measures what the cache's tiers gain or cost.
fn cache(subject: &Subject, effort: Effort) -> Trial {
    let off = matches!(
        subject.get("cache.memory").and_then(Value::as_str),
        Some("0")
    );
    let mut candidates = vec![if off {
        candidate(
            "cache.memory = \"256MiB\"",
            [("cache.memory", "256MiB".into())],
            true,
        )
    } else {
        candidate("cache.memory = \"0\"", [("cache.memory", "0".into())], true)
    }];
    if !effort.quick {
        let disk = Table::from_iter([
            ("path".to_owned(), Value::from("cache")),
            ("size".to_owned(), Value::from("1GiB")),
        ]);
        candidates.push(candidate(
            "with a disk tier",
            [("cache.disk", Value::Table(disk))],
            false,
        ));
    }
    Trial {
        name: "cache",
        question: "tiers of the cache, the same images again and again",
        cold: false,
        connection: false,
        candidates,
    }
}

fn candidate<const N: usize>(name: &str, set: [(&str, Value); N], can_win: bool) -> Candidate {
    Candidate {
        name: name.to_owned(),
        set: set.map(|(key, value)| (key.to_owned(), value)).into(),
        can_win,
    }
}

impl Trial {
    /// Returns the maximum number of comparisons, including the confirmation of a winner.
    pub(super) fn comparisons(&self, effort: Effort) -> u32 {
        self.own_comparisons(effort) + self.confirmations()
    }

    /// Returns the number of comparisons in the trial itself, without a confirmation.
    pub(super) fn own_comparisons(&self, effort: Effort) -> u32 {
        self.candidates.len() as u32 + u32::from(self.against_itself(effort))
    }

    /// Returns how many runs may be needed to confirm the trial's winner: 1 if any candidate can win, 0 otherwise.
    pub(super) fn confirmations(&self) -> u32 {
        u32::from(self.candidates.iter().any(|it| it.can_win))
    }

    /// Returns whether the baseline is also compared with itself (A/A). One trial does so for all, as the noise of the
    /// machine is the same in each.
    fn against_itself(&self, effort: Effort) -> bool {
        self.cold && !effort.quick && self.name != CONFIRM
    }

    /// Creates the trial that compares the current settings with a winner once more, with another seed.
    pub(super) fn confirming(&self, winner: &Candidate) -> Self {
        Self {
            name: CONFIRM,
            question: self.question,
            cold: self.cold,
            connection: self.connection,
            candidates: vec![winner.clone()],
        }
    }

    /// Returns the scenario that the laboratory runs, and writes its configuration into `folder`.
    pub(super) fn scenario(
        &self,
        subject: &Subject,
        effort: Effort,
        folder: &Path,
    ) -> anyhow::Result<Scenario> {
        let mut config = subject.config.clone();
        if self.cold {
            let cache = config
                .entry("cache")
                .or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(cache) = cache {
                cache.insert("memory".to_owned(), "0".into());
            }
        }
        let file = folder.join(format!("{}.toml", self.name));
        std::fs::write(&file, toml::to_string_pretty(&config)?)
            .with_context(|| file.display().to_string())?;
        let mut scenario =
            Scenario::parse("[server]\ncmd = [\"true\"]\n", folder).map_err(Error::from)?;
        scenario.name = format!("tune-{}", self.name);
        scenario.seed = if self.name == CONFIRM { 2 } else { 1 };
        let server = &mut scenario.server;
        server.cmd = [
            "",
            "serve",
            "--config",
            "{work}/andon.toml",
            "--listen",
            "{addr}",
        ]
        .map(str::to_owned)
        .to_vec();
        server.cmd[0] = subject.program.to_string_lossy().into_owned();
        server.files =
            BTreeMap::from([("andon.toml".to_owned(), file.to_string_lossy().into_owned())]);
        server.inherit.clone_from(&subject.inherit);
        server.ready.http = "/healthz".into();
        server.ready.status = 200;
        scenario.load.url = subject.urls.iter().map(|url| self.entry(url)).collect();
        scenario.load.connections = 8;
        let variant = |name: &str, set: &BTreeMap<String, Value>| {
            let mut set = set.clone();
            if self.connection {
                set.entry("connection".to_owned())
                    .or_insert_with(|| KEEP.into());
            } else {
                set.remove("connection");
            }
            VariantEntry {
                name: name.to_owned(),
                set,
                ..VariantEntry::default()
            }
        };
        scenario.variant = vec![variant(CURRENT, &BTreeMap::new())];
        scenario
            .variant
            .extend(self.candidates.iter().map(|it| variant(&it.name, &it.set)));
        let design = &mut scenario.design;
        design.aa = self.against_itself(effort);
        design.same_within = Share(0.03);
        let (block, warmup, pairs) = match effort.quick {
            true => (1.0, [0.3, 0.6], 6),
            false => (3.0, [0.5, 3.0], 16),
        };
        design.block = Seconds(block);
        let [min, max] = warmup.map(Seconds);
        design.warmup = WarmupRule { min, max };
        design.pairs = Pairs {
            min: 6,
            max: pairs,
            until: Until(Share(0.015)),
        };
        scenario.validate().map_err(Error::from)?;
        Ok(scenario)
    }

    fn entry(&self, url: &UrlEntry) -> UrlEntry {
        let mut url = url.clone();
        if self.connection {
            url.headers.push("Connection: {connection}".to_owned());
        }
        url
    }
}

/// The name of a trial that confirms a winner.
pub(super) const CONFIRM: &str = "confirm";

/// The name of the baseline of all trials.
pub(super) const CURRENT: &str = "current settings";

/// Value of the `Connection` header that clients with persistent connections send.
const KEEP: &str = "keep-alive";
