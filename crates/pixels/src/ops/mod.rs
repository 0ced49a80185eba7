//! Effects and geometry, one file each.
