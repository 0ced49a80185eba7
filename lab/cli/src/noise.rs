//! `andon-lab noise`: measures how noisy this machine is, and how many pairs of blocks an effect therefore needs.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use andon_lab::load::null::NullResponder;
use andon_lab::load::{self, Drive, RequestTemplate, Window};
use andon_lab::sample::{ClientThreads, spin};
use andon_lab::scenario::{BodyCheck, Check, Load, Seconds, WarmupRule};
use andon_lab::stats::{LogRatios, Spread, pairs_to_detect, pairs_to_show_sameness};
use anyhow::bail;

use andon_terminal::print;

/// Repeat one measurement to show how much this machine varies by itself
///
/// The client sends requests to a responder that does no work, in pairs of equal blocks, and a fixed computation is
/// timed before each pair. The table lists how many pairs it takes to detect an effect of a given size on this machine.
/// A real server adds noise of its own, so that these are lower bounds.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// Total duration
    #[arg(long = "for", value_name = "TIME", value_parser = Seconds::parse, default_value = "60s")]
    time: Seconds,
    /// Length of a block
    #[arg(long, value_name = "TIME", value_parser = Seconds::parse, default_value = "2s")]
    block: Seconds,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.time.0 < args.block.0 * 8.0 {
        bail!(
            "--for {} leaves fewer than four pairs of blocks of {}",
            args.time,
            args.block
        );
    }
    let responder = NullResponder::start(4096)?;
    let mut pairs = Vec::new();
    let mut spins = Vec::new();
    let start = Instant::now();
    while start.elapsed() < args.time.duration() {
        spins.push(spin());
        pairs.push((
            block(&responder, args.block)?,
            block(&responder, args.block)?,
        ));
    }
    let Some(ratios) = LogRatios::new(&pairs) else {
        bail!("too few pairs: give --for more time");
    };
    let interval = ratios.interval(0.95);
    let rates: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
    let mut text = format!(
        "{} pairs of blocks of {}, all the same work\n\
         ratio {:.4} [{:.4}, {:.4}]: the noise floor of {} pairs is ±{:.1} %\n\
         between pairs: SD {:.2} % of the ratio; between blocks: {:.2} % of the rate\n",
        pairs.len(),
        args.block,
        ratios.ratio(),
        interval.low,
        interval.high,
        pairs.len(),
        ratios.half_width(0.95) * 100.0,
        ratios.deviation() * 100.0,
        relative(&rates) * 100.0,
    );
    text += &format!(
        "the CPU calibration varies by {:.2} % (SD)\n\n",
        relative(&spins) * 100.0
    );
    text += "effect   pairs to detect it   pairs to show that it is not there\n";
    for effect in [0.01, 0.02, 0.05, 0.10] {
        let k = ratios.deviation() / effect;
        text += &format!(
            "{:>5.0} %   {:>18}   {:>32}\n",
            effect * 100.0,
            count(pairs_to_detect(k)),
            count(pairs_to_show_sameness(k))
        );
    }
    print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Sends one block of requests to the responder, and returns its replies per second.
fn block(responder: &NullResponder, length: Seconds) -> anyhow::Result<f64> {
    let outcome = load::drive(&Drive {
        endpoint: responder.endpoint().clone(),
        templates: &[RequestTemplate::get("/")],
        load: &Load::default(),
        check: &Check {
            body: BodyCheck::Length,
            ..Check::default()
        },
        warmup: &WarmupRule {
            min: Seconds(0.2),
            max: Seconds(0.2),
        },
        window: Window::For(length.duration().max(Duration::from_millis(100))),
        seed: 0,
        late: Duration::MAX,
        cancel: Arc::new(AtomicBool::new(false)),
        threads: ClientThreads::default(),
        edge: &|| {},
        progress: &|_| {},
    })?;
    Ok(outcome.result.completed as f64 / outcome.result.seconds)
}

/// Formats a number of pairs, or `too many` for `None`.
fn count(pairs: Option<usize>) -> String {
    pairs.map_or_else(|| "too many".to_owned(), |pairs| pairs.to_string())
}

/// Returns the standard deviation divided by the mean.
fn relative(values: &[f64]) -> f64 {
    Spread::of(values).map_or(0.0, |spread| spread.deviation / spread.mean)
}

const AFTER: &str = "\
Examples:
  andon-lab noise
  andon-lab noise --for 5m --block 8s";
