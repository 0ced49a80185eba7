//! The configuration that `andon adopt` starts from: the imported configuration of another server, or an existing
//! andon.toml.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use anyhow::Context;
use toml::{Table, Value};

use super::Args;
use super::draft::unsigned;
use super::proxy;
use super::secrets::{self, value};
use crate::import::{self, UNNAMED_BUCKET, own_variable, quoted, unknown_secret_in};

/// The configuration that `andon adopt` completes with settings derived from the log. Empty if the user gave none.
#[derive(Debug, Default)]
pub(super) struct Base {
    pub(super) text: String,
    /// Whether the user gave an andon.toml, which is tried without changes.
    pub(super) is_own: bool,
    /// Keys of `text` that have random values because their secrets are unknown: the path of each key, and the
    /// environment variable of the other server that has the secret.
    unknown: BTreeMap<String, String>,
}

impl Base {
    pub(super) fn of(args: &Args, folder: &Path) -> anyhow::Result<Self> {
        let Some(file) = &args.config else {
            return Ok(Self::default());
        };
        if file.extension().is_some_and(|it| it == "toml") {
            let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
            return Ok(Self {
                text,
                is_own: true,
                ..Self::default()
            });
        }
        let text = without_old_addresses(&import::text(file, args.server.as_deref(), false)?);
        let text = match &args.root {
            Some(root) => in_place_of_missing(&text, folder, root)?,
            None => text,
        };
        Ok(Self::with_secrets(&text, &value))
    }

    /// Creates the base from an imported configuration. Random keys in `text` are replaced by the secrets that `value`
    /// returns for the other server's environment variables, if it returns any.
    fn with_secrets(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut base = Self::default();
        let mut table = "";
        for line in text.lines() {
            table = match line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
                Some(name) => name,
                None => table,
            };
            let Some((key, variable)) = unknown_secret_in(line) else {
                base.add(line);
                continue;
            };
            let path = format!("{table}.{key}");
            match value(variable) {
                Some(secret) => {
                    let permitted = text.contains("\nweak_keys");
                    let lines = secrets::lines(table, key, &secret, "");
                    let lines = lines.iter().take(if permitted { 1 } else { 2 });
                    lines.for_each(|line| base.add(line));
                }
                None => {
                    base.add(line);
                    // Andon's own environment variable overrides the file, so the secret is known if it is set.
                    if value(&own_variable(&path)).is_none() {
                        base.unknown.insert(path, variable.to_owned());
                    }
                }
            }
        }
        base
    }

    fn add(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    /// Returns the configuration text for a trial server: signatures whose key is unknown are not verified, so that the
    /// log's signed URLs can be tried.
    pub(super) fn trial(&self) -> anyhow::Result<String> {
        if self.unknown.is_empty() {
            return Ok(self.text.clone());
        }
        let mut all: Table = toml::from_str(&self.text)?;
        let mut rules = Vec::new();
        for path in self.unknown.keys() {
            let (name, key) = path.split_once('.').unwrap_or_default();
            let Some(table) = all.get_mut(name).and_then(Value::as_table_mut) else {
                continue;
            };
            table.remove(key);
            if name != "imgproxy" {
                table.insert("allow_unsafe".to_owned(), true.into());
                let prefix = table.get("prefix").and_then(Value::as_str).unwrap_or("/");
                let prefix = prefix.trim_end_matches('/');
                let (from, to) = unsigned(prefix, prefix);
                let rule = [
                    ("from".to_owned(), from.into()),
                    ("to".to_owned(), to.into()),
                ];
                rules.push(Value::Table(Table::from_iter(rule)));
            }
        }
        let rewrites = all
            .entry("rewrite")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(rewrites) = rewrites {
            rewrites.splice(0..0, rules);
        }
        Ok(all.to_string())
    }

    /// Returns the keys that the user has to fill in, each with the environment variable that has the secret.
    pub(super) fn unknown(&self) -> impl Iterator<Item = String> {
        let all = self.unknown.iter();
        all.map(|(path, variable)| format!("{path} ({variable})"))
    }

    /// Adds the names of buckets to the only origin of this kind (`s3` or `gcs`). Returns `false` without a change if
    /// there is no such origin, or more than one.
    pub(super) fn name_buckets(&mut self, kind: &str, names: &BTreeSet<String>) -> bool {
        let key = format!("{kind}.buckets = ");
        let lines = || self.text.lines().filter(|line| line.starts_with(&key));
        let (Some(line), 1) = (lines().next(), lines().count()) else {
            return false;
        };
        let Ok(Value::Array(list)) = line[key.len()..].parse::<Value>() else {
            return false;
        };
        let named = list.iter().filter_map(Value::as_str);
        let named: Vec<&str> = named.filter(|name| *name != UNNAMED_BUCKET).collect();
        let more = names.iter().map(String::as_str);
        let more = more.filter(|name| !named.contains(name));
        let all: Vec<String> = named.iter().copied().chain(more).map(quoted).collect();
        self.text = self
            .text
            .replace(line, &format!("{key}[{}]", all.join(", ")));
        true
    }
}

