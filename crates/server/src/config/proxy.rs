//! The `[proxy]` table: which proxies are trusted to name the client of a request, and in which way they name it.

use std::path::Path;
use std::str::FromStr;

use andon_settings::check;
use serde::Deserialize;

use super::{ConfigError, Listen};
use crate::net::Cidr;

/// The `[proxy]` table: which proxies are trusted to name the client of a request, and in which way they name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProxyConfig {
    /// The proxies that are trusted to name the client.
    pub trusted: Vec<Trusted>,
    /// The header in which trusted proxies name the client.
    pub header: ClientHeader,
    /// Addresses of `listen` and `tls.listen` on which every connection must begin with a PROXY protocol header.
    pub protocol: Vec<Listen>,
}

/// A trusted proxy, or a block of addresses of trusted proxies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Trusted {
    /// `unix`: all clients that connect through a Unix socket.
    Unix,
    /// A block of addresses, such as `10.0.0.0/8`, or a single one.
    Block(Cidr),
}

impl FromStr for Trusted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "unix" => Ok(Self::Unix),
            block => block.parse().map(Self::Block),
        }
    }
}

impl TryFrom<String> for Trusted {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// The header in which a proxy names the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientHeader {
    /// No header: proxies do not name the client.
    #[default]
    Off,
    /// `X-Forwarded-For`, which most proxies send.
    XForwardedFor,
    /// `Forwarded`, as specified by RFC 7239.
    Forwarded,
}

impl ClientHeader {
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::Off => None,
            Self::XForwardedFor => Some("x-forwarded-for"),
            Self::Forwarded => Some("forwarded"),
        }
    }
}

impl ProxyConfig {
    pub(super) fn resolve(&mut self, folder: &Path) {
        for listen in &mut self.protocol {
            listen.resolve(folder);
        }
    }

    /// Checks for invalid values. `image_listens` are the addresses where images are served.
    pub(super) fn validate(&self, image_listens: &[Listen]) -> Result<(), ConfigError> {
        let unknown = self
            .protocol
            .iter()
            .find(|listen| !image_listens.contains(listen));
        check(unknown.is_none(), "proxy.protocol", || {
            let unknown = unknown.map(ToString::to_string).unwrap_or_default();
            format!("{unknown} is neither in `listen` nor in `tls.listen`")
        })?;
        let is_off = self.header == ClientHeader::Off && self.protocol.is_empty();
        check(is_off || !self.trusted.is_empty(), "proxy.trusted", || {
            "is empty: nobody would be believed; name the addresses of your proxies, such as \"10.0.0.0/8\", or \"unix\"".to_owned()
        })
    }
}
