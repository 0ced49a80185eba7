//! Patterns of URLs that may be named as sources, as frameworks write them in their configurations.

use serde::Deserialize;

/// A pattern of URLs, an entry of `remotePatterns` in the configuration of Next.js or Astro. What is left out permits
/// anything. Each dialect matches names and paths as its original does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RemotePattern {
    /// The scheme: `http` or `https`.
    pub protocol: Option<String>,
    /// The host name. In `next` it is a glob, and required; in `astro` `*.` at its beginning stands for one label, and
    /// `**.` for any number of them.
    pub hostname: Option<String>,
    /// The port. In `next` an empty one is that of the protocol.
    pub port: Option<String>,
    /// The path. In `next` it is a glob; in `astro` `/*` at its end stands for one segment, and `/**` for any number of
    /// them.
    pub pathname: Option<String>,
    /// The query with its `?`, and empty for none. `astro` does not have it.
    pub search: Option<String>,
}
