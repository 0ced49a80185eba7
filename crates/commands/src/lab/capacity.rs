//! `andon lab capacity`: how many requests per second a running server can take.

use std::process::ExitCode;

use andon_lab::experiment::{Capacity, CapacityTest, Trial};
use andon_lab::scenario::{HttpVersion, Seconds, Share, WarmupRule};
use anyhow::bail;

use super::interrupt;
use super::running::{self, Asking};
use crate::print::print;

/// Find the highest rate of requests at which a running server meets a latency target
///
/// Requests arrive at random times, whatever the server does (open loop), and latency counts from the arrival. Trials at
/// higher and lower rates find the rate at which half of them meet the target without a failure, with an interval that holds it
/// in nine of ten searches; a last, longer trial checks the interval's lower end.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// http://HOST:PORT/PATH, or unix:/path/of/socket with paths by -L
    url: String,
    /// The latency that has to be met, from the arrival of a request to the last byte of its response
    #[arg(short, long, value_name = "TIME", value_parser = Seconds::parse, default_value = "200ms")]
    target: Seconds,
    /// The share of requests that has to meet it
    #[arg(short, long, value_name = "SHARE", value_parser = Share::parse, default_value = "99%")]
    quantile: Share,
    /// Length of a trial; at low rates up to six times as long, until 200 requests have arrived
    #[arg(short = 'z', long, value_name = "TIME", value_parser = Seconds::parse, default_value = "5s")]
    time: Seconds,
    /// Warm-up of each trial, not counted
    #[arg(long, value_name = "TIME", value_parser = Seconds::parse, default_value = "1s")]
    warmup: Seconds,
    /// Most connections; a request that finds none free counts as missed
    #[arg(short, long, value_name = "N", default_value_t = 256,
          value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Requests per second of the first trial
    #[arg(long, value_name = "RATE", default_value_t = 10.0)]
    start: f64,
    #[command(flatten)]
    asking: Asking,
    /// Ask for each URL of the list once, in all trials together: nothing is cached that is asked for
    #[arg(long, requires = "urls")]
    once: bool,
    /// Expected status; 0: any below 400
    #[arg(long, value_name = "STATUS", default_value_t = 200)]
    status: u16,
    /// Stop when the rate is known to within this
    #[arg(long, value_name = "SHARE", value_parser = Share::parse, default_value = "5%")]
    precision: Share,
    /// Most trials
    #[arg(long, value_name = "N", default_value_t = 40)]
    trials: u32,
    /// A new connection for each request
    #[arg(long)]
    close: bool,
    /// HTTP/2 (without TLS)
    #[arg(long)]
    http2: bool,
    /// Fixes when requests arrive
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// text or json
    #[arg(long = "as", value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
    format: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !(args.start > 0.0 && args.start.is_finite()) {
        bail!("--start {}: write a rate above 0", args.start);
    }
    if !(args.quantile.0 > 0.0 && args.quantile.0 <= 1.0) {
        bail!("--quantile {}: write a share up to 100%", args.quantile);
    }
    let (endpoint, path) = running::endpoint(&args.url)?;
    let asked = args.asking.all(&path)?;
    let mut scenario = running::scenario("capacity")?;
    scenario.seed = args.seed;
    scenario.check.status = args.status;
    scenario.design.warmup = WarmupRule {
        min: args.warmup,
        max: args.warmup,
    };
    scenario.load.connections = args.connections;
    scenario.load.keepalive = !args.close;
    if args.http2 {
        scenario.load.http = HttpVersion::Two;
    }
    let target = Target(args.quantile, args.target);
    let found = CapacityTest {
        endpoint: &endpoint,
        asked: &asked,
        once: args.once,
        scenario: &scenario,
        quantile: args.quantile.0,
        target: args.target,
        time: args.time,
        start: args.start,
        precision: args.precision.0,
        trials: args.trials,
        cancel: interrupt::flag()?,
        watch: &|trial| eprintln!("{}", target.line(trial)),
    }
    .run()?;
    match args.format.as_str() {
        "json" => print(&[serde_json::to_vec_pretty(&found)?, b"\n".to_vec()].concat())?,
        _ => print(target.report(&found, asked.len()).as_bytes())?,
    }
    let known = found
        .rate
        .is_some_and(|rate| rate.half_width() <= args.precision.0);
    Ok(match (found.rate, known) {
        (_, true) => ExitCode::SUCCESS,
        (Some(_), false) => ExitCode::from(super::UNDECIDED),
        (None, _) => ExitCode::from(super::INVALID),
    })
}

/// What share of requests has to be served in which time.
struct Target(Share, Seconds);

impl Target {
    /// `p99`.
    fn name(&self) -> String {
        format!("p{}", self.0.to_string().trim_end_matches('%'))
    }

    fn line(&self, trial: &Trial) -> String {
        let mut line = format!(
            "{:>8.1}/s for {:.0} s: {} {:.0} ms",
            trial.rate,
            trial.seconds,
            self.name(),
            trial.latency * 1000.0
        );
        if trial.failed > 0 {
            line += &format!(", {} failed", trial.failed);
        }
        if trial.missed > 0 {
            line += &format!(", {} found no free connection", trial.missed);
        }
        line + if trial.met { ": met" } else { ": not met" }
    }

    fn report(&self, found: &Capacity, urls: usize) -> String {
        let Self(_, time) = self;
        let trials = found.trials.len();
        let mut text = match &found.rate {
            Some(rate) => format!(
                "capacity: {:.1} requests/s [{:.1}, {:.1}] with {} ≤ {time} and no failures ({trials} trials)\n",
                rate.level,
                rate.low,
                rate.high,
                self.name()
            ),
            None if found.trials.iter().all(|trial| !trial.met) => format!(
                "capacity: not known: no trial of {trials} met {} ≤ {time} without a failure\n",
                self.name()
            ),
            None => format!("capacity: not known after {trials} trials\n"),
        };
        if found.exhausted {
            text += &format!(
                "the list has {urls} URLs, too few for another trial: give more, or shorter trials (-z)\n"
            );
        }
        if let Some(check) = &found.check {
            text += &format!("check:    {}\n", self.line(check).trim_start());
        }
        if found.trials.iter().any(|trial| trial.client_busy > BUSY) {
            text += "the client itself was at its limit: the server can take more than this says\n";
        }
        text
    }
}

/// A client busy for more of its time than this was the bottleneck.
const BUSY: f64 = 0.9;

const AFTER: &str = "\
Examples:
  andon lab capacity http://127.0.0.1:8080/a.jpg
  andon lab capacity http://127.0.0.1:8080/ -L urls.txt --once --target 500ms
  andon lab capacity http://127.0.0.1:8080/a.jpg --quantile 99.9% --target 50ms -z 20s --as json";
