//! Running one block, from starting its server to reaping it.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::{Error, Event, RunningExperiment, discard};
use crate::analysis::Slot;
use crate::assertion::Assertions;
use crate::launch::{LaunchError, Launched};
use crate::load::{self, Drive, Driven, Endpoint, RequestTemplate, Window};
use crate::record::{Block, Phase, PhaseKind, Probe};
use crate::sample::{ClientThreads, Sampler, Samples, Watched, spin};
use crate::scenario::{Fresh, Load, Scenario, Seconds, placeholders};
use crate::stats::Random;
use crate::variant::Variant;

impl RunningExperiment<'_> {
    /// Runs a block; `None` if the experiment was cancelled meanwhile.
    pub(super) fn block(&mut self, slot: Slot, attempt: u32) -> Result<Option<Block>, Error> {
        let scenario = &self.experiment.scenario;
        let index = self.run.blocks.len() as u32;
        let mut block = Block::new(index, slot.pair, slot.arm, slot.variant);
        block.attempt = attempt;
        let before = spin();
        let began = Instant::now();
        let server = match self.server(slot, index) {
            Ok(server) => server,
            Err(why) => {
                if !self.started_before(slot) {
                    let variant = self.run.header.variants[slot.variant as usize].name.clone();
                    return Err(Error::Start { variant, why });
                }
                block.failure = Some(why.to_string());
                return Ok(Some(block));
            }
        };
        self.phase(&mut block, PhaseKind::Start, began, Instant::now());
        let endpoint = server.address.clone();
        let measured = self.measure(&mut block, &server, slot);
        let stopping = Instant::now();
        let alive = self.part(slot, server, &mut block);
        self.phase(&mut block, PhaseKind::Stop, stopping, Instant::now());
        measured?;
        if self.cancelled() {
            return Ok(None);
        }
        if let Err(why) = alive {
            block.failure.get_or_insert(why);
        }
        block.noise.probe = Probe {
            before,
            after: spin(),
        };
        if block.failure.is_none() {
            block.discarded = discard::reason(&scenario.design.discard, &block.noise, &self.run);
            self.limit(&mut block, &endpoint)?;
        }
        Ok(Some(block))
    }

    /// Returns the slot's server, started now or kept from an earlier block.
    fn server(&mut self, slot: Slot, index: u32) -> Result<Launched, LaunchError> {
        if let Some(server) = self.servers.remove(&slot.server()) {
            return Ok(server);
        }
        let scenario = &self.experiment.scenario;
        let variant = &self.run.header.variants[slot.variant as usize];
        let mut random = Random::new(scenario.seed ^ (u64::from(index) << 32));
        let padding = (random.unit() * MOST_PADDING) as usize;
        Launched::start(scenario, variant, &self.experiment.guard, padding)
    }

    /// Whether this variant's server has ever started. If not, there is no point in going on.
    fn started_before(&self, slot: Slot) -> bool {
        let of_variant = |block: &&Block| block.variant == slot.variant;
        self.run
            .blocks
            .iter()
            .filter(of_variant)
            .any(|block| block.failure.is_none())
    }

    /// Stops the server, or keeps it for the variant's next block. Fails if the server died under load or cannot be
    /// stopped.
    fn part(&mut self, slot: Slot, mut server: Launched, block: &mut Block) -> Result<(), String> {
        if !server.alive() {
            let last = server.last_output().join("\n");
            return Err(format!(
                "the server died under load; its last lines:\n{last}"
            ));
        }
        if self.experiment.scenario.server.fresh == Fresh::Variant && block.failure.is_none() {
            self.servers.insert(slot.server(), server);
            return Ok(());
        }
        server.stop().map(|_| ()).map_err(|why| why.to_string())
    }

    fn measure(&mut self, block: &mut Block, server: &Launched, slot: Slot) -> Result<(), Error> {
        let scenario = &self.experiment.scenario;
        let variant = self.run.header.variants[slot.variant as usize].clone();
        let templates = request_templates(scenario, &variant, server)?;
        let load = variant.load(&scenario.load);
        let assertions = Assertions::begin(&variant.assert, server).map_err(Error::Other)?;
        let assertions = Mutex::new(assertions);
        let threads = ClientThreads::default();
        let sampler = Sampler::start(
            Some(Watched::Below(server.guard_pid())),
            threads.clone(),
            scenario.sample.every.duration(),
            self.origin,
        );
        let edges = Mutex::new(Vec::new());
        let watch = self.experiment.watch;
        let outcome = load::drive(&Drive {
            endpoint: server.address.clone(),
            templates: &templates,
            load: &load,
            check: &scenario.check,
            warmup: &scenario.design.warmup,
            window: window(&load, scenario.design.block),
            // Both blocks of a pair have the same seed, so that they get the same requests.
            seed: scenario.seed.wrapping_add(u64::from(slot.pair)),
            late: Duration::MAX,
            cancel: self.experiment.cancel.clone(),
            threads,
            edge: &|| push(&edges, sampler.mark()),
            progress: &|progress| {
                if progress.measuring
                    && let Ok(mut assertions) = assertions.lock()
                {
                    assertions.look(server);
                }
                watch(Event::Load(progress));
            },
        });
        let samples = sampler.finish();
        let outcome = outcome?;
        measured(block, &outcome, &samples, edges, &|moment| self.at(moment));
        let assertions = assertions.into_inner();
        if let Ok(assertions) = assertions {
            block.assertions = assertions.readings(server, &block.server);
        }
        self.folder.save_bodies(&outcome.bodies)?;
        block.load = outcome.result;
        if block.load.completed + block.load.failures.all() == 0 {
            block.failure =
                Some("no request ended within the window: make design.block longer".to_owned());
        }
        Ok(())
    }

    /// Records the highest rate that the client can reach with a load like the block's. The server must already be
    /// stopped or idle.
    fn limit(&mut self, block: &mut Block, endpoint: &Endpoint) -> Result<(), Error> {
        if let Some(body) = block.load.bytes_body.checked_div(block.load.completed) {
            let variant = &self.run.header.variants[block.variant as usize];
            let load = variant.load(&self.experiment.scenario.load);
            block.client.ceiling = self.limits.of(&load, endpoint, body)?;
        }
        Ok(())
    }

    fn phase(&self, block: &mut Block, kind: PhaseKind, from: Instant, to: Instant) {
        block.phases.push(Phase {
            kind,
            from: self.at(from),
            to: self.at(to),
        });
    }
}

