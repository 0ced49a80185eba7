//! Results: what they are called, where they are cached, and how they are made.
//!
//! A target's meaning is remembered (`known`), its result looked up by key (`caching`), and made if nobody has it
//! (`making`). ARCHITECTURE.md has a figure of every cache on that way.

pub(crate) mod caching;
pub(crate) mod head;
pub(crate) mod making;
mod recent;
pub(crate) mod served_file;
pub(crate) mod variant;
