//! Huffman tables for fast decoding: one look-up decodes a whole coefficient, or skips several whose values are not
//! needed.

mod codes;
mod pairs;
mod refinement;
mod skip;
mod table;
#[cfg(test)]
mod tests;

pub(super) use self::codes::Codes;
pub(super) use self::pairs::PairTable;
pub(super) use self::refinement::RefinementSymbols;
pub(super) use self::skip::SkipTable;
pub(super) use self::table::{END_OF_BLOCK, Meaning, Table};
