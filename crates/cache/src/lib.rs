//! Results kept, and computed once.
//!
//! [`Cache`] keeps finished results in memory and on disk, both within a number of bytes, and in a store that nodes
//! share, and knows how long each is good. [`Flights`] lets all who ask for the same missing result share one computation.
//! [`Table`] keeps anything else that is found again by key. Bytes only: nothing here knows an image or HTTP.
//!
//! The promises, each with its test: what is served is exactly what was stored, whatever crash or disk
//! did in between; a purge is effective at once and survives a restart; no clock set wrong expires
//! everything or keeps anything for ever; and a disk that is full, read-only or dying costs speed,
//! never an answer; and so does a store that is slow or away, and one that others write to. Why the disk tier is our own is told in `notes.md`.
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
