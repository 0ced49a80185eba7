//! Clients of a server that is already running, each with a connection and a thread of its own.

use std::io;

use andon_client::{Endpoint, Fetched, Fetcher, from_url};
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
        let (endpoint, path) = from_url(url).with_context(|| option.to_owned())?;
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
