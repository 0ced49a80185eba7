//! `andon play`: a server for one's own browser, with the playground.

use std::io::Write;
use std::path::PathBuf;

use andon_server::config::{AllowedClients, LogLevel, TlsConfig};
use andon_server::{Config, ConfigError, Listen, Server};
use anyhow::Context;

use crate::serve;

/// Try recipes and URLs in a browser, on the images of a folder
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The folder with images; replaces the origins of the configuration [default: the current folder]
    dir: Option<PathBuf>,
    /// The server's configuration, with its origins, dialects and presets
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Address to listen on: HOST:PORT (port 0: any free one)
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8088")]
    listen: Listen,
}

const AFTER: &str = "\
Examples:
  andon play ~/photos
  andon play --config /etc/andon/andon.toml --listen 127.0.0.1:0

Prints the page's address. Of a configuration its own addresses, its disk cache and the duty to sign URLs are left out. \
For a page on a running server, see [play] in andon.toml.";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    serve::until_stopped(&|| configuration(args), None, &announce)
}

fn configuration(args: &Args) -> Result<Config, ConfigError> {
    let mut config = serve::base(args.config.as_deref(), args.dir.as_deref())?;
    config.listen = vec![args.listen.clone()];
    config.tls = TlsConfig::default();
    config.metrics.listen = None;
    config.cache.disk = None;
    config.dialects.signing.required = false;
    config.play.allow = AllowedClients::Local;
    // Requests are nobody's news here.
    config.log.level = config.log.level.min(LogLevel::Warn);
    Ok(config)
}

/// One line, flushed: it is there to be clicked on.
fn announce(server: &Server, _: &Config) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    server
        .addresses()
        .iter()
        .try_for_each(|address| {
            writeln!(out, "playground: {address}/_andon/play (Ctrl-C stops it)")
        })
        .and_then(|()| out.flush())
        .context("cannot write to standard output")
}
