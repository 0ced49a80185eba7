//! Codecs that run in separate processes.
//!
//! Decoders and encoders process untrusted files, and most of them are third-party code that cannot be bounded or
//! interrupted from inside. This crate runs them in *worker processes*. A worker process has one socket and the fonts.
//! It has none of the server's secret keys, files and connections, and no data of other workers. Its system calls are
//! restricted to those that computing needs. The server sends the arguments of a codec's method and receives its
//! result: image properties and samples, which are checked against the request. If a worker dies, only its current job
//! fails.
//!
//! [`install`] takes a list of codecs and returns one with the same interface whose work is done in worker processes.
//!
//! # Where to begin
//!
//! | to … | open |
//! |---|---|
//! | change what runs in worker processes, and what those may do | `Codec::isolation`; `crates/isolation/` (`codec/` the calls, `wire/` their encoding, `pool.rs` the use of workers, `confine/` the permitted system calls); then `./dev bench fuse` |

#![forbid(unsafe_code)]

mod channel;
mod codec;
pub mod confine;
mod facts;
mod job;
mod pool;
mod process;
mod wire;

use std::sync::{Arc, OnceLock};

use andon_pixels::{Codec, Isolation};

pub use pool::{Counts, Death, Pool, Prepared, Settings};
pub use process::{AT_REST, BARE, Program, as_process, sealed};

/// Which codecs run in worker processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// Only codecs that [report third-party code](Codec::isolation), and of those only the operations that run it.
    #[default]
    ThirdParty,
    /// All codecs.
    All,
}

/// The process-wide pool of worker processes; empty until [`install`] is called.
static INSTALLED: OnceLock<Arc<Pool>> = OnceLock::new();

/// Returns the pool that was passed to [`install`], if any.
#[must_use]
pub fn installed() -> Option<&'static Pool> {
    INSTALLED.get().map(|pool| &**pool)
}

/// Makes `pool` the pool of the whole program and returns the codecs that run in it, as [`isolated`] does. If a pool is
/// installed already, that one is used and `pool` is dropped.
#[must_use]
pub fn install(
    codecs: &'static [&'static dyn Codec],
    pool: Arc<Pool>,
    which: Which,
) -> &'static [&'static dyn Codec] {
    isolated(codecs, INSTALLED.get_or_init(|| pool), which)
}

/// Returns the codecs, with those that `which` selects replaced by codecs that run in the workers of `pool`. The
/// returned codecs are never freed, so call this only once for a pool.
#[must_use]
pub fn isolated(
    codecs: &'static [&'static dyn Codec],
    pool: &'static Pool,
    which: Which,
) -> &'static [&'static dyn Codec] {
    let isolated = |codec: &&'static dyn Codec| -> &'static dyn Codec {
        let isolation = match which {
            Which::All => EVERYTHING,
            Which::ThirdParty => codec.isolation(),
        };
        match isolation == Isolation::default() {
            true => *codec,
            false => Box::leak(Box::new(codec::Isolated::new(*codec, pool, isolation))),
        }
    };
    Box::leak(codecs.iter().map(isolated).collect())
}

const EVERYTHING: Isolation = Isolation {
    writes: true,
    ..Isolation::READS
};
