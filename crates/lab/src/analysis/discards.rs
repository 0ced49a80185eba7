//! How much of the run had to be thrown away.

use serde::Serialize;

use super::pairs::{contrasts, pairs};
use crate::record::Run;

/// A larger share of pairs lost than this makes the whole run invalid.
pub const TOO_MANY_DISCARDED: f64 = 0.30;

/// Pairs that do not count.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Discards {
    /// Pairs that ran, every try counted.
    pub tried: u32,
    /// Those in which a block was disturbed, by a signal declared beforehand.
    pub discarded: u32,
    /// Those in which a server did not start, died, or was not ours.
    pub failed: u32,
    /// Reasons for discarding, each with how many blocks it met.
    pub reasons: Vec<(String, u32)>,
}

impl Discards {
    pub(super) fn of(run: &Run) -> Self {
        let mut all = Self::default();
        for contrast in contrasts(run) {
            for pair in pairs(run, contrast) {
                all.tried += 1;
                all.failed += u32::from(!pair.measured());
                all.discarded += u32::from(pair.measured() && !pair.counts());
            }
        }
        for reason in run
            .blocks
            .iter()
            .filter_map(|block| block.discarded.as_ref())
        {
            match all.reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, count)) => *count += 1,
                None => all.reasons.push((reason.clone(), 1)),
            }
        }
        all
    }

    /// Share of all tries that do not count, for either reason.
    #[must_use]
    pub fn share(&self) -> f64 {
        f64::from(self.discarded + self.failed) / f64::from(self.tried.max(1))
    }

    /// Why the whole run is invalid, if it is.
    #[must_use]
    pub fn too_many(&self) -> Option<String> {
        (self.share() > TOO_MANY_DISCARDED).then(|| {
            format!(
                "{} of {} pairs do not count ({} disturbed, {} failed): more than {:.0} %",
                self.discarded + self.failed,
                self.tried,
                self.discarded,
                self.failed,
                TOO_MANY_DISCARDED * 100.0
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn a_third_of_all_pairs_is_too_many_and_a_quarter_is_not() {
        let lost = |pairs: u32| {
            let mut run = fixture::run(2, 12, |_| {});
            for block in &mut run.blocks {
                if block.pair < pairs {
                    block.discarded = Some("steal".into());
                }
            }
            Discards::of(&run)
        };
        // 24 pairs: twelve with the variant, twelve with the baseline itself.
        let quarter = lost(6);
        assert_eq!(
            (quarter.tried, quarter.discarded, quarter.failed),
            (24, 6, 0)
        );
        assert_eq!(quarter.too_many(), None);
        assert_eq!(quarter.reasons, [("steal".to_owned(), 12)]);
        assert!(
            lost(8)
                .too_many()
                .is_some_and(|why| why.contains("8 of 24"))
        );
    }
}
