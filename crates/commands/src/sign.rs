//! `andon sign`: signs a URL with a key of the configuration.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use andon_dialects::signing::Signature;
use andon_server::Config;
use anyhow::{Context, bail};

use crate::place;
use andon_terminal::print;

/// Sign a URL, of any dialect, with a key of the configuration
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The path and query to sign
    #[arg(value_name = "URL-PATH")]
    target: String,
    /// The server's configuration
    #[arg(long, value_name = "FILE", default_value = "andon.toml")]
    config: PathBuf,
    /// The name of the key in [signing.keys], or its number in the list; the first if absent
    #[arg(long, value_name = "NAME")]
    key: Option<String>,
    /// For how many seconds it is good; absent: for ever
    #[arg(long, value_name = "SECONDS")]
    expires: Option<u64>,
    /// Sign the first segments only, and leave the rest to the viewer
    #[arg(long, value_name = "SEGMENTS", default_value_t = 0)]
    scope: usize,
}

const AFTER: &str = "\
Examples:
  andon sign '/r/fit:250x250/trip/a.jpg' --expires 3600
  andon sign /iiif/3/trip%2Fa.jpg --scope 3 --key viewers --config /etc/andon/andon.toml

Prints the path and query of the signed URL.";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let keys = Config::read(&args.config)?.dialects.signing.named();
    let (name, key) = match &args.key {
        Some(name) => keys
            .get_key_value(name)
            .with_context(|| format!("there is no key `{name}` in [signing]"))?,
        None => keys
            .first_key_value()
            .context("there is no key in [signing]: `keys = [\"…\"]`")?,
    };
    let expires = match args.expires {
        None => 0,
        Some(0) => bail!("--expires 0: it would never be good"),
        Some(seconds) => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
            let end = now.checked_add(Duration::from_secs(seconds));
            end.context("--expires: too far away")?.as_secs()
        }
    };
    let signature = Signature {
        expires,
        key: args.key.as_ref().map_or(String::new(), |_| name.clone()),
        scope: args.scope,
    };
    let signed = signature.of(key, &place::target(&args.target))?;
    print(format!("{signed}\n").as_bytes())
}
