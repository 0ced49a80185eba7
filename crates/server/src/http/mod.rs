//! Sockets: listening, one connection, and an end to endless patience.

mod connection;
mod listener;
mod patience;
mod peer;

pub(crate) use connection::{Guest, Manners, Purpose, serve};
pub use listener::Address;
pub(crate) use listener::{Accepted, Listener};
pub(crate) use peer::Peer;
