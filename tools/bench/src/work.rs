//! Makes loads with different mixes of images comparable, by weighting images with the work they take.
//!
//! A server that prefers light work under overload answers more requests than one that does not, without doing more
//! work. So every class of images (a photo and a range of sizes, or a file) has a price. It is the median of the time
//! for decoding, resizing and encoding that the server itself reported in `Server-Timing` while it was busy but not
//! overloaded. Goodput is the sum of the prices of the rendered images, per second, however long each response took.

use std::collections::HashMap;

use crate::stats::{mean, median};

/// Prices of image classes, in milliseconds of work.
pub(crate) struct Prices {
    classes: HashMap<usize, f64>,
    /// Price in ms of a class without measurements: the mean of all classes.
    mean: f64,
}

impl Prices {
    /// Computes the prices from pairs of a class and the milliseconds of work that one of its images took.
    pub(crate) fn of(samples: &[(usize, f64)]) -> Self {
        let mut times: HashMap<usize, Vec<f64>> = HashMap::new();
        for (class, millis) in samples {
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

    /// Returns the total work on images of these classes, in milliseconds: the sum of the classes' prices. A class
    /// counts as often as it occurs.
    pub(crate) fn sum(&self, classes: impl IntoIterator<Item = usize>) -> f64 {
        let price = |class| self.classes.get(&class).unwrap_or(&self.mean);
        classes.into_iter().map(price).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_light_images_are_worth_one_that_takes_ten_times_as_long() {
        let prices = Prices::of(&[(0, 1.0), (0, 1.0), (0, 50.0), (1, 10.0)]);
        assert!((prices.sum([0; 10]) - prices.sum([1])).abs() < 1e-9);
        assert!((prices.sum([7]) - 5.5).abs() < 1e-9);
    }
}
