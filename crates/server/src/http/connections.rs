//! The open connections and their limits.
//!
//! There are two limits: on all connections, and on the connections of one client. When the first is reached, the
//! connection that has been idle longest is closed, so that neither idle nor half-open connections keep others out. A
//! few connections over a limit are accepted nevertheless. Each of them carries one request, which is answered if it is
//! for health or metrics, and otherwise rejected at once with 503.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::timeout_stream::Activity;
use crate::error::ConnectionLimit;
use crate::net::Peer;

/// Limits on the number of connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ceilings {
    pub(crate) connections: usize,
    /// Maximum number of connections of one client; 0 for as many as in total.
    pub(crate) per_client: usize,
}

impl Ceilings {
    /// Whether a client with `of_client` connections has reached its limit.
    fn are_reached(&self, of_client: usize) -> bool {
        self.per_client > 0 && of_client >= self.per_client
    }
}

/// The open connections.
#[derive(Debug, Default)]
pub(crate) struct Connections(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    next: u64,
    by_number: HashMap<u64, Connection>,
    /// Number of connections within the limits.
    within_limits: usize,
    /// Number of connections over a limit.
    excess: usize,
    /// Number of counted connections of each client that has any.
    clients: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct Connection {
    activity: Arc<Activity>,
    client: Option<IpAddr>,
    is_excess: bool,
}

/// An open connection, which is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    connections: Arc<Connections>,
    number: u64,
    pub(crate) activity: Arc<Activity>,
    /// The limit that the connection exceeds, if any.
    pub(crate) over_limit: Option<ConnectionLimit>,
}

/// What happened to a new connection, and whether an old one was closed for it.
#[derive(Debug)]
pub(crate) struct NewConnection {
    /// The slot of the new connection; `None` if it is over a limit, and the connections accepted over the limits have
    /// reached their maximum and are all busy.
    pub(crate) slot: Option<ConnectionSlot>,
    /// Whether an idle connection was closed to make room.
    pub(crate) closed_idle: bool,
}

impl Connections {
    /// Counts a new connection, closing an idle one for it if necessary. `client` is `None` if the connection carries
    /// requests of several clients, so that the limit per client does not apply.
    pub(crate) fn enter(
        self: &Arc<Self>,
        client: Option<Peer>,
        ceilings: &Ceilings,
    ) -> NewConnection {
        let mut open = self.lock();
        let client = client.and_then(client_of);
        let of_client = client.and_then(|client| open.clients.get(&client));
        let mut closed_idle = false;
        let over_limit = if of_client.is_some_and(|count| ceilings.are_reached(*count)) {
            Some(ConnectionLimit::Client)
        } else if open.within_limits >= ceilings.connections {
            closed_idle = open.make_room(false, SETTLING);
            (!closed_idle).then_some(ConnectionLimit::Server)
        } else {
            None
        };
        if over_limit.is_some() && open.excess >= MOST_EXCESS {
            closed_idle = open.make_room(true, Duration::ZERO);
            if !closed_idle {
                return NewConnection {
                    slot: None,
                    closed_idle,
                };
            }
        }
        let activity = Arc::<Activity>::default();
        let number = open.add(Connection {
            activity: activity.clone(),
            client,
            is_excess: over_limit.is_some(),
        });
        drop(open);
        let slot = ConnectionSlot {
            connections: self.clone(),
            number,
            activity,
            over_limit,
        };
        NewConnection {
            slot: Some(slot),
            closed_idle,
        }
    }

    /// Locks the connections. No code panics while it holds this lock, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionSlot {
    /// Whether all requests are answered on this connection, rather than a single one for health or metrics.
    pub(crate) fn is_within_limits(&self) -> bool {
        self.over_limit.is_none()
    }

    /// Ends the connection whose client has stalled longest (see [`Activity::stall_time`]), if that is at least
    /// `at_least`. Returns whether there was one.
    pub(super) fn end_stalled(&self, at_least: Duration) -> bool {
        self.connections.lock().end_stalled(at_least)
    }

    /// Counts the connection towards the limit of `peer`, the client that the proxy has named in a PROXY header.
    pub(crate) fn belongs_to(&mut self, peer: Peer, ceilings: &Ceilings) {
        let Some(client) = client_of(peer) else {
            return;
        };
        let Open {
            by_number, clients, ..
        } = &mut *self.connections.lock();
        let connection = by_number.get_mut(&self.number).filter(|it| !it.is_excess);
        let Some(connection) = connection else { return };
        let count = clients.entry(client).or_default();
        if ceilings.are_reached(*count) {
            self.over_limit = Some(ConnectionLimit::Client);
        }
        *count += 1;
        connection.client = Some(client);
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.lock().remove(self.number);
    }
}

impl Open {
    fn add(&mut self, connection: Connection) -> u64 {
        let number = self.next;
        self.next += 1;
        match connection.is_excess {
            true => self.excess += 1,
            false => {
                self.within_limits += 1;
                if let Some(client) = connection.client {
                    *self.clients.entry(client).or_default() += 1;
                }
            }
        }
        self.by_number.insert(number, connection);
        number
    }

    /// Removes a connection. Returns `None` if it was already closed in favour of another one.
    fn remove(&mut self, number: u64) -> Option<Connection> {
        let connection = self.by_number.remove(&number)?;
        if connection.is_excess {
            self.excess -= 1;
            return Some(connection);
        }
        self.within_limits -= 1;
        if let Some(client) = connection.client
            && let Some(count) = self.clients.get_mut(&client)
        {
            *count -= 1;
            if *count == 0 {
                self.clients.remove(&client);
            }
        }
        Some(connection)
    }

