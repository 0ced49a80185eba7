//! The image server: one request from socket to socket.
//!
//! [`Server`] binds and runs; `handler` is one request read from top to bottom. What a request target
//! means and which files it needs is [`Resolver`]'s, which works without any socket: `render` and
//! `explain` on the command line use the very same. Sockets and files are tokio's; pixels are worked
//! on by a fixed set of threads behind a queue with an end (`admission`).
//!
//! The folders stand in layers, and each uses only those below its own: `tests/layers.rs` lists and checks them.

#![forbid(unsafe_code)]

mod admission;
pub mod config;
pub mod error;
mod handler;
mod http;
mod net;
mod operations;
pub mod origins;
mod permits;
mod prometheus;
mod request;
mod response;
mod results;
mod sandbox;
mod server;
mod sources;
mod trace;

pub use admission::{Counters, Gauges, calibration, kept_by_process, queue};
pub use config::{Config, ConfigError, Listen};
pub use error::{Cause, ConnectionLimit, Error, Rejection, Stuck, Threads};
pub use handler::{Filled, Filler, check, doors, warnings};
pub use http::{Address, Inherited};
pub use net::{Cidr, Guard};
pub use operations::logging::install as install_log;
pub use request::{conditional, negotiation};
pub use results::caching::tiers;
pub use sandbox::Sandbox;
pub use server::reload::Reloader;
pub use server::{Beat, Pulse, Server, runtime};
pub use sources::resolver::{OpenSource, Read, Resolver};
pub use sources::{geometry, materials, media_type, overlay_cache, rendering};
