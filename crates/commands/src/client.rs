//! Clients of a server that is already running. Each client has its own connection, and is used by one thread.

use std::io;

use andon_client::{Endpoint, Error, Fetched, Fetcher, Tls, from_secure_url, from_url};
use anyhow::{Context, bail};

/// A server, and the headers that are sent with every request to it.
pub(crate) struct Server {
    endpoint: Endpoint,
    /// The host as the URL names it, or `localhost` for a Unix socket.
    host: String,
    /// Path of the server's URL, without the slash at its end. It precedes every target.
    prefix: String,
    headers: Vec<(String, String)>,
    tls: Option<Tls>,
}

/// One connection to a server.
pub(crate) struct Client<'a> {
    server: &'a Server,
    fetcher: Fetcher,
}

impl Server {
    /// Creates the server at `url`, the value of the command-line option `option`, and checks that it accepts a
    /// connection. A server at `https://` must have a certificate for the `Host` that is sent, unless
    /// `takes_any_certificate`.
    pub(crate) fn new(
        option: &str,
        url: &str,
        headers: Vec<(String, String)>,
        takes_any_certificate: bool,
    ) -> anyhow::Result<Self> {
        let secure = from_secure_url(url).with_context(|| option.to_owned())?;
        let is_secure = secure.is_some();
        let (endpoint, path) = match secure {
            Some((address, path)) => (Endpoint::Tcp(address), path),
            None => from_url(url).with_context(|| option.to_owned())?,
        };
        let host = match endpoint {
            Endpoint::Tcp(_) => url.split('/').nth(2).unwrap_or_default(),
            Endpoint::Unix(_) => "localhost",
        };
        let named = headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("host"));
        let named = named.map_or(host, |(_, host)| host).to_owned();
        let tls = is_secure.then(|| Tls::new(&named, takes_any_certificate));
        let tls = tls
            .transpose()
            .with_context(|| format!("{option} {url}: host {named}"))?;
        let server = Self {
            endpoint,
            tls,
            host: host.to_owned(),
            prefix: path.trim_end_matches('/').to_owned(),
            headers,
        };
        let connected = server
            .client()
            .and_then(|mut client| Ok(client.fetcher.connect()?));
        connected.map_err(|error| {
            let is_of_certificate = matches!(error.downcast_ref(), Some(Error::Certificate(_)));
            let context = match is_of_certificate {
                true => format!(
                    "{option} {url}, whose certificate has to be of {named} (-H 'Host: NAME' names another site; --insecure takes any \
                     certificate)"
                ),
                false => format!("{option} {url}"),
            };
            error.context(context)
        })?;
        Ok(server)
    }

    /// Returns a client, which connects on its first request.
    pub(crate) fn client(&self) -> anyhow::Result<Client<'_>> {
        let mut fetcher = Fetcher::new(self.endpoint.clone(), &self.host, &self.headers)?;
        if let Some(tls) = &self.tls {
            fetcher.secure(tls.clone());
        }
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
            let result = thread.join();
            result.unwrap_or_else(|_| bail!("a client thread panicked"))
        })
    })
}
