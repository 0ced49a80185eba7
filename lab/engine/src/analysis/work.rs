//! Whether two variants did the same work is judged elsewhere, by looking at the replies; this is the answer.

use serde::{Deserialize, Serialize};

use crate::scenario::{Check, Share};

/// One URL's replies of one variant, beside the baseline's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkJudgement {
    /// Index of the variant in the header.
    pub variant: u32,
    /// The target as sent.
    pub url: String,
    /// Do all replies, the baseline's too, compare as the variant's `expect` wants?
    pub same: bool,
    /// The figures: `13.6 KB vs 44.0 KB, SSIM 0.94 < 0.98`.
    pub detail: String,
    /// The variant's replies.
    pub replies: Counted,
    /// The baseline's; none for the baseline itself.
    pub baseline: Counted,
}

/// How many replies there were, and how many of them were wrong or differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// All of them.
    pub all: u64,
    /// Those that do not compare.
    pub wrong: u64,
}

impl Counted {
    /// The replies of both, added up.
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

/// What a variant's replies come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Differing<'a> {
    /// All replies, the baseline's too.
    pub replies: Counted,
    /// URLs with a wrong reply.
    pub urls: usize,
    /// URLs that were judged.
    pub of_urls: usize,
    /// The first with a wrong reply.
    pub first: &'a WorkJudgement,
    /// Are they no more than `check.bodies` permits?
    pub permitted: bool,
}

impl<'a> Differing<'a> {
    /// Of a variant; nothing where all replies are as they should be.
    #[must_use]
    pub fn of(work: &'a [WorkJudgement], variant: u32, check: &Check) -> Option<Self> {
        let judged = || work.iter().filter(move |it| it.variant == variant);
        let first = judged().find(|it| !it.same)?;
        let sum = |side: fn(&WorkJudgement) -> Counted| {
            judged().map(side).fold(Counted::default(), Counted::and)
        };
        let sides = [sum(|it| it.replies), sum(|it| it.baseline)];
        Some(Self {
            replies: sides[0].and(sides[1]),
            urls: judged().filter(|it| !it.same).count(),
            of_urls: judged().count(),
            first,
            // A side without a reply is another's objection.
            permitted: sides.iter().all(|side| side.is_within(check)),
        })
    }
}
