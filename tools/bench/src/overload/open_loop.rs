//! An open loop of requests: each is sent when it is due, by any client that is free.
//!
//! Images are due at random times, as if requested by independent clients (a Poisson process, the same in every run).
//! The clock starts when all clients are connected, because accepting hundreds of connections at once is not part of
//! the measurement.
//!
//! The clients share the server's cores. If the system permits it they run at a higher priority, like clients on
//! machines of their own. The delay with which each request was sent is recorded with its latency, which always counts
//! from the time it was due.

use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use andon_client::Random;
use anyhow::Result;

use crate::http::client::{Connection, join_client};
use crate::http::server::Server;

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An image that was not requested before.
    Image,
    /// One of a few images that were requested before.
    Repeat,
    /// A request for `/healthz`.
    Health,
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) kind: Kind,
    /// Seconds from the start of the open loop to when the request was due.
    pub(super) due_seconds: f64,
    /// Milliseconds from when the request was due to when it was sent.
    pub(super) late_ms: f64,
    /// Milliseconds from when the request was due to the response's last byte.
    pub(super) took_ms: f64,
    pub(super) status: u16,
    /// Whether the response was a fresh cache hit.
    pub(super) hit: bool,
    /// Index of the request among those of its kind.
    pub(super) index: usize,
}

/// Sends image requests at the times `due`, in seconds from the start. For `time` it also sends [`BESIDE`] requests per
/// second for repeated images and as many for `/healthz`. The `repeated` images must have been requested before.
pub(super) fn run(
    server: &Server,
    due: &[f64],
    url: impl Fn(usize) -> String + Sync,
    time: Duration,
    repeated: &[String],
) -> Result<Vec<Answer>> {
    let steady: Vec<f64> = (0..(BESIDE * time.as_secs_f64()) as usize)
        .map(|index| index as f64 / BESIDE)
        .collect();
    let (clock, connected) = (OnceLock::new(), Barrier::new(CLIENTS + 2 * CLIENTS_BESIDE));
    let answers = Mutex::new(Vec::new());
    let line = |kind, due| Line {
        server,
        kind,
        due,
        next: AtomicUsize::new(0),
        clock: &clock,
        connected: &connected,
        answers: &answers,
    };
    let images = line(Kind::Image, due);
    let repeats = line(Kind::Repeat, &steady);
    let healths = line(Kind::Health, &steady);
    thread::scope(|scope| {
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            clients.push(scope.spawn(|| images.client(&url)));
        }
        for _ in 0..CLIENTS_BESIDE {
            clients.push(
                scope.spawn(|| repeats.client(&|index| repeated[index % repeated.len()].clone())),
            );
            clients.push(scope.spawn(|| healths.client(&|_| "/healthz".to_owned())));
        }
        clients.into_iter().try_for_each(join_client)
    })?;
    Ok(answers.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// The requests of one kind, and the state that their clients share.
struct Line<'a> {
    server: &'a Server,
    kind: Kind,
    /// Times at which the requests are due, in seconds from the start of the open loop.
    due: &'a [f64],
    next: AtomicUsize,
    /// Start of the loop, set when all clients are connected.
    clock: &'a OnceLock<Instant>,
    connected: &'a Barrier,
    answers: &'a Mutex<Vec<Answer>>,
}

impl Line<'_> {
    /// Runs one client: waits until the next request is due, sends it and reads the reply.
    fn client(&self, url: &dyn Fn(usize) -> String) -> Result<()> {
        // Only the administrator may raise the priority. The recorded lateness shows the effect.
        let _ = rustix::process::nice(-10);
        let connection = Connection::open(self.server);
        // A client that could not connect must still reach the barrier, or the others would wait forever.
        self.connected.wait();
        let (mut connection, clock) = (connection?, self.clock.get_or_init(Instant::now));
        let mut mine = Vec::new();
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(due) = self.due.get(index) else {
                break;
            };
            let due = Duration::from_secs_f64(*due);
            thread::sleep(due.saturating_sub(clock.elapsed()));
            let url = url(index);
            let since_due = || clock.elapsed().saturating_sub(due).as_secs_f64() * 1e3;
            let late_ms = since_due();
            let reply = connection.ask(&url)?;
            mine.push(Answer {
                kind: self.kind,
                due_seconds: due.as_secs_f64(),
                late_ms,
                took_ms: since_due(),
                status: reply.status,
                hit: reply.is_hit(),
                index,
            });
        }
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.extend(mine);
        Ok(())
    }
}

/// Returns random times in seconds, `rate` per second on average, with exponential gaps. They are the same in every
/// run.
pub(super) fn random_moments(rate: f64, time: Duration) -> Vec<f64> {
    let mut dice = Random::new(1);
    let mut now = 0.0;
    iter::from_fn(|| {
        now += dice.exponential() / rate;
        Some(now)
    })
    .take_while(|moment| *moment < time.as_secs_f64())
    .collect()
}

/// Number of clients for new images. It is so large that one is free whenever a request is due, although most of them
/// wait for admitted work. The server accepts 1024 connections from one address.
const CLIENTS: usize = 900;

/// Number of clients that request repeated images. The same number of other clients request `/healthz`.
const CLIENTS_BESIDE: usize = 20;

/// Rate of the requests that are sent alongside the load: this many per second for repeated images, and as many for
/// `/healthz`.
const BESIDE: f64 = 20.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_moments_come_at_the_rate_and_in_order() {
        let moments = random_moments(100.0, Duration::from_secs(100));
        assert!(
            (9_500..10_500).contains(&moments.len()),
            "{}",
            moments.len()
        );
        assert!(moments.is_sorted() && moments.iter().all(|moment| *moment < 100.0));
    }
}
