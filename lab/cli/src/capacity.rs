//! `andon-lab capacity`: finds the highest request rate at which a running server meets a latency target.

use std::process::ExitCode;

use andon_lab::experiment::{Capacity, CapacityTest, FOREIGN, Trial};
use andon_lab::scenario::{HttpVersion, Seconds, Share, WarmupRule};
use anyhow::bail;

use super::running::{self, RequestOptions};
use andon_client::from_url;
use andon_terminal::interrupt;
use andon_terminal::print;

/// Find the highest rate of requests at which a running server meets a latency target
///
/// Requests arrive at random times, regardless of the server's responses (open loop), and latency counts from the
/// arrival. Short trials find the approximate rate. Long trials around it are then combined into an estimate of the
/// rate at which exactly the permitted share of requests is late in the long run, with an interval that contains this
/// rate in about nine of ten searches. A last long trial checks the lower end of the interval. The search takes three
/// minutes for a server with a sharp limit, and ten or more for one whose latency varies by itself. -z and --precision
/// shorten it, at the price of a wider interval.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// http://HOST:PORT/PATH, or unix:/path/of/socket with paths by -L
    url: String,
    /// Latency target, from the arrival of a request to the last byte of its response
    #[arg(short, long, value_name = "TIME", value_parser = Seconds::parse, default_value = "200ms")]
    target: Seconds,
    /// Share of requests that has to meet the target
    #[arg(short, long, value_name = "SHARE", value_parser = Share::parse, default_value = "99%")]
    quantile: Share,
    /// Share of requests that may fail, as `0.5%`, or find no free connection
    #[arg(long, value_name = "SHARE", value_parser = Share::parse, default_value = "0%")]
    errors: Share,
    /// Length of a short trial; a long one takes eight times that, and at low rates either takes up to six times
    /// longer, until 200 requests have arrived [default: 5s or 20 times the target, whichever is longer]
    #[arg(short = 'z', long, value_name = "TIME", value_parser = Seconds::parse)]
    time: Option<Seconds>,
    /// Warm-up of each trial, not counted [default: 1s or 5 times the target, whichever is longer]
    #[arg(long, value_name = "TIME", value_parser = Seconds::parse)]
    warmup: Option<Seconds>,
    /// Maximum number of connections; a request that finds none free counts as missed
    #[arg(short, long, value_name = "N", default_value_t = 1024,
          value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Requests per second of the first trial
    #[arg(long, value_name = "RATE", default_value_t = 10.0)]
    start: f64,
    #[command(flatten)]
    request_options: RequestOptions,
    /// Request each URL of the list only once over all trials, so that no response comes from a cache
    #[arg(long, requires = "urls")]
    once: bool,
    /// Expected status; 0: any below 400
    #[arg(long, value_name = "STATUS", default_value_t = 200)]
    status: u16,
    /// Stop when the rate is known to within this share
    #[arg(long, value_name = "SHARE", value_parser = Share::parse, default_value = "5%")]
    precision: Share,
    /// Maximum number of trials in the search; up to two more check its result
    #[arg(long, value_name = "N", default_value_t = 40)]
    trials: u32,
    /// Open a new connection for each request
    #[arg(long)]
    close: bool,
    /// Use HTTP/2 (without TLS)
    #[arg(long)]
    http2: bool,
    /// Seed of the random arrival times
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Report format: text or json
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
    if args.errors.0 >= 1.0 {
        bail!("--errors {}: write a share below 100%", args.errors);
    }
    let target = args.target.0;
    let time = args.time.unwrap_or(Seconds(5.0_f64.max(20.0 * target)));
    let warmup = args.warmup.unwrap_or(Seconds(1.0_f64.max(5.0 * target)));
    let (endpoint, path) = from_url(&args.url)?;
    let templates = args.request_options.all(&path)?;
    let mut scenario = running::scenario("capacity")?;
    scenario.seed = args.seed;
    scenario.check.status = args.status;
    scenario.design.warmup = WarmupRule {
        min: warmup,
        max: warmup,
    };
    scenario.load.connections = args.connections;
    scenario.load.keepalive = !args.close;
    if args.http2 {
        scenario.load.http = HttpVersion::Two;
    }
    let target = Target {
        quantile: args.quantile,
        time: args.target,
        errors: args.errors,
        connections: args.connections,
    };
    let capacity = CapacityTest {
        endpoint: &endpoint,
        templates: &templates,
        once: args.once,
        scenario: &scenario,
        quantile: args.quantile.0,
        target: args.target,
        errors: args.errors.0,
        time,
        start: args.start,
        precision: args.precision.0,
        trials: args.trials,
        cancel: interrupt::flag()?,
        watch: &|trial| eprintln!("{}", target.line(trial)),
    }
    .run()?;
    match args.format.as_str() {
        "json" => print(&[serde_json::to_vec_pretty(&capacity)?, b"\n".to_vec()].concat())?,
        _ => print(target.report(&capacity, templates.len()).as_bytes())?,
    }
    Ok(match capacity.rate {
        _ if capacity.died.is_some() => ExitCode::from(super::INVALID),
        Some(_) if capacity.known && capacity.confirmed() => ExitCode::SUCCESS,
        Some(_) => ExitCode::from(super::UNDECIDED),
        None => ExitCode::from(super::INVALID),
    })
}

