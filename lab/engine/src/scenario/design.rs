//! `[design]`: how blocks are laid out, when it is enough, what disqualifies a block. All of it is fixed before
//! the first result is seen.

use serde::{Deserialize, Serialize};

use super::{Seconds, Share};

/// The design of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Design {
    /// The order of blocks.
    pub order: BlockOrder,
    /// Length of the measured window.
    pub block: Seconds,
    /// When warm-up ends.
    pub warmup: WarmupRule,
    /// How many pairs.
    pub pairs: Pairs,
    /// Does the baseline also run against itself?
    pub aa: bool,
    /// The one metric that the verdict is about; the others are secondary.
    pub primary: Metric,
    /// Within this, two variants count as the same.
    pub same_within: Share,
    /// Signals that disqualify a block.
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

/// The order of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockOrder {
    /// Quads ABBA or BAAB by coin: linear drift cancels.
    #[default]
    AbbaRandom,
    /// Pairs AB or BA by coin.
    PairsRandom,
    /// All of A, then all of B: drift looks like an effect. Prints a warning.
    Sequential,
}

/// When warm-up ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WarmupRule {
    /// Not before.
    pub min: Seconds,
    /// At the latest then, steady or not.
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

/// How many pairs of blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pairs {
    /// At least; below six the signed-rank test cannot reach 5 %.
    pub min: u32,
    /// At most.
    pub max: u32,
    /// Enough when the interval of the primary metric is this narrow.
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

/// Half the width of the 95 % interval of the ratio; written `ci <= 2%`.
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

/// What is compared. One value per block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Good replies per second. More is better.
    #[default]
    Throughput,
    /// Median latency. Less is better, as for all that follow.
    P50,
    /// 90th percentile of latency.
    P90,
    /// 99th percentile of latency.
    P99,
    /// CPU seconds of the server's tree per good reply.
    CpuSPerRequest,
    /// Most resident memory of the server's tree.
    Rss,
}

/// Signals that disqualify a pair, whatever its result: it runs again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Discard {
    /// CPU stolen by other machines, of all CPUs.
    pub steal: Above,
    /// CPU used by others on this machine, of all CPUs.
    pub foreign_cpu: Above,
    /// Difference between the probe before and after, and from the run's median.
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

/// More than a share; written `> 5%`.
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

/// When `andon-lab gate` calls a run a regression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gate {
    /// Sentences: `primary slower than 5%`, `any INVALID`, `any SWITCH INACTIVE`, `any UNDECIDED`.
    pub fail: Vec<String>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            fail: vec!["primary slower than 5%".into(), "any INVALID".into()],
        }
    }
}
