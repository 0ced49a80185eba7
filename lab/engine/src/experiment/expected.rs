//! Estimate of an experiment's duration before it runs.

use crate::analysis::order;
use crate::scenario::{BlockOrder, Scenario};

/// Expected number of blocks and their duration, each as minimum and maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Number of blocks (minimum, maximum), without those that run again after a disturbance.
    pub blocks: (u32, u32),
    /// Seconds that a block takes (minimum, maximum); `None` if its window ends after a number of requests, since the
    /// server then decides.
    pub block_seconds: Option<(f64, f64)>,
}

impl Expected {
    /// Estimates a scenario with this many variants.
    #[must_use]
    pub fn of(scenario: &Scenario, variants: u32) -> Self {
        let design = &scenario.design;
        let blocks = |pairs: u32| {
            let mut design = design.clone();
            design.pairs.max = pairs;
            order(&design, variants, scenario.seed).len() as u32
        };
        let most = match design.order {
            BlockOrder::Sequential => design.pairs.min,
            BlockOrder::AbbaRandom | BlockOrder::PairsRandom => {
                design.pairs.max.max(design.pairs.min)
            }
        };
        let load = &scenario.load;
        let by_time = load.requests == 0 && load.loops == 0;
        Self {
            blocks: (blocks(design.pairs.min), blocks(most)),
            block_seconds: by_time.then(|| {
                let window = load.duration.unwrap_or(design.block).0 + load.ramp.0 + AROUND;
                let warmup = &design.warmup;
                (
                    window + warmup.min.0,
                    window + warmup.max.0.max(warmup.min.0),
                )
            }),
        }
    }

    /// Returns the seconds that all blocks take (minimum, maximum), or `None` if a block's duration cannot be
    /// estimated.
    #[must_use]
    pub fn seconds(&self) -> Option<(f64, f64)> {
        let (least, most) = self.block_seconds?;
        Some((
            least * f64::from(self.blocks.0),
            most * f64::from(self.blocks.1),
        ))
    }
}

/// Seconds that a block takes besides its load: CPU calibration, start and stop of a light server.
const AROUND: f64 = 0.3;

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(text: &str) -> Expected {
        let scenario = Scenario::parse(
            &format!("[server]\ncmd = ['server', '{{addr}}']\n{text}"),
            "/".as_ref(),
        );
        Expected::of(&scenario.expect("a scenario"), 2)
    }

    #[test]
    fn blocks_are_counted_from_the_least_pairs_to_the_most_with_the_baseline_again() {
        let text = "[design]\nblock = '2s'\nwarmup = { min = '1s', max = '2s' }\npairs = { min = 6, max = 20 }\n";
        let it = expected(text);
        // There are six to twenty pairs of two blocks, for the variant and for the baseline against itself.
        assert_eq!(it.blocks, (24, 80));
        let (least, most) = it.seconds().expect("by time");
        assert!(
            (79.0..80.0).contains(&least) && (343.0..345.0).contains(&most),
            "{least} {most}"
        );
    }

    #[test]
    fn a_window_of_so_many_requests_takes_as_long_as_the_server_does() {
        let it = expected("[load]\nrequests = 500\n[design]\naa = false\n");
        assert_eq!((it.blocks, it.seconds()), ((12, 40), None));
    }
}
