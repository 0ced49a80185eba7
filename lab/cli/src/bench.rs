//! `andon-lab bench`: load-tests a server that is already running, as `ab` and similar tools do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use andon_lab::experiment::{self, ClientLimits, Error, LoadTest};
use andon_lab::launch::Endpoint;
use andon_lab::load::{RequestTemplate, Window};
use andon_lab::record::{Folder, Header, Kind, Purpose, Run, SavedBodies};
use andon_lab::scenario::{HttpVersion, Mode, Scenario, Seconds, WarmupRule};
use andon_lab::variant::Variant;
use bytes::Bytes;

use super::PROGRAM;
use super::judged_run::{JudgedRun, colour, format};
use super::running::{self, RequestOptions};
use andon_client::from_url;
use andon_terminal::interrupt;
use andon_terminal::print;

/// Load-test a running server (an ab replacement that also reports server CPU and memory)
///
/// The report begins with rate, latency, errors and CPU per request. The server's CPU time and memory are reported if
/// its processes can be found by their listening socket, which takes the privileges of their user, or root. With
/// several numbers of connections, each is measured twice, in the given order and then in reverse, and the report shows
/// rate and latency against the number of connections.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// http://HOST:PORT/PATH, or unix:/path/of/socket with paths given by -L
    url: String,
    /// Number of connections, or several numbers (levels) to compare: 1,2,5,10
    #[arg(short, long, value_name = "N,N…", default_value = "10", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..))]
    connections: Vec<u32>,
    /// Number of requests (per level, if there are several)
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "time")]
    requests: Option<u64>,
    /// Duration, instead of a number of requests (per level, if there are several)
    #[arg(short = 'z', long, value_name = "TIME", value_parser = Seconds::parse, default_value = "5s")]
    time: Seconds,
    /// Requests per second, sent regardless of the server's responses (open loop); latency counts from the arrival
    #[arg(short = 'R', long, value_name = "RATE")]
    rate: Option<f64>,
    #[command(flatten)]
    request_options: RequestOptions,
    /// Expected status; 0: any below 400
    #[arg(long, value_name = "STATUS", default_value_t = 200)]
    status: u16,
    /// Open a new connection for each request
    #[arg(long)]
    close: bool,
    /// Accepted for ab compatibility; keep-alive is the default
    #[arg(short = 'k', long, conflicts_with = "close")]
    keepalive: bool,
    /// Use HTTP/2 (without TLS)
    #[arg(long)]
    http2: bool,
    /// Length of the warm-up, which is not counted
    #[arg(long, value_name = "TIME", value_parser = Seconds::parse, default_value = "0s")]
    warmup: Seconds,
    /// Report format: text, ab, levels, jmeter, json, csv, html… [default: ab, or levels for several numbers of
    /// connections]
    #[arg(long = "as", value_name = "FORMAT")]
    format: Option<String>,
    /// Save the run in this new folder
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let levels = levels(&args.connections);
    let default = if levels.len() > 1 { "levels" } else { "ab" };
    let format = format(args.format.as_deref().unwrap_or(default))?;
    let (endpoint, path) = from_url(&args.url)?;
    let templates = args.request_options.all(&path)?;
    let scenario = scenario(args)?;
    let header = Header {
        variants: variants(&args.url, &levels),
        programs: vec![String::new(); levels.len()],
        purpose: Purpose::Observation,
        ..experiment::header(&scenario, PROGRAM).map_err(Error::from)?
    };
    let who = running::who(&endpoint);
    let bench = Bench {
        endpoint,
        templates,
        window: match args.requests {
            Some(requests) => Window::Requests(requests.max(1)),
            None => Window::For(args.time.duration()),
        },
        header,
        cancel: interrupt::flag()?,
    };
    let (run, bodies) = bench.run(&order(levels.len()))?;
    let folder = match &args.output {
        Some(folder) => Some(Folder::create(folder, &run.header).map_err(Error::from)?),
        None => None,
    };
    if let Some(folder) = &folder {
        folder.save_bodies(&bodies).map_err(Error::from)?;
        for block in &run.blocks {
            folder.append(Kind::Block, block).map_err(Error::from)?;
        }
    }
    let has_failures = |block: &andon_lab::record::Block| {
        block.load.failures.all() > 0 || block.load.completed == 0
    };
    let has_failures = run.blocks.is_empty() || run.blocks.iter().any(has_failures);
    let judged_run = JudgedRun::new(run, SavedBodies::bodies(bodies));
    if let Some(folder) = &folder {
        folder
            .save_findings(&judged_run.judgement.findings)
            .map_err(Error::from)?;
    }
    let mut output = judged_run.print(format, colour())?;
    if ["ab", "levels", "text"].contains(&format.name) {
        let headline = judged_run.headline(&who);
        output.splice(..0, format!("{headline}\n").into_bytes());
        output.extend(format!("\nServer processes: {who}\n").into_bytes());
    }
    print(&output)?;
    Ok(if has_failures {
        ExitCode::from(super::INVALID)
    } else {
        ExitCode::SUCCESS
    })
}

