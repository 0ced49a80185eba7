//! `andon purge`: removes results from the cache of a running server.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::{Context, bail};

use andon_terminal::print;

/// Purge cached results by URL, source, prefix or tag
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(flatten)]
    what: What,
    /// The server: HOST:PORT, http://HOST:PORT or unix:/path
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8080",
        conflicts_with = "nodes"
    )]
    server: String,
    /// Several servers, for nodes without a shared store: addresses, or dns:NAME:PORT for all addresses of a name
    #[arg(long, value_name = "ADDRESS,…", value_delimiter = ',')]
    nodes: Vec<String>,
    /// The environment variable that holds the administrator's token
    #[arg(long, value_name = "NAME", default_value = "ANDON_TOKEN")]
    token_env: String,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct What {
    /// The result of one URL: its path and query, in every negotiated format
    #[arg(long, value_name = "URL-PATH")]
    url: Option<String>,
    /// Everything made from one source
    #[arg(long, value_name = "PATH")]
    source: Option<String>,
    /// Everything made from sources whose path has this prefix
    #[arg(long, value_name = "PATH")]
    prefix: Option<String>,
    /// Everything with a tag: overlay:NAME, type:image/webp
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
}

const AFTER: &str = "\
Examples:
  ANDON_TOKEN=… andon purge --source /trip/a.jpg
  andon purge --prefix /trip/ --server unix:/run/andon.sock
  andon purge --url '/small_light(dw=250)/trip/a.jpg' --token-env SHOP_TOKEN
  andon purge --tag overlay:star.png
  andon purge --source /trip/a.jpg --nodes dns:andon-headless.shop:8080

With --nodes one line is printed for each node, and the exit code is 1 if any could not be reached or refused: run it again then. \
Nodes with a shared store ([store]) tell each other: one of them is enough.
Prints how many entries were removed from memory. Entries on disk are purged as well and never served again, but not \
counted: a 0 does not mean that nothing matched. \
The server needs the same token: [admin] token_env = \"ANDON_TOKEN\".";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let name = &args.token_env;
    let Ok(token) = std::env::var(name) else {
        bail!("set the environment variable {name} to the token of the server's [admin] table");
    };
    if token.contains(['\r', '\n']) {
        bail!("the token in {name} has more than one line");
    }
    let order = args.what.order().to_string();
    let request = format!(
        "POST /_andon/purge HTTP/1.1\r\nHost: andon\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{order}",
        order.len()
    );
    match args.nodes.is_empty() {
        true => print(purge(&args.server, &request)?.as_bytes()),
        false => purge_all(&args.nodes, &request),
    }
}

/// Sends a purge request to one server, and returns the body of its response.
fn purge(server: &str, request: &str) -> anyhow::Result<String> {
    if server.starts_with("https://") {
        bail!(
            "{server}: purges go to Andon itself, over HTTP; name its own address, such as 127.0.0.1:8080"
        );
    }
    let reply = ask(server, request).with_context(|| {
        format!("cannot reach the server at {server} (--server or --nodes name another)")
    })?;
    let (head, body) = reply
        .split_once("\r\n\r\n")
        .context("the server's reply broke off")?;
    if head.split(' ').nth(1) != Some("200") {
        bail!("the server refused: {}", body.trim_end());
    }
    Ok(body.to_owned())
}

/// Sends a purge request to all nodes concurrently, so that a node that hangs does not delay the others.
fn purge_all(nodes: &[String], request: &str) -> anyhow::Result<()> {
    let mut servers = Vec::new();
    for node in nodes {
        match node.strip_prefix("dns:") {
            None => servers.push(node.clone()),
            Some(name) => {
                let addresses = name.to_socket_addrs().with_context(|| {
                    format!("{node}: no addresses; write it like dns:andon-headless:8080")
                })?;
                servers.extend(addresses.map(|address| address.to_string()));
            }
        }
    }
    servers.sort();
    servers.dedup();
    let purged: Vec<anyhow::Result<String>> = std::thread::scope(|scope| {
        let asking: Vec<_> = servers
            .iter()
            .map(|server| scope.spawn(move || purge(server, request)))
            .collect();
        let results = asking.into_iter().map(|it| it.join());
        results
            .map(|it| it.unwrap_or_else(|_| Err(anyhow::anyhow!("it could not be asked"))))
            .collect()
    });
    let mut failed = 0;
    for (server, purged) in servers.iter().zip(purged) {
        let line = match purged {
            Ok(body) => format!("{server}: {}\n", body.trim_end()),
            Err(error) => {
                failed += 1;
                format!("{server}: failed: {error:#}\n")
            }
        };
        print(line.as_bytes())?;
    }
    if failed > 0 {
        bail!("{failed} of {} nodes did not purge", servers.len());
    }
    Ok(())
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
            let stream = connect(address.trim_end_matches('/'))?;
            stream.set_read_timeout(Some(PATIENCE))?;
            exchange(stream, request)
        }
    }
}

/// Connects to the first of the host's addresses that accepts a connection.
fn connect(address: &str) -> std::io::Result<TcpStream> {
    let mut last = std::io::Error::other("the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn exchange(mut stream: impl Read + Write, request: &str) -> std::io::Result<String> {
    stream.write_all(request.as_bytes())?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    Ok(reply)
}

const CONNECT: Duration = Duration::from_secs(5);

/// Timeout for the server's response. A purge waits for the disk for a few seconds at most.
const PATIENCE: Duration = Duration::from_secs(30);
