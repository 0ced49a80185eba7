//! Addresses to listen on, and permissions of Unix sockets.

use std::fmt;
use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;

use super::ConfigError;

/// An address to listen on: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080` or `unix:/path`. Port 0 stands for any
/// free port.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Listen {
    /// Host and port of a TCP socket.
    Tcp(String),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl Listen {
    pub(super) fn resolve(&mut self, folder: &Path) {
        if let Self::Unix(path) = self {
            *path = folder.join(&path);
        }
    }

    /// Whether the port is 0, so that the system chooses any free one.
    pub(super) fn is_any_port(&self) -> bool {
        matches!(self, Self::Tcp(address) if address.ends_with(":0"))
    }

    /// Checks for reasons why listening on this address would fail, even if no other process listens there. `key` is
    /// where the address is configured.
    ///
    /// # Errors
    /// If the host name cannot be resolved, or the folder of a Unix socket does not exist.
    pub(crate) fn check(&self, key: &str) -> Result<(), ConfigError> {
        let wrong = |why: String| ConfigError::new(key, format!("cannot listen on {self}: {why}"));
        match self {
            Self::Tcp(address) => match address.to_socket_addrs() {
                Ok(_) => Ok(()),
                Err(error) => Err(wrong(error.to_string())),
            },
            Self::Unix(path) => match path.parent() {
                Some(folder) if folder != Path::new("") && !folder.is_dir() => {
                    Err(wrong(format!("there is no folder {}", folder.display())))
                }
                _ => Ok(()),
            },
        }
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            if path.is_empty() {
                return Err("`unix:` needs a path, such as unix:/run/andon.sock".to_owned());
            }
            return Ok(Self::Unix(PathBuf::from(path)));
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            let address = rest.split('/').next().unwrap_or_default();
            return Err(format!(
                "write host and port without `{scheme}://`: {address}"
            ));
        }
        let port = text
            .rsplit_once(':')
            .filter(|(host, _)| !host.is_empty())
            .and_then(|(_, port)| port.parse::<u16>().ok());
        match port {
            Some(_) => Ok(Self::Tcp(text.to_owned())),
            None => Err(format!(
                "`{text}` is no address; write host and port, such as 127.0.0.1:8080, or unix:/path"
            )),
        }
    }
}

impl TryFrom<String> for Listen {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => f.write_str(address),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Permissions of a Unix socket, written in octal as for `chmod`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct SocketMode(pub u32);

impl Default for SocketMode {
    fn default() -> Self {
        Self(0o660)
    }
}

impl TryFrom<String> for SocketMode {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        u32::from_str_radix(&text, 8)
            .ok()
            .filter(|mode| *mode <= 0o777)
            .map(Self)
            .ok_or_else(|| format!("`{text}` is no mode; write it in octal, such as \"0660\""))
    }
}
