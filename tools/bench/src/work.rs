//! Loads of different mixes, made comparable: images count by the work they take.
//!
//! A server that prefers light work when there is too much answers more requests than one that does not,
//! and does no more for it. So every class of images (a photograph and a range of sizes, or a file) has a
//! price: the median of what the server itself reported for it in `Server-Timing`, decoding, resizing and
//! encoding together, while it was busy and not overloaded. Goodput is the sum of the prices of what was
//! served, per second, whatever each reply took in the end.

use std::collections::HashMap;

use crate::stats::{mean, median};

/// Milliseconds of work per class.
pub(crate) struct Prices {
    classes: HashMap<usize, f64>,
    /// For a class that was never seen.
    mean: f64,
}

impl Prices {
    /// From classes and what images of them took, in milliseconds.
    pub(crate) fn of(seen: &[(usize, f64)]) -> Self {
        let mut times: HashMap<usize, Vec<f64>> = HashMap::new();
        for (class, millis) in seen {
            times.entry(*class).or_default().push(*millis);
        }
        let classes: HashMap<usize, f64> = times
            .into_iter()
            .map(|(class, times)| (class, median(&times)))
            .collect();
        Self {
            mean: mean(classes.values().copied()),
            classes,
        }
    }

    /// The work in images of these classes, in milliseconds.
    pub(crate) fn sum(&self, classes: impl IntoIterator<Item = usize>) -> f64 {
        let price = |class| self.classes.get(&class).unwrap_or(&self.mean);
        classes.into_iter().map(price).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_light_pictures_are_worth_one_that_takes_ten_times_as_long() {
        let prices = Prices::of(&[(0, 1.0), (0, 1.0), (0, 50.0), (1, 10.0)]);
        assert!((prices.sum([0; 10]) - prices.sum([1])).abs() < 1e-9);
        assert!((prices.sum([7]) - 5.5).abs() < 1e-9);
    }
}