/// Removes repeated levels and keeps the order in which they were given.
fn levels(connections: &[u32]) -> Vec<u32> {
    let mut levels: Vec<u32> = Vec::new();
    for level in connections {
        if !levels.contains(level) {
            levels.push(*level);
        }
    }
    levels
}

/// Returns the indices of the levels in the order in which they run: as given, and with several levels then in reverse,
/// so that a steady drift affects all of them alike.
fn order(levels: usize) -> Vec<usize> {
    let up = 0..levels;
    if levels < 2 {
        return up.collect();
    }
    up.clone().chain(up.rev()).collect()
}

fn variants(url: &str, levels: &[u32]) -> Vec<Variant> {
    if levels.len() < 2 {
        return vec![running::variant(url)];
    }
    let variant = |level: &u32| Variant {
        connections: Some(*level),
        ..running::variant(&format!("-c {level}"))
    };
    levels.iter().map(variant).collect()
}

struct Bench {
    endpoint: Endpoint,
    templates: Vec<RequestTemplate>,
    window: Window,
    header: Header,
    cancel: Arc<AtomicBool>,
}

impl Bench {
    fn run(self, order: &[usize]) -> anyhow::Result<(Run, BTreeMap<String, Bytes>)> {
        let (mut blocks, mut bodies) = (Vec::new(), BTreeMap::new());
        let mut limits = ClientLimits::default();
        let origin = Instant::now();
        for (index, level) in order.iter().enumerate() {
            if index > 0 && self.cancel.load(Ordering::Relaxed) {
                break;
            }
            let (block, new_bodies) = LoadTest {
                endpoint: &self.endpoint,
                templates: &self.templates,
                load: &self.header.variants[*level].load(&self.header.scenario.load),
                scenario: &self.header.scenario,
                window: self.window,
                script: None,
                origin,
                index: index as u32,
                variant: *level as u32,
                cancel: self.cancel.clone(),
                progress: &|_| {},
            }
            .run(&mut limits)?;
            blocks.push(block);
            bodies.extend(new_bodies);
        }
        let run = Run {
            header: self.header,
            blocks,
            passes: Vec::new(),
        };
        Ok((run, bodies))
    }
}

fn scenario(args: &Args) -> anyhow::Result<Scenario> {
    let mut scenario = running::scenario("bench")?;
    scenario.check.status = args.status;
    scenario.design.warmup = WarmupRule {
        min: args.warmup,
        max: args.warmup,
    };
    let load = &mut scenario.load;
    load.connections = args.connections.first().copied().unwrap_or(1);
    load.keepalive = args.keepalive || !args.close;
    if args.http2 {
        load.http = HttpVersion::Two;
    }
    if let Some(rate) = args.rate {
        load.mode = Mode::Open;
        load.rate = rate;
    }
    Ok(scenario)
}

const AFTER: &str = "\
Examples:
  andon-lab bench http://127.0.0.1:8080/a.jpg -c 10 -n 1000
  andon-lab bench http://127.0.0.1:8080/ -c 50 -z 30s -L urls.txt --as jmeter
  andon-lab bench http://127.0.0.1:8080/a.jpg -c 1,2,5,10,20 -z 3s
  andon-lab bench http://127.0.0.1:8080/a.jpg -c 1,2,5,10,20 --as html > levels.html
  andon-lab bench unix:/run/andon.sock -L urls.txt -R 200 -z 60s";
