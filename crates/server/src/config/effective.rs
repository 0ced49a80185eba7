//! The effective configuration: the defaults, overridden by the keys of a file.

use std::path::Path;

use toml::{Table, Value};

use super::{Config, ConfigError};

/// The reference of the configuration: a file with every key, its default and a comment.
pub const REFERENCE: &str = include_str!("../../andon.default.toml");

/// Validates `text` and returns an equivalent configuration file that spells out all keys, defaults included. The values
/// of `otlp.headers`, which may be secrets, are replaced by `…`.
///
/// # Errors
/// If the configuration is invalid. The error names the line and the key.
pub fn effective(text: &str, folder: &Path) -> Result<String, ConfigError> {
    Config::parse(text, folder)?;
    let read = |text| {
        ConfigError::reading(text, &andon_settings::Known::default(), |table| {
            table.read::<Table>()
        })
    };
    let mut table = read(REFERENCE)?;
    lay_over(&mut table, read(text)?);
    let headers = table
        .get_mut("otlp")
        .and_then(|otlp| otlp.get_mut("headers"));
    if let Some(Value::Table(headers)) = headers {
        headers
            .iter_mut()
            .for_each(|(_, value)| *value = "…".into());
    }
    toml::to_string_pretty(&table)
        .map_err(|error| ConfigError::new("", format!("it cannot be written out: {error}")))
}

/// Lays `above` over `below`: tables are merged key by key, and any other value, lists included, replaces the one
/// below.
fn lay_over(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => lay_over(below, above),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effective_configuration_means_the_same_as_the_file() {
        let folder = Path::new("/etc/andon");
        let text = "workers = 3\n[limits]\nfetches = 9\n[[origin]]\nprefix = \"/x\"\nfs.root = \"y\"\n[small_light.patterns]\nm = \"dw=5\"\n";
        let whole = effective(text, folder).unwrap();
        assert_eq!(Config::parse(&whole, folder), Config::parse(text, folder));
        assert!(whole.contains("source_bytes"), "{whole}");
    }

    #[test]
    fn headers_for_a_collector_are_not_shown() {
        let text =
            "otlp.headers = { x-key = \"s3cret\" }\notlp.headers_env = { x-other = \"KEY\" }\n";
        let whole = effective(text, Path::new("")).unwrap();
        assert!(whole.contains("x-key = \"…\""), "{whole}");
        assert!(whole.contains("x-other = \"KEY\""), "{whole}");
        assert!(!whole.contains("s3cret"), "{whole}");
    }

    #[test]
    fn a_wrong_file_has_no_effect_but_its_error() {
        let error = effective("worker = 1", Path::new("")).unwrap_err();
        assert!(error.to_string().contains("`workers`"), "{error}");
    }
}
