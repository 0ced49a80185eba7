//! Numbers that look random and are the same for the same seed: SplitMix64 (Steele, Lea, Flood 2014).

/// A generator. Fast and good enough for orders and arrivals; not for secrets.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 up to, without, 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From 0 up to, without, `end` (at least 1).
    pub(super) fn below(&mut self, end: usize) -> usize {
        // The bias of the remainder is below 2⁻⁴⁰ for any list that fits memory.
        (self.next() % end.max(1) as u64) as usize
    }
}
