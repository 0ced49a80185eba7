//! The client's limits: the highest rate that it can reach, measured once for each kind of load against a responder
//! that does nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::analysis::body_class;
use crate::load::null::{NullConfig, NullResponder, free_port};
use crate::load::{self, Drive, Endpoint, RequestTemplate, Window};
use crate::sample::ClientThreads;
use crate::scenario::{BodyCheck, Check, HttpVersion, Load, Mode, Seconds, WarmupRule};

/// Limits measured so far, by kind of load. The client's threads and CPUs are not part of a kind, because they are the
/// same for all loads of a scenario.
#[derive(Debug, Default)]
pub struct ClientLimits {
    rates: BTreeMap<Kind, f64>,
}

/// The properties of a load on which the client's limit depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    connections: u32,
    keepalive: bool,
    http2: bool,
    unix: bool,
    body: u32,
}

impl ClientLimits {
    /// Returns the requests per second that the client reaches with this load, over this kind of socket, with replies
    /// of about `body` bytes. The first call for each kind takes about a second.
    ///
    /// # Errors
    /// The responder or the client could not start.
    pub fn of(&mut self, load: &Load, endpoint: &Endpoint, body: u64) -> Result<f64, load::Error> {
        let kind = Kind {
            connections: match load.mode {
                Mode::Single => 1,
                Mode::Closed | Mode::Open => load.connections.max(1),
            },
            keepalive: load.keepalive,
            http2: load.http == HttpVersion::Two,
            unix: matches!(endpoint, Endpoint::Unix(_)),
            body: body_class(body),
        };
        if let Some(rate) = self.rates.get(&kind) {
            return Ok(*rate);
        }
        let limit = kind.measure(load, body as usize)?;
        self.rates.insert(kind, limit);
        Ok(limit)
    }
}

impl Kind {
    /// Measures a few rounds and returns the best rate, because other work on the machine can only lower it.
    fn measure(self, load: &Load, body: usize) -> Result<f64, load::Error> {
        let folder = tempfile::tempdir()?;
        let endpoint = if self.unix {
            Endpoint::Unix(folder.path().join("null"))
        } else {
            free_port()
        };
        // Opening connections, and the streams of HTTP/2, cost the responder about as much as the client, so it gets
        // one more thread.
        let extra_threads = u32::from(self.http2 || !self.keepalive);
        let manner = NullConfig {
            body,
            http: load.http,
            threads: load.threads.max(1) + extra_threads,
        };
        let responder = NullResponder::listen(&endpoint, manner)?;
        let load = Load {
            mode: Mode::Closed,
            connections: self.connections,
            ramp: Seconds(0.0),
            ..load.clone()
        };
        let mut best: f64 = 0.0;
        for _ in 0..ROUNDS {
            best = best.max(round(&load, responder.endpoint())?);
        }
        Ok(best)
    }
}

fn round(load: &Load, endpoint: &Endpoint) -> Result<f64, load::Error> {
    let outcome = load::drive(&Drive {
        endpoint: endpoint.clone(),
        templates: &[RequestTemplate::get("/")],
        load,
        check: &Check {
            body: BodyCheck::Hash,
            ..Check::default()
        },
        warmup: &WarmupRule {
            min: WARMUP,
            max: WARMUP,
        },
        window: Window::For(ROUND),
        seed: 0,
        late: Duration::MAX,
        cancel: Default::default(),
        threads: ClientThreads::default(),
        edge: &|| {},
        progress: &|_| {},
    })?;
    Ok(outcome.result.completed as f64 / outcome.result.seconds.max(1e-9))
}

const ROUNDS: u32 = 5;
const ROUND: Duration = Duration::from_millis(160);
/// Time until the connections are open, in seconds.
const WARMUP: Seconds = Seconds(0.04);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_load_has_a_limit_of_its_own_measured_once() {
        let mut limits = ClientLimits::default();
        let tcp = free_port();
        let unix = Endpoint::Unix("/nowhere".into());
        let kept = Load {
            connections: 3,
            ..Load::default()
        };
        let fewer = Load {
            connections: 2,
            ..kept.clone()
        };
        let closed = Load {
            keepalive: false,
            ..kept.clone()
        };
        let two = Load {
            http: HttpVersion::Two,
            ..kept.clone()
        };
        let cases = [
            (&kept, &tcp, 1000),
            (&fewer, &tcp, 1000),
            (&closed, &tcp, 1000),
            (&two, &tcp, 1000),
            (&kept, &unix, 1000),
            (&kept, &tcp, 5000),
        ];
        let mut first = Vec::new();
        for (load, endpoint, body) in cases {
            let limit = limits.of(load, endpoint, body).expect("measures");
            assert!(limit > 0.0, "{load:?} {endpoint:?} {body}");
            first.push(limit);
        }
        assert_eq!(limits.rates.len(), cases.len());
        // Bodies of about the same size count as the same kind of load.
        let again = limits.of(&kept, &tcp, 1001).expect("known");
        assert_eq!(again.to_bits(), first[0].to_bits());
        assert_eq!(limits.rates.len(), cases.len());
        let single = Load {
            mode: Mode::Single,
            ..kept
        };
        limits.of(&single, &tcp, 1000).expect("measures");
        assert!(limits.rates.keys().any(|kind| kind.connections == 1));
    }
}
