//! Numbers that look random and are the same for the same seed.

/// A generator (SplitMix64): a counter that is scrambled.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of this seed.
    pub fn new(seed: u64) -> Self {
        Self(scramble(seed))
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        scramble(self.0)
    }

    /// A number from 0 up to, and without, `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.number()) * u128::from(end)) >> 64) as u64
    }

    /// A number from 0 up to, and without, 1.
    pub fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// How many independent events happen where `mean` are expected (Poisson).
    pub fn events(&mut self, mean: f64) -> u64 {
        // A product of uniform numbers underflows for large means, so those are counted in parts.
        let (mut left, mut events) = (mean, 0);
        while left > 0.0 {
            let part = left.min(LARGEST_PART);
            let end = (-part).exp();
            let mut product = self.unit();
            while product > end {
                product *= self.unit();
                events += 1;
            }
            left -= part;
        }
        events
    }
}

/// A number that has nothing to do with `number` and is always the same.
#[must_use]
pub fn scramble(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(GOLDEN);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
const LARGEST_PART: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_another_one_others() {
        let of = |seed| {
            let mut random = Random::new(seed);
            [(); 8].map(|()| random.below(1000))
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn as_many_events_happen_as_are_expected() {
        for mean in [0.3, 7.0, 250.0] {
            let mut random = Random::new(3);
            let sum: u64 = (0..4000).map(|_| random.events(mean)).sum();
            let error = sum as f64 / 4000.0 / mean - 1.0;
            assert!(error.abs() < 0.08, "{mean}: {error}");
        }
    }
}
