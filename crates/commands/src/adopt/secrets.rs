//! Keys of signatures, which no log has: they come from the environment, or are to be filled in.

use anyhow::Context;

use super::form::imgix_signature;
use super::kinds::Kind;
use super::recognise::Found;
use super::settings::imgproxy_signatures;
use crate::import::quoted;
use crate::play;

/// The keys that the URLs of a dialect are signed with.
#[derive(Debug)]
pub(super) struct Secret {
    /// The key of the configuration, such as `thumbor.keys`.
    pub(super) key: String,
    /// The environment variables that are looked at.
    pub(super) variables: &'static [&'static str],
    /// Lines of TOML with the keys; with random ones, which open nothing, if they are not known.
    pub(super) lines: Vec<String>,
    pub(super) is_known: bool,
}

/// Returns the secret that the URLs of a kind need, or `None` if they need none.
pub(super) fn of(found: &[&Found], targets: &[(String, u64)]) -> anyhow::Result<Option<Secret>> {
    let Some(kind) = found.first().map(|it| it.kind) else {
        return Ok(None);
    };
    let readings = || found.iter().flat_map(|it| &it.readings);
    let signatures: Vec<&str> = readings()
        .filter_map(|(_, it)| it.signature.as_deref())
        .collect();
    let is_signed = signatures.iter().any(|signature| *signature != "unsafe");
    let is_sealed = readings().any(|(_, reading)| reading.is_sealed);
    let (key, variables): (&str, &[&str]) = match kind {
        Kind::Imgproxy
            if is_sealed || imgproxy_signatures(signatures.into_iter()).bytes.is_some() =>
        {
            (
                "keys",
                match is_sealed {
                    true => &[
                        "IMGPROXY_KEY",
                        "IMGPROXY_SALT",
                        "IMGPROXY_SOURCE_URL_ENCRYPTION_KEY",
                    ],
                    false => &["IMGPROXY_KEY", "IMGPROXY_SALT"],
                },
            )
        }
        Kind::Thumbor if is_signed => ("keys", &["THUMBOR_SECURITY_KEY"]),
        Kind::Imagor if is_signed => ("keys", &["IMAGOR_SECRET"]),
        Kind::Imgix if all_signed(readings().map(|(index, _)| &*targets[*index].0)) => {
            ("tokens", &["IMGIX_TOKEN"])
        }
        _ => return Ok(None),
    };
    let key = format!("{}.{key}", kind.table());
    let given: Option<Vec<String>> = variables.iter().map(|name| value(name)).collect();
    let is_known = given.is_some();
    let values = match given {
        Some(values) => values,
        None => (variables.iter().map(|_| play::token()))
            .collect::<Result<_, _>>()
            .context("cannot make a random key")?,
    };
    let note = match is_known {
        true => String::new(),
        false => format!(
            "  # SECRET: {} goes here; this random one opens nothing",
            variables.join(", ")
        ),
    };
    let lines = match (kind, &values[..]) {
        (Kind::Imgproxy, [key, salt, source @ ..]) => {
            let mut lines = vec![
                format!("keys = {}{note}", split(key)),
                format!("salts = {}", split(salt)),
            ];
            let short = key.split(',').any(|key| key.trim().len() < 32);
            lines.extend(short.then(|| "weak_keys = true".to_owned()));
            let source = source.first();
            lines.extend(source.map(|key| format!("source_key = {}", quoted(key))));
            lines
        }
        (_, [key, ..]) => {
            let weak = (key.len() < 16).then(|| "weak_keys = true".to_owned());
            let list = if kind == Kind::Imgix {
                "tokens"
            } else {
                "keys"
            };
            let line = format!("{list} = [{}]{note}", quoted(key));
            std::iter::once(line).chain(weak).collect()
        }
        (_, []) => Vec::new(),
    };
    Ok(Some(Secret {
        key,
        variables,
        lines,
        is_known,
    }))
}

fn value(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns a list of TOML of the keys that imgproxy separates by commas.
fn split(keys: &str) -> String {
    let keys: Vec<String> = keys.split(',').map(|key| quoted(key.trim())).collect();
    format!("[{}]", keys.join(", "))
}

/// Whether all of imgix's URLs are signed. With a token, unsigned ones are refused.
fn all_signed<'a>(mut targets: impl Iterator<Item = &'a str>) -> bool {
    targets.all(|target| {
        let query = target.split_once('?').map(|(_, query)| query);
        query.and_then(imgix_signature).is_some()
    })
}
