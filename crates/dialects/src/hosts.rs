//! Lists of the hosts of URLs that may be named as sources in a dialect.

use url::Url;

use crate::ConfigError;

/// Names of hosts, in lower case. An empty list restricts nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    /// Parses host names, or URLs that contain them. `key` is the configuration key that lists them, for errors.
    ///
    /// # Errors
    /// A text without a host name.
    pub(crate) fn new(key: &str, names: &[String]) -> Result<Self, ConfigError> {
        let host = |name: &String| {
            let is_url = name.starts_with("http://") || name.starts_with("https://");
            let url = Url::parse(&if is_url {
                name.clone()
            } else {
                format!("http://{name}")
            });
            let host = url.ok().and_then(|url| url.host_str().map(str::to_owned));
            host.ok_or_else(|| {
                let why = format!("`{name}` must be a host name, such as \"images.example\"");
                ConfigError::new(key.to_owned(), why)
            })
        };
        Ok(Self(names.iter().map(host).collect::<Result<_, _>>()?))
    }

    /// Whether the list restricts nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the list has this host.
    pub(crate) fn has(&self, host: &str) -> bool {
        self.0.iter().any(|entry| entry == host)
    }
}
