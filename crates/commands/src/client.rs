//! Clients of a server that is already running. Each has its own connection and is used by its own thread.

use std::io;

use andon_client::{Endpoint, Fetched, Fetcher, from_url};
use anyhow::{Context, bail};

/// A server, and the headers that are sent with every request to it.
pub(crate) struct Server {
    endpoint: Endpoint,
    /// The host as the URL names it, or `localhost` for a Unix socket.
    host: String,
    /// Path of the server's URL, without a slash at its end. It is put before every target.
    prefix: String,
    headers: Vec<(String, String)>,
}

/// One connection to a server.
pub(crate) struct Client<'a> {
    server: &'a Server,
    fetcher: Fetcher,
}

impl Server {
    /// Creates the server at `url`, which was given with the command-line option `option`, and checks that it accepts a
    /// connection.
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

    /// Returns a client that connects with its first request.
    pub(crate) fn client(&self) -> anyhow::Result<Client<'_>> {
        let fetcher = Fetcher::new(self.endpoint.clone(), &self.host, &self.headers)?;
        Ok(Client {
            server: self,
            fetcher,
        })
    }
}

impl Client<'_> {
    /// Requests a target below the server's URL. `headers` replace the server's headers of the same names.
    pub(crate) fn get(&mut self, target: &str, headers: &[(&str, &str)]) -> io::Result<Fetched> {
        let target = format!("{}{target}", self.server.prefix);
        self.fetcher.get(&target, headers)
    }
}

/// Runs `work` once on each of `count` threads, waits for all of them, and returns the first error.
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
