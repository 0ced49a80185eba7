//! `andon adopt`: tries Andon alongside an existing image server, using that server's access log, and reports whether
//! it can replace it.

mod base;
mod draft;
mod outcome;
mod page;
mod pipeline;
mod presets;
mod prices;
mod probe;
mod proxy;
mod recognise;
mod routes;
mod secrets;
mod seen;
mod settings;
mod sort;
mod sources;
mod summary;
#[cfg(test)]
mod tests;
mod trial;

use std::path::PathBuf;
use std::process::ExitCode;

use andon_terminal::print;
use anyhow::{Context, bail};

use crate::shadow::Tolerance;

/// Write an andon.toml from the access log of another image server, and try it alongside that server
///
/// Recognises the URL dialects in the log and their prefixes, writes the configuration, starts a server with it on a
/// free loopback port, sends the log's URLs to both servers, and writes one page: what is recognised, which responses
/// differ, with the images side by side, bytes, times, processor time, what hosted services would cost, whether it is
/// safe to switch, and the lines for nginx. Nothing is installed, and the old server only receives requests.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The old server: http://HOST:PORT[/PREFIX], https://… or unix:/path
    #[arg(value_name = "OLD")]
    old: String,
    /// Access log of the old server; may be given more than once
    #[arg(long, value_name = "FILE", required = true)]
    log: Vec<PathBuf>,
    /// Configuration of the old server, in a format that `andon import` reads; or an andon.toml, which is tried
    /// unchanged
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The nginx server block to import, by its server_name or the address that it listens on [default: the first that
    /// makes images and is not behind another one]
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// The folder with the originals that URLs name by their paths, also in place of folders of --config that are not
    /// on this machine [default: the old server, if it sends the originals]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// The configuration file to write
    #[arg(short, long, value_name = "FILE", default_value = "andon.toml")]
    output: PathBuf,
    /// Replace the configuration file if it exists
    #[arg(long)]
    force: bool,
    /// The HTML page to write
    #[arg(long, value_name = "FILE", default_value = "andon-adopt.html")]
    html: PathBuf,
    /// Maximum number of distinct URLs to replay, the most frequent first
    #[arg(long, value_name = "N", default_value_t = 500)]
    limit: usize,
    /// Maximum number of URLs per second
    #[arg(long, value_name = "RATE", default_value_t = 20.0)]
    rate: f64,
    /// Connections to each server
    #[arg(short, long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    connections: u32,
    /// Maximum number of URLs to request from the old server only to learn whether they are images
    #[arg(long, value_name = "N", default_value_t = 200)]
    ask: usize,
    #[command(flatten)]
    tolerance: Tolerance,
    /// Maximum number of differences to list, the worst first
    #[arg(long, value_name = "N", default_value_t = 20)]
    show: usize,
    /// Header for all requests, `name: value`; may be given more than once
    #[arg(short = 'H', long, value_name = "HEADER")]
    header: Vec<String>,
    /// Accept any certificate of an old server at https://, including a self-signed one
    #[arg(long)]
    insecure: bool,
    /// Process id of the old server, if it runs on this machine, to measure its processor time
    #[arg(long, value_name = "PID")]
    old_pid: Option<u32>,
}

const AFTER: &str = "\
Examples:
  andon adopt --log /var/log/nginx/access.log http://10.0.0.7
  andon adopt --log access.log --root /srv/images http://127.0.0.1:8888
  andon adopt --log access.log --config /etc/nginx/nginx.conf http://127.0.0.1
  andon adopt --log access.log -H 'Host: img.example' -H 'Accept: image/webp,*/*' --rate 5 http://10.0.0.7
  andon adopt --log access.log --config andon.toml http://10.0.0.7

Logs are read in any format whose lines have a method, a path or URL, a status and a time, also compressed by gzip: Andon's, the \
common and combined format of Apache and nginx, a log_format of your own, HAProxy's, JSON of servers and CDNs, W3C's extended format \
and those of Amazon's load balancers. \
Keys of signatures are in no log. They are taken from the variables IMGPROXY_KEY and IMGPROXY_SALT, THUMBOR_SECURITY_KEY, \
IMAGOR_SECRET and IMGIX_TOKEN (and IMGPROXY_PRESETS, IMGPROXY_SOURCE_URL_ENCRYPTION_KEY), and written to the file. They take the place of keys that a --config does not have, as where they are in a Secret. Without \
them the file has random keys, marked SECRET, which open nothing, and the trial does not check signatures; fill them in, and try again with --config andon.toml.
Exit codes: 0 safe to switch, 1 not yet, or it failed and the message says why.";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    args.tolerance.check()?;
    if !(args.rate > 0.0 && args.rate.is_finite()) {
        bail!("--rate {}: write URLs per second, above 0", args.rate);
    }
    let shadow = pipeline::comparison(args);
    let outcome = pipeline::outcome(args, &shadow)?;
    std::fs::write(&args.html, page::page(&outcome))
        .with_context(|| format!("cannot write {}", args.html.display()))?;
    print(summary::text(&outcome).as_bytes())?;
    Ok(ExitCode::from(u8::from(!outcome.obstacles().is_empty())))
}
