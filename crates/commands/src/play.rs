//! `andon play`: serves the playground to the user's own browser.

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;

use andon_server::config::{AllowedClients, LogLevel, TlsConfig};
use andon_server::{Config, ConfigError, Listen, Server};
use anyhow::Context;

use crate::serve;

/// Try recipes and URLs in a browser, on the images of a folder
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The folder with images, instead of the origins of the configuration [default: the current folder]
    dir: Option<PathBuf>,
    /// The server's configuration, with its origins, dialects and presets
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Address to listen on: HOST:PORT (port 0: any free one) [default: 127.0.0.1:8088]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<Listen>,
    /// The same as --listen 127.0.0.1:PORT
    #[arg(short, long, value_name = "PORT", conflicts_with = "listen")]
    port: Option<u16>,
}

const AFTER: &str = "\
Examples:
  andon play ~/photos
  andon play --config /etc/andon/andon.toml --listen 127.0.0.1:0

Prints the page's address; with --config it holds a token for this run, unless the configuration has one. Of a \
configuration its own addresses, its disk cache and the duty to sign URLs are left out. \
For a page on a running server, see [play] in andon.toml.";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let token = token().context("cannot make a token")?;
    let announce = |server: &Server, config: &Config| announce(server, config, &token);
    serve::until_stopped(&|| configuration(args, &token), None, &announce)
}

/// Returns a random secret for this run, in hexadecimal digits.
pub(crate) fn token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn configuration(args: &Args, token: &str) -> Result<Config, ConfigError> {
    let mut config = serve::base(args.config.as_deref(), args.dir.as_deref())?;
    let port = args.port.unwrap_or(PORT);
    let listen = || Listen::Tcp(format!("127.0.0.1:{port}"));
    config.listen = vec![args.listen.clone().unwrap_or_else(listen)];
    config.tls = TlsConfig::default();
    config.metrics.listen = None;
    config.cache.disk = None;
    config.dialects.open_all();
    // The configuration may be for a server behind a proxy, where loopback does not mean local clients.
    config.play.allow = match config.loopback_is_local {
        true => AllowedClients::Local,
        false => AllowedClients::All,
    };
    if config.admin.secret()?.is_none() && !config.loopback_is_local {
        config.admin.token = Some(token.to_owned());
    }
    // A log of requests would only be noise here.
    config.log.level = config.log.level.min(LogLevel::Warn);
    Ok(config)
}

/// The default port of the playground, different from that of `andon serve`.
const PORT: u16 = 8088;

/// Prints a line with the playground's address and flushes it, so that users can click on it. The token of this run is
/// in the URL's fragment, which browsers do not send.
fn announce(server: &Server, config: &Config, token: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let is_own = config.admin.token.as_deref() == Some(token);
    let fragment = match is_own {
        true => format!("#token={token}"),
        false => String::new(),
    };
    server
        .addresses()
        .iter()
        .try_for_each(|address| {
            writeln!(
                out,
                "playground: {address}/_andon/play{fragment} (Ctrl-C stops it)"
            )
        })
        .and_then(|()| out.flush())
        .context("cannot write to standard output")
}
