//! Environment variables that override keys of the file: `ANDON_CACHE__MEMORY=1GiB` is `memory` in `[cache]`.

mod values;

use std::path::Path;
use std::sync::LazyLock;

use andon_recipe::nearest;
use regex::Regex;
use toml::{Table, Value};

use self::values::{LISTS, default, items, names, reference, value};
use super::{Config, ConfigError};

/// The environment variables that set keys of the configuration.
#[derive(Clone, Debug, Default)]
pub struct Overrides(Vec<Override>);

/// One environment variable that sets a key of the configuration. Its value may be a secret, which is not printed.
#[derive(Clone)]
struct Override {
    name: String,
    /// The key as a path: `["cache", "memory"]`.
    path: Vec<String>,
    value: String,
}

/// Prefix of the environment variables that set keys of the configuration.
const PREFIX: &str = "ANDON_";

/// The variable that replaces all origins with a folder.
const ROOT: &str = "ANDON_ROOT";

/// Environment variables with the prefix `ANDON_` that set no key: the programs of Andon and its documentation use them
/// for other purposes.
const OTHERS: [&str; 4] = [
    "ANDON_KEY",
    "ANDON_SOCKET",
    "ANDON_STORE_SECRET",
    "ANDON_TOKEN",
];

/// Prefix of the environment variables of the laboratory (the benchmarks in `lab`), which set no keys of the
/// configuration.
const LABORATORY: &str = "ANDON_LAB_";

impl Overrides {
    /// Returns the overrides among the environment variables of this process. Variables that are not UTF-8 are left out.
    #[must_use]
    pub fn of_process() -> Self {
        Self::of(std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }))
    }

    /// Returns the overrides among these variables. An empty variable counts as not set, unless its key contains
    /// secrets of signed or encrypted URLs, such as `imgproxy.keys`: an empty value is then an error when the
    /// configuration is read.
    #[must_use]
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let read = |(name, value): (String, String)| {
            let key = name.strip_prefix(PREFIX).filter(|key| !key.is_empty())?;
            let is_other = OTHERS.contains(&&*name)
                || name.starts_with(LABORATORY)
                || is_service_link(key, &value);
            let path = key.split("__").map(str::to_ascii_lowercase).collect();
            let it = Override { name, path, value };
            (!is_other && (!it.value.is_empty() || it.closes())).then_some(it)
        };
        let mut overrides: Vec<Override> = variables.into_iter().filter_map(read).collect();
        overrides.sort_by(|one, other| one.name.cmp(&other.name));
        // `ANDON_ROOT` comes first, because it replaces all origins, whose keys other variables may set afterwards.
        overrides.sort_by_key(|it| it.name != ROOT);
        Self(overrides)
    }

    /// Whether no variable sets a key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names of the environment variables that set keys.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|it| it.name.as_str())
    }

    /// Reads and validates a file whose keys the variables override. Without a file, the variables override the defaults.
    ///
    /// # Errors
    /// If the file cannot be read or is invalid, or if a variable names no key or has an invalid value for it.
    pub fn read(&self, file: Option<&Path>) -> Result<Config, ConfigError> {
        match file {
            Some(file) if self.is_empty() => Config::read(file),
            Some(file) => {
                let text = std::fs::read_to_string(file).map_err(|error| {
                    ConfigError::new("", format!("it cannot be read: {error}")).in_file(file)
                })?;
                let folder = file.parent().unwrap_or(Path::new(""));
                self.parse(&text, folder)
                    .map_err(|error| error.in_file(file))
            }
            None => self.parse("", Path::new("")),
        }
    }

    /// Parses and validates a text whose keys the variables override.
    ///
    /// # Errors
    /// If the text is invalid, or if a variable names no key or has an invalid value for it.
    pub fn parse(&self, text: &str, folder: &Path) -> Result<Config, ConfigError> {
        let merged = self.laid_over(text)?;
        Config::parse(&merged, folder).map_err(|error| self.blame(error, text))
    }

    /// Returns the text of the configuration after the variables have overridden keys of `text`. Its lines differ from those
    /// of `text`.
    ///
    /// # Errors
    /// If `text` is not a configuration, or if a variable names no key or has an invalid value for it.
    pub fn laid_over(&self, text: &str) -> Result<String, ConfigError> {
        if self.is_empty() {
            return Ok(text.to_owned());
        }
        // Errors in the text itself come first, and are reported with its lines.
        Config::structure(text)?;
        let table = ConfigError::reading(text, &andon_settings::Known::default(), |table| {
            table.read::<Table>()
        })?;
        let mut secrets = secrets(&table);
        secrets.extend(self.0.iter().flat_map(Override::secrets));
        let is_key = |it: &&Override| !secrets.contains(&it.name);
        let overrides: Vec<&Override> = self.0.iter().filter(is_key).collect();
        if let Some(empty) = overrides.iter().find(|it| it.value.is_empty()) {
            let what = "it is empty, which would open the server to unsigned URLs: give it its value, or do not set it";
            return Err(empty.error(&ConfigError::new("", what)));
        }
        let merge = |without: Option<usize>| {
            let mut table = table.clone();
            for (index, it) in overrides.iter().enumerate() {
                if Some(index) != without {
                    it.set(&mut table)?;
                }
            }
            let text = toml::to_string(&table).unwrap_or_default();
            Config::structure(&text).map(|_| text)
        };
        let error = match merge(None) {
            Ok(text) => return Ok(text),
            Err(error) => error,
        };
        // The variable without which the error vanishes or differs has caused it. Lines are not compared, because they
        // change with each variable that is left out.
        let content = |error: &ConfigError| (error.key().to_owned(), error.what().to_owned());
        let is_to_blame = |index: &usize| {
            let error_without = merge(Some(*index)).err();
            error_without.is_none_or(|error_without| content(&error_without) != content(&error))
        };
        let culprit = (0..overrides.len()).find(is_to_blame);
        Err(match culprit.and_then(|index| overrides.get(index)) {
            Some(it) => it.error(&error),
            None => ConfigError::new("", format!("{PREFIX}… variables: {}", error.what())),
        })
    }

    /// Attributes an error of the merged configuration to the variable that set the key or, if there is none, to a line of
    /// `text`.
    fn blame(&self, error: ConfigError, text: &str) -> ConfigError {
        let sets = |it: &&Override| {
            let path = it.path.join(".");
            let is_below = |one: &str, other: &str| {
                one == other
                    || one
                        .strip_prefix(other)
                        .is_some_and(|rest| rest.starts_with('.'))
            };
            is_below(error.key(), &path) || is_below(&path, error.key())
        };
        match self.0.iter().find(sets) {
            _ if self.is_empty() => error,
            Some(it) => it.error(&error),
            None => ConfigError::new(error.key(), error.what()).located(text),
        }
    }
}

