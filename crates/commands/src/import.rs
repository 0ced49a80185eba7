//! `andon import`: translates another server's configuration into one for Andon.

mod filter;
mod locations;
mod model;
mod next;
mod pattern;
mod reasons;
mod site;
mod syntax;
mod units;
mod write;

use std::path::{Path, PathBuf};

use andon_server::Config;
use anyhow::Context;

use andon_terminal::print;
pub(crate) use write::quoted;

/// Write the andon.toml of an nginx that makes images, or of a Next.js application
///
/// Locations with image_filter and ngx_small_light become rewrites; roots, aliases and proxy_pass become origins;
/// caches, limits and addresses become their keys. Every directive that has no equivalent stands in a comment, with its
/// line and why. Of Next.js, the file is JSON: .next/required-server-files.json, which `next build` writes.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// nginx's main file, or one of a site; or a configuration of Next.js as JSON
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The server block with this server_name [default: the first that makes images]
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
}

const AFTER: &str = "\
Examples:
  andon import /etc/nginx/nginx.conf > andon.toml && andon config check andon.toml
  andon import /etc/nginx/sites-enabled/images --server images.example
  andon import .next/required-server-files.json > andon.toml

Included files are read too. `andon shadow` then compares both servers.";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let text = text(&args.file, args.server.as_deref())?;
    // What nginx takes and Andon does not should be said here, not when it is started.
    if let Err(error) = Config::parse(&text, Path::new("")) {
        eprintln!("andon: what was written needs a change: {error:#}");
    }
    print(text.as_bytes())
}

/// Returns the andon.toml for the configuration of another server. `server` names one of several server blocks.
pub(crate) fn text(file: &Path, server: Option<&str>) -> anyhow::Result<String> {
    let name = file.display().to_string();
    let content = std::fs::read_to_string(file).unwrap_or_default();
    if content.trim_start().starts_with('{') {
        return next::text(&content, &name).with_context(|| name.clone());
    }
    let directives = syntax::read(file)?;
    let site = site::read(&directives, server).with_context(|| name.clone())?;
    Ok(write::text(&site, &name))
}
