//! The image server: one request from socket to socket.
//!
//! [`Server`] binds and runs; `handler` is one request read from top to bottom. What a request target
//! means and which files it needs is [`Resolver`]'s, which works without any socket: `render` and
//! `explain` on the command line use the very same. Sockets and files are tokio's; pixels are worked
//! on by a fixed set of threads behind a queue with an end (`admission`).
//!
//! The folders stand in layers, and each uses only those below its own: `tests/layers.rs` lists and checks them.
//!
//! # Where to begin
//!
//! | to … | open |
//! |---|---|
//! | change who is admitted, who is next, which memory is reserved | `crates/server/src/admission/` (`queue.rs` the order, `rules.rs` the limits, `shares.rs` the memory) |
//! | change when threads are taken for stuck, and what follows | `crates/server/src/admission/seats.rs` (workers), `sources/headers.rs` (readers of headers), `Maker::turns` (`/readyz`), `server/pulse.rs` (the watchdog) |
//! | change which heads of requests are refused before hyper reads them | `crates/server/src/http/strict.rs` |
//! | change which files of a folder are served | `crates/server/src/origins/folder.rs` (names), `sources/opening.rs` (content), `origins/beneath.rs` (links) |
//! | change what a configuration is refused for | `crates/server/src/config/` (its text), `handler/app.rs` `Opened` (what it names); `crates/settings/` (how it is said) |
//! | change the limits of connections, and which is closed first | `crates/server/src/http/connections.rs`; socket timeouts are in `timeout_stream.rs`, memory and floods of HTTP/2 in `reply_memory.rs` and `control_frames.rs` |
//! | change how cached hits and files are answered beneath hyper | `crates/server/src/http/fast_path.rs` and `arrival.rs` (when), `handler/fast_path.rs` (what); `tests/express.rs` compares both ways |
//! | change how large files are sent | `crates/server/src/http/send_file.rs` (by the system), `response/body.rs` (piece by piece) |
//! | see what is promised under load and in little memory | `docs/capacity.md`; `./dev bench rejections`, `overload`, `memory` (`--strict` fails); `tools/bench/src/work.rs`: how goodput counts |
//! | change a limit or a default | `crates/server/andon.default.toml` shows them, `crates/server/src/config/` holds them |
//! | change what an error says, or its status | `crates/pixels/src/error.rs`, `crates/server/src/error/` |
//! | change what is decoded once for several results | `crates/server/src/admission/shared_decode.rs`, `Codec::decode_at_once` |
//! | change when requests of low priority are made | `crates/server/src/results/making/idle.rs`, `request/priority.rs` |
//! | change which results are worth a place in the shared store | `crates/server/src/results/caching/worth.rs` |
//! | change when a client gets another format than the one it likes best | `crates/server/src/results/making/postponed.rs` |
//! | change which decoded frames are kept for further sizes | `crates/server/src/admission/frames.rs`, `Plan::decode_key` |
//! | read files from elsewhere | `crates/server/src/origins/` |
//! | take images by POST otherwise | `crates/server/src/handler/upload.rs`, `examples/` |
//! | add a metric | `crates/server/src/operations/metrics/`; the dashboard is `contrib/grafana/andon.json`, alerts are in `contrib/prometheus/` (`./dev alerts`) |
//! | change the live dashboard | `crates/server/src/handler/board/` (`scene.rs` is what it shows), `operations/history.rs`, `admission/seats.rs`, `handler/page/board.js`, `charts.js` and `alarms.js` |
//! | change the playground | `crates/server/src/handler/play/` (`words.rs` what its controls are made of), `handler/page/` (what browsers get); then `./dev browser-tests` |
//! | change what the log says, or how | `crates/server/src/operations/logging/`, `operations/access_log.rs`, `operations/entry.rs` |
//! | change what of a trace is read, logged and passed on | `crates/server/src/trace/` |
//! | change what is exported to an OpenTelemetry collector | `crates/server/src/operations/otlp/`, `config/otlp/` (cargo feature `otlp`); then `./dev protocols traces` |
//! | change how HTTPS and HTTP/2 are served | `crates/server/src/http/tls.rs` (certificates), `server/connection.rs` (protocols and their limits) |
//! | change which proxies are believed, and how | `crates/server/src/request/forwarded.rs` (headers), `http/proxy_protocol.rs` |
//! | take over sockets that listen already, or say when requests should go elsewhere | `crates/server/src/http/inherited.rs`, `handler/readiness.rs`; systemd is told in `crates/commands/src/serve.rs` |
//! | change what the server, or a worker thread, may open and call | `crates/server/src/sandbox/`; `docs/sandbox.md` says it to operators |
//! | know what a reload keeps, and what it changes in place | `crates/server/src/server/reload.rs`, `server/listeners.rs`, `handler/app.rs`, `permits.rs` |
//! | change which source files are in memory | `crates/server/src/sources/source_cache.rs` |

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
pub use sources::{geometry, media_type, overlay_cache, overlays, rendering};
