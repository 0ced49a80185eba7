//! One server whose system calls or instructions are counted, and the requests sent to it. They use a single
//! connection, so that the server's work per request does not depend on how requests coincide.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::Subject;
use crate::launch::{Endpoint, Launched, Pid, Tool};
use crate::load::{Drive, RequestTemplate, Window, drive};
use crate::sample::ClientThreads;
use crate::scenario::{BodyCheck, Check, Load, Mode, Scenario, Seconds, WarmupRule};

/// A running server and the requests to send to it.
pub(super) struct Session {
    /// The server if the laboratory started it, `None` if it was already running.
    server: Option<Launched>,
    endpoint: Endpoint,
    templates: Vec<RequestTemplate>,
    load: Load,
    check: Check,
    seed: u64,
    cancel: Arc<AtomicBool>,
    /// Number of requests whose system calls or instructions are counted.
    requests: u64,
    /// Number of requests that are sent in each measurement in addition to any counted ones: each URL once, but no more
    /// than there are counted requests.
    round: u64,
}

impl Session {
    /// Starts the server under the command of a tool that observes it, such as strace. Its time-outs are `patience`
    /// times those of the scenario, because observation slows it down.
    pub(super) fn start(
        subject: &Subject<'_>,
        requests: u64,
        tool: &Tool,
        patience: f64,
    ) -> Result<Self, String> {
        let scenario = patient(subject.scenario, patience);
        let server = Launched::start_under(tool, &scenario, subject.variant, subject.guard, 0)
            .map_err(|error| error.to_string())?;
        let templates = (subject.templates)(&server)?;
        let mut session = Self::on(&scenario, server.address.clone(), templates, requests)?;
        session.cancel = subject.cancel.clone();
        session.server = Some(server);
        Ok(session)
    }

    /// Creates a session with a server that is already running. Of the scenario, only the load, its checks and the seed
    /// are used.
    pub(super) fn on(
        scenario: &Scenario,
        endpoint: Endpoint,
        templates: Vec<RequestTemplate>,
        requests: u64,
    ) -> Result<Self, String> {
        if requests == 0 {
            return Err("no requests were asked for".into());
        }
        Ok(Self {
            server: None,
            endpoint,
            round: requests.min(templates.len() as u64),
            templates,
            load: Load {
                mode: Mode::Single,
                connections: 1,
                ramp: Seconds(0.0),
                ..scenario.load.clone()
            },
            check: Check {
                body: BodyCheck::None,
                ..scenario.check.clone()
            },
            seed: scenario.seed,
            cancel: Arc::default(),
            requests,
        })
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests
    }

    /// Returns all processes of the server, or none if the laboratory did not start it.
    pub(super) fn tree(&self) -> Vec<Pid> {
        self.server.as_ref().map_or_else(Vec::new, Launched::tree)
    }

    /// Sends all requests once without counting them, so that caches are filled. Returns the mean time per request in
    /// seconds.
    pub(super) fn warm(&self) -> Result<f64, String> {
        self.many()
    }

    /// Sends one round of requests (each URL once) without the counted ones, which shows the fixed cost of a
    /// connection. Returns the mean time per request in seconds.
    pub(super) fn few(&self) -> Result<f64, String> {
        self.serve(self.round)
    }

    /// Sends one round of requests (each URL once) and then the counted ones. Returns the mean time per request in
    /// seconds.
    pub(super) fn many(&self) -> Result<f64, String> {
        self.serve(self.round + self.requests)
    }

    /// Returns the mean time per request in seconds of a server that is not traced.
    pub(super) fn unwatched(&self) -> Result<f64, String> {
        self.warm()?;
        Ok(self.many()?.max(f64::MIN_POSITIVE))
    }

    /// Waits for this time without sending requests.
    pub(super) fn idle(&self, time: Duration) -> Result<(), String> {
        let start = Instant::now();
        while start.elapsed() < time {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(CANCELLED.into());
            }
            thread::sleep(Duration::from_millis(50).min(time));
        }
        Ok(())
    }

    /// Stops the server if the laboratory started it. Returns whether it had to be killed.
    pub(super) fn stop(self) -> Result<bool, String> {
        match self.server.map(Launched::stop) {
            Some(Ok(stopped)) => Ok(stopped.killed),
            Some(Err(error)) => Err(error.to_string()),
            None => Ok(false),
        }
    }

    /// Sends this many requests and returns the mean time per request in seconds.
    fn serve(&self, requests: u64) -> Result<f64, String> {
        let outcome = drive(&Drive {
            endpoint: self.endpoint.clone(),
            templates: &self.templates,
            load: &self.load,
            check: &self.check,
            warmup: &WarmupRule {
                min: Seconds(0.0),
                max: Seconds(0.0),
            },
            window: Window::Requests(requests),
            seed: self.seed,
            late: Duration::MAX,
            cancel: self.cancel.clone(),
            threads: ClientThreads::default(),
            edge: &|| {},
            progress: &|_| {},
        })
        .map_err(|error| error.to_string())?;
        if outcome.cancelled {
            return Err(CANCELLED.into());
        }
        let failures = outcome.result.failures;
        if failures.all() > 0 {
            return Err(format!(
                "{failures} of {requests} requests failed while it counted"
            ));
        }
        Ok(outcome.result.total.mean())
    }
}

/// Returns the scenario with its time-outs multiplied by `factor`.
pub(super) fn patient(scenario: &Scenario, factor: f64) -> Scenario {
    let mut scenario = scenario.clone();
    for time in [
        &mut scenario.server.ready.timeout,
        &mut scenario.server.stop.grace,
        &mut scenario.load.timeout,
    ] {
        time.0 *= factor;
    }
    scenario
}

const CANCELLED: &str = "it was cancelled";
