//! The distribution of requests over images: the image of rank r is requested with a probability proportional to 1 / r^α
//! (Zipf's law).

use crate::random::Random;

/// A table for drawing ranks in constant time (the alias method of Walker and Vose).
#[derive(Clone, Debug)]
pub struct Zipf {
    /// A threshold and a rank for each slot. A drawn number below the threshold yields the slot's own rank, any other
    /// number the rank stored here.
    slots: Vec<(u32, u32)>,
}

impl Zipf {
    /// Creates the table for these shares, which add up to 1.
    pub fn of(shares: &[f64]) -> Self {
        let count = shares.len() as f64;
        let mut left: Vec<f64> = shares.iter().map(|share| share * count).collect();
        let mut slots: Vec<(u32, u32)> = (0..shares.len() as u32)
            .map(|rank| (u32::MAX, rank))
            .collect();
        let (mut poor, mut rich): (Vec<usize>, Vec<usize>) =
            (0..shares.len()).partition(|rank| left[*rank] < 1.0);
        while let (Some(small), Some(large)) = (poor.pop(), rich.last().copied()) {
            slots[small] = ((left[small] * 4_294_967_296.0) as u32, large as u32);
            left[large] -= 1.0 - left[small];
            if left[large] < 1.0 {
                rich.pop();
                poor.push(large);
            }
        }
        // The remaining shares are 1 except for rounding errors: such a slot belongs to its own rank only.
        Self { slots }
    }

    /// Draws a rank, from 0.
    pub fn draw(&self, random: &mut Random) -> u32 {
        let number = random.bits();
        let slot = ((number >> 32) * self.slots.len() as u64) >> 32;
        let (threshold, other) = self.slots[slot as usize];
        if (number as u32) < threshold {
            slot as u32
        } else {
            other
        }
    }
}

/// Returns the share of each of `count` ranks in all requests, by Zipf's law with the exponent `alpha`.
#[must_use]
pub fn shares(count: usize, alpha: f64) -> Vec<f64> {
    let mut shares: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-alpha)).collect();
    let sum: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_drawn_as_often_as_their_shares_say() {
        let shares = shares(1000, 0.9);
        let (zipf, mut random) = (Zipf::of(&shares), Random::new(1));
        let mut drawn = vec![0u32; shares.len()];
        let all = 1_000_000;
        for _ in 0..all {
            drawn[zipf.draw(&mut random) as usize] += 1;
        }
        for rank in [0, 1, 9, 99] {
            let share = f64::from(drawn[rank]) / f64::from(all);
            assert!((share / shares[rank] - 1.0).abs() < 0.08, "rank {rank}");
        }
        let tail: u32 = drawn[500..].iter().sum();
        let expected: f64 = shares[500..].iter().sum();
        assert!((f64::from(tail) / f64::from(all) / expected - 1.0).abs() < 0.02);
    }

    #[test]
    fn the_hottest_of_five_million_have_the_shares_of_the_model() {
        for (alpha, hottest, hundred) in
            [(0.7, 0.003, 0.03), (0.9, 0.027, 0.17), (1.0, 0.062, 0.32)]
        {
            let shares = shares(5_000_000, alpha);
            let top: f64 = shares[..100].iter().sum();
            assert!((shares[0] - hottest).abs() < 0.001, "{}", shares[0]);
            assert!((top - hundred).abs() < 0.01, "{top}");
        }
    }
}
