//! Results: their keys, where they are cached, and how they are made.
//!
//! The meaning of a target is remembered (`variant`), its result looked up by key (`caching`), and made if there is
//! none (`making`). ARCHITECTURE.md has a diagram of every cache on that way.

pub(crate) mod caching;
pub(crate) mod head;
pub(crate) mod making;
pub(crate) mod served_file;
pub(crate) mod variant;
