//! Network addresses: those of clients, and rules for those of origins.

mod peer;
mod private_net;

pub(crate) use peer::Peer;
pub use private_net::{Cidr, Guard};