/// Whether a `listen` value, which is a TOML list, has only addresses to which the generated nginx configuration can
/// pass requests: [`proxy::LISTEN`], or wildcard addresses with its port.
fn is_there(listen: &str) -> bool {
    let Ok(Value::Array(all)) = listen.parse::<Value>() else {
        return false;
    };
    let (_, port) = proxy::LISTEN.rsplit_once(':').unwrap_or_default();
    let fits = |it: &str| {
        it == proxy::LISTEN || it == format!("0.0.0.0:{port}") || it == format!("[::]:{port}")
    };
    all.iter().all(|it| it.as_str().is_some_and(fits))
}

/// Returns the configuration `text` with [`proxy::LISTEN`] as its address, unless it already listens there: the old
/// server keeps its own addresses while both run, and passes requests on. TLS is commented out, because the old server
/// terminates it.
fn without_old_addresses(text: &str) -> String {
    let mut config = String::new();
    let mut table = "";
    for line in text.lines() {
        table = if line.starts_with('[') { line } else { table };
        let is_tls = table == "[tls]" && !line.is_empty();
        let address = line.strip_prefix("listen = ").filter(|_| table.is_empty());
        let address = address.filter(|it| !is_there(it));
        match address {
            Some(old) => {
                let address = quoted(proxy::LISTEN);
                let _ = writeln!(
                    config,
                    "listen = [{address}]  # the old server has {}",
                    old.replace('#', " ")
                );
            }
            None if is_tls => {
                if line == table {
                    config += "# The old server ends TLS, and passes requests on to `listen`:\n";
                }
                let _ = writeln!(config, "# {line}");
            }
            None => {
                let _ = writeln!(config, "{line}");
            }
        }
    }
    config
}

