//! Sockets: listening, one connection, how many of them, and an end to endless patience.

mod connection;
mod crowd;
mod express;
mod listener;
mod patience;
mod peer;
mod sending;
mod simple;
mod strict;

pub(crate) use connection::{Guest, Manners, serve};
pub use crowd::Crowded;
pub(crate) use crowd::{Ceilings, Crowd, Ticket};
pub use listener::Address;
pub(crate) use listener::{Accepted, Listener};
pub(crate) use peer::Peer;
pub(crate) use simple::Simple;
