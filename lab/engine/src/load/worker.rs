//! The worker loop that every connection runs.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Endpoint;
use super::connection::{self, Head, Prepared};
use super::course::Course;
use super::pacer::Pacer;
use super::recorder::{Failure, Outcome, Recorder, Turn};
use super::sequence::Sequence;
use super::stop::{Next, Stop};
use crate::scenario::{HttpVersion, Seconds};
use andon_client::{Connection, reason};

/// State that all connections of a block share.
pub(super) struct Shared {
    pub(super) endpoint: Endpoint,
    pub(super) requests: Vec<Prepared>,
    pub(super) sequence: Sequence,
    pub(super) course: Course,
    pub(super) recorder: Recorder,
    pub(super) keepalive: bool,
    pub(super) http: HttpVersion,
    pub(super) timeout: Duration,
    /// Whether requests in flight at the end are dropped. An open loop waits for them instead, since slow requests
    /// matter most.
    pub(super) cut_at_end: bool,
}

/// Runs one connection: sends requests until there are no more to send.
pub(super) async fn work(
    shared: Arc<Shared>,
    id: usize,
    start: Instant,
    mut pacer: impl Pacer,
    stop: Arc<impl Stop>,
) {
    let mut over = shared.course.over();
    let mut connection = None;
    let mut body = Vec::new();
    tokio::time::sleep_until(start.into()).await;
    shared.course.start().await;
    loop {
        let due = tokio::select! {
            biased;
            due = pacer.next() => due,
            _ = over.wait_for(|over| *over) => return,
        };
        let Next::Send { counts } = stop.next(&shared.course) else {
            return;
        };
        let url = shared.sequence.url(shared.recorder.next_number());
        let mut turn = Turn::new(id, url, due, counts);
        let exchange = exchange(
            &shared,
            &mut connection,
            &shared.requests[url],
            &mut turn,
            &mut body,
        );
        let outcome = tokio::select! {
            biased;
            outcome = tokio::time::timeout(shared.timeout, exchange) => outcome,
            _ = over.wait_for(|over| *over), if shared.cut_at_end => return,
        };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(_) => Outcome::Failed(
                Failure::Timeout,
                format!(
                    "no whole reply within {}",
                    Seconds(shared.timeout.as_secs_f64())
                ),
            ),
        };
        let failed = matches!(outcome, Outcome::Failed(..));
        if failed || !shared.keepalive {
            connection = None;
        }
        if shared.recorder.record(&turn, outcome, &body) {
            shared.course.finished();
        }
        if failed {
            // Without this pause, a server that refuses connections at once would be flooded with attempts.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Sends one request and reads its reply, on the kept connection or a new one.
async fn exchange(
    shared: &Shared,
    connection: &mut Option<Connection>,
    prepared: &Prepared,
    turn: &mut Turn,
    body: &mut Vec<u8>,
) -> Outcome {
    turn.started = Instant::now();
    if let Some(mut open_connection) = connection.take() {
        match ask(&mut open_connection, prepared, body).await {
            Ok(head) => {
                *connection = Some(open_connection);
                return Outcome::Replied(head);
            }
            // A server may close an idle connection at any time, even while a request is being written. That is no
            // failure.
            Err(_) if prepared.repeatable() && body.is_empty() => {}
            Err(error) => return Outcome::Failed(Failure::Cut, error.to_string()),
        }
    }
    let mut opened = match open(shared, turn).await {
        Ok(opened) => opened,
        Err(error) => {
            let why = format!("{}: {}", shared.endpoint, reason(&error));
            return Outcome::Failed(Failure::Connect, why);
        }
    };
    match ask(&mut opened, prepared, body).await {
        Ok(head) => {
            *connection = Some(opened);
            Outcome::Replied(head)
        }
        Err(error) => Outcome::Failed(Failure::Cut, error.to_string()),
    }
}

async fn ask(
    connection: &mut Connection,
    prepared: &Prepared,
    body: &mut Vec<u8>,
) -> hyper::Result<Head> {
    body.clear();
    connection.ready().await?;
    connection::ask(connection, prepared, body).await
}

async fn open(shared: &Shared, turn: &mut Turn) -> io::Result<Connection> {
    let before = Instant::now();
    let opened = Connection::open(&shared.endpoint, shared.http).await?;
    turn.connected = Some(before.elapsed());
    Ok(opened)
}
