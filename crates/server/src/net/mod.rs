//! Network addresses: of clients, and those that origins may have.

mod peer;
mod private_net;

pub(crate) use peer::Peer;
pub use private_net::{Cidr, Guard};
