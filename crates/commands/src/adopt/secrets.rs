//! Signing keys, which no log contains: they come from the environment, or the user has to fill them in.

use andon_dialects::signature::unhex;
use anyhow::Context;

use super::presets;
use super::recognise::Found;
use super::settings::imgproxy_signatures;
use crate::import::{is_weak, quoted, unknown_secret};
use crate::play;

/// A configuration value that the URLs of a log require and that no log contains.
#[derive(Debug)]
pub(super) struct Secret {
    /// The path of the key in the configuration, such as `thumbor.keys`.
    pub(super) key: String,
    /// The environment variables that may have the value.
    pub(super) variables: Vec<&'static str>,
    /// Lines of TOML that set the secret. If its value is unknown, they contain a random key, which verifies no URL of
    /// the log, or presets without an effect.
    pub(super) lines: Vec<String>,
    pub(super) is_known: bool,
    /// Whether the secret is a key that verifies or decrypts URLs. Until it is correct, the server refuses these URLs.
    pub(super) is_key: bool,
}

/// Returns the secrets that the URLs of a dialect require.
pub(super) fn of(entries: &[&Found], targets: &[(String, u64)]) -> anyhow::Result<Vec<Secret>> {
    let Some(kind) = entries.first().map(|it| it.kind) else {
        return Ok(Vec::new());
    };
    let readings = || entries.iter().flat_map(|it| &it.readings);
    let signatures = || readings().filter_map(|(_, it)| it.signature.as_deref());
    let is_signed = signatures().any(|signature| signature != "unsafe");
    let mut secrets = Vec::new();
    match kind.dialect {
        "imgproxy" => {
            let is_sealed = readings().any(|(_, reading)| reading.is_sealed);
            // Encrypted sources require keys, and then words in the place of signatures have to be configured as
            // trusted.
            if is_sealed || imgproxy_signatures(signatures()).bytes.is_some() {
                secrets.push(imgproxy_keys()?);
            }
            if is_sealed {
                secrets.push(source_key()?);
            }
            secrets.extend(presets::of(
                readings().map(|(index, _)| &*targets[*index].0),
            ));
        }
        "thumbor" if is_signed => secrets.push(key("thumbor", "keys", "THUMBOR_SECURITY_KEY")?),
        "imagor" if is_signed => secrets.push(key("imagor", "keys", "IMAGOR_SECRET")?),
        // With a token configured, imgix URLs without a signature are refused, so all URLs must have one.
        "imgix" if readings().all(|(_, it)| it.signature.is_some()) => {
            secrets.push(key("imgix", "tokens", "IMGIX_TOKEN")?);
        }
        _ => {}
    }
    Ok(secrets)
}

/// Returns the secret for the configuration key `DIALECT.NAME`, a list of keys that consists of the value of the
/// environment variable `variable`, or of a random value if that is not set.
fn key(dialect: &str, name: &str, variable: &'static str) -> anyhow::Result<Secret> {
    let (values, note) = values_or_random(&[variable])?;
    Ok(Secret {
        key: format!("{dialect}.{name}"),
        variables: vec![variable],
        lines: lines(dialect, name, &values[0], &note),
        is_known: note.is_empty(),
        is_key: true,
    })
}

fn imgproxy_keys() -> anyhow::Result<Secret> {
    let variables = vec!["IMGPROXY_KEY", "IMGPROXY_SALT"];
    let (values, note) = values_or_random(&variables)?;
    let mut all = lines("imgproxy", "keys", &values[0], &note);
    all.splice(1..1, lines("imgproxy", "salts", &values[1], ""));
    Ok(Secret {
        key: "imgproxy.keys".to_owned(),
        variables,
        lines: all,
        is_known: note.is_empty(),
        is_key: true,
    })
}

/// Returns the secret for the key that encrypts sources in imgproxy's URLs.
fn source_key() -> anyhow::Result<Secret> {
    let variables = vec!["IMGPROXY_SOURCE_URL_ENCRYPTION_KEY"];
    let (values, note) = values_or_random(&variables)?;
    Ok(Secret {
        key: "imgproxy.source_key".to_owned(),
        variables,
        lines: lines("imgproxy", "source_key", &values[0], &note),
        is_known: note.is_empty(),
        is_key: true,
    })
}

/// Returns the values of environment variables, or random values and a comment that marks them as such.
fn values_or_random(variables: &[&str]) -> anyhow::Result<(Vec<String>, String)> {
    let all_values: Option<Vec<String>> = variables.iter().map(|name| value(name)).collect();
    if let Some(values) = all_values {
        return Ok((values, String::new()));
    }
    let random: Result<Vec<String>, _> = variables.iter().map(|_| play::token()).collect();
    let note = unknown_secret(&variables.join(", "));
    Ok((random.context("cannot make a random key")?, note))
}

/// Returns the value of an environment variable, unless it is empty. thumbor's key is also looked up under thumbor's
/// own name for it.
pub(super) fn value(name: &str) -> Option<String> {
    let names: &[&str] = match name {
        "SECURITY_KEY" | "THUMBOR_SECURITY_KEY" => &["THUMBOR_SECURITY_KEY", "SECURITY_KEY"],
        name => &[name],
    };
    let values = names.iter().filter_map(|name| std::env::var(name).ok());
    { values }.find(|value| !value.is_empty())
}

/// Returns the lines of TOML that set a secret of a dialect to the value `secret`, with the comment `note` after it. If
/// a key is so weak that it could be guessed, adds `weak_keys = true`, which permits weak keys.
pub(super) fn lines(dialect: &str, name: &str, secret: &str, note: &str) -> Vec<String> {
    // imgproxy's keys are hexadecimal and separated by commas.
    let is_imgproxy = dialect == "imgproxy";
    let keys: Vec<&str> = match is_imgproxy {
        true => secret.split(',').map(str::trim).collect(),
        false => vec![secret],
    };
    let is_guessed = |key: &&str| match is_imgproxy {
        true => unhex(key).is_some_and(|key| is_weak(&key)),
        false => is_weak(key.as_bytes()),
    };
    let list: Vec<String> = keys.iter().map(|key| quoted(key)).collect();
    let value = match name {
        "source_key" => quoted(secret),
        _ => format!("[{}]", list.join(", ")),
    };
    let signs = ["keys", "tokens"].contains(&name);
    let is_permitted = signs && keys.iter().any(is_guessed);
    let line = format!("{name} = {value}{note}");
    let weak = is_permitted.then(|| "weak_keys = true".to_owned());
    std::iter::once(line).chain(weak).collect()
}
