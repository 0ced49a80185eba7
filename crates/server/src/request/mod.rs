//! What a request's head says: its route, the format it accepts, the copy it has, what it purges, whom it
//! gives way to.

pub mod conditional;
pub(crate) mod forwarded;
pub mod negotiation;
pub(crate) mod priority;
pub(crate) mod purge;
pub(crate) mod route;
