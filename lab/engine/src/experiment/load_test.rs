//! One measured window on a server that is already running, recorded as a block so that every report can show it.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::ClientLimits;
use super::block::{measured, push};
use crate::launch;
use crate::load::{self, Drive, Endpoint, Progress, RequestTemplate, Script, Window};
use crate::record::{Arm, Block, Probe};
use crate::sample::{ClientThreads, Sampler, Watched, spin};
use crate::scenario::{Load, Scenario};

/// A load test on a server that is already running.
pub struct LoadTest<'a> {
    /// The address of the server.
    pub endpoint: &'a Endpoint,
    /// The requests to send; not empty.
    pub templates: &'a [RequestTemplate],
    /// The connections, rate and duration of the load.
    pub load: &'a Load,
    /// Provides the checks, warm-up, seed and sampling interval.
    pub scenario: &'a Scenario,
    /// When the measured window ends; ignored if there is a script.
    pub window: Window,
    /// Arrival times of the requests, which replace the load's rate.
    pub script: Option<&'a Script>,
    /// The time at which the run began.
    pub origin: Instant,
    /// The block's place in the run; also the number of its pair.
    pub index: u32,
    /// Index of the block's variant in the run's header.
    pub variant: u32,
    /// Ends the test early when set.
    pub cancel: Arc<AtomicBool>,
    /// Called with the progress a few times a second.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

impl LoadTest<'_> {
    /// Drives the load. Returns the block, and the distinct bodies by their hash. The server's resource use is known if
    /// its processes can be found on this machine ([`launch::running()`]); otherwise its `threads_peak` is 0.
    ///
    /// # Errors
    /// See [`load::Error`].
    pub fn run(
        &self,
        limits: &mut ClientLimits,
    ) -> Result<(Block, BTreeMap<String, Bytes>), load::Error> {
        // If the server does not accept connections, the test would measure only the client's failed attempts.
        let patience = self.load.timeout.duration();
        (self.endpoint.accepts(patience)).map_err(andon_client::Error::Unreachable)?;
        let threads = ClientThreads::default();
        let roots = launch::running(self.endpoint);
        let mut block = Block::new(self.index, self.index, self.arm(), self.variant);
        let before = spin();
        let sampler = Sampler::start(
            roots.ok().map(Watched::Running),
            threads.clone(),
            self.scenario.sample.every.duration(),
            self.origin,
        );
        let edges = Mutex::new(Vec::new());
        let drive = Drive {
            endpoint: self.endpoint.clone(),
            templates: self.templates,
            load: self.load,
            check: &self.scenario.check,
            warmup: &self.scenario.design.warmup,
            window: match self.script {
                Some(script) => Window::Requests(script.requests.len() as u64),
                None => self.window,
            },
            seed: self.scenario.seed,
            late: Duration::MAX,
            cancel: self.cancel.clone(),
            threads,
            edge: &|| push(&edges, sampler.mark()),
            progress: self.progress,
        };
        let outcome = match self.script {
            Some(script) => load::replay(&drive, script),
            None => load::drive(&drive),
        };
        let samples = sampler.finish();
        let outcome = outcome?;
        block.noise.probe = Probe {
            before,
            after: spin(),
        };
        let at = |moment: Instant| moment.saturating_duration_since(self.origin).as_secs_f64();
        measured(&mut block, &outcome, &samples, edges, &at);
        block.load = outcome.result;
        if let Some(body) = block.load.bytes_body.checked_div(block.load.completed) {
            block.client.ceiling = limits.of(self.load, self.endpoint, body)?;
        }
        Ok((block, outcome.bodies))
    }

    fn arm(&self) -> Arm {
        if self.variant == 0 {
            Arm::Baseline
        } else {
            Arm::Variant
        }
    }
}
