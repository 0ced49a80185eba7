//! A cache of finished results in memory, on disk and in a store that nodes share, and single-flight computation of
//! missing results.
//!
//! [`Cache`] stores finished results in memory and on disk, each within a size limit, and in a store that nodes share.
//! It computes how long each result may be used. [`Flights`] lets all callers that need the same missing result share
//! one computation. [`Table`] is a map in memory with a size limit, for everything else that is looked up by key. The
//! crate handles bytes only: it knows neither images nor HTTP.
//!
//! It makes these promises, each of which has a test:
//! - The bytes that are served are exactly the bytes that were stored, whatever a crash or the disk did in between.
//! - A purge takes effect at once and survives a restart.
//! - A wrong clock neither expires all entries nor makes any entry last for ever.
//! - A disk that is full, read-only or failing costs speed, but fails no request. The same is true of a shared store
//!   that is slow or cannot be reached, or to which others write.
//!
//! `notes.md` explains why the disk tier is not a library.
//!
//! # Where to begin
//!
//! | to … | open |
//! |---|---|
//! | change what is cached, for how long, and how it is purged | `crates/cache/` (`notes.md`: why the disk tier is our own), `crates/server/src/results/caching/` |

#![forbid(unsafe_code)]

mod clock;
mod deadline;
mod disk;
mod entry;
mod fields;
mod freshness;
mod key;
mod locks;
mod purge;
mod race;
mod sieve;
mod single_flight;
mod stats;
mod store;
mod table;
mod tiered;

pub use clock::{Clock, Moment, SystemClock};
pub use deadline::Deadline;
pub use disk::device::{Device, DirEntry, Files};
pub use disk::health::{DiskError, DiskErrorKind};
pub use entry::{Entry, Hit, Tier};
pub use freshness::{Freshness, Life};
pub use key::Key;
pub use purge::{Purged, Selector, Ticket};
pub use race::{Found, found_or_made};
pub use single_flight::{FlightError, FlightResult, Flights, Role};
pub use stats::{DiskStats, MemoryStats, Stats, StoreStats};
pub use store::StoreConfig;
pub use store::bucket::{Answer, Bucket, BucketError, MOST_BYTES, Object, Version};
pub use store::folder::FolderBucket;
pub use table::Table;
pub use tiered::{Cache, Config, DiskConfig};
