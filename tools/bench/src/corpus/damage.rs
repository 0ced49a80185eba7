//! Copies of a file with a little damage. The same seed gives the same damage.

use andon_client::Random;

/// Returns a copy with one kind of damage: bits flipped, bytes overwritten, the end cut off, or a part cut out or
/// doubled.
pub(super) fn damaged(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut below = |count: usize| random.below(count as u64) as usize;
    let mut copy = bytes.to_vec();
    if copy.is_empty() {
        return copy;
    }
    let length = copy.len();
    let at = below(length);
    let end = (at + 1 + below(64)).min(length);
    match below(6) {
        0 => copy[at] ^= 1 << below(8),
        1 => {
            for _ in 0..1 + below(32) {
                let at = below(length);
                copy[at] ^= 1 << below(8);
            }
        }
        2 => copy[at..end].fill([0x00, 0xff][below(2)]),
        3 => copy.truncate(at),
        4 => drop(copy.drain(at..end)),
        _ => {
            let doubled = copy[at..end].to_vec();
            copy.splice(at..at, doubled);
        }
    }
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_repeatable_and_changes_nearly_every_copy() {
        let bytes: Vec<u8> = (0..=255).collect();
        let copies: Vec<_> = (0..200).map(|seed| damaged(&bytes, seed)).collect();
        assert_eq!(copies[7], damaged(&bytes, 7));
        // Overwriting zeros with zeros changes nothing.
        assert!(copies.iter().filter(|copy| **copy != bytes).count() > 190);
    }

    #[test]
    fn nothing_and_one_byte_can_be_damaged() {
        for seed in 0..200 {
            assert!(damaged(&[], seed).is_empty());
            damaged(&[1], seed);
        }
    }
}
