//! `andon lab quick`: a comparison without a scenario file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use andon_lab::experiment::Error;
use andon_lab::scenario::{
    Address, Expect, Pairs, Scenario, Seconds, Share, Until, UrlEntry, VariantEntry, WarmupRule,
};
use anyhow::bail;

use super::conduct::{self, Options};

/// Compare one server with itself under other settings of its environment
///
/// Starts COMMAND anew for each block, in turn with each value of -e, drives the same load at each, checks that
/// the replies are the same work, and says which is faster, by how much and how sure. Without -e the server is
/// compared with itself: what differs then is noise.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// An environment variable and its values, the baseline's first; an empty one: not set
    #[arg(short, long = "env", value_name = "NAME=VALUE,VALUE…")]
    env: Option<String>,
    /// Connections
    #[arg(short, long, value_name = "N", default_value_t = 10)]
    connections: u32,
    /// Requests per block; without it, blocks last --block
    #[arg(short = 'n', long, value_name = "N")]
    requests: Option<u64>,
    /// Length of a block's measured window
    #[arg(short, long, value_name = "TIME", value_parser = Seconds::parse, default_value = "3s")]
    block: Seconds,
    /// Warm-up of each block; without it, until the rate is steady, at most 5s
    #[arg(long, value_name = "TIME", value_parser = Seconds::parse)]
    warmup: Option<Seconds>,
    /// File with URLs or paths, one a line
    #[arg(short = 'L', long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// Path to ask for; may be given more than once
    #[arg(short, long, value_name = "PATH")]
    url: Vec<String>,
    /// A new connection for each request
    #[arg(long)]
    close: bool,
    /// The path that answers when the server is ready; without it, it is enough that the port accepts
    #[arg(long, value_name = "PATH", default_value = "")]
    ready: String,
    /// Where the server listens: tcp (a free port), unix, or HOST:PORT
    #[arg(long, value_name = "ADDRESS", default_value = "tcp")]
    addr: String,
    /// How replies must compare: same-bytes, same-pixels, 'ssim >= 0.98', any
    #[arg(long, value_name = "HOW", value_parser = Expect::parse, default_value = "same-pixels")]
    expect: Expect,
    /// Within this, variants count as the same
    #[arg(long, value_name = "SHARE", value_parser = Share::parse, default_value = "3%")]
    same_within: Share,
    /// Fixes the order of blocks, and what is asked when
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Do not run the baseline against itself
    #[arg(long)]
    no_aa: bool,
    #[command(flatten)]
    options: Options,
    /// The server; {addr}, {host}, {port}, {socket} and {work} stand for its address and work folder
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    conduct::conduct(scenario(args)?, &args.options)
}

fn scenario(args: &Args) -> anyhow::Result<Scenario> {
    let here = std::env::current_dir()?;
    let mut scenario =
        Scenario::parse("[server]\ncmd = [\"true\"]\n", &here).map_err(Error::from)?;
    scenario.name = "quick".to_owned();
    scenario.seed = args.seed;
    let server = &mut scenario.server;
    server.cmd.clone_from(&args.command);
    server.cwd = here.to_string_lossy().into_owned();
    server.addr = Address::from(args.addr.clone());
    server.ready.http.clone_from(&args.ready);
    scenario.variant = variants(args)?;
    let load = &mut scenario.load;
    load.connections = args.connections;
    load.requests = args.requests.unwrap_or(0);
    load.keepalive = !args.close;
    if let Some(urls) = &args.urls {
        load.urls = std::path::absolute(urls)?.to_string_lossy().into_owned();
    }
    load.url = args.url.iter().map(|path| entry(path)).collect();
    if load.url.is_empty() && args.urls.is_none() {
        load.url = vec![entry("/")];
    }
    scenario.check.expect = args.expect;
    let design = &mut scenario.design;
    design.block = args.block;
    design.same_within = args.same_within;
    if let Some(time) = args.warmup {
        design.warmup = WarmupRule {
            min: time,
            max: time,
        };
    }
    design.aa = !args.no_aa;
    design.pairs = Pairs {
        min: 6,
        max: 20,
        until: Until(Share((args.same_within.0 / 2.0).max(0.005))),
    };
    scenario.validate().map_err(Error::from)?;
    Ok(scenario)
}

fn entry(path: &str) -> UrlEntry {
    UrlEntry {
        path: path.to_owned(),
        ..UrlEntry::default()
    }
}

fn variants(args: &Args) -> anyhow::Result<Vec<VariantEntry>> {
    let Some(env) = &args.env else {
        return Ok(vec![VariantEntry {
            name: "as it is".to_owned(),
            ..VariantEntry::default()
        }]);
    };
    let Some((name, values)) = env.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        bail!(
            "`{env}` is no variable with values: write `NAME=VALUE,VALUE`, e.g. `OMP_NUM_THREADS=,1`"
        );
    };
    let values: Vec<&str> = values.split(',').collect();
    if values.len() < 2 {
        bail!("`{env}` has one value only: there is nothing to compare it with");
    }
    Ok(values
        .into_iter()
        .map(|value| VariantEntry {
            name: if value.is_empty() {
                format!("{name} unset")
            } else {
                format!("{name}={value}")
            },
            env: BTreeMap::from([(name.to_owned(), value.to_owned())]),
            ..VariantEntry::default()
        })
        .collect())
}

const AFTER: &str = "\
Examples:
  andon lab quick -e OMP_NUM_THREADS=,1 -c 10 -n 500 -L urls.txt -- ./server --port {port}
  andon lab quick -u /a.jpg -- python3 -m http.server --bind {host} {port}
  andon lab quick -e GOGC=100,400 -u / --block 5s --budget 5m -- ./server -listen {addr}
  andon lab quick -u '/small_light(dw=250,dh=250)/a.jpg' --ready /healthz -- andon serve photos --listen {addr}";
