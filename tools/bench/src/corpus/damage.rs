//! Copies of a file with a little damage, the same ones for the same seed.

/// A copy with one kind of damage: bits flipped, bytes overwritten, cut off, cut out, or doubled.
pub(super) fn damaged(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut dice = Dice(seed);
    let mut copy = bytes.to_vec();
    if copy.is_empty() {
        return copy;
    }
    let length = copy.len();
    let at = dice.below(length);
    let end = (at + 1 + dice.below(64)).min(length);
    match dice.below(6) {
        0 => copy[at] ^= 1 << dice.below(8),
        1 => {
            for _ in 0..1 + dice.below(32) {
                let at = dice.below(length);
                copy[at] ^= 1 << dice.below(8);
            }
        }
        2 => copy[at..end].fill([0x00, 0xff][dice.below(2)]),
        3 => copy.truncate(at),
        4 => drop(copy.drain(at..end)),
        _ => {
            let doubled = copy[at..end].to_vec();
            copy.splice(at..at, doubled);
        }
    }
    copy
}

/// SplitMix64 (Steele, Lea and Flood, 2014): small, and good enough for damage.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of `0..count`.
    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }
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
