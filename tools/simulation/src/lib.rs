//! A fleet of nodes on a virtual clock: what load balancing, a shared store, restarts and losses come to for 1,000 nodes
//! that nobody has to rent. `./dev simulate` runs it, `docs/simulation.md` has its table.
//!
//! What a node decides is decided by the server's own code: [`andon_cache`] with all its parts (memory tier, purges,
//! single flight, the store that nodes share), and the queue and the calibration of [`andon_server`]. Simulated are the
//! things around it, each in a file: requests ([`zipf`]), the load balancer ([`ring`], [`balancer`]), the bucket
//! ([`bucket`]), worker threads, which sleep for as long as an image takes ([`workers`]), and the steps of the HTTP server
//! from a request to its result ([`node`]).
//!
//! [`hit_ratio`] needs no clock, and compares with a closed form ([`che`]). Everything else runs inside a tokio runtime
//! of one thread whose clock is paused, which the caller makes ([`scenario::Runtimes`]). [`table`] runs all of it, [`demand`] says what it has to come to.

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
