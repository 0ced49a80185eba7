//! Sockets: listening, one connection, and an end to endless patience.

mod connection;
mod listener;
mod patience;

pub(crate) use connection::{Manners, serve};
pub use listener::Address;
pub(crate) use listener::{Accepted, Listener};
