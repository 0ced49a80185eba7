//! `andon-lab replay`: sends recorded requests again with their original timing.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use andon_lab::experiment::{self, ClientLimits, Error, LoadTest};
use andon_lab::load::Window;
use andon_lab::past::{self, Past};
use andon_lab::record::{Folder, Header, Kind, Purpose, Run, SavedBodies};
use andon_lab::scenario::{BodyCheck, Mode, Seconds, WarmupRule, urls};
use anyhow::{Context, bail};

use super::judged_run::{JudgedRun, colour, format};
use super::running;
use super::{INVALID, PROGRAM};
use andon_client::{from_url, headers};
use andon_terminal::interrupt;
use andon_terminal::print;

/// Replay an access log, a saved run or a URL list with its original timing
///
/// SOURCE is an access log (Andon's as text or JSON, or the common or combined format of Apache and nginx), the folder
/// of a saved run, or a list of URLs with --rate. Requests are sent at their original times, regardless of the server's
/// responses, and latency counts from those times. Logs contain neither headers nor bodies, so only GET and HEAD
/// requests are replayed, and without conditions and ranges. A response has to have the recorded status, or 200 where
/// the original server was overloaded or failed.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// Access log, folder of a saved run, or list of URLs
    source: PathBuf,
    /// The server: http://HOST:PORT, or unix:/path/of/socket
    url: String,
    /// Factor by which to speed up the timing
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    speed: f64,
    /// Requests per second, for a list of URLs
    #[arg(short = 'R', long, value_name = "RATE")]
    rate: Option<f64>,
    /// Replay only this much of the source's time, from its start
    #[arg(long = "for", value_name = "TIME", value_parser = Seconds::parse)]
    time: Option<Seconds>,
    /// Variant of a saved run [default: its first]
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Maximum concurrent connections; further requests wait
    #[arg(short, long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Header for all requests, `name: value`; may be given more than once
    #[arg(short = 'H', long, value_name = "HEADER")]
    header: Vec<String>,
    /// Expected status of all responses; 0: any below 400 [default: the recorded one]
    #[arg(long, value_name = "STATUS")]
    status: Option<u16>,
    /// Report format: text, ab, jmeter, json, csv, html…
    #[arg(long = "as", value_name = "FORMAT", default_value = "ab")]
    format: String,
    /// Save the run in this new folder
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !(args.speed > 0.0 && args.speed.is_finite()) {
        bail!("--speed {}: write a factor above 0, such as 2", args.speed);
    }
    let format = format(&args.format)?;
    let (endpoint, _) = from_url(&args.url)?;
    let past = past(args)?;
    let (mut templates, script) = past::script(&past, args.speed);
    let headers = headers(&args.header)?;
    for template in &mut templates {
        template.headers.clone_from(&headers);
        template.status = args.status.unwrap_or(template.status);
    }
    let seconds = past.seconds() / args.speed;
    eprintln!(
        "{} requests, {} of them distinct, over {seconds:.1} s",
        script.requests.len(),
        templates.len()
    );
    let mut scenario = running::scenario("replay")?;
    scenario.check.status = args.status.unwrap_or(0);
    // The original bodies are not known.
    scenario.check.body = BodyCheck::None;
    let none = Seconds(0.0);
    scenario.design.warmup = WarmupRule {
        min: none,
        max: none,
    };
    scenario.load.mode = Mode::Open;
    scenario.load.connections = args.connections;
    scenario.load.rate = script.requests.len() as f64 / seconds.max(1.0);
    let header = Header {
        variants: vec![running::variant(&args.url)],
        programs: vec![String::new()],
        purpose: Purpose::Observation,
        ..experiment::header(&scenario, PROGRAM).map_err(Error::from)?
    };
    let who = running::who(&endpoint);
    let (block, bodies) = LoadTest {
        endpoint: &endpoint,
        templates: &templates,
        load: &scenario.load,
        scenario: &scenario,
        window: Window::Requests(script.requests.len() as u64),
        script: Some(&script),
        origin: Instant::now(),
        index: 0,
        variant: 0,
        cancel: interrupt::flag()?,
        progress: &|_| {},
    }
    .run(&mut ClientLimits::default())?;
    if let Some(folder) = &args.output {
        let folder = Folder::create(folder, &header).map_err(Error::from)?;
        folder.append(Kind::Block, &block).map_err(Error::from)?;
    }
    let good = block.load.completed > 0 && block.load.failures.all() == 0;
    let run = Run {
        header,
        blocks: vec![block],
        passes: Vec::new(),
    };
    let mut output = JudgedRun::new(run, SavedBodies::bodies(bodies)).print(format, colour())?;
    if ["ab", "text"].contains(&format.name) {
        output.extend(format!("\nServer processes: {who}\n").into_bytes());
    }
    print(&output)?;
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(INVALID)
    })
}

/// Reads the recorded requests from the source: a saved run, a list of URLs with a rate, or an access log.
fn past(args: &Args) -> anyhow::Result<Past> {
    let source = args.source.display();
    let mut past = if args.source.is_dir() {
        let (_, run) = Folder::read(&args.source).map_err(Error::from)?;
        let variants = &run.header.variants;
        let variant = match &args.variant {
            None => 0,
            Some(name) => variants
                .iter()
                .position(|it| it.name == *name)
                .with_context(|| format!("{source} has no variant `{name}`"))?,
        };
        past::of_run(&run, variant as u32)
    } else if let Some(rate) = args.rate {
        if !(rate > 0.0 && rate.is_finite()) {
            bail!("--rate {rate}: write requests per second, above 0");
        }
        let list = urls::read(&args.source).map_err(Error::from)?;
        let targets: Vec<String> = list.into_iter().map(|entry| entry.path).collect();
        Past::of_list(&targets, rate)
    } else {
        let file = File::open(&args.source).with_context(|| source.to_string())?;
        Past::of_log(BufReader::new(file)).with_context(|| source.to_string())?
    };
    if let Some(time) = args.time {
        past.cut(time.0);
    }
    for (why, count) in &past.left_out {
        eprintln!("{count} left out: {why}");
    }
    if past.requests.is_empty() {
        bail!("no replayable requests in {source}; for a plain URL list, add --rate");
    }
    Ok(past)
}

const AFTER: &str = "\
Examples:
  andon-lab replay /var/log/nginx/access.log http://127.0.0.1:8080
  andon-lab replay access.log http://127.0.0.1:8080 --speed 10 --for 1h -o runs/replayed
  andon-lab replay runs/today http://127.0.0.1:8080 --variant default
  andon-lab replay urls.txt http://127.0.0.1:8080 --rate 50

Exit codes: 0 all replies were good, 3 some were not, 4 not understood.";
