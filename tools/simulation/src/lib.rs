//! A fleet of nodes on a virtual clock, which shows the effects of load balancing, a shared store, restarts and losses
//! for 1,000 nodes without renting any. `./dev simulate` runs it, and `docs/simulation.md` has its table.
//!
//! The server's own code makes all decisions of a node: [`andon_cache`] with all its parts (memory tier, purges, single
//! flight, the store that nodes share), and the queue and the calibration of [`andon_server`]. The surroundings are
//! simulated, each in a file: requests ([`zipf`]), the load balancer ([`ring`], [`balancer`]), the bucket ([`bucket`]),
//! worker threads, which sleep for as long as an image takes ([`workers`]), and the steps of the HTTP server from a
//! request to its result ([`node`]).
//!
//! [`hit_ratio`] needs no clock, and compares with a closed form ([`che`]). Everything else runs inside a
//! single-threaded tokio runtime with a paused clock, which the caller creates ([`scenario::Runtimes`]). [`table`] runs
//! all of it, and [`demand`] lists the requirements on the results.

#![forbid(unsafe_code)]

pub mod balancer;
pub mod bucket;
pub mod che;
pub mod demand;
pub mod fleet;
pub mod hit_ratio;
pub mod images;
mod locks;
pub mod lru;
pub mod node;
pub mod random;
pub mod report;
pub mod ring;
pub mod scenario;
pub mod table;
pub mod tally;
pub mod workers;
pub mod zipf;
