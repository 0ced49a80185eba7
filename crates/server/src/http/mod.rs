//! Sockets: listening, connection limits, socket timeouts, and the fast path for cached hits.

mod arrival;
mod connections;
mod control_frames;
mod fast_path;
mod fast_reply;
mod inherited;
mod listener;
mod proxy_protocol;
mod reply_memory;
mod send_file;
mod sending;
mod simple;
mod strict;
mod timeout_stream;
mod tls;

pub(crate) use arrival::Arrival;
pub(crate) use connections::{Ceilings, ConnectionSlot, Connections};
pub(crate) use control_frames::ControlFrames;
pub(crate) use fast_path::FastPath;
pub(crate) use fast_reply::{FastBody, FastResponder};
pub use inherited::Inherited;
pub use listener::Address;
pub(crate) use listener::{Accepted, Accepting, Listener, Wire};
pub(crate) use proxy_protocol::read_client;
pub(crate) use reply_memory::ReplyMemory;
pub(crate) use send_file::SendFile;
pub(crate) use sending::Sending;
pub(crate) use simple::{AfterReply, Simple};
pub(crate) use timeout_stream::{TimeoutStream, Waits};
pub(crate) use tls::{HTTP2, Tls};
