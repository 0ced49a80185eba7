//! The image server of Andon: answers HTTP requests for resized and converted images.
//!
//! [`Server`] listens on its addresses, and `handler` processes one request from beginning to end. [`Resolver`]
//! determines what a request target means and which files it needs. It needs no socket, so `render` and `explain` on
//! the command line use it as well. Sockets and files are read and written with tokio, while pixels are processed by a
//! fixed set of worker threads behind a bounded queue (`admission`).
//!
//! The folders form layers, and each folder uses only those in layers below its own: `tests/layers.rs` lists and checks
//! them.
//!
//! # Where to begin
//!
//! | to … | open |
//! |---|---|
//! | change which requests are admitted, their order, and the memory that is reserved | `crates/server/src/admission/` (`queue.rs` the order, `rules.rs` the limits, `shares.rs` the memory) |
//! | change when threads count as stuck, and the consequences | `crates/server/src/admission/seats.rs` (workers), `sources/headers.rs` (readers of headers), `Maker::turns` (`/readyz`), `server/pulse.rs` (the watchdog) |
//! | change which heads of requests are refused before hyper reads them | `crates/server/src/http/strict.rs` |
//! | change which files of a folder are served | `crates/server/src/origins/folder.rs` (names), `sources/opening.rs` (content), `origins/beneath.rs` (links) |
//! | change why a configuration is refused | `crates/server/src/config/` (its text), `handler/app.rs` `Opened` (what it names); `crates/settings/` (how errors are reported) |
//! | change the limits of connections, and which connection is closed first | `crates/server/src/http/connections.rs`; socket timeouts are in `timeout_stream.rs`, memory and floods of HTTP/2 in `reply_memory.rs` and `control_frames.rs` |
//! | change how cached hits and files are answered below hyper | `crates/server/src/http/fast_path.rs` and `arrival.rs` (when), `handler/fast_path.rs` (what); `tests/express.rs` compares both ways |
//! | change how large files are sent | `crates/server/src/http/send_file.rs` (by the system), `response/body.rs` (piece by piece) |
//! | see the guarantees under load and with little memory | `docs/capacity.md`; `./dev bench rejections`, `overload`, `memory` (with `--strict`, a missed goal is an error); `tools/bench/src/work.rs`: how goodput counts |
//! | change a limit or a default | `crates/server/andon.default.toml` shows them, `crates/server/src/config/` holds them |
//! | change what an error says, or its status | `crates/pixels/src/error.rs`, `crates/server/src/error/` |
//! | change which images are decoded once for several results | `crates/server/src/admission/shared_decode.rs`, `ManyScales::decode_at_once` |
//! | change when requests of low priority are made | `crates/server/src/results/making/idle.rs`, `request/priority.rs` |
//! | change which results are written to the shared store | `crates/server/src/results/caching/worth.rs` |
//! | change when a client gets a format other than the one it prefers | `crates/server/src/results/making/postponed.rs` |
//! | change which decoded frames are cached for further sizes | `crates/server/src/admission/frames.rs`, `Plan::decode_key` |
//! | add a kind of origin | `crates/server/src/origins/` |
//! | change how images are uploaded by POST | `crates/server/src/handler/upload.rs`, `examples/` |
//! | add a metric | `crates/server/src/operations/metrics/`; the dashboard is `contrib/grafana/andon.json`, alerts are in `contrib/prometheus/` (`./dev alerts`) |
//! | change the live dashboard | `crates/server/src/handler/board/` (`scene.rs` is what it shows), `operations/history.rs`, `admission/seats.rs`, `handler/page/board.js`, `charts.js` and `alarms.js` |
//! | change the playground | `crates/server/src/handler/play/` (`words.rs` what its controls are made of), `handler/page/` (what browsers get); then `./dev browser-tests` |
//! | change the content or the format of the log | `crates/server/src/operations/logging/`, `operations/access_log.rs`, `operations/entry.rs` |
//! | change what of a trace is read, logged and passed on | `crates/server/src/trace/` |
//! | change what is exported to an OpenTelemetry collector | `crates/server/src/operations/otlp/`, `config/otlp/` (cargo feature `otlp`); then `./dev protocols traces` |
//! | change how HTTPS and HTTP/2 are served | `crates/server/src/http/tls.rs` (certificates), `server/connection.rs` (protocols and their limits) |
//! | change which proxies are trusted, and how | `crates/server/src/request/forwarded.rs` (headers), `http/proxy_protocol.rs` |
//! | take over sockets that listen already, or say when requests should go elsewhere | `crates/server/src/http/inherited.rs`, `handler/readiness.rs`; systemd is notified in `crates/commands/src/serve.rs` |
//! | change what the server, or a worker thread, may open and call | `crates/server/src/sandbox/`; `docs/sandbox.md` is the documentation for operators |
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
