//! Results: their keys, the caches for them, and how they are made.
//!
//! The meaning of a target is remembered (`variant`), its result is looked up by key (`caching`), and made if the
//! look-up finds none (`making`). ARCHITECTURE.md has a diagram of all caches on that way.

pub(crate) mod caching;
pub(crate) mod head;
pub(crate) mod making;
pub(crate) mod served_file;
pub(crate) mod variant;
