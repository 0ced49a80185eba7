//! The order in which blocks run, fixed by the seed before the first of them.
//!
//! Every variant, and the baseline once more for the A/A arm, has its own pairs, each with its own neighbouring
//! baseline block, so that changes of the machine over time affect both blocks of a pair alike. This costs a baseline
//! block per variant and pair, and ensures that no comparison spans more than two blocks.

use serde::{Deserialize, Serialize};

use crate::record::Arm;
use crate::scenario::{BlockOrder, Design};
use crate::stats::Random;

/// A place in the order of a run, for one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// Number that the two blocks of a pair share. They run one after the other, except in sequential order.
    pub pair: u32,
    /// The block's part in its pair.
    pub arm: Arm,
    /// Index of the block's variant in the run's header.
    pub variant: u32,
}

/// Returns all blocks that a run may need, in order; [`super::enough`] usually ends the run earlier. `variants` counts
/// the baseline, too. Each variant, and the baseline itself as the A/A arm, is compared with the baseline.
///
/// - ABBA: in each round, each comparison, in random order, gets a quad (two pairs), ABBA or BAAB at random.
/// - Pairs: in each round, each comparison, in random order, gets a pair, AB or BA at random.
/// - Sequential: `pairs.min` blocks of each arm, one arm after the other; the n-th blocks of the arms form a pair.
///   Stopping on precision is not possible, since the last arm comes last.
/// - Nothing to compare (one variant, no A/A arm): `pairs.min` blocks.
#[must_use]
pub fn order(design: &Design, variants: u32, seed: u64) -> Vec<Slot> {
    let mut contrasts: Vec<(Arm, u32)> = (1..variants).map(|at| (Arm::Variant, at)).collect();
    if design.aa {
        contrasts.push((Arm::Again, 0));
    }
    if contrasts.is_empty() || design.order == BlockOrder::Sequential {
        return sequential(&contrasts, design.pairs.min);
    }
    let quads = design.order == BlockOrder::AbbaRandom;
    let per_round = if quads { 2 } else { 1 };
    let rounds = design.pairs.max.max(design.pairs.min).div_ceil(per_round);
    let mut random = Random::new(seed);
    let mut slots = Vec::new();
    for _ in 0..rounds {
        random.shuffle(&mut contrasts);
        for &contrast in &contrasts {
            let baseline_first = random.coin();
            for second_half in [false, true].into_iter().take(per_round as usize) {
                let pair = slots.len() as u32 / 2;
                slots.extend(pair_of(pair, contrast, baseline_first != second_half));
            }
        }
    }
    slots
}

fn pair_of(pair: u32, (arm, variant): (Arm, u32), baseline_first: bool) -> [Slot; 2] {
    let baseline = Slot {
        pair,
        arm: Arm::Baseline,
        variant: 0,
    };
    let other = Slot { pair, arm, variant };
    if baseline_first {
        [baseline, other]
    } else {
        [other, baseline]
    }
}

fn sequential(contrasts: &[(Arm, u32)], pairs: u32) -> Vec<Slot> {
    let arms = [(Arm::Baseline, 0)]
        .into_iter()
        .chain(contrasts.iter().copied());
    arms.flat_map(|(arm, variant)| (0..pairs).map(move |pair| Slot { pair, arm, variant }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Pairs;

    fn design(order: BlockOrder, min: u32, max: u32) -> Design {
        Design {
            order,
            pairs: Pairs {
                min,
                max,
                ..Pairs::default()
            },
            ..Design::default()
        }
    }

    /// Writes slots as letters: `A` for the baseline, `B`, `C`… for variants, `a` for the A/A arm.
    fn letters(slots: &[Slot]) -> String {
        let letter = |slot: &Slot| match slot.arm {
            Arm::Again => 'a',
            Arm::Baseline | Arm::Variant => char::from(b'A' + slot.variant as u8),
        };
        slots.iter().map(letter).collect()
    }

    #[test]
    fn quads_are_abba_or_baab_by_coin_and_contrasts_take_turns() {
        let text = letters(&order(&design(BlockOrder::AbbaRandom, 6, 20), 2, 7));
        assert_eq!(text.len(), 80);
        let quads: Vec<&str> = (0..20).map(|at| &text[at * 4..at * 4 + 4]).collect();
        for round in quads.chunks(2) {
            let again = round.iter().filter(|quad| quad.contains('a')).count();
            assert_eq!(again, 1, "{text}");
        }
        let both = ["ABBA", "BAAB", "AaaA", "aAAa"];
        assert!(quads.iter().all(|quad| both.contains(quad)), "{text}");
        assert!(both.iter().all(|kind| quads.contains(kind)), "{text}");
    }

    #[test]
    fn pairs_are_neighbours_with_numbers_of_their_own() {
        for kind in [BlockOrder::AbbaRandom, BlockOrder::PairsRandom] {
            let slots = order(&design(kind, 6, 5), 3, 1);
            for (at, pair) in slots.chunks(2).enumerate() {
                assert!(pair.iter().all(|slot| slot.pair == at as u32));
                assert_eq!(
                    pair.iter().filter(|slot| slot.arm == Arm::Baseline).count(),
                    1
                );
            }
            // There are three contrasts with six pairs each.
            assert_eq!(slots.len(), 36);
        }
    }

    #[test]
    fn the_seed_fixes_it() {
        let design = design(BlockOrder::AbbaRandom, 6, 20);
        assert_eq!(order(&design, 3, 5), order(&design, 3, 5));
        assert_ne!(order(&design, 3, 5), order(&design, 3, 6));
    }

    #[test]
    fn sequential_runs_one_arm_after_the_other() {
        let slots = order(&design(BlockOrder::Sequential, 3, 20), 2, 1);
        assert_eq!(letters(&slots), "AAABBBaaa");
        let numbers: Vec<u32> = slots.iter().map(|slot| slot.pair).collect();
        assert_eq!(numbers, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn alone_there_is_nothing_to_pair() {
        let mut design = design(BlockOrder::AbbaRandom, 4, 20);
        design.aa = false;
        assert_eq!(letters(&order(&design, 1, 1)), "AAAA");
    }
}
