//! The client's address, where a proxy is trusted to state it.

use std::net::{IpAddr, SocketAddr};

use crate::config::{ClientHeader, ProxyConfig, Trusted};
use crate::net::Peer;

/// The client of a request: its address, and where that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visitor {
    pub(crate) peer: Peer,
    /// The header in which a trusted proxy states the address; `None` if the address is that of the connection.
    pub(crate) header: Option<&'static str>,
}

/// The trusted proxies, and the header in which they state the client's address.
#[derive(Debug)]
pub(crate) struct Proxies {
    trusted: Vec<Trusted>,
    header: ClientHeader,
}

impl Proxies {
    pub(crate) fn new(config: &ProxyConfig) -> Self {
        Self {
            trusted: config.trusted.clone(),
            header: config.header,
        }
    }

    pub(crate) fn trusts(&self, peer: Peer) -> bool {
        self.trusted.iter().any(|trusted| match (trusted, peer) {
            (Trusted::Unix, Peer::Unix) => true,
            (Trusted::Block(block), Peer::Tcp(address)) => block.contains(address),
            _ => false,
        })
    }

    /// Whether `peer` is a trusted proxy that states the addresses of its clients.
    pub(crate) fn names_clients(&self, peer: Peer) -> bool {
        self.header.name().is_some() && self.trusts(peer)
    }

    /// Returns the address of the client, as [`Proxies::client`] does, and the header that states it.
    pub(crate) fn visitor<'a, L>(
        &self,
        peer: Peer,
        lines: impl FnOnce(&'static str) -> L,
    ) -> Visitor
    where
        L: DoubleEndedIterator<Item = &'a [u8]>,
    {
        Visitor {
            peer: self.client(peer, lines),
            header: self.header.name().filter(|_| self.trusts(peer)),
        }
    }

    /// Returns the client's address. That is `peer` itself unless it is a trusted proxy. Otherwise, the entries of the
    /// header's `lines` are read from the last to the first, and the first address that is not a trusted proxy's is the
    /// client's, because all entries before it may be forged. If an invalid entry or the beginning of the header comes
    /// first, the address read before that is returned.
    pub(crate) fn client<'a, L>(&self, peer: Peer, lines: impl FnOnce(&'static str) -> L) -> Peer
    where
        L: DoubleEndedIterator<Item = &'a [u8]>,
    {
        let Some(name) = self.header.name().filter(|_| self.trusts(peer)) else {
            return peer;
        };
        let mut client = peer;
        for line in lines(name).rev() {
            let Ok(line) = std::str::from_utf8(line) else {
                return client;
            };
            for entry in line.rsplit(',') {
                let Some(address) = self.address(entry.trim()) else {
                    return client;
                };
                client = Peer::Tcp(address.to_canonical());
                if !self.trusts(client) {
                    return client;
                }
            }
        }
        client
    }

    /// Parses the address in one entry of the header: `192.0.2.7`, or in `Forwarded`
    /// `for="[2001:db8::7]:4711";proto=https`.
    fn address(&self, entry: &str) -> Option<IpAddr> {
        let address = match self.header {
            ClientHeader::Forwarded => entry.split(';').find_map(|pair| {
                let (name, value) = pair.trim().split_once('=')?;
                let value = value.trim_matches('"');
                name.eq_ignore_ascii_case("for").then_some(value)
            })?,
            _ => entry,
        };
        let bare = address
            .strip_prefix('[')
            .and_then(|it| it.strip_suffix(']'));
        let with_port = || address.parse().map(|address: SocketAddr| address.ip());
        bare.unwrap_or(address)
            .parse()
            .or_else(|_| with_port())
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(header: ClientHeader, peer: Peer, lines: &[&str]) -> String {
        let config = ProxyConfig {
            trusted: ["10.0.0.0/8", "2001:db8::/32", "unix"]
                .map(|it| it.parse().unwrap())
                .to_vec(),
            header,
            protocol: Vec::new(),
        };
        let lines = lines.iter().map(|line| line.as_bytes());
        Proxies::new(&config).client(peer, |_| lines).to_string()
    }

    fn peer(address: &str) -> Peer {
        Peer::Tcp(address.parse().unwrap())
    }

    #[test]
    fn the_last_who_is_no_trusted_proxy_is_the_client() {
        use ClientHeader::{Forwarded, Off, XForwardedFor};
        let proxy = peer("10.0.0.1");
        for (header, from, lines, expected) in [
            (XForwardedFor, proxy, &["192.0.2.7"][..], "192.0.2.7"),
            (XForwardedFor, proxy, &["127.0.0.1, 192.0.2.7"], "192.0.2.7"),
            (
                XForwardedFor,
                proxy,
                &["127.0.0.1, 192.0.2.7 , 10.9.9.9"],
                "192.0.2.7",
            ),
            (
                XForwardedFor,
                proxy,
                &["127.0.0.1", "192.0.2.7", "10.2.3.4"],
                "192.0.2.7",
            ),
            (XForwardedFor, proxy, &["192.0.2.7:4711"], "192.0.2.7"),
            (XForwardedFor, proxy, &["10.2.3.4"], "10.2.3.4"),
            (XForwardedFor, proxy, &["127.0.0.1, unknown"], "10.0.0.1"),
            (XForwardedFor, proxy, &[], "10.0.0.1"),
            (XForwardedFor, Peer::Unix, &["192.0.2.7"], "192.0.2.7"),
            (
                XForwardedFor,
                peer("192.0.2.1"),
                &["127.0.0.1"],
                "192.0.2.1",
            ),
            (Off, proxy, &["127.0.0.1"], "10.0.0.1"),
            (
                Forwarded,
                proxy,
                &["for=192.0.2.7;proto=https"],
                "192.0.2.7",
            ),
            (
                Forwarded,
                proxy,
                &["For=127.0.0.1, by=10.0.0.2; FOR=\"[2001:db9::7]:4711\""],
                "2001:db9::7",
            ),
            (
                Forwarded,
                proxy,
                &["for=192.0.2.7, for=\"[2001:db8::9]\""],
                "192.0.2.7",
            ),
            (
                Forwarded,
                proxy,
                &["for=127.0.0.1, for=_hidden"],
                "10.0.0.1",
            ),
        ] {
            assert_eq!(
                client(header, from, lines),
                expected,
                "{header:?} {lines:?}"
            );
        }
    }
}