impl Override {
    /// Turns an error of the configuration into one that names this variable.
    fn error(&self, error: &ConfigError) -> ConfigError {
        // Compare names without their common prefix, which would make any two of them similar.
        let key_names = names(reference(), "", "");
        let short_name = self.name.trim_start_matches(PREFIX);
        let what = error.what();
        let near = nearest(short_name, key_names.iter().map(String::as_str));
        let near = near.filter(|near| *near != short_name && what.starts_with("unknown key"));
        let what = match near {
            Some(near) => {
                format!("it is no key of the configuration; did you mean {PREFIX}{near}?")
            }
            None => what.to_owned(),
        };
        ConfigError::new("", format!("environment variable {}: {what}", self.name))
    }

    /// Whether the key contains secrets of signed or encrypted URLs: an empty value must not silently switch this
    /// protection off.
    fn closes(&self) -> bool {
        const KEYS: [&str; 4] = ["keys", "salts", "source_key", "tokens"];
        self.path
            .get(1)
            .is_some_and(|key| KEYS.contains(&key.as_str()))
    }

    /// Returns the names of other environment variables that the value of this variable contains, if the name of its
    /// key or of a table above the key ends in `_env`.
    fn secrets(&self) -> Vec<String> {
        let Some(last) = self.path.iter().position(|key| key.ends_with("_env")) else {
            return Vec::new();
        };
        let value = value(&self.value, default(&self.path));
        secrets(&Table::from_iter([(self.path[last].clone(), value)]))
    }

