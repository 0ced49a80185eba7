//! Statistics as pure functions, without clock, files or global state. [`crate::analysis`] applies them to a run.
//!
//! The input is one value per block, never one per request: requests of a block are correlated, and thousands of them
//! make any drift "significant". Pairs of neighbouring blocks are compared by the logarithms of their ratios.

mod apart;
mod distributions;
mod holm;
mod load_average;
mod paired;
mod power;
mod rank_sum;
mod ranks;
mod signed_rank;
#[cfg(test)]
mod simulations;
mod spread;
mod steady;
mod theil_sen;
mod threshold;

pub use andon_client::{Random, median, quantile};
pub use apart::LogApart;
pub use distributions::{normal_cdf, t_cdf, t_quantile};
pub use holm::{Adjusted, holm};
pub use load_average::{Decay, undecayed};
pub use paired::{Interval, LogRatios};
pub use power::{
    pairs_for_half_width, pairs_to_detect, pairs_to_show_sameness, pairs_until_a_verdict,
};
pub use rank_sum::{RankSum, rank_sum};
pub use signed_rank::{HodgesLehmann, hodges_lehmann, signed_rank_p};
pub use spread::{Spread, compare_spreads};
pub use steady::{STEADY_BINS, steady};
pub use theil_sen::{Slope, theil_sen};
pub use threshold::{Count, LONG, Length, Level, Threshold, TrialOutcome};
