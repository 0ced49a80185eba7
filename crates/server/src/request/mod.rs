//! What the head of a request determines: its route, the client's address, the accepted formats, conditions on the
//! client's copy, and priority; and the body of a purge request.

pub mod conditional;
pub(crate) mod forwarded;
pub mod negotiation;
pub(crate) mod priority;
pub(crate) mod purge;
pub(crate) mod route;