    /// Sets the key of this environment variable to the variable's value in `table`, which is the whole configuration.
    /// The variable `ANDON_ROOT` replaces all origins with a folder.
    ///
    /// # Errors
    /// If the key leads through a value that is neither a table nor a list, or through a list index that is too large.
    fn set(&self, table: &mut Table) -> Result<(), ConfigError> {
        if self.name == ROOT {
            let root = std::path::absolute(&self.value);
            let root = root.map_or_else(|_| self.value.clone(), |it| it.display().to_string());
            let fs = Table::from_iter([("root".to_owned(), Value::from(root))]);
            let origin = Table::from_iter([("fs".to_owned(), Value::from(fs))]);
            table.insert("origin".to_owned(), Value::Array(vec![origin.into()]));
            return Ok(());
        }
        let (Some(last), Some((first, between))) = (self.path.last(), self.path.split_first())
        else {
            return Ok(());
        };
        let value = match default(&self.path) {
            None if LISTS.contains(&&**last) => items(&self.value),
            default => value(&self.value, default),
        };
        if between.is_empty() {
            table.insert(first.clone(), value);
            return Ok(());
        }
        let mut place =
            table
                .entry(first.clone())
                .or_insert_with(|| match between[0].parse::<usize>() {
                    Ok(_) => Value::Array(Vec::new()),
                    Err(_) => Value::Table(Table::new()),
                });
        for word in &between[..between.len() - 1] {
            place = self.below(place, word)?;
        }
        *self.below(place, last)? = value;
        Ok(())
    }

    /// Returns the value of a key in a table, or the item at an index of a list of tables. Creates it if it does not exist.
    ///
    /// # Errors
    /// If `place` is neither a table nor a list, or the index is too large.
    fn below<'a>(&self, place: &'a mut Value, word: &str) -> Result<&'a mut Value, ConfigError> {
        let empty = || Value::Table(Table::new());
        let kind = place.type_str();
        match (place, word.parse::<usize>()) {
            (Value::Table(table), _) => Ok(table.entry(word.to_owned()).or_insert_with(empty)),
            (Value::Array(items), Ok(index)) if index < MOST_ITEMS => {
                if items.len() <= index {
                    items.resize_with(index + 1, empty);
                }
                Ok(&mut items[index])
            }
            _ => Err(ConfigError::new(
                "",
                format!("there is nothing called `{word}` in {kind}"),
            )),
        }
    }
}

/// Prints the name only, because the value may be a secret.
impl std::fmt::Debug for Override {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// Maximum number of items, such as origins or rules, in a list that variables set.
const MOST_ITEMS: usize = 100;

/// Whether this is a variable in which Kubernetes or Docker passes the address of a service `andon` to other containers,
/// such as `ANDON_SERVICE_HOST`, `ANDON_PORT` or `ANDON_PORT_8080_TCP`.
fn is_service_link(key: &str, value: &str) -> bool {
    static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let names = r"^(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$";
        Regex::new(names).ok()
    });
    let is_address = value.contains("://") && (key == "PORT" || key.ends_with("_PORT"));
    is_address || LINK.as_ref().is_some_and(|it| it.is_match(key))
}

