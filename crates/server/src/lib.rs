//! The image server: one request from socket to socket.
//!
//! [`Server`] binds and runs; `handler` is one request read from top to bottom. What a request target
//! means and which files it needs is [`Resolver`]'s, which works without any socket: `render` and
//! `explain` on the command line use the very same. Sockets and files are tokio's; pixels are worked
//! on by a fixed set of threads behind a queue with an end (`admission`).

#![forbid(unsafe_code)]

mod access_log;
mod admission;
mod app;
mod body;
mod cache_status;
mod caching;
mod clock;
pub mod conditional;
pub mod config;
mod cors;
mod desks;
pub mod error;
mod fetch;
mod handler;
mod http;
mod logging;
pub mod materials;
pub mod media_type;
mod metrics;
pub mod negotiation;
mod open_files;
pub mod origins;
mod permits;
mod purge;
mod ranges;
mod reload;
mod resolver;
mod response;
mod route;
mod server;
mod shelf;

pub use admission::{Cause, Counters, Gauges, Rejection};
pub use app::check;
pub use config::{Config, ConfigError, Listen};
pub use error::Error;
pub use http::{Address, Crowded};
pub use logging::install as install_log;
pub use reload::Reloader;
pub use resolver::{Found, Read, Resolver};
pub use server::{Server, runtime};
