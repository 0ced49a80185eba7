//! `[design]`: the order of blocks, when the run ends, and what disqualifies a block. All of it is fixed before the
//! first result is seen.

use serde::{Deserialize, Serialize};

use super::{Seconds, Share};

/// The design of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Design {
    /// The order in which blocks run.
    pub order: BlockOrder,
    /// Length of a block's measured window.
    pub block: Seconds,
    /// The rule for ending the warm-up.
    pub warmup: WarmupRule,
    /// How many pairs of blocks are run.
    pub pairs: Pairs,
    /// Whether the baseline also runs against itself (A/A).
    pub aa: bool,
    /// The one metric that the verdict is about; the others are secondary.
    pub primary: Metric,
    /// Two variants count as the same if their ratio is shown to lie between 1 / (1 + this share) and 1 + this share.
    pub same_within: Share,
    /// Limits on noise measurements. A block that exceeds one of them does not count.
    pub discard: Discard,
}

impl Default for Design {
    fn default() -> Self {
        Self {
            order: BlockOrder::AbbaRandom,
            block: Seconds(5.0),
            warmup: WarmupRule::default(),
            pairs: Pairs::default(),
            aa: true,
            primary: Metric::Throughput,
            same_within: Share(0.03),
            discard: Discard::default(),
        }
    }
}

/// The order in which blocks of two variants A and B run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockOrder {
    /// Quads in the order ABBA or BAAB, chosen at random, in which linear drift cancels out.
    #[default]
    AbbaRandom,
    /// Pairs in the order AB or BA, chosen at random.
    PairsRandom,
    /// All blocks of A, then all blocks of B. Drift then looks like an effect, so a warning is printed.
    Sequential,
}

/// The rule for ending the warm-up of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WarmupRule {
    /// The warm-up does not end before this time.
    pub min: Seconds,
    /// The warm-up ends at this time at the latest, whether the server is steady or not.
    pub max: Seconds,
}

impl Default for WarmupRule {
    fn default() -> Self {
        Self {
            min: Seconds(0.5),
            max: Seconds(5.0),
        }
    }
}

/// How many pairs of blocks are run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pairs {
    /// Minimum number of pairs. With fewer than six, the signed-rank test cannot reach a p-value of 5 %.
    pub min: u32,
    /// Maximum number of pairs.
    pub max: u32,
    /// Stopping rule: the run ends when the confidence interval of the primary metric is this narrow.
    pub until: Until,
}

impl Default for Pairs {
    fn default() -> Self {
        Self {
            min: 6,
            max: 20,
            until: Until(Share(0.02)),
        }
    }
}

/// A stopping rule: the half width of the 95 % interval of the ratio, written `ci <= 2%`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Until(pub Share);

impl TryFrom<String> for Until {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let width = text.trim().strip_prefix("ci").map(str::trim_start);
        match width.and_then(|rest| rest.strip_prefix("<=")) {
            Some(share) => Share::parse(share).map(Self),
            None => Err(format!("`{text}` is not a stopping rule: write `ci <= 2%`")),
        }
    }
}

impl From<Until> for String {
    fn from(until: Until) -> Self {
        format!("ci <= {}", until.0)
    }
}

/// The quantity that is compared, with one value per block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Good replies per second. Higher is better.
    #[default]
    Throughput,
    /// Median latency in seconds. Lower is better, as for all other metrics except throughput.
    P50,
    /// 90th percentile of latency in seconds.
    P90,
    /// 99th percentile of latency in seconds.
    P99,
    /// CPU seconds of the server's process tree per good reply.
    CpuSPerRequest,
    /// Peak resident memory of the server's process tree in bytes.
    Rss,
}

/// Limits on noise measurements. A pair with a block that exceeds one of them is discarded, whatever its result, and
/// run again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Discard {
    /// CPU time taken by other virtual machines (steal), as a share of all CPUs.
    pub steal: Above,
    /// CPU time used by processes that are neither the server's nor the laboratory's, as a share of all CPUs.
    pub foreign_cpu: Above,
    /// How far the block's CPU probes deviate, as a share, from the median of the run's probes, or from each other
    /// while the run has fewer than six.
    pub probe: Above,
}

impl Default for Discard {
    fn default() -> Self {
        Self {
            steal: Above(Share(0.05)),
            foreign_cpu: Above(Share(0.10)),
            probe: Above(Share(0.10)),
        }
    }
}

/// An upper limit on a share, written `> 5%` in a scenario: a share above it exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Above(pub Share);

impl TryFrom<String> for Above {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.trim().strip_prefix('>') {
            Some(share) => Share::parse(share).map(Self),
            None => Err(format!("`{text}` is not a bound: write `> 5%`")),
        }
    }
}

impl From<Above> for String {
    fn from(above: Above) -> Self {
        format!("> {}", above.0)
    }
}

/// The conditions under which `andon-lab gate` calls a run a regression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gate {
    /// Conditions as sentences: `primary slower than 5%`, `any INVALID`, `any SWITCH INACTIVE`, `any UNDECIDED`.
    pub fail: Vec<String>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            fail: vec!["primary slower than 5%".into(), "any INVALID".into()],
        }
    }
}
