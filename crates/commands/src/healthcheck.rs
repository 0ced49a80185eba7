//! `andon healthcheck`: checks whether a server responds, for containers without another HTTP client.

use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use andon_client::{Fetched, Fetcher, from_url};
use andon_server::config::Overrides;
use andon_server::{Config, Listen};
use anyhow::{Context, bail, ensure};

/// Check whether a running server is healthy
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// http://HOST:PORT/PATH or unix:/path [default: /healthz at the first address that the configuration listens on]
    url: Option<String>,
    /// The server's configuration file, for its address
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Maximum time for the response, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    timeout: f64,
}

const AFTER: &str = "\
Examples:
  andon healthcheck
  andon healthcheck --config /etc/andon/andon.toml
  andon healthcheck http://127.0.0.1:9180/readyz
  HEALTHCHECK CMD [\"/usr/bin/andon\", \"healthcheck\"]

Without a URL the address is that of [metrics] listen, or else the first of `listen`, from --config and from environment \
variables such as ANDON_LISTEN, as `andon serve` reads them. A URL without a path means /healthz. Exit codes: 0 the server \
answered with a status below 400, 1 it did not.";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let timeout = Duration::try_from_secs_f64(args.timeout).ok();
    let timeout = timeout.filter(|it| !it.is_zero()).with_context(|| {
        format!(
            "--timeout {}: must be a number of seconds over 0",
            args.timeout
        )
    })?;
    let url = match &args.url {
        Some(url) => url.clone(),
        None => address(&Overrides::of_process().read(args.config.as_deref())?),
    };
    // The response may never arrive, so another thread waits for it; that thread ends with the process.
    let (sender, answer) = mpsc::channel();
    let target_url = url.clone();
    thread::spawn(move || sender.send(ask(&target_url)));
    let Ok(answer) = answer.recv_timeout(timeout) else {
        bail!("{url}: no answer within {timeout:?}");
    };
    let answer = answer.with_context(|| url.clone())?;
    ensure!(
        answer.status < 400,
        "{url}: status {}: {}",
        answer.status,
        String::from_utf8_lossy(&answer.body).trim()
    );
    Ok(())
}

fn ask(url: &str) -> anyhow::Result<Fetched> {
    let (endpoint, path) = from_url(url)?;
    let path = if path == "/" { "/healthz" } else { &path };
    Ok(Fetcher::new(endpoint, "localhost", &[])?.get(path, &[])?)
}

/// Returns the URL of the first address that a health check can use. Addresses with the PROXY protocol are skipped,
/// because only proxies can use them.
fn address(config: &Config) -> String {
    let monitoring = config.metrics.listen.iter();
    let plain = |listen: &&Listen| !config.proxy.protocol.contains(listen);
    let listen = monitoring.chain(&config.listen).find(plain);
    match listen.or(config.listen.first()) {
        Some(Listen::Unix(path)) => format!("unix:{}", path.display()),
        Some(Listen::Tcp(address)) => {
            // Wildcard addresses include loopback.
            let address = match address.rsplit_once(':') {
                Some(("0.0.0.0", port)) => format!("127.0.0.1:{port}"),
                Some(("[::]", port)) => format!("[::1]:{port}"),
                _ => address.clone(),
            };
            format!("http://{address}")
        }
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_address_is_that_of_monitoring_or_the_first_one_without_proxy_protocol() {
        for (text, url) in [
            ("", "http://127.0.0.1:8080"),
            ("listen = [\"0.0.0.0:80\"]", "http://127.0.0.1:80"),
            ("listen = [\"[::]:80\"]", "http://[::1]:80"),
            ("listen = [\"unix:/run/a.sock\"]", "unix:/run/a.sock"),
            ("metrics.listen = \"0.0.0.0:9180\"", "http://127.0.0.1:9180"),
            (
                "listen = [\"0.0.0.0:80\", \"0.0.0.0:81\"]\n[proxy]\ntrusted = [\"10.0.0.0/8\"]\nprotocol = [\"0.0.0.0:80\"]",
                "http://127.0.0.1:81",
            ),
        ] {
            let config = Config::parse(text, Path::new("")).unwrap();
            assert_eq!(address(&config), url);
        }
    }
}