/// Records in `block` the samples of the measured window, but not its load result. `edges` are the times at which the
/// window opened and closed by the sampler's clock; `at` converts a moment to seconds since the run began.
pub(super) fn measured(
    block: &mut Block,
    outcome: &Driven,
    samples: &Samples,
    edges: Mutex<Vec<f64>>,
    at: &dyn Fn(Instant) -> f64,
) {
    // The samples at the edges may be the only ones in a short window.
    let (from, to) = match edges.into_inner().unwrap_or_default()[..] {
        [from, to] => (from, to),
        _ => (at(outcome.opened), at(outcome.closed)),
    };
    block.server = samples.server(from, to);
    block.system = samples.system(from, to);
    block.noise = samples.noise(from, to, block.noise.probe);
    block.foreign = samples.foreign(from, to);
    block.timeline = samples.ticks();
    block.warmup = outcome.warmup;
    block.client = outcome.client;
    for (kind, from, to) in [
        (PhaseKind::Ramp, outcome.began, outcome.ramped),
        (PhaseKind::Warmup, outcome.ramped, outcome.opened),
        (PhaseKind::Measure, outcome.opened, outcome.closed),
    ] {
        let (from, to) = (at(from), at(to));
        block.phases.push(Phase { kind, from, to });
    }
}

pub(super) fn push(edges: &Mutex<Vec<f64>>, at: f64) {
    if let Ok(mut edges) = edges.lock() {
        edges.push(at);
    }
}

/// Returns the requests of a variant, with placeholders replaced by this server's values.
///
/// # Errors
/// A list or a body cannot be read, or a header is malformed.
pub fn request_templates(
    scenario: &Scenario,
    variant: &Variant,
    server: &Launched,
) -> Result<Vec<RequestTemplate>, Error> {
    let fill = |text: &str| placeholders::fill(text, server.values()).into_owned();
    let entries = scenario.urls(variant)?;
    entries
        .iter()
        .map(|entry| {
            let headers = entry.headers.iter().map(|header| {
                let (name, value) = header.split_once(':').ok_or_else(|| {
                    Error::Other(format!("`{header}` is not a header: write `name: value`"))
                })?;
                Ok((name.trim().to_owned(), fill(value.trim())))
            });
            let body = if entry.body.is_empty() {
                Bytes::new()
            } else {
                let file = scenario.path(&entry.body);
                let read = std::fs::read(&file);
                read.map_err(|error| Error::Other(format!("{}: {error}", file.display())))?
                    .into()
            };
            Ok(RequestTemplate {
                target: fill(&entry.path),
                weight: entry.weight,
                method: entry.method.clone(),
                headers: headers.collect::<Result<_, Error>>()?,
                body,
                status: entry.status,
            })
        })
        .collect()
}

/// Returns when the measured window of a load ends: after `loops` or `requests` if the load gives them, otherwise after
/// its `duration`, or after `block` if it has none.
fn window(load: &Load, block: Seconds) -> Window {
    if load.loops > 0 {
        Window::Requests(load.loops * u64::from(load.connections.max(1)))
    } else if load.requests > 0 {
        Window::Requests(load.requests)
    } else {
        Window::For(load.duration.unwrap_or(block).duration())
    }
}

/// Upper limit of the environment's padding in bytes. One page suffices to randomize the alignment of the stack.
const MOST_PADDING: f64 = 4096.0;