/// The target of a capacity test: the share of requests that has to be answered within a time, and the share that may
/// fail.
struct Target {
    quantile: Share,
    time: Seconds,
    errors: Share,
    connections: u32,
}

impl Target {
    /// Returns the name of the quantile, e.g. `p99`.
    fn name(&self) -> String {
        format!("p{}", self.quantile.to_string().trim_end_matches('%'))
    }

    /// Describes the target, e.g. `p99 ≤ 200ms and no failures`.
    fn text(&self) -> String {
        let failures = match self.errors.0 {
            0.0 => "no failures".to_owned(),
            _ => format!("at most {} failures", self.errors),
        };
        format!("{} ≤ {} and {failures}", self.name(), self.time)
    }

    fn line(&self, trial: &Trial) -> String {
        let mut line = format!(
            "{:>8.1}/s for {:.0} s: {} {:.0} ms",
            trial.rate,
            trial.seconds,
            self.name(),
            trial.latency * 1000.0
        );
        if trial.rising {
            line += " and rising";
        }
        if trial.failed > 0 {
            line += &format!(", {} failed", trial.failed);
        }
        if trial.missed > 0 {
            line += &format!(", {} found no free connection", trial.missed);
        }
        line += if trial.met { ": met" } else { ": not met" };
        if trial.foreign > FOREIGN {
            let percent = trial.foreign * 100.0;
            line += &format!(" (others used {percent:.0} % of the CPUs)");
        }
        line
    }

    fn headline(&self, capacity: &Capacity) -> String {
        let trials = capacity.trials.len();
        let text = self.text();
        let fails = |trial: &Trial| {
            let bad = trial.failed + trial.missed;
            bad > 0 && bad * 20 <= trial.completed
        };
        if let Some(why) = &capacity.died {
            let rate = capacity.trials.last().map_or(0.0, |trial| trial.rate);
            return format!(
                "not known: the server answers no more after {rate:.1} requests/s: {why}"
            );
        }
        let Some(rate) = &capacity.rate else {
            return match capacity.trials.iter().any(|trial| trial.met) {
                true => format!("not known after {trials} trials"),
                false if capacity.trials.iter().all(fails) => format!(
                    "not known: no trial of {trials} met {text}; --errors 1% permits one of a hundred to fail"
                ),
                false => format!("not known: no trial of {trials} met {text}"),
            };
        };
        let interval = format!(
            "{:.1} requests/s [{:.1}, {:.1}]",
            rate.level, rate.low, rate.high
        );
        if !capacity.known {
            let half = rate.half_width() * 100.0;
            return format!(
                "about {interval} with {text}: known to ±{half:.0} % only after {trials} trials; --trials permits more"
            );
        }
        if !capacity.confirmed() {
            let checks = capacity.checks.iter().filter(|check| !check.met).count();
            return match checks {
                0 => format!("{interval} with {text}, not checked ({trials} trials)"),
                _ => format!(
                    "not confirmed: {interval} with {text} by {trials} trials, but the check at {:.1}/s did not meet it",
                    rate.low
                ),
            };
        }
        format!("{interval} with {text} ({trials} trials)")
    }

    fn report(&self, capacity: &Capacity, urls: usize) -> String {
        let mut text = format!("capacity: {}\n", self.headline(capacity));
        if capacity.exhausted {
            text += &format!(
                "the list has {urls} URLs, too few for another trial: give more, or shorter trials (-z)\n"
            );
        }
        for check in &capacity.checks {
            text += &format!("check:    {}\n", self.line(check).trim_start());
        }
        if capacity
            .trials
            .iter()
            .any(|trial| trial.missed > 0 && trial.late == 0 && !trial.met)
        {
            text += &format!(
                "the client's {} connections were the limit of a trial: -c gives it more\n",
                self.connections
            );
        }
        if capacity.trials.iter().any(|trial| trial.client_busy > BUSY) {
            text += "the client itself was at its limit: the server can take more than this says\n";
        }
        if !capacity.foreign.is_empty() {
            let processes: Vec<String> = capacity.foreign.iter().map(ToString::to_string).collect();
            text += &format!(
                "others used the CPUs meanwhile: {}; the server can take more without them\n",
                processes.join(", ")
            );
        }
        text
    }
}

/// Share of its time that the load client may be busy. Above it, the client counts as the bottleneck.
const BUSY: f64 = 0.9;

const AFTER: &str = "\
Examples:
  andon-lab capacity http://127.0.0.1:8080/a.jpg
  andon-lab capacity http://127.0.0.1:8080/ -L urls.txt --once --target 500ms
  andon-lab capacity http://127.0.0.1:8080/a.jpg --quantile 99.9% --target 50ms -z 20s --as json

Exit codes: 0 the rate is known and was checked, 2 it is known less well, or the check did not meet the target, 3 it is not
known, or the server answers no more, 4 not understood.";
