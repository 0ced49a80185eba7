//! What the commands share that ask a server which already runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use andon_lab::experiment::Error;
use andon_lab::launch::{Endpoint, describe, running};
use andon_lab::load::RequestTemplate;
use andon_lab::scenario::{Expect, Scenario, urls};
use andon_lab::variant::Variant;

use andon_client::headers;

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
        let headers = headers(&self.header)?;
        let asked = targets.iter().map(|target| RequestTemplate {
            headers: headers.clone(),
            ..RequestTemplate::get(target)
        });
        Ok(asked.collect())
    }
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
