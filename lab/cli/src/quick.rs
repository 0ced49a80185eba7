//! `andon-lab quick`: a comparison without a scenario file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use andon_lab::experiment::Error;
use andon_lab::scenario::{
    Address, Expect, Pairs, Scenario, Seconds, Share, Until, UrlEntry, VariantEntry, WarmupRule,
};
use anyhow::bail;

use super::conduct::{self, Options};

/// Compare one server under different values of an environment variable
///
/// Starts COMMAND afresh for each block, alternating between the values of -e, applies the same load to each, checks
/// that the responses are equivalent, and reports which value is faster, by how much and how certain that is. Without
/// -e the server is compared with itself, so that any difference is noise.
///
/// The environment of COMMAND contains only PATH, the variable of -e, and the variables that --inherit names. The run
/// is saved in a new folder (-o), by default ./lab-quick-DATE.
#[derive(clap::Args)]
#[command(before_help = BEFORE, after_help = AFTER)]
pub(super) struct Args {
    /// Environment variable and its values, the baseline's first; an empty value leaves it unset
    #[arg(short, long = "env", value_name = "NAME=VALUE,VALUE…")]
    env: Option<String>,
    /// Variables that COMMAND inherits from your environment, besides PATH: HOME,LANG
    ///
    /// No other variable reaches the server, so that a run gives the same result in another shell.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = name)]
    inherit: Vec<String>,
    /// Number of connections
    #[arg(short, long, value_name = "N", default_value_t = 10)]
    connections: u32,
    /// Requests per block [default: as many as fit into the time of --block]
    #[arg(short = 'n', long, value_name = "N")]
    requests: Option<u64>,
    /// Length of a block's measured window
    #[arg(short, long, value_name = "TIME", value_parser = Seconds::parse, default_value = "3s")]
    block: Seconds,
    /// Warm-up of each block [default: until the rate is steady, at most 5s]
    #[arg(long, value_name = "TIME", value_parser = Seconds::parse)]
    warmup: Option<Seconds>,
    /// File with URLs or paths, one per line
    #[arg(short = 'L', long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// Path to request; may be given more than once
    #[arg(short, long, value_name = "PATH")]
    url: Vec<String>,
    /// Open a new connection for each request
    #[arg(long)]
    close: bool,
    /// Path that responds once the server is ready [default: the server is ready when its port accepts connections]
    #[arg(
        long,
        value_name = "PATH",
        default_value = "",
        hide_default_value = true
    )]
    ready: String,
    /// Where the server listens: tcp (a free port), unix, or HOST:PORT
    #[arg(long, value_name = "ADDRESS", default_value = "tcp")]
    addr: String,
    /// How responses must compare: same-bytes, same-pixels, 'ssim >= 0.98', any
    #[arg(long, value_name = "HOW", value_parser = Expect::parse, default_value = "same-pixels")]
    expect: Expect,
    /// Bound within which variants count as the same
    #[arg(long, value_name = "SHARE", value_parser = Share::parse, default_value = "3%")]
    same_within: Share,
    /// Seed of the order of blocks and of the requests
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Do not compare the baseline with itself
    #[arg(long)]
    no_aa: bool,
    #[command(flatten)]
    options: Options,
    /// The server: program and arguments, with {port} or {addr} where its address belongs
    ///
    /// {addr}, {host}, {port}, {socket} and {work} are replaced by its address and its work folder. No shell is
    /// involved.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    conduct::conduct(scenario(args)?, &args.options)
}

fn scenario(args: &Args) -> anyhow::Result<Scenario> {
    let current_folder = std::env::current_dir()?;
    let mut scenario =
        Scenario::parse("[server]\ncmd = [\"true\"]\n", &current_folder).map_err(Error::from)?;
    scenario.name = "quick".to_owned();
    scenario.seed = args.seed;
    let server = &mut scenario.server;
    server.cmd.clone_from(&args.command);
    server.cwd = current_folder.to_string_lossy().into_owned();
    server.addr = Address::from(args.addr.clone());
    server.ready.http.clone_from(&args.ready);
    server.inherit.clone_from(&args.inherit);
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
    scenario
        .validate()
        .and_then(|()| scenario.tells_the_address())
        .map_err(Error::from)?;
    Ok(scenario)
}

/// Parses the name of an environment variable.
fn name(text: &str) -> Result<String, String> {
    match text {
        "" => Err("a name is missing".to_owned()),
        text if text.contains('=') => {
            Err("names only: -e sets a value, and this passes on the one there is".to_owned())
        }
        text => Ok(text.to_owned()),
    }
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
            name: "current settings".to_owned(),
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

const BEFORE: &str = "\
Does it help to give each request one thread only?

  andon-lab quick -e OMP_NUM_THREADS=1, -u /a.jpg -- ./server --port {port}

The answer for a resizer with GraphicsMagick (all threads compared with one, lab/docs/field-reports.md):

  omp-unset / omp-1  throughput         ×0.888 [0.856, 0.922]  6 pairs  SLOWER
  omp-unset / omp-1  p50                ×1.131 [1.105, 1.157]  6 pairs  SLOWER
  omp-unset / omp-1  cpu_s_per_request  ×1.123 [1.083, 1.166]  6 pairs  MORE CPU
";

const AFTER: &str = "\
Examples:
  andon-lab quick -e OMP_NUM_THREADS=,1 -c 10 -n 500 -L urls.txt -- ./server --port {port}
  andon-lab quick -u /a.jpg -- python3 -m http.server --bind {host} {port}
  andon-lab quick -e GOGC=100,400 -u / --block 5s --budget 5m -- ./server -listen {addr}
  andon-lab quick -u '/small_light(dw=250,dh=250)/a.jpg' --ready /healthz -- andon serve photos --listen {addr}";
