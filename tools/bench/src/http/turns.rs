//! Alternating measurements of two servers.

use anyhow::Result;

/// Runs each server `rounds` times in the order 0, 1, 1, 0 and returns the results. A machine whose speed drifts
/// affects both alike.
pub(super) fn in_turn<T>(
    rounds: usize,
    mut run: impl FnMut(usize) -> Result<T>,
) -> Result<[Vec<T>; 2]> {
    let mut runs = [Vec::new(), Vec::new()];
    for side in [0, 1, 1, 0].into_iter().cycle().take(2 * rounds) {
        runs[side].push(run(side)?);
    }
    Ok(runs)
}
