//! Random numbers determined by a seed: SplitMix64 (Steele, Lea and Flood, 2014), whose sequence is the same on every
//! machine and in every version.

/// A random number generator whose sequence is determined by its seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator with this seed. Equal seeds give equal sequences.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns 64 uniformly distributed bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Returns a uniformly distributed integer from 0 up to, but not including, `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// Returns `true` or `false` with equal probability.
    pub fn coin(&mut self) -> bool {
        self.bits() >> 63 == 1
    }

    /// Returns a uniformly distributed number between 0 and 1, both excluded.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// Returns an exponentially distributed number with mean 1: the time between independent arrivals.
    pub fn exponential(&mut self) -> f64 {
        -self.unit().ln()
    }

    /// Returns a normally distributed number with mean 0 and standard deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Returns a Poisson-distributed number: how many independent events happen if `mean` are expected.
    pub fn events(&mut self, mean: f64) -> u64 {
        let (mut remainder, mut events) = (mean, 0);
        loop {
            remainder -= self.exponential();
            if remainder < 0.0 {
                return events;
            }
            events += 1;
        }
    }

    /// Shuffles a slice into a uniformly random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = (self.unit() * (last + 1) as f64) as usize;
            items.swap(last, other.min(last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        // The reference values of SplitMix64 for the seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn draws_have_their_means_and_spread() {
        let mut random = Random::new(3);
        let n = 20_000;
        let normals: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mean = normals.iter().sum::<f64>() / f64::from(n);
        let square = normals.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.05);
        let gaps = (0..n).map(|_| random.exponential()).sum::<f64>() / f64::from(n);
        assert!((gaps - 1.0).abs() < 0.03);
    }

    #[test]
    fn shuffling_keeps_every_item() {
        let mut items: Vec<u32> = (0..50).collect();
        Random::new(9).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
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
