//! The closed form: Che's approximation of an LRU's hit ratio, from its first request on.
//!
//! An image stays in the cache for the *characteristic time* T after each use. T is the same for all images: the time
//! in which as many different images are requested as the cache has room for. A request at time t for an image of share
//! p is then a hit with probability 1 − exp(−p · min(t, T)), because the time since the start counts if it is shorter.
//! Times are counted in requests.

/// A number of images that are each requested with the same probability.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// The share of a single image in all requests.
    pub share: f64,
    /// The number of images in the class.
    pub count: f64,
}

/// A model of an LRU cache with limited room for images of these classes.
#[derive(Debug)]
pub struct Model<'a> {
    classes: &'a [Class],
    /// The characteristic time in requests, which is infinite if all images fit.
    time: f64,
}

impl<'a> Model<'a> {
    /// Creates the model of a cache with room for `room` images of these classes.
    pub fn new(classes: &'a [Class], room: f64) -> Self {
        let all: f64 = classes.iter().map(|class| class.count).sum();
        if all <= room {
            return Self {
                classes,
                time: f64::INFINITY,
            };
        }
        let within = |time: f64| -> f64 {
            let seen = |class: &Class| class.count * -(-class.share * time).exp_m1();
            classes.iter().map(seen).sum()
        };
        let mut high = 1.0;
        while within(high) < room {
            high *= 2.0;
        }
        let mut low = 0.0;
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            if within(middle) < room {
                low = middle;
            } else {
                high = middle;
            }
        }
        Self {
            classes,
            time: f64::midpoint(low, high),
        }
    }

    /// Returns the share of all requests that are for these classes, and the share of all requests that are for these
    /// classes and hit the cache. Both count the requests from time `from` to `until`, in requests since the start.
    pub fn requests_and_hits(&self, from: f64, until: f64) -> (f64, f64) {
        let span = until - from;
        let mut sums = (0.0, 0.0);
        for Class { share, count } in self.classes {
            // Until then, the time since the start is shorter than the characteristic time.
            let turn = self.time.clamp(from, until);
            let misses_before = ((-share * from).exp() - (-share * turn).exp()) / share;
            let misses_after = (until - turn) * (-share * self.time.min(until)).exp();
            let requests = count * share;
            sums.0 += requests;
            sums.1 += requests * (1.0 - (misses_before + misses_after) / span);
        }
        sums
    }

    /// Returns the share of all requests that are for these classes, and the share of all requests that are for these
    /// classes and hit the cache, after an infinite time.
    pub fn in_the_end(&self) -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        for Class { share, count } in self.classes {
            let requests = count * share;
            sums.0 += requests;
            sums.1 += requests * -(-share * self.time).exp_m1();
        }
        sums
    }
}

/// Number of bisection steps. The result is far more exact than the approximation itself.
const STEPS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zipf::shares;

    fn classes(alpha: f64, nodes: f64) -> Vec<Class> {
        let class = |share: f64| Class {
            share,
            count: 1.0 / nodes,
        };
        shares(200_000, alpha).into_iter().map(class).collect()
    }

    #[test]
    fn room_for_all_misses_each_image_once() {
        let classes = classes(0.9, 1.0);
        let model = Model::new(&classes, 1e9);
        let (requests, hits) = model.in_the_end();
        assert!((requests - 1.0).abs() < 1e-9 && (hits - 1.0).abs() < 1e-9);
        let until = 1e5;
        let (requests, hits) = model.requests_and_hits(0.0, until);
        let different: f64 = classes.iter().map(|it| -(-it.share * until).exp_m1()).sum();
        assert!((requests - hits - different / until).abs() < 1e-9);
    }

    #[test]
    fn a_small_cache_tends_to_its_end_and_more_room_has_more_hits() {
        let classes = classes(0.9, 1.0);
        let hits = |room| Model::new(&classes, room).in_the_end().1;
        assert!(hits(1000.0) < hits(2000.0) && hits(2000.0) < hits(20_000.0));
        let model = Model::new(&classes, 1000.0);
        let (_, late) = model.requests_and_hits(1e6, 2e6);
        assert!((late - hits(1000.0)).abs() < 1e-9);
        let (_, early) = model.requests_and_hits(0.0, 1000.0);
        assert!(early < late);
    }
}
