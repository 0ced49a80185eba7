//! What the head of a request says: its route, the formats that it accepts, the copy that the client has, what it
//! purges, and its priority.

pub mod conditional;
pub(crate) mod forwarded;
pub mod negotiation;
pub(crate) mod priority;
pub(crate) mod purge;
pub(crate) mod route;
