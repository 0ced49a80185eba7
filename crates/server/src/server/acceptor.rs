//! Accepts connections, and has each served on an I/O thread.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::connection::{self, Preface, Responder};
use super::current::{Current, Generation};
use super::io_threads::{self, IoThreads};
use super::place::Place;
use crate::config::Listen;
use crate::handler::App;
use crate::http::{Accepted, Accepting, Arrival, Ceilings, ConnectionSlot, Listener};
use crate::net::Peer;

/// Accepts the connections of one listener and passes each to an I/O thread, which serves it.
pub(super) struct Acceptor {
    /// Number of the I/O thread that the acceptor runs on.
    pub(super) thread: usize,
    /// Whether every I/O thread has an acceptor for this address.
    pub(super) is_split: bool,
    pub(super) is_inherited: bool,
    pub(super) place: Place,
    pub(super) current: Arc<Current>,
    pub(super) io_threads: Arc<IoThreads>,
    pub(super) stopping: watch::Receiver<bool>,
}

impl Acceptor {
    /// Accepts connections until the acceptor is stopped. Returns when the last of its connections has ended.
    pub(super) async fn accept_all(self, listener: Listener) {
        let listener = match listener.attach() {
            Ok(listener) => listener,
            Err(error) => {
                let listen = &self.place.listen;
                tracing::error!(%listen, %error, "cannot wait for connections");
                return;
            }
        };
        let mut open = JoinSet::new();
        let mut stopping = self.stopping.clone();
        loop {
            let placement = tokio::select! {
                connection = accept(&listener, &self.place.listen) => self.place(&mut open, connection),
                _ = stopping.wait_for(|stopping| *stopping) => break,
                Some(_) = open.join_next(), if !open.is_empty() => continue,
            };
            match placement {
                Placement::Served => {}
                // A connection over the limit gets its response before the next one replaces it, and open connections are served
                // between new ones.
                Placement::OverLimit | Placement::Answered => tokio::task::yield_now().await,
            }
        }
        // Accept the connections already in the backlog before closing the listener, and no more than those:
        // new ones would keep it open for ever. An inherited socket keeps them for the next server.
        let last = if self.is_inherited {
            0
        } else {
            MOST_LAST_CONNECTIONS
        };
        for _ in 0..last {
            match tokio::time::timeout(LAST_LISTEN, accept(&listener, &self.place.listen)).await {
                Ok(connection) => self.place(&mut open, connection),
                Err(_) => break,
            };
        }
        drop(listener);
        while open.join_next().await.is_some() {}
    }

    /// Counts a connection and serves it on an I/O thread.
    fn place(&self, open: &mut JoinSet<()>, connection: Accepted) -> Placement {
        let Generation {
            app,
            connection_config,
        } = self.current.generation();
        let peer = connection.peer();
        let Some(slot) = self.slot(peer, &app, &connection_config.ceilings) else {
            app.metrics.rejected_connection();
            return Placement::OverLimit;
        };
        let placement = match slot.is_within_limits() {
            true => Placement::Served,
            false => Placement::OverLimit,
        };
        let open_guard = app.metrics.open_connection();
        let current = self.current.clone();
        let responder = Responder::new(peer, self.place.purpose, current, slot);
        let tls = match (self.place.is_tls, &app.tls) {
            (false, _) => None,
            (true, Some(tls)) => Some(tls.clone()),
            // A reload is about to close this address.
            (true, None) => return placement,
        };
        let is_proxied = self.place.is_proxied;
        let preface = Preface { is_proxied, tls };
        let Some(arrival) = self.arrival(&connection, &preface, &responder) else {
            io_threads::answered_on_arrival();
            return Placement::Answered;
        };
        let stopping = self.stopping.clone();
        let seat = self.io_threads.seat(self.thread, self.is_split);
        let seat_guard = seat.guard;
        let serving = async move {
            // Registering the stream with the reactor fails only if no file descriptors are left; the client then sees a
            // closed connection.
            match connection {
                Accepted::Tcp(stream, _) if preface.is_empty() => {
                    if let Ok(stream) = TcpStream::from_std(stream) {
                        let config = connection_config;
                        connection::serve(stream, arrival, responder, config, stopping).await;
                    }
                }
                connection => {
                    if let Ok(stream) = connection.try_into() {
                        let config = connection_config;
                        let serving =
                            connection::serve_other(stream, preface, responder, config, stopping);
                        // In a box, so that this future does not enlarge the tasks of plain TCP connections.
                        Box::pin(serving).await;
                    }
                }
            }
            drop((open_guard, seat_guard));
        };
        open.spawn_on(serving, seat.handle);
        placement
    }

    /// Reads what has arrived of a connection's first request, and answers the request if possible. Returns what is
    /// left to do, or `None` if nothing is. Reads nothing if a PROXY header or a TLS handshake comes first, or if this
    /// thread accepts the connections for several I/O threads.
    fn arrival(
        &self,
        connection: &Accepted,
        preface: &Preface,
        responder: &Responder,
    ) -> Option<Arrival> {
        // If a single thread accepts all connections, it leaves the work of such requests to the other threads.
        let is_shared_out = self.is_split || self.io_threads.count() == 1;
        match connection {
            Accepted::Tcp(stream, _) if preface.is_empty() && is_shared_out => {
                Arrival::of(stream, responder)
            }
            _ => Some(Arrival::default()),
        }
    }

    /// Counts a connection, and closes an idle one for it if necessary. Returns `None` for one that is not served.
    fn slot(&self, peer: Peer, app: &App, ceilings: &Ceilings) -> Option<ConnectionSlot> {
        let is_proxied = self.place.is_proxied;
        if is_proxied && !app.proxies.trusts(peer) {
            tracing::debug!(client = %peer, "not in proxy.trusted");
            return None;
        }
        // A proxy's connection carries requests of many clients, so it does not count as one client's.
        let client = (!is_proxied && !app.proxies.names_clients(peer)).then_some(peer);
        let new_connection = self.current.connections.enter(client, ceilings);
        if new_connection.closed_idle {
            app.metrics.closed_idle();
        }
        new_connection.slot
    }
}

/// The outcome of accepting a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placement {
    Served,
    /// The connection's only request was answered at once.
    Answered,
    OverLimit,
}

/// Accepts the next connection, and tries again after errors.
async fn accept(listener: &Accepting, listen: &Listen) -> Accepted {
    let mut has_failed = false;
    loop {
        match listener.accept().await {
            Ok(connection) => return connection,
            // The client left while it waited, or no file descriptors are left. Both are temporary.
            Err(error) => {
                if !std::mem::replace(&mut has_failed, true) {
                    tracing::warn!(address = %listen, %error, "cannot accept a connection; trying again");
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Maximum number of connections that are still accepted when a listener closes: as many as a usual backlog holds.
const MOST_LAST_CONNECTIONS: usize = 4096;

/// How long a closing listener waits for each further connection: long enough for the system to report those that are
/// waiting.
const LAST_LISTEN: Duration = Duration::from_millis(5);

const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
