//! Clients of a server that is already running, each with a connection and a thread of its own.

use std::io;
use std::net::ToSocketAddrs;

use andon_client::{Endpoint, Fetched, Fetcher};
use anyhow::{Context, bail};

/// A server, and the headers that every request to it has.
pub(crate) struct Server {
    endpoint: Endpoint,
    /// As the URL names it.
    host: String,
    /// Stands before every target.
    prefix: String,
    headers: Vec<(String, String)>,
}

/// One connection to a server.
pub(crate) struct Client<'a> {
    server: &'a Server,
    fetcher: Fetcher,
}

impl Server {
    /// The server at an option's URL. It must accept a connection.
    pub(crate) fn new(
        option: &str,
        url: &str,
        headers: Vec<(String, String)>,
    ) -> anyhow::Result<Self> {
        let (endpoint, path) = endpoint(url).with_context(|| option.to_owned())?;
        let host = match endpoint {
            Endpoint::Tcp(_) => url.split('/').nth(2).unwrap_or_default(),
            Endpoint::Unix(_) => "localhost",
        };
        let server = Self {
            endpoint,
            host: host.to_owned(),
            prefix: path.trim_end_matches('/').to_owned(),
            headers,
        };
        let connected = server
            .client()
            .and_then(|mut client| Ok(client.fetcher.connect()?));
        connected.with_context(|| format!("{option} {url}"))?;
        Ok(server)
    }

    /// A client, which connects with its first request.
    pub(crate) fn client(&self) -> anyhow::Result<Client<'_>> {
        let fetcher = Fetcher::new(self.endpoint.clone(), &self.host, &self.headers)?;
        Ok(Client {
            server: self,
            fetcher,
        })
    }
}

impl Client<'_> {
    /// Requests a target below the server's URL, with these headers in place of the server's of the same names.
    pub(crate) fn get(&mut self, target: &str, headers: &[(&str, &str)]) -> io::Result<Fetched> {
        let target = format!("{}{target}", self.server.prefix);
        self.fetcher.get(&target, headers)
    }
}

/// Runs `work` on this many threads until all have ended. The first error is returned.
pub(crate) fn on_threads(
    count: u32,
    work: impl Fn() -> anyhow::Result<()> + Sync,
) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(&work)).collect();
        threads.into_iter().try_for_each(|thread| {
            let ended = thread.join();
            ended.unwrap_or_else(|_| bail!("a client thread panicked"))
        })
    })
}

/// Whom a URL means, and which path of theirs.
pub(crate) fn endpoint(url: &str) -> anyhow::Result<(Endpoint, String)> {
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

/// Headers as pairs.
pub(crate) fn pairs(headers: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let pairs = headers.iter().map(|header| {
        let pair = header.split_once(':');
        let pair =
            pair.with_context(|| format!("`{header}` is not a header: write `name: value`"))?;
        Ok((pair.0.trim().to_owned(), pair.1.trim().to_owned()))
    });
    pairs.collect()
}