    /// Closes the connection that has been idle longest, if it has been idle for at least `at_least`: among those over
    /// a limit if `is_excess`, or else among those within the limits. Returns whether there was one. Scans all
    /// connections, which happens only at a limit.
    fn make_room(&mut self, is_excess: bool, at_least: Duration) -> bool {
        let longest = self
            .by_number
            .iter()
            .filter(|(_, connection)| connection.is_excess == is_excess)
            .filter_map(|(number, connection)| Some((connection.activity.idle_time()?, *number)))
            .max();
        match longest {
            Some((idle_time, number)) if idle_time >= at_least => {
                if let Some(connection) = self.remove(number) {
                    connection.activity.evict();
                }
                true
            }
            _ => false,
        }
    }

    /// Ends the connection whose client has stalled longest (see [`Activity::stall_time`]), if that is at least
    /// `at_least`. Returns whether there was one. Scans all connections, which happens only if memory is short.
    fn end_stalled(&mut self, at_least: Duration) -> bool {
        let candidates = self.by_number.iter().filter_map(|(number, connection)| {
            let stall_time = connection.activity.stall_time()?;
            (stall_time >= at_least).then_some((stall_time, *number))
        });
        let Some((_, number)) = candidates.max() else {
            return false;
        };
        if let Some(connection) = self.remove(number) {
            connection.activity.evict();
        }
        true
    }
}

/// Returns the address by which a client is counted. For IPv6 this is the /64 network, because each customer of a
/// network gets 2^64 addresses. Unix sockets belong to this machine and are not counted.
fn client_of(peer: Peer) -> Option<IpAddr> {
    match peer {
        Peer::Unix => None,
        Peer::Tcp(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            Some(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
        }
        Peer::Tcp(address) => Some(address),
    }
}

/// Maximum number of connections over the limits that are accepted.
const MOST_EXCESS: usize = 32;

/// Time that the request on a new connection may take to arrive, however far away the client is. Only connections idle
/// for longer are closed.
const SETTLING: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> Peer {
        Peer::Tcp([192, 0, 2, last].into())
    }

    fn ceilings(connections: usize, per_client: usize) -> Ceilings {
        Ceilings {
            connections,
            per_client,
        }
    }

    fn enter(connections: &Arc<Connections>, peer: Peer, ceilings: &Ceilings) -> ConnectionSlot {
        let entered = connections.enter(Some(peer), ceilings);
        entered.slot.expect("a place")
    }

    #[tokio::test(start_paused = true)]
    async fn one_client_takes_no_more_than_its_share() {
        let connections = Arc::<Connections>::default();
        let ceilings = ceilings(10, 2);
        let first = enter(&connections, peer(1), &ceilings);
        let _second = enter(&connections, peer(1), &ceilings);
        let third = enter(&connections, peer(1), &ceilings);
        assert_eq!(third.over_limit, Some(ConnectionLimit::Client));
        assert_eq!(enter(&connections, peer(2), &ceilings).over_limit, None);
        drop(first);
        assert_eq!(enter(&connections, peer(1), &ceilings).over_limit, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_network_of_ipv6_is_one_client_and_unix_sockets_are_none() {
        let connections = Arc::<Connections>::default();
        let ceilings = ceilings(10, 1);
        let v6 = |text: &str| Peer::Tcp(text.parse().unwrap());
        let _first = enter(&connections, v6("2001:db8::1"), &ceilings);
        let neighbour = enter(&connections, v6("2001:db8::ffff:2"), &ceilings);
        assert_eq!(neighbour.over_limit, Some(ConnectionLimit::Client));
        assert_eq!(
            enter(&connections, v6("2001:db8:0:1::1"), &ceilings).over_limit,
            None
        );
        let _unix = enter(&connections, Peer::Unix, &ceilings);
        assert_eq!(enter(&connections, Peer::Unix, &ceilings).over_limit, None);
    }

    #[tokio::test(start_paused = true)]
    async fn at_the_limit_the_longest_idle_is_closed_and_none_that_is_served() {
        let connections = Arc::<Connections>::default();
        let ceilings = ceilings(2, 0);
        let served = enter(&connections, peer(1), &ceilings);
        let answering = served.activity.answering();
        let idle = enter(&connections, peer(2), &ceilings);
        assert_eq!(
            enter(&connections, peer(3), &ceilings).over_limit,
            Some(ConnectionLimit::Server),
            "who has just come has not had its chance yet"
        );
        tokio::time::advance(SETTLING).await;
        let third = enter(&connections, peer(3), &ceilings);
        assert_eq!(third.over_limit, None);
        idle.activity.eviction().await;
        tokio::time::advance(SETTLING).await;
        drop((idle, answering));
        let fourth = enter(&connections, peer(4), &ceilings);
        assert_eq!(fourth.over_limit, None);
        third.activity.eviction().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_few_are_accepted_over_the_limit_and_the_newest_replaces_the_oldest() {
        let connections = Arc::<Connections>::default();
        let ceilings = ceilings(0, 0);
        let mut excess: Vec<_> = (0..MOST_EXCESS)
            .map(|_| enter(&connections, peer(1), &ceilings))
            .collect();
        tokio::time::advance(Duration::from_millis(1)).await;
        let last = connections.enter(Some(peer(2)), &ceilings);
        assert!(last.closed_idle && last.slot.is_some());
        drop(last);
        let busy: Vec<_> = excess
            .iter()
            .map(|slot| slot.activity.answering())
            .collect();
        excess.push(enter(&connections, peer(1), &ceilings));
        let _also_busy = excess.last().map(|slot| slot.activity.answering());
        assert!(connections.enter(Some(peer(2)), &ceilings).slot.is_none());
        drop((busy, excess));
        assert_eq!(connections.lock().by_number.len(), 0);
        assert_eq!(connections.lock().excess, 0);
    }
}