/// Replaces `fs.root` by `root` in origins whose folder does not exist on this machine, such as one inside a container.
fn in_place_of_missing(text: &str, folder: &Path, root: &Path) -> anyhow::Result<String> {
    let table: Table = toml::from_str(text)?;
    let origins = table.get("origin").and_then(Value::as_array);
    let folders = origins
        .into_iter()
        .flatten()
        .filter_map(|origin| origin.get("fs")?.get("root")?.as_str());
    let root = root
        .canonicalize()
        .with_context(|| format!("--root {}", root.display()))?;
    let root = quoted(&root.display().to_string());
    let mut text = text.to_owned();
    for missing in folders.filter(|it| !folder.join(it).is_dir()) {
        let line = |value: &str| format!("fs.root = {value}");
        let replacement = format!("{}  # {} of --config", line(&root), quoted(missing));
        text = text.replace(&line(&quoted(missing)), &replacement);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::pipeline::check;
    use super::*;

    const IMPORTED: &str = "\
[[origin]]
s3.buckets = [\"name-of-the-bucket\"]
s3.endpoint = \"http://minio:9000\"

[imgproxy]
keys = [\"d8feb3560c5734d92927657c29acfd62\"]  # SECRET: IMGPROXY_KEY goes here; this random one opens nothing
prefix = \"/\"
salts = [\"6deac218c21cb79ae4b26a7d42675836\"]  # SECRET: IMGPROXY_SALT goes here; this random one opens nothing

[thumbor]
keys = [\"0123456789abcdef0123456789abcdef\"]  # SECRET: SECURITY_KEY goes here; this random one opens nothing
prefix = \"/thumbs\"
";

    fn with_secrets(given: &[(&str, &str)]) -> Base {
        let value = |name: &str| {
            let own = given.iter().find(|(known, _)| *known == name);
            own.map(|(_, value)| (*value).to_owned())
        };
        Base::with_secrets(IMPORTED, &value)
    }

    fn config(text: &str) -> Table {
        check(text, Path::new(".")).expect("a sound configuration");
        toml::from_str(text).expect("a table")
    }

    #[test]
    fn a_configuration_beside_the_old_server_has_other_addresses() {
        let text = "# listen = [1]\n\nlisten = [\"0.0.0.0:80\", \"[::]:80\"]\n\n[tls]\nlisten = [\"0.0.0.0:443\"]\nkey = \"k\"\n\n[metrics]\nlisten = \"127.0.0.1:9\"\n";
        let text = without_old_addresses(text);
        let table: Table = toml::from_str(&text).expect("a table");
        assert_eq!(table["listen"].to_string(), "[\"127.0.0.1:8080\"]");
        assert!(!table.contains_key("tls"), "{text}");
        assert_eq!(table["metrics"]["listen"], "127.0.0.1:9".into());
        for kept in ["[\"0.0.0.0:8080\"]", "[\"127.0.0.1:8080\", \"[::]:8080\"]"] {
            let text = format!("listen = {kept}\n");
            assert_eq!(without_old_addresses(&text), text);
        }
        assert!(
            text.contains("# the old server has [\"0.0.0.0:80\", \"[::]:80\"]\n"),
            "{text}"
        );
    }

    #[test]
    fn keys_of_the_environment_take_the_place_of_random_ones() {
        let base = with_secrets(&[
            ("IMGPROXY_KEY", "00112233, 4455"),
            ("IMGPROXY_SALT", "66,77"),
            ("SECURITY_KEY", "a secret of thumbor"),
        ]);
        let imgproxy = &config(&base.text)["imgproxy"];
        assert_eq!(imgproxy["keys"].to_string(), r#"["00112233", "4455"]"#);
        assert_eq!(imgproxy["weak_keys"], true.into());
        assert_eq!(base.trial().expect("a text"), base.text);
        assert_eq!(base.unknown().count(), 0);
    }

    #[test]
    fn a_trial_does_not_check_signatures_whose_keys_are_not_known() {
        let base = with_secrets(&[]);
        assert_eq!(base.text, IMPORTED);
        let trial = config(&base.trial().expect("a text"));
        let has = |table: &str, key: &str| trial[table].get(key).is_some();
        assert!(!has("imgproxy", "keys") && !has("imgproxy", "salts") && !has("thumbor", "keys"));
        assert!(has("thumbor", "allow_unsafe"), "{trial}");
        assert_eq!(trial["rewrite"][0]["to"], "/thumbs/unsafe$1".into());
        let unknown: Vec<String> = base.unknown().collect();
        assert_eq!(unknown[0], "imgproxy.keys (IMGPROXY_KEY)");
    }

    #[test]
    fn a_variable_of_andons_own_makes_a_key_known() {
        let base = with_secrets(&[
            ("ANDON_IMGPROXY__KEYS", "ab"),
            ("ANDON_IMGPROXY__SALTS", "cd"),
        ]);
        let trial = config(&base.trial().expect("a text"));
        assert!(trial["imgproxy"].get("keys").is_some(), "{trial}");
    }

    #[test]
    fn the_logs_buckets_are_named_at_the_endpoint_that_is_known() {
        let mut base = with_secrets(&[]);
        let names = ["photos", "more"].map(str::to_owned).into();
        assert!(base.name_buckets("s3", &names));
        assert!(base.name_buckets("s3", &names));
        assert!(!base.name_buckets("gcs", &names));
        let origins = &config(&base.text)["origin"];
        assert_eq!(
            origins[0]["s3"]["buckets"].to_string(),
            r#"["more", "photos"]"#
        );
    }
}
