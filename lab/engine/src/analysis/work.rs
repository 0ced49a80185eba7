//! Whether the replies of two variants are equivalent, so that both did the same work. [`crate::bodies`] compares the
//! replies themselves.

use serde::{Deserialize, Serialize};

use crate::scenario::{Check, Share};

/// A variant's replies for one URL, compared with the baseline's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkJudgement {
    /// Index of the variant in the run's header.
    pub variant: u32,
    /// The request target as sent.
    pub url: String,
    /// Whether all replies, including the baseline's, compare as the variant's `expect` demands.
    pub same: bool,
    /// The details of the comparison, e.g. `13.6 KB vs 44.0 KB, SSIM 0.94 < 0.98`.
    pub detail: String,
    /// Counts of the variant's replies.
    pub replies: Counted,
    /// Counts of the baseline's replies; zero in the judgement of the baseline itself.
    pub baseline: Counted,
}

/// The number of replies, and how many of them were wrong or differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Number of all replies.
    pub all: u64,
    /// Number of replies that are wrong or differ from those that they are compared with.
    pub wrong: u64,
}

impl Counted {
    /// Returns the sum of both counts.
    #[must_use]
    pub fn and(self, more: Self) -> Self {
        Self {
            all: self.all + more.all,
            wrong: self.wrong + more.wrong,
        }
    }

    fn is_within(self, check: &Check) -> bool {
        let Share(least) = check.bodies.0;
        (self.all - self.wrong) as f64 >= least * self.all as f64
    }
}

/// Summary of a variant's replies over all URLs, if any of them is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Differing<'a> {
    /// Counts of all replies, including the baseline's.
    pub replies: Counted,
    /// Number of URLs with a wrong reply.
    pub urls: usize,
    /// Number of URLs that were judged.
    pub of_urls: usize,
    /// The first judgement with a wrong reply.
    pub first: &'a WorkJudgement,
    /// Whether the wrong replies are no more than `check.bodies` permits, for the variant and for the baseline.
    pub permitted: bool,
}

impl<'a> Differing<'a> {
    /// Summarizes the judgements of a variant; `None` if all replies are as they should be.
    #[must_use]
    pub fn of(work: &'a [WorkJudgement], variant: u32, check: &Check) -> Option<Self> {
        let judgements = || work.iter().filter(move |it| it.variant == variant);
        let first = judgements().find(|it| !it.same)?;
        let sum = |side: fn(&WorkJudgement) -> Counted| {
            judgements()
                .map(side)
                .fold(Counted::default(), Counted::and)
        };
        let sides = [sum(|it| it.replies), sum(|it| it.baseline)];
        Some(Self {
            replies: sides[0].and(sides[1]),
            urls: judgements().filter(|it| !it.same).count(),
            of_urls: judgements().count(),
            first,
            // A side without any reply raises an objection of its own.
            permitted: sides.iter().all(|side| side.is_within(check)),
        })
    }
}
