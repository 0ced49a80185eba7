//! `andon lab bench`: load on a server that already runs, as ab and its kin do.

use std::collections::BTreeMap;
use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Instant, SystemTime};

use andon_lab::experiment::{Error, utc};
use andon_lab::launch::Endpoint;
use andon_lab::load::{self, Asked, Drive, Window};
use andon_lab::record::{Arm, Block, Header, Machine, Probe, Run, SCHEMA};
use andon_lab::sample::{ClientThreads, Sampler};
use andon_lab::scenario::{Expect, HttpVersion, Mode, Scenario, Seconds, WarmupRule, urls};
use andon_lab::variant::Variant;
use anyhow::{Context, bail};

use super::whole::{Whole, colour, format};
use super::{PROGRAM, interrupt};
use crate::print::print;

/// Ask a running server, and print what ab prints, and what it does not
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// http://HOST:PORT/PATH, or unix:/path/of/socket with paths by -L
    url: String,
    /// Connections
    #[arg(short, long, value_name = "N", default_value_t = 10)]
    connections: u32,
    /// Requests
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "time")]
    requests: Option<u64>,
    /// Time instead of a number of requests
    #[arg(short = 'z', long, value_name = "TIME", value_parser = Seconds::parse, default_value = "5s")]
    time: Seconds,
    /// Requests per second that arrive whatever the server does (open loop); latency counts from the arrival
    #[arg(short = 'q', long, value_name = "RATE")]
    rate: Option<f64>,
    /// File with URLs or paths, one a line; hosts in it are ignored
    #[arg(short = 'L', long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// Header, `name: value`; may be given more than once
    #[arg(short = 'H', long, value_name = "HEADER")]
    header: Vec<String>,
    /// Expected status; 0: any below 400
    #[arg(long, value_name = "STATUS", default_value_t = 200)]
    status: u16,
    /// A new connection for each request
    #[arg(long)]
    close: bool,
    /// HTTP/2 (without TLS)
    #[arg(long)]
    http2: bool,
    /// Warm-up, not counted
    #[arg(long, value_name = "TIME", value_parser = Seconds::parse, default_value = "0s")]
    warmup: Seconds,
    /// text, ab, jmeter, json, csv…
    #[arg(long = "as", value_name = "FORMAT", default_value = "ab")]
    format: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let format = format(&args.format)?;
    let (endpoint, path) = endpoint(&args.url)?;
    let asked = asked(args, path)?;
    let scenario = scenario(args)?;
    let origin = Instant::now();
    let threads = ClientThreads::default();
    let sampler = Sampler::start(
        None,
        threads.clone(),
        scenario.sample.every.duration(),
        origin,
    );
    let driven = load::drive(&Drive {
        endpoint,
        asked: &asked,
        load: &scenario.load,
        check: &scenario.check,
        warmup: &scenario.design.warmup,
        window: match args.requests {
            Some(requests) => Window::Requests(requests.max(1)),
            None => Window::For(args.time.duration()),
        },
        seed: 1,
        cancel: interrupt::flag()?,
        threads,
        edge: &|| {},
        progress: &|_| {},
    })?;
    let samples = sampler.finish();
    let seconds = |moment: Instant| moment.saturating_duration_since(origin).as_secs_f64();
    let (from, to) = (seconds(driven.opened), seconds(driven.closed));
    let mut block = Block::new(0, 0, Arm::Baseline, 0);
    block.system = samples.system(from, to);
    block.noise = samples.noise(from, to, Probe::default());
    block.timeline = samples.ticks();
    block.warmup = driven.warmup;
    block.client = driven.client;
    block.load = driven.result;
    let failed = block.load.failures.all() > 0 || block.load.completed == 0;
    let run = Run {
        header: Header {
            schema: SCHEMA,
            program: PROGRAM.to_owned(),
            started: utc(SystemTime::now()),
            scenario,
            variants: vec![variant(&args.url)],
            machine: Machine::read(),
            programs: vec![String::new()],
        },
        blocks: vec![block],
        passes: Vec::new(),
    };
    print(&Whole::new(run, driven.bodies).print(format, colour())?)?;
    Ok(if failed {
        ExitCode::from(super::INVALID)
    } else {
        ExitCode::SUCCESS
    })
}

fn scenario(args: &Args) -> anyhow::Result<Scenario> {
    let mut scenario =
        Scenario::parse("[server]\ncmd = [\"true\"]\n", ".".as_ref()).map_err(Error::from)?;
    scenario.name = "bench".to_owned();
    scenario.check.status = args.status;
    scenario.design.aa = false;
    scenario.design.warmup = WarmupRule {
        min: args.warmup,
        max: args.warmup,
    };
    let load = &mut scenario.load;
    load.connections = args.connections.max(1);
    load.keepalive = !args.close;
    if args.http2 {
        load.http = HttpVersion::Two;
    }
    if let Some(rate) = args.rate {
        load.mode = Mode::Open;
        load.rate = rate;
    }
    Ok(scenario)
}

fn variant(name: &str) -> Variant {
    Variant {
        name: name.to_owned(),
        cmd: Vec::new(),
        env: BTreeMap::new(),
        set: BTreeMap::new(),
        unset: Vec::new(),
        urls: None,
        witness: Vec::new(),
        expect: Expect::Any,
    }
}

/// Whom a URL means, and which path of theirs.
fn endpoint(url: &str) -> anyhow::Result<(Endpoint, String)> {
    if let Some(path) = url.strip_prefix("unix:") {
        return Ok((Endpoint::Unix(path.into()), "/".to_owned()));
    }
    let Some(rest) = url.strip_prefix("http://") else {
        bail!("`{url}`: write http://HOST:PORT/PATH or unix:/path (TLS is not spoken here)");
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let with_port = if host.rsplit(']').next().is_some_and(|end| end.contains(':')) {
        host.to_owned()
    } else {
        format!("{host}:80")
    };
    let mut addresses = with_port
        .to_socket_addrs()
        .with_context(|| format!("`{host}` cannot be found"))?;
    let address = addresses
        .next()
        .with_context(|| format!("`{host}` has no address"))?;
    Ok((
        Endpoint::Tcp(address),
        if path.is_empty() {
            "/".to_owned()
        } else {
            path.to_owned()
        },
    ))
}

fn asked(args: &Args, path: String) -> anyhow::Result<Vec<Asked>> {
    let mut targets = match &args.urls {
        Some(file) => urls::read(file)
            .map_err(Error::from)?
            .into_iter()
            .map(|entry| entry.path)
            .collect(),
        None => vec![path],
    };
    let headers = args.header.iter().map(|header| {
        let pair = header.split_once(':');
        let pair =
            pair.with_context(|| format!("`{header}` is not a header: write `name: value`"))?;
        Ok((pair.0.trim().to_owned(), pair.1.trim().to_owned()))
    });
    let headers = headers.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(targets
        .drain(..)
        .map(|target: String| Asked {
            headers: headers.clone(),
            ..Asked::get(&target)
        })
        .collect())
}

const AFTER: &str = "\
Examples:
  andon lab bench http://127.0.0.1:8080/a.jpg -c 10 -n 1000
  andon lab bench http://127.0.0.1:8080/ -c 50 -z 30s -L urls.txt --as jmeter
  andon lab bench unix:/run/andon.sock -L urls.txt -q 200 -z 60s";
