//! Sockets: listening, one connection, how many of them, and an end to endless patience.

mod crowd;
mod express;
mod listener;
mod patience;
mod sending;
mod simple;
mod strict;

pub(crate) use crowd::{Ceilings, Crowd, Ticket};
pub(crate) use express::{AtOnce, Express};
pub use listener::Address;
pub(crate) use listener::{Accepted, Listener};
pub(crate) use patience::{Patience, Waits};
pub(crate) use sending::Sending;
pub(crate) use simple::Simple;
