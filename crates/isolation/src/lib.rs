//! Codecs that run in processes of their own.
//!
//! Code that cannot be bounded or interrupted from inside, most of it of others, reads strangers' files. Here it does so in
//! *worker processes*: each has one socket and nothing else, no key, file, connection or other worker's bytes, and may call
//! nothing but what computing takes. What is sent is a codec's arguments, and what comes back its result: facts and samples,
//! which are checked against what was asked for. A worker that dies costs its own job.
//!
//! [`install`] makes of a list of codecs one of which the work is done so; the engine does not notice.
//!
//! # Where to begin
//!
//! | to … | open |
//! |---|---|
//! | change what runs in worker processes, and what those may do | `Codec::foreign`; `crates/isolation/` (`codec.rs` what is asked, `wire/` how it is written, `pool.rs` who has which worker, `confine/` what they may call); then `./dev bench fuse` |

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

use andon_pixels::{Codec, Foreign};

use crate::facts::Facts;

pub use pool::{Counts, Death, Pool, Prepared, Settings};
pub use process::{AT_REST, BARE, Program, as_process};

/// Whose work is done in worker processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// That of codecs that [say so](Codec::foreign).
    #[default]
    ThirdParty,
    /// That of all codecs.
    All,
}

/// The pool of this program, if it has one.
static INSTALLED: OnceLock<Arc<Pool>> = OnceLock::new();

/// The pool that [`install`] was given.
#[must_use]
pub fn installed() -> Option<&'static Pool> {
    INSTALLED.get().map(|pool| &**pool)
}

/// The same as [`isolated`], with a pool that is the program's from now on. A second one is dropped.
#[must_use]
pub fn install(
    codecs: &'static [&'static dyn Codec],
    pool: Arc<Pool>,
    which: Which,
) -> &'static [&'static dyn Codec] {
    isolated(codecs, INSTALLED.get_or_init(|| pool), which)
}

/// Codecs of which some do their work in the workers of `pool`. They are never freed: to be called once for a pool.
#[must_use]
pub fn isolated(
    codecs: &'static [&'static dyn Codec],
    pool: &'static Pool,
    which: Which,
) -> &'static [&'static dyn Codec] {
    let isolated = |codec: &&'static dyn Codec| -> &'static dyn Codec {
        let elsewhere = match which {
            Which::All => EVERYTHING,
            Which::ThirdParty => codec.foreign(),
        };
        match elsewhere == Foreign::default() {
            true => *codec,
            false => Box::leak(Box::new(codec::Isolated {
                codec: *codec,
                pool,
                elsewhere,
                facts: Facts::default(),
            })),
        }
    };
    Box::leak(codecs.iter().map(isolated).collect())
}

const EVERYTHING: Foreign = Foreign {
    writes: true,
    ..Foreign::READS
};