/// Returns the names of the environment variables that a table and all tables in it name: the values of keys that end
/// in `_env`, and all values in tables whose names end in `_env`.
fn secrets(table: &Table) -> Vec<String> {
    let mut names = Vec::new();
    for (key, value) in table {
        match value {
            Value::String(name) if key.ends_with("_env") => names.push(name.clone()),
            Value::Table(inner) if key.ends_with("_env") => {
                let variables = inner.values().filter_map(Value::as_str);
                names.extend(variables.map(str::to_owned));
            }
            Value::Table(inner) => names.extend(secrets(inner)),
            Value::Array(items) => {
                let tables = items.iter().filter_map(Value::as_table);
                names.extend(tables.flat_map(secrets));
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;
    use crate::config::{Bytes, Listen, OriginKind};

    fn overrides(variables: &[(&str, &str)]) -> Overrides {
        let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Overrides::of(variables.iter().map(text))
    }

    fn parse(text: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
        let parsed = overrides(variables).parse(text, Path::new("/etc/andon"));
        parsed.map_err(|error| error.to_string())
    }

    #[test]
    fn variables_set_keys_over_those_of_the_file() {
        let text = "workers = 3\n[cache]\nmemory = \"1MiB\"\nttl = \"1h\"\n";
        let config = parse(
            text,
            &[
                ("ANDON_LISTEN", "0.0.0.0:80, unix:/run/a.sock"),
                ("ANDON_CACHE__MEMORY", "1GiB"),
                ("ANDON_STEAL_WORK", "false"),
                ("ANDON_BACKGROUND", "112233"),
                ("ANDON_CACHE__DISK", "{ path = \"/c\", size = \"1GiB\" }"),
                ("ANDON_NEXT__DEVICE_SIZES", "100,200"),
                ("ANDON_NATIVE__PRESETS__THUMB", "fit:50x50"),
                ("ANDON_LOG__LEVEL", ""),
                ("HOME", "/root"),
            ],
        );
        let config = config.unwrap();
        assert_eq!(config.listen.len(), 2);
        assert_eq!(config.listen[0], Listen::Tcp("0.0.0.0:80".to_owned()));
        assert_eq!((config.workers, config.steal_work), (3, false));
        assert_eq!(config.cache.memory, Bytes(1 << 30));
        assert_eq!(config.cache.ttl.0.as_secs(), 3600);
        assert_eq!(config.dialects.next.device_sizes, [100, 200]);
        assert_eq!(config.dialects.native.presets["thumb"], "fit:50x50");
    }

    #[test]
    fn a_folder_and_origins_are_set_too() {
        let root = |config: &Config| match &config.origin[0].keeper {
            OriginKind::Fs(fs) => fs.root.clone(),
            other => panic!("{other:?}"),
        };
        let text = "[[origin]]\nfs.root = \"a\"\n[[origin]]\nprefix = \"/b\"\nfs.root = \"b\"\n";
        let config = parse(text, &[("ANDON_ROOT", "/pictures")]).unwrap();
        assert_eq!(
            (config.origin.len(), root(&config)),
            (1, PathBuf::from("/pictures"))
        );
        let config = parse(text, &[("ANDON_ORIGIN__0__FS__ROOT", "c")]).unwrap();
        assert_eq!(
            (config.origin.len(), root(&config)),
            (2, PathBuf::from("/etc/andon/c"))
        );
        let http = [
            ("ANDON_ORIGIN__0__HTTP__BASE", "https://a.example/"),
            ("ANDON_ORIGIN__0__FETCHES", "3"),
            ("ANDON_ORIGIN__1__PREFIX", "/b"),
            ("ANDON_ORIGIN__1__FS__ROOT", "/b"),
        ];
        let config = parse("", &http).unwrap();
        assert_eq!(config.origin.len(), 2);
        assert!(matches!(config.origin[0].keeper, OriginKind::Http(..)));
    }

    #[test]
    fn lists_of_origins_and_rules_may_be_written_with_commas_too() {
        let text = "[[origin]]\nhttp.urls = [\"https://a.example/\"]\nallow = [\"10.0.0.0/8\"]\n";
        let allowed = |value: &str| {
            let config = parse(text, &[("ANDON_ORIGIN__0__ALLOW", value)]).unwrap();
            match &config.origin[0].keeper {
                OriginKind::Http(_, remote) => remote.allow.len(),
                other => panic!("{other:?}"),
            }
        };
        for (value, length) in [
            ("127.0.0.0/8", 1),
            ("127.0.0.0/8, fd00::/8", 2),
            ("[127.0.0.0/8]", 1),
            ("[\"127.0.0.0/8\", \"10.0.0.0/8\"]", 2),
        ] {
            assert_eq!(allowed(value), length, "{value}");
        }
    }

    #[test]
    fn the_variable_at_fault_is_named_beside_others() {
        let text = "[[origin]]\nhttp.urls = [\"https://a.example/\"]\n";
        let variables = [
            ("ANDON_LISTEN", "127.0.0.1:0"),
            ("ANDON_ORIGIN__0__FETCHES", "many"),
        ];
        let error = parse(text, &variables).unwrap_err();
        assert!(error.contains("ANDON_ORIGIN__0__FETCHES"), "{error}");
    }

    #[test]
    fn every_error_names_its_variable_or_the_line_of_the_file() {
        for (text, name, value, what) in [
            (
                "",
                "ANDON_CACHE_MEMORY",
                "1",
                "it is no key of the configuration; did you mean ANDON_CACHE__MEMORY?",
            ),
            (
                "",
                "ANDON_CACHE__MEMROY",
                "1",
                "did you mean ANDON_CACHE__MEMORY?",
            ),
            ("", "ANDON_PIXIES", "1", "unknown key `pixies`"),
            (
                "",
                "ANDON_WORKERS",
                "many",
                "expected a whole number from 0 up, not \"many\"",
            ),
            ("", "ANDON_LISTEN", "80", "80"),
            ("", "ANDON_LIMITS__FETCHES", "0", "0 must be between"),
            (
                "",
                "ANDON_LOG__FORMAT",
                "jsno",
                "unknown value `jsno`; did you mean `json`?",
            ),
            ("", "ANDON_WORKERS__A", "1", "a whole number"),
            (
                "",
                "ANDON_IMGPROXY__KEYS",
                "",
                "it is empty, which would open",
            ),
            ("", "ANDON_SIGNING__KEYS__SHOP", "", "it is empty"),
            (
                "",
                "ANDON_ORIGIN__7000__PREFIX",
                "1",
                "nothing called `7000`",
            ),
        ] {
            let error = parse(text, &[(name, value)]).unwrap_err();
            assert!(
                error.contains(&format!("environment variable {name}: ")),
                "{name}: {error}"
            );
            assert!(error.contains(what), "{name}: {error}");
        }
        let empty = ["ANDON_IMGPROXY__KEYS", "ANDON_IMGPROXY__SALTS"].map(|name| (name, ""));
        let error = parse("", &empty).unwrap_err();
        assert!(
            error.contains("ANDON_IMGPROXY__KEYS: it is empty"),
            "{error}"
        );
        assert!(parse("", &[("ANDON_QUEUE", "")]).is_ok());
        let error = parse("\nworker = 1\n", &[("ANDON_QUEUE", "9")]).unwrap_err();
        assert!(error.starts_with("line 2: unknown key `worker`"), "{error}");
        let error = parse("\n[limits]\nfetches = 0\n", &[("ANDON_QUEUE", "9")]).unwrap_err();
        assert!(error.starts_with("line 3: `limits.fetches`"), "{error}");
    }

    #[test]
    fn secrets_and_links_between_services_are_no_keys() {
        let text = "admin.token_env = \"ANDON_MINE\"\n";
        let mine = [("ANDON_MINE", "sixteen bytes or more")];
        let others = [
            ("ANDON_TOKEN", "a"),
            ("ANDON_LAB_PADDING", "a"),
            ("ANDON_PORT", "tcp://10.0.0.1:8080"),
            ("ANDON_PORT_8080_TCP_ADDR", "10.0.0.1"),
            ("ANDON_SERVICE_PORT_HTTP", "8080"),
            ("ANDON_IMAGES_SERVICE_HOST", "10.0.0.1"),
        ];
        assert!(overrides(&others).is_empty());
        assert!(parse(text, &mine).is_ok());
        let named = ("ANDON_ADMIN__TOKEN_ENV", "ANDON_MINE");
        assert!(parse("", &[mine[0], named]).is_ok());
        let header = ("ANDON_OTLP__HEADERS_ENV__KEY", "ANDON_MINE");
        assert!(parse("", &[mine[0], header]).is_ok());
        let headers = ("ANDON_OTLP__HEADERS_ENV", "{ x-key = \"ANDON_MINE\" }");
        assert!(parse("", &[mine[0], headers]).is_ok());
        assert!(parse("otlp.headers_env = { x-key = \"ANDON_MINE\" }", &mine).is_ok());
        assert!(parse("", &mine).unwrap_err().contains("ANDON_MINE"));
        let shown = format!("{:?}", overrides(&mine));
        assert!(
            shown.contains("ANDON_MINE") && !shown.contains("sixteen"),
            "{shown}"
        );
    }

    proptest! {
        #[test]
        fn any_variable_is_read_without_a_panic(name in "ANDON_[A-Z0-9_]{0,20}", value in any::<String>()) {
            let _ = parse("", &[(&name, &value)]);
        }
    }
}
