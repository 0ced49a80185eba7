//! Effects and geometry, one file each.

pub mod canvas;
mod lay;
pub mod turn;

use crate::stage::Op;

/// Every effect that a recipe can name.
pub const ALL: &[&dyn Op] = &[];
