//! `andon purge`: remove results from the cache of a running server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::print::print;

/// Purge cached results by URL, source, prefix or tag
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(flatten)]
    what: What,
    /// The server: HOST:PORT, http://HOST:PORT or unix:/path
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    server: String,
    /// The environment variable that holds the administrator's token
    #[arg(long, value_name = "NAME", default_value = "ANDON_TOKEN")]
    token_env: String,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct What {
    /// The result of one URL: its path and query, in every format it is negotiated to
    #[arg(long, value_name = "URL-PATH")]
    url: Option<String>,
    /// Everything made from one source
    #[arg(long, value_name = "PATH")]
    source: Option<String>,
    /// Everything made from sources whose path begins so
    #[arg(long, value_name = "PATH")]
    prefix: Option<String>,
    /// Everything with a tag: material:NAME, type:image/webp
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
}

const AFTER: &str = "\
Examples:
  ANDON_TOKEN=… andon purge --source /trip/a.jpg
  andon purge --prefix /trip/ --server unix:/run/andon.sock
  andon purge --url '/small_light(dw=250)/trip/a.jpg' --token-env SHOP_TOKEN
  andon purge --tag material:star.png

Prints how many entries were removed from memory. Entries on disk are purged as well and never served again, but not \
counted: a 0 does not mean that nothing matched. \
The server needs the same token: [admin] token_env = \"ANDON_TOKEN\".";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let name = &args.token_env;
    let token = std::env::var(name)
        .with_context(|| format!("the token is expected in the environment variable {name}"))?;
    if token.contains(['\r', '\n']) {
        bail!("the token in {name} has more than one line");
    }
    if args.server.starts_with("https://") {
        bail!(
            "{}: purges go to Andon itself, over HTTP; name its own address, such as 127.0.0.1:8080",
            args.server
        );
    }
    let order = args.what.order().to_string();
    let request = format!(
        "POST /_andon/purge HTTP/1.1\r\nHost: andon\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{order}",
        order.len()
    );
    let reply = ask(&args.server, &request)
        .with_context(|| format!("cannot reach the server at {}", args.server))?;
    let (head, body) = reply
        .split_once("\r\n\r\n")
        .context("the server's reply broke off")?;
    if head.split(' ').nth(1) != Some("200") {
        bail!("the server refused: {}", body.trim_end());
    }
    print(body.as_bytes())
}

impl What {
    fn order(&self) -> serde_json::Value {
        let all = [
            ("url", &self.url),
            ("source", &self.source),
            ("prefix", &self.prefix),
            ("tag", &self.tag),
        ];
        all.into_iter()
            .filter_map(|(kind, value)| Some((kind.to_owned(), value.as_deref()?.into())))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}

fn ask(server: &str, request: &str) -> std::io::Result<String> {
    match server.strip_prefix("unix:") {
        Some(path) => {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            exchange(stream, request)
        }
        None => {
            let address = server.strip_prefix("http://").unwrap_or(server);
            let stream = TcpStream::connect(address.trim_end_matches('/'))?;
            stream.set_read_timeout(Some(PATIENCE))?;
            exchange(stream, request)
        }
    }
}

fn exchange(mut stream: impl Read + Write, request: &str) -> std::io::Result<String> {
    stream.write_all(request.as_bytes())?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    Ok(reply)
}

/// A purge waits for the disk for a few seconds at most.
const PATIENCE: Duration = Duration::from_secs(30);
