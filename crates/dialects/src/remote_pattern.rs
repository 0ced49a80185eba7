//! Patterns of URLs that may be named as sources, as in the configuration files of Next.js and Astro.

use serde::Deserialize;

/// A pattern of URLs, an entry of `remotePatterns` in the configuration of Next.js or Astro. Absent fields permit
/// anything. The dialects `next` and `astro` match host names and paths as these programs do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RemotePattern {
    /// The scheme: `http` or `https`.
    pub protocol: Option<String>,
    /// The host name. For `next`, it is a glob, and required. For `astro`, `*.` at its beginning stands for one label,
    /// and `**.` for any number of labels.
    pub hostname: Option<String>,
    /// The port. For `next`, an empty text stands for the default port of the protocol.
    pub port: Option<String>,
    /// The path. For `next`, it is a glob. For `astro`, `/*` at its end stands for one segment, and `/**` for any
    /// number of segments.
    pub pathname: Option<String>,
    /// The query with its `?`; an empty text permits no query. Not supported for `astro`.
    pub search: Option<String>,
}
