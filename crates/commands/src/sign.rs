//! `andon sign`: signs a URL with a key of the configuration.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use andon_client::Seconds;
use andon_dialects::signing::Signature;
use andon_dialects::{Dialects, percent_encode};
use andon_pixels::Engine;
use andon_recipe::Recipe;
use andon_server::Config;
use andon_server::config::Overrides;
use anyhow::{Context, bail};

use crate::place;
use andon_terminal::print;

/// Sign a URL of any dialect with Andon's own signature and a key of [signing]
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The path and query to sign
    #[arg(value_name = "URL-PATH")]
    target: String,
    /// The server's configuration
    #[arg(long, value_name = "FILE", default_value = HERE)]
    config: PathBuf,
    /// The name of the key in [signing.keys], or its number in the list; the first if absent
    #[arg(long, value_name = "NAME")]
    key: Option<String>,
    /// Validity of the signature, such as 90s, 10m, 1h or 7d; a plain number is seconds [default: for ever]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    expires: Option<u64>,
    /// Sign only this number of leading segments, and let the viewer choose the rest; 0 signs the whole URL
    #[arg(long, value_name = "SEGMENTS", default_value_t = 0)]
    scope: usize,
}

const AFTER: &str = "\
Examples:
  andon sign '/r/fit:250x250/trip/a.jpg' --expires 1h
  andon sign /iiif/3/trip%2Fa.jpg --scope 3 --key viewers --config /etc/andon/andon.toml

Prints the path and query of the signed URL, with what a URL cannot contain as %XX. In a file name, `%` is %25, `?` is %3F.";

/// Parses a duration as whole seconds: a plain number, or a number with a unit.
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
    let config = read(&args.config)?;
    let file = args.config.display();
    let keys = config.dialects.signing.named();
    let (name, key) = match &args.key {
        Some(name) => keys.get_key_value(name).with_context(|| {
            let names: Vec<&str> = keys.keys().map(String::as_str).collect();
            let names = match &*names {
                [] => format!("it has none: `keys = {{ {name} = \"…\" }}`"),
                names => format!("its keys are {}", names.join(", ")),
            };
            format!("there is no key `{name}` in [signing] of {file}; {names}")
        })?,
        None => keys.first_key_value().with_context(|| {
            format!(
                "there is no key in [signing] of {file}: `keys = [\"…\"]`; imgproxy, thumbor and imgix sign in their own \
                 ways (docs/signing.md)"
            )
        })?,
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
    let target = percent_encode(&place::target(&args.target), AS_TYPED);
    let signed = signature.of(key, &target)?;
    if let Some(doubt) = doubt(&config, &signed, args.scope)? {
        eprintln!("andon: note: {doubt}");
    }
    print(format!("{signed}\n").as_bytes())
}

/// Characters of a typed URL that are not percent-encoded. A `%` begins an escape sequence.
const AS_TYPED: &str = "/?%";

/// Reads the configuration. If the file is missing in the current folder, the error names where a package installs it.
fn read(file: &Path) -> anyhow::Result<Config> {
    if file == Path::new(HERE) && !file.exists() {
        bail!(
            "there is no {HERE} in this folder; `--config {INSTALLED}` reads the keys of an installed server"
        );
    }
    Ok(Overrides::of_process().read(Some(file))?)
}

/// Returns a warning if a server with this configuration would refuse the signed URL, or send an unchanged file for it.
fn doubt(config: &Config, signed: &str, scope: usize) -> anyhow::Result<Option<String>> {
    // The viewer chooses the rest of the URL, so it cannot be checked here.
    if scope > 0 {
        return Ok(None);
    }
    let dialects = Dialects::new(&config.dialects)?;
    let request = match dialects.parse(signed) {
        Ok(request) => request,
        Err(refusal) => return Ok(Some(format!("the server refuses this URL: {refusal}"))),
    };
    if request.is_file() {
        let path = request.source.place();
        return Ok(Some(format!(
            "no dialect reads this URL: it is that of the file /{path} as it is"
        )));
    }
    let Ok(recipe) = request.rules.text().parse::<Recipe>() else {
        return Ok(None);
    };
    let engine = Engine::new(andon_codecs::ALL, config.limits.pixels());
    let error = engine.check(&recipe).err();
    Ok(error.map(|error| format!("the server refuses this URL: {error}")))
}

const HERE: &str = "andon.toml";
const INSTALLED: &str = "/etc/andon/andon.toml";

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
