//! An open loop of requests: each is sent when it is due, by whichever client is free.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::joined;
use crate::http::client::Connection;
use crate::http::server::Server;

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A picture that nobody asked for before.
    Picture,
    /// The same picture again and again.
    Repeat,
    /// `/healthz`.
    Health,
}

/// What became of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) kind: Kind,
    /// Seconds from the start to when it was due.
    pub(super) due_seconds: f64,
    /// Milliseconds from when it was due to the reply's last byte.
    pub(super) took_ms: f64,
    pub(super) status: u16,
}

/// Sends `rate` pictures per second for so long, and beside them [`BESIDE`] of each other kind.
pub(super) fn run(
    server: &Server,
    rate: f64,
    time: Duration,
    url: impl Fn(usize) -> String + Sync,
) -> Result<Vec<Answer>> {
    let repeated = url(0);
    Connection::open(server)?.ask(&repeated)?;

    let clock = Instant::now();
    let answers = Mutex::new(Vec::new());
    let line = |kind, rate: f64| Line {
        server,
        kind,
        rate,
        count: (rate * time.as_secs_f64()) as usize,
        next: AtomicUsize::new(0),
        clock,
        answers: &answers,
    };
    let pictures = line(Kind::Picture, rate);
    let repeats = line(Kind::Repeat, BESIDE);
    let healths = line(Kind::Health, BESIDE);
    thread::scope(|scope| {
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            clients.push(scope.spawn(|| pictures.client(&url)));
        }
        for _ in 0..CLIENTS_BESIDE {
            clients.push(scope.spawn(|| repeats.client(&|_| repeated.clone())));
            clients.push(scope.spawn(|| healths.client(&|_| "/healthz".to_owned())));
        }
        clients.into_iter().try_for_each(joined)
    })?;
    Ok(answers.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Requests of one kind.
struct Line<'a> {
    server: &'a Server,
    kind: Kind,
    rate: f64,
    count: usize,
    next: AtomicUsize,
    clock: Instant,
    answers: &'a Mutex<Vec<Answer>>,
}

impl Line<'_> {
    /// One client: waits for the next request to be due, sends it, reads the reply.
    fn client(&self, url: &dyn Fn(usize) -> String) -> Result<()> {
        let mut connection = Connection::open(self.server)?;
        let mut mine = Vec::new();
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.count {
                break;
            }
            let due = Duration::from_secs_f64(index as f64 / self.rate);
            thread::sleep(due.saturating_sub(self.clock.elapsed()));
            let reply = connection.ask(&url(index))?;
            mine.push(Answer {
                kind: self.kind,
                due_seconds: due.as_secs_f64(),
                took_ms: (self.clock.elapsed().saturating_sub(due)).as_secs_f64() * 1e3,
                status: reply.status,
            });
        }
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.extend(mine);
        Ok(())
    }
}

/// Enough that one is free whenever a request is due: most of them wait for accepted work.
const CLIENTS: usize = 400;

/// The same for each of the other kinds.
const CLIENTS_BESIDE: usize = 20;

/// Requests per second of each other kind.
const BESIDE: f64 = 20.0;
