//! How many pairs of the run had to be discarded or failed.

use serde::Serialize;

use super::pairs::{contrasts, pairs};
use crate::record::{Block, ForeignProcess, Run};

/// The whole run is invalid if more than this share of its pairs were discarded or failed.
pub const TOO_MANY_DISCARDED: f64 = 0.30;

/// Pairs left out of the statistics because they were discarded or failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Discards {
    /// Number of pairs that ran; a repeated pair counts once for each attempt.
    pub tried: u32,
    /// Number of pairs with a disturbed block: a noise measurement exceeded a limit of the scenario
    /// (`[design.discard]`).
    pub discarded: u32,
    /// Number of pairs in which a server did not start, died, or was not the one that was started.
    pub failed: u32,
    /// Reasons for discarding, each with the number of blocks discarded for it.
    pub reasons: Vec<(String, u32)>,
    /// Processes that used the CPU in the disturbed blocks and belong neither to the server nor to the laboratory.
    /// Shares are of all CPUs, averaged over those blocks.
    pub disturbers: Vec<ForeignProcess>,
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
            match all.reasons.iter_mut().find(|(entry, _)| entry == reason) {
                Some((_, count)) => *count += 1,
                None => all.reasons.push((reason.clone(), 1)),
            }
        }
        let disturbed = run.blocks.iter().filter(|block| block.discarded.is_some());
        all.disturbers = disturbers(&disturbed.collect::<Vec<_>>());
        all
    }

    /// Returns the share of all attempted pairs that do not count, whether discarded or failed.
    #[must_use]
    pub fn share(&self) -> f64 {
        f64::from(self.discarded + self.failed) / f64::from(self.tried.max(1))
    }

    /// Returns why the whole run is invalid, or `None` if few enough pairs were lost.
    #[must_use]
    pub fn too_many(&self) -> Option<String> {
        (self.share() > TOO_MANY_DISCARDED).then(|| {
            let mut why = format!(
                "{} of {} pairs do not count ({} disturbed, {} failed): more than {:.0} %",
                self.discarded + self.failed,
                self.tried,
                self.discarded,
                self.failed,
                TOO_MANY_DISCARDED * 100.0
            );
            if let Some(by) = self.by() {
                why += &format!("; disturbed by {by} of all CPUs");
            }
            why
        })
    }

    /// Returns the disturbing processes as text, e.g. `rustc 41 %, python3 12 %`; `None` if none is known.
    #[must_use]
    pub fn by(&self) -> Option<String> {
        let names: Vec<String> = self.disturbers.iter().map(ToString::to_string).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

fn disturbers(blocks: &[&Block]) -> Vec<ForeignProcess> {
    let mut all: Vec<ForeignProcess> = Vec::new();
    for process in blocks.iter().flat_map(|block| &block.foreign) {
        match all.iter_mut().find(|entry| entry.name == process.name) {
            Some(entry) => {
                entry.share += process.share;
                entry.count = entry.count.max(process.count);
            }
            None => all.push(process.clone()),
        }
    }
    for it in &mut all {
        it.share /= blocks.len() as f64;
    }
    ForeignProcess::busiest(all, MOST_DISTURBERS)
}

/// Largest number of disturbing processes that are named.
const MOST_DISTURBERS: usize = 3;

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn who_disturbed_is_named_with_the_mean_share_over_the_disturbed_blocks() {
        let mut run = fixture::run(2, 6, |_| {});
        for (at, block) in run.blocks.iter_mut().enumerate() {
            let share = if at == 0 { 0.5 } else { 0.1 };
            block.foreign = vec![ForeignProcess {
                name: "rustc".into(),
                count: 2,
                share,
            }];
            if at < 2 {
                block.discarded = Some("foreign CPU > 10 %".into());
            }
        }
        let discards = Discards::of(&run);
        assert_eq!(discards.by().as_deref(), Some("rustc (2) 30 %"));
        run.blocks
            .iter_mut()
            .for_each(|block| block.discarded = Some("foreign CPU > 10 %".into()));
        let why = Discards::of(&run).too_many().expect("all of them");
        assert!(
            why.ends_with("disturbed by rustc (2) 12 % of all CPUs"),
            "{why}"
        );
    }

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
