//! `andon lb-config`: prints the configuration of a load balancer in front of several nodes.

mod envoy;
mod haproxy;
mod nginx;

use std::path::PathBuf;
use std::time::Duration;

use andon_dialects::Dialects;
use andon_server::Config;
use andon_server::config::Overrides;
use anyhow::bail;

use andon_terminal::print;

/// Print a load balancer configuration that sends all URLs of one image to the same node
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The load balancer
    #[arg(value_enum)]
    balancer: Balancer,
    /// The address of a node; may be repeated
    #[arg(long = "node", value_name = "HOST:PORT", required = true)]
    nodes: Vec<String>,
    /// The nodes' configuration, for its dialects [default: the default configuration]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The port that the load balancer listens on
    #[arg(long, value_name = "PORT", default_value_t = 80)]
    port: u16,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Balancer {
    Nginx,
    Haproxy,
    Envoy,
}

const AFTER: &str = "\
Examples:
  andon lb-config nginx --node 10.0.0.1:8080 --node 10.0.0.2:8080 > /etc/nginx/conf.d/andon.conf
  andon lb-config haproxy --node andon-0:8080 --node andon-1:8080 --config andon.toml >> /etc/haproxy/haproxy.cfg
  andon lb-config envoy --node 10.0.0.1:8080 --port 8000 > envoy.yaml

All sizes and formats of one image reach one node, which so fetches and decodes it once. A request that its node rejects, or \
that finds the node gone, is sent to one other node.";

/// The values for a load balancer's configuration.
struct Setup {
    /// Names of dialects, each with a regular expression for its URLs, whose only group is the source.
    patterns: Vec<(&'static str, String)>,
    nodes: Vec<String>,
    port: u16,
    /// Maximum time in which a node responds.
    answer: Duration,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let config = match &args.config {
        Some(path) => Overrides::of_process().read(Some(path))?,
        None => Config::default(),
    };
    for node in &args.nodes {
        let port = node.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:[]".contains(c);
        if !matches!(port, Some(Ok(_))) || !node.chars().all(plain) {
            bail!("--node {node}: write it as HOST:PORT, such as 10.0.0.1:8080");
        }
    }
    let setup = Setup {
        patterns: Dialects::new(&config.dialects)?.source_patterns().collect(),
        nodes: args.nodes.clone(),
        port: args.port,
        answer: config.timeouts.request.0,
    };
    let mut text = match args.balancer {
        Balancer::Nginx => nginx::write(&setup),
        Balancer::Haproxy => haproxy::write(&setup),
        Balancer::Envoy => envoy::write(&setup),
    };
    if !config.dialects.rewrite.is_empty() {
        text.insert_str(
            0,
            "# URLs of [[rewrite]] rules are hashed by their whole path: add a pattern for each rule to those below.\n",
        );
    }
    print(text.as_bytes())
}
