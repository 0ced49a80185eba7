//! What the commands share that ask a server which already runs.

use std::collections::BTreeMap;
use std::net::ToSocketAddrs;
use std::path::PathBuf;

use andon_lab::experiment::Error;
use andon_lab::launch::{Endpoint, describe, running};
use andon_lab::load::RequestTemplate;
use andon_lab::scenario::{Expect, Scenario, urls};
use andon_lab::variant::Variant;
use anyhow::{Context, bail};

/// What is asked of it, beside the URL itself.
#[derive(clap::Args)]
pub(crate) struct Asking {
    /// File with URLs or paths, one a line; hosts in it are ignored
    #[arg(short = 'L', long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// Header, `name: value`; may be given more than once
    #[arg(short = 'H', long, value_name = "HEADER")]
    header: Vec<String>,
}

impl Asking {
    /// The list's targets, or this path.
    pub(super) fn all(&self, path: &str) -> anyhow::Result<Vec<RequestTemplate>> {
        let targets = match &self.urls {
            Some(file) => urls::read(file)
                .map_err(Error::from)?
                .into_iter()
                .map(|entry| entry.path)
                .collect(),
            None => vec![path.to_owned()],
        };
        let headers = Self::pairs(&self.header)?;
        let asked = targets.iter().map(|target| RequestTemplate {
            headers: headers.clone(),
            ..RequestTemplate::get(target)
        });
        Ok(asked.collect())
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

/// A scenario that starts nothing, for the records.
pub(super) fn scenario(name: &str) -> anyhow::Result<Scenario> {
    let mut scenario =
        Scenario::parse("[server]\ncmd = [\"true\"]\n", ".".as_ref()).map_err(Error::from)?;
    scenario.name = name.to_owned();
    scenario.design.aa = false;
    Ok(scenario)
}

/// A server that we did not start.
pub(super) fn variant(name: &str) -> Variant {
    Variant {
        name: name.to_owned(),
        cmd: Vec::new(),
        env: BTreeMap::new(),
        set: BTreeMap::new(),
        unset: Vec::new(),
        urls: None,
        assert: Vec::new(),
        expect: Expect::Any,
        connections: None,
    }
}

/// Its processes in words, or why they are not known.
pub(super) fn who(endpoint: &Endpoint) -> String {
    match running(endpoint) {
        Ok(roots) => {
            let named: Vec<String> = roots.into_iter().map(describe).collect();
            named.join(", ")
        }
        Err(why) => format!("not known: {why}"),
    }
}
