//! One server for a counting pass, and the requests it is sent: through one connection, so that the server's
//! work per request does not depend on how requests meet.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::Subject;
use crate::launch::{Launched, Stopped};
use crate::load::{Asked, Drive, Window, drive};
use crate::sample::ClientThreads;
use crate::scenario::{BodyCheck, Check, Load, Mode, Scenario, Seconds, WarmupRule};

/// A running server and what it will be asked.
pub(super) struct Session<'a> {
    subject: &'a Subject<'a>,
    server: Launched,
    asked: Vec<Asked>,
    load: Load,
    check: Check,
    /// So many requests are counted.
    requests: u64,
    /// The requests that both windows have: each URL once, as far as that goes.
    round: u64,
}

impl<'a> Session<'a> {
    /// Starts the server under a tool's words. All its time-outs are so many times as long as the scenario's,
    /// because the tool slows it down.
    pub(super) fn start(
        subject: &'a Subject<'a>,
        requests: u64,
        tool: &[String],
        patience: f64,
    ) -> Result<Self, String> {
        if requests == 0 {
            return Err("no requests were asked for".into());
        }
        let scenario = patient(subject.scenario, patience);
        let server = Launched::start_under(tool, &scenario, subject.variant, subject.guard, 0)
            .map_err(|error| error.to_string())?;
        let asked = (subject.asked)(&server)?;
        let load = Load {
            mode: Mode::Single,
            connections: 1,
            ramp: Seconds(0.0),
            ..scenario.load
        };
        let check = Check {
            body: BodyCheck::None,
            ..scenario.check
        };
        Ok(Self {
            subject,
            server,
            round: requests.min(asked.len() as u64),
            asked,
            load,
            check,
            requests,
        })
    }

    /// All that will be asked, so that every cache is filled.
    pub(super) fn warm(&self) -> Result<f64, String> {
        self.many()
    }

    /// A round alone: what a connection costs, whatever it is used for.
    pub(super) fn few(&self) -> Result<f64, String> {
        self.serve(self.round)
    }

    /// The same round, then the counted requests.
    pub(super) fn many(&self) -> Result<f64, String> {
        self.serve(self.round + self.requests)
    }

    /// Mean time per request of a server that is not watched. Ends it.
    pub(super) fn unwatched(self) -> Result<f64, String> {
        self.warm()?;
        let seconds = self.many()?;
        self.stop()?;
        Ok(seconds.max(f64::MIN_POSITIVE))
    }

    /// Lets the server alone.
    pub(super) fn idle(&self, time: Duration) -> Result<(), String> {
        let begun = Instant::now();
        while begun.elapsed() < time {
            if self.subject.cancel.load(Ordering::Relaxed) {
                return Err(CANCELLED.into());
            }
            thread::sleep(Duration::from_millis(50).min(time));
        }
        Ok(())
    }

    pub(super) fn stop(self) -> Result<Stopped, String> {
        self.server.stop().map_err(|error| error.to_string())
    }

    /// Mean time per request.
    fn serve(&self, requests: u64) -> Result<f64, String> {
        let driven = drive(&Drive {
            endpoint: self.server.address.clone(),
            asked: &self.asked,
            load: &self.load,
            check: &self.check,
            warmup: &WarmupRule {
                min: Seconds(0.0),
                max: Seconds(0.0),
            },
            window: Window::Requests(requests),
            seed: self.subject.scenario.seed,
            cancel: self.subject.cancel.clone(),
            threads: ClientThreads::default(),
            edge: &|| {},
            progress: &|_| {},
        })
        .map_err(|error| error.to_string())?;
        if driven.cancelled {
            return Err(CANCELLED.into());
        }
        let failures = driven.result.failures;
        if failures.all() > 0 {
            return Err(format!(
                "{} of {requests} requests failed while it counted ({failures:?})",
                failures.all()
            ));
        }
        Ok(driven.result.total.mean())
    }
}

/// The scenario with longer time-outs.
fn patient(scenario: &Scenario, factor: f64) -> Scenario {
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
