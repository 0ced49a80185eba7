//! `andon sign`: signs a URL with a key of the configuration.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use andon_client::Seconds;
use andon_dialects::signing::Signature;
use andon_server::Config;
use anyhow::{Context, bail};

use crate::place;
use andon_terminal::print;

/// Sign a URL of any dialect in Andon's own way, with a key of [signing]
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
    /// How long it is good, such as 90s, 10m, 1h or 7d; a bare number is seconds. Absent: for ever
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    expires: Option<u64>,
    /// Sign the first segments only, and leave the rest to the viewer
    #[arg(long, value_name = "SEGMENTS", default_value_t = 0)]
    scope: usize,
}

const AFTER: &str = "\
Examples:
  andon sign '/r/fit:250x250/trip/a.jpg' --expires 1h
  andon sign /iiif/3/trip%2Fa.jpg --scope 3 --key viewers --config /etc/andon/andon.toml

Prints the path and query of the signed URL.";

/// Reads a time as whole seconds: a bare number, or one with a unit.
fn seconds(text: &str) -> Result<u64, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(seconds);
    }
    let days = text.strip_suffix('d').and_then(|days| days.parse().ok());
    if let Some(seconds) = days.and_then(|days: u64| days.checked_mul(24 * 3600)) {
        return Ok(seconds);
    }
    let time = Seconds::parse(text).map_err(|_| {
        format!("`{text}` is not a time: write seconds, or `90s`, `10m`, `1h` or `7d`")
    })?;
    Ok(time.0.ceil() as u64)
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let keys = Config::read(&args.config)?.dialects.signing.named();
    let (name, key) = match &args.key {
        Some(name) => keys
            .get_key_value(name)
            .with_context(|| format!("there is no key `{name}` in [signing]"))?,
        None => keys
            .first_key_value()
            .context("there is no key in [signing]: `keys = [\"…\"]`; imgproxy, thumbor and imgix sign in their own ways (docs/signing.md)")?,
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

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn a_time_is_seconds_or_has_a_unit() {
        for (text, expected) in [
            ("3600", 3600),
            ("1h", 3600),
            ("90s", 90),
            ("10m", 600),
            ("7d", 604_800),
            ("1500ms", 2),
        ] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for wrong in ["", "-1", "1y", "h", "1 fortnight"] {
            assert!(seconds(wrong).unwrap_err().contains("`7d`"), "{wrong}");
        }
    }
}
