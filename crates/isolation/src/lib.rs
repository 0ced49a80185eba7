//! Codecs that run in processes of their own.
//!
//! Code that cannot be bounded or interrupted from inside, most of it of others, reads strangers' files. Here it does so in
//! *worker processes*: each has one socket and the fonts and nothing else, no key, file, connection or other worker's bytes, and may call
//! nothing but what computing takes. What is sent is a codec's arguments, and what comes back its result: facts and samples,
//! which are checked against what was asked for. A worker that dies costs its own job.
//!
//! [`install`] makes of a list of codecs one of which the work is done so; the engine does not notice.
//!
//! # Where to begin
//!
//! | to … | open |
//! |---|---|
//! | change what runs in worker processes, and what those may do | `Codec::isolation`; `crates/isolation/` (`codec/` what is asked, `wire/` how it is written, `pool.rs` who has which worker, `confine/` what they may call); then `./dev bench fuse` |

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

/// Which codecs do their work in worker processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// Only codecs that [report third-party code](Codec::isolation), for the operations that run it.
    #[default]
    ThirdParty,
    /// All codecs.
    All,
}

/// The program's pool of worker processes, if it has one.
static INSTALLED: OnceLock<Arc<Pool>> = OnceLock::new();

/// Returns the pool that was passed to [`install`], if any.
#[must_use]
pub fn installed() -> Option<&'static Pool> {
    INSTALLED.get().map(|pool| &**pool)
}

/// Does the same as [`isolated`] with a pool that stays the program's own. If one is installed already, that is used
/// and the new one is dropped.
#[must_use]
pub fn install(
    codecs: &'static [&'static dyn Codec],
    pool: Arc<Pool>,
    which: Which,
) -> &'static [&'static dyn Codec] {
    isolated(codecs, INSTALLED.get_or_init(|| pool), which)
}

/// Returns the codecs, with those that `which` selects replaced by ones that do their work in the workers of `pool`.
/// They are never freed, so this should be called only once for a pool.
#[must_use]
pub fn isolated(
    codecs: &'static [&'static dyn Codec],
    pool: &'static Pool,
    which: Which,
) -> &'static [&'static dyn Codec] {
    let isolated = |codec: &&'static dyn Codec| -> &'static dyn Codec {
        let elsewhere = match which {
            Which::All => EVERYTHING,
            Which::ThirdParty => codec.isolation(),
        };
        match elsewhere == Isolation::default() {
            true => *codec,
            false => Box::leak(Box::new(codec::Isolated::new(*codec, pool, elsewhere))),
        }
    };
    Box::leak(codecs.iter().map(isolated).collect())
}

const EVERYTHING: Isolation = Isolation {
    writes: true,
    ..Isolation::READS
};
