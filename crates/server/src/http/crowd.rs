//! Everybody who is connected, and whether there is a place for one more.
//!
//! Two ceilings: connections in total, and those of one client. At the first, whoever has waited longest
//! without asking for anything makes room, so that neither idle connections nor half-open ones keep
//! anybody out. Who finds no seat even so may stand: one question is answered, and it had better be about
//! the server's health, for everything else is refused at once.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::patience::Attention;
use crate::error::Crowded;
use crate::net::Peer;

/// How many connections there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ceilings {
    pub(crate) connections: usize,
    /// Of one client; 0: as many as in total.
    pub(crate) per_client: usize,
}

/// Everybody who is connected.
#[derive(Debug, Default)]
pub(crate) struct Crowd(Mutex<Present>);

#[derive(Debug, Default)]
struct Present {
    next: u64,
    all: HashMap<u64, Member>,
    seats: usize,
    standing: usize,
    /// Seats of each client that has any.
    clients: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct Member {
    attention: Arc<Attention>,
    client: Option<IpAddr>,
    stands: bool,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Ticket {
    crowd: Arc<Crowd>,
    number: u64,
    pub(crate) attention: Arc<Attention>,
    /// Why there is no seat, if there is none.
    pub(crate) crowded: Option<Crowded>,
}

/// What became of those who were there, and of the one who came.
#[derive(Debug)]
pub(crate) struct Entered {
    /// Nothing when there is not even standing room.
    pub(crate) ticket: Option<Ticket>,
    /// Did somebody else have to go?
    pub(crate) made_room: bool,
}

impl Crowd {
    /// Finds a place for one more.
    pub(crate) fn enter(self: &Arc<Self>, peer: Peer, ceilings: &Ceilings) -> Entered {
        let mut present = self.lock();
        let client = client_of(peer);
        let of_client = client.and_then(|client| present.clients.get(&client));
        let mut made_room = false;
        let crowded = if ceilings.per_client > 0
            && of_client.is_some_and(|seats| *seats >= ceilings.per_client)
        {
            Some(Crowded::Client)
        } else if present.seats >= ceilings.connections {
            made_room = present.make_room(false, SETTLING);
            (!made_room).then_some(Crowded::House)
        } else {
            None
        };
        if crowded.is_some() && present.standing >= STANDING_ROOM {
            made_room = present.make_room(true, Duration::ZERO);
            if !made_room {
                return Entered {
                    ticket: None,
                    made_room,
                };
            }
        }
        let attention = Arc::<Attention>::default();
        let number = present.add(Member {
            attention: attention.clone(),
            client,
            stands: crowded.is_some(),
        });
        drop(present);
        let ticket = Ticket {
            crowd: self.clone(),
            number,
            attention,
            crowded,
        };
        Entered {
            ticket: Some(ticket),
            made_room,
        }
    }

    /// No code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Present> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// Is there a seat, and every question answered?
    pub(crate) fn is_seat(&self) -> bool {
        self.crowded.is_none()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.crowd.lock().remove(self.number);
    }
}

impl Present {
    fn add(&mut self, member: Member) -> u64 {
        let number = self.next;
        self.next += 1;
        match member.stands {
            true => self.standing += 1,
            false => {
                self.seats += 1;
                if let Some(client) = member.client {
                    *self.clients.entry(client).or_default() += 1;
                }
            }
        }
        self.all.insert(number, member);
        number
    }

    /// Whoever had to make room is gone already.
    fn remove(&mut self, number: u64) -> Option<Member> {
        let member = self.all.remove(&number)?;
        if member.stands {
            self.standing -= 1;
            return Some(member);
        }
        self.seats -= 1;
        if let Some(client) = member.client
            && let Some(seats) = self.clients.get_mut(&client)
        {
            *seats -= 1;
            if *seats == 0 {
                self.clients.remove(&client);
            }
        }
        Some(member)
    }

    /// Sends away who has waited longest, and for so long at least, without asking for anything. Looks
    /// at everybody, which is only done when the house is full.
    fn make_room(&mut self, stands: bool, at_least: Duration) -> bool {
        let longest = self
            .all
            .iter()
            .filter(|(_, member)| member.stands == stands)
            .filter_map(|(number, member)| Some((member.attention.waits()?, *number)))
            .max();
        match longest {
            Some((waits, number)) if waits >= at_least => {
                if let Some(member) = self.remove(number) {
                    member.attention.send_away();
                }
                true
            }
            _ => false,
        }
    }
}

/// Who counts as one. A network of IPv6 gives each of its customers 2^64 addresses. Unix sockets are
/// this machine's own.
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

/// Places of those who have no seat.
const STANDING_ROOM: usize = 32;

/// A request may take so long to follow its connection, however far away its client is.
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

    fn enter(crowd: &Arc<Crowd>, peer: Peer, ceilings: &Ceilings) -> Ticket {
        crowd.enter(peer, ceilings).ticket.expect("a place")
    }

    #[tokio::test(start_paused = true)]
    async fn one_client_takes_no_more_than_its_share() {
        let crowd = Arc::<Crowd>::default();
        let ceilings = ceilings(10, 2);
        let first = enter(&crowd, peer(1), &ceilings);
        let _second = enter(&crowd, peer(1), &ceilings);
        let third = enter(&crowd, peer(1), &ceilings);
        assert_eq!(third.crowded, Some(Crowded::Client));
        assert_eq!(enter(&crowd, peer(2), &ceilings).crowded, None);
        drop(first);
        assert_eq!(enter(&crowd, peer(1), &ceilings).crowded, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_network_of_ipv6_is_one_client_and_unix_sockets_are_none() {
        let crowd = Arc::<Crowd>::default();
        let ceilings = ceilings(10, 1);
        let v6 = |text: &str| Peer::Tcp(text.parse().unwrap());
        let _first = enter(&crowd, v6("2001:db8::1"), &ceilings);
        let neighbour = enter(&crowd, v6("2001:db8::ffff:2"), &ceilings);
        assert_eq!(neighbour.crowded, Some(Crowded::Client));
        assert_eq!(
            enter(&crowd, v6("2001:db8:0:1::1"), &ceilings).crowded,
            None
        );
        let _unix = enter(&crowd, Peer::Unix, &ceilings);
        assert_eq!(enter(&crowd, Peer::Unix, &ceilings).crowded, None);
    }

    #[tokio::test(start_paused = true)]
    async fn in_a_full_house_the_longest_idle_makes_room_and_nobody_who_is_served() {
        let crowd = Arc::<Crowd>::default();
        let ceilings = ceilings(2, 0);
        let served = enter(&crowd, peer(1), &ceilings);
        let answering = served.attention.answering();
        let idle = enter(&crowd, peer(2), &ceilings);
        assert_eq!(
            enter(&crowd, peer(3), &ceilings).crowded,
            Some(Crowded::House),
            "who has just come has not had its chance yet"
        );
        tokio::time::advance(SETTLING).await;
        let third = enter(&crowd, peer(3), &ceilings);
        assert_eq!(third.crowded, None);
        idle.attention.sent_away().await;
        tokio::time::advance(SETTLING).await;
        drop((idle, answering));
        let fourth = enter(&crowd, peer(4), &ceilings);
        assert_eq!(fourth.crowded, None);
        third.attention.sent_away().await;
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_standing_room_for_whoever_came_last() {
        let crowd = Arc::<Crowd>::default();
        let ceilings = ceilings(0, 0);
        let mut standing: Vec<_> = (0..STANDING_ROOM)
            .map(|_| enter(&crowd, peer(1), &ceilings))
            .collect();
        tokio::time::advance(Duration::from_millis(1)).await;
        let last = crowd.enter(peer(2), &ceilings);
        assert!(last.made_room && last.ticket.is_some());
        drop(last);
        let busy: Vec<_> = standing
            .iter()
            .map(|ticket| ticket.attention.answering())
            .collect();
        standing.push(enter(&crowd, peer(1), &ceilings));
        let _also_busy = standing.last().map(|ticket| ticket.attention.answering());
        assert!(crowd.enter(peer(2), &ceilings).ticket.is_none());
        drop((busy, standing));
        assert_eq!(crowd.lock().all.len(), 0);
        assert_eq!(crowd.lock().standing, 0);
    }
}
