//! Options and helpers shared by the commands that send requests to a running server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use andon_lab::experiment::Error;
use andon_lab::launch::{Endpoint, describe, running};
use andon_lab::load::RequestTemplate;
use andon_lab::scenario::{Expect, Scenario, urls};
use andon_lab::variant::Variant;

use andon_client::headers;

/// Options for the requests that are sent to a running server, in addition to its URL.
#[derive(clap::Args)]
pub(crate) struct RequestOptions {
    /// File with URLs or paths, one per line; hosts in it are ignored
    #[arg(short = 'L', long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// Header, `name: value`; may be given more than once
    #[arg(short = 'H', long, value_name = "HEADER")]
    header: Vec<String>,
}

impl RequestOptions {
    /// Returns requests for the targets in the list of URLs, or for `path` if there is no list.
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
        let templates = targets.iter().map(|target| RequestTemplate {
            headers: headers.clone(),
            ..RequestTemplate::get(target)
        });
        Ok(templates.collect())
    }
}

/// Creates a scenario that starts no server. It serves only to fill the header of a run.
pub(super) fn scenario(name: &str) -> anyhow::Result<Scenario> {
    let mut scenario =
        Scenario::parse("[server]\ncmd = [\"true\"]\n", ".".as_ref()).map_err(Error::from)?;
    scenario.name = name.to_owned();
    scenario.design.aa = false;
    Ok(scenario)
}

/// Creates a variant for a server that the laboratory did not start.
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

/// Describes the server's processes, or says why they are not known.
pub(super) fn who(endpoint: &Endpoint) -> String {
    match running(endpoint) {
        Ok(roots) => {
            let processes: Vec<String> = roots.into_iter().map(describe).collect();
            processes.join(", ")
        }
        Err(why) => format!("not known: {why}"),
    }
}
