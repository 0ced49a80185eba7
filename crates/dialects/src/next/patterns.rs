//! Which sources are permitted: globs of paths and of URLs.

use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use url::Url;

use crate::ConfigError;
use crate::hosts::Hosts;
use crate::remote_pattern::RemotePattern;

/// A pattern of paths that are permitted as sources, an entry of `images.localPatterns` in the configuration of
/// Next.js. Absent fields permit anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LocalPattern {
    /// Glob of the path, such as `/assets/**`.
    pub pathname: Option<String>,
    /// The query with its `?`; an empty text permits no query.
    pub search: Option<String>,
}

/// All patterns of permitted sources in the configuration, compiled.
#[derive(Debug)]
pub(super) struct Patterns {
    domains: Hosts,
    remote: Vec<Remote>,
    local: Vec<Local>,
}

#[derive(Debug)]
struct Remote {
    protocol: Option<String>,
    hostname: Glob,
    port: Option<String>,
    rest: Local,
}

/// A glob in the syntax of Next.js, compiled to one or more globs of `globset`.
#[derive(Debug)]
struct Glob(Vec<GlobMatcher>);

impl Glob {
    fn is_match(&self, text: &str) -> bool {
        self.0.iter().any(|one| one.is_match(text))
    }
}

#[derive(Debug)]
struct Local {
    pathname: Option<Glob>,
    search: Option<String>,
}

impl Patterns {
    /// Compiles patterns. Without local patterns, all paths are permitted, without a query.
    ///
    /// # Errors
    /// The first pattern that is not well formed.
    pub(super) fn new(
        domains: &[String],
        remote: &[RemotePattern],
        local: &[LocalPattern],
    ) -> Result<Self, ConfigError> {
        let remote = remote.iter().enumerate().map(|(index, pattern)| {
            let key = |field| format!("next.remote_patterns.{index}.{field}");
            let hostname = pattern.hostname.as_deref().filter(|name| !name.is_empty());
            let hostname = hostname.ok_or_else(|| {
                let why = "each pattern must have a hostname, such as \"images.example.com\"";
                ConfigError::new(key("hostname"), why)
            })?;
            let protocol = pattern.protocol.as_deref();
            let is_known = |name: &str| ["http", "https"].contains(&name.trim_end_matches(':'));
            if !protocol.is_none_or(is_known) {
                let why = "the protocol must be \"http\" or \"https\"";
                return Err(ConfigError::new(key("protocol"), why));
            }
            Ok(Remote {
                protocol: protocol.map(|name| name.trim_end_matches(':').to_owned()),
                hostname: glob(&key("hostname"), hostname)?,
                port: pattern.port.clone(),
                rest: Local::new(&key("pathname"), &pattern.pathname, &pattern.search)?,
            })
        });
        // Imports of the page, which the bundler has put there, are always permitted.
        let bundler_patterns = ["/_next/static/media/**", "/_next/static/immutable/media/**"];
        let bundler_patterns = bundler_patterns.map(|pathname| LocalPattern {
            pathname: Some(pathname.to_owned()),
            search: Some(String::new()),
        });
        let any = LocalPattern {
            search: Some(String::new()),
            ..LocalPattern::default()
        };
        let all = match local {
            [] => vec![any],
            local => local.iter().cloned().chain(bundler_patterns).collect(),
        };
        let local = all.iter().enumerate().map(|(index, pattern)| {
            let key = format!("next.local_patterns.{index}.pathname");
            Local::new(&key, &pattern.pathname, &pattern.search)
        });
        Ok(Self {
            domains: Hosts::new("next.domains", domains)?,
            remote: remote.collect::<Result<_, _>>()?,
            local: local.collect::<Result<_, _>>()?,
        })
    }

    /// Whether the local patterns permit the path and query of this URL.
    pub(super) fn permit_path(&self, url: &Url) -> bool {
        self.local.iter().any(|pattern| pattern.permits(url))
    }

    /// Whether the domains or the remote patterns permit this URL.
    pub(super) fn permit_url(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        self.domains.has(host) || self.remote.iter().any(|pattern| pattern.permits(url, host))
    }
}

impl Remote {
    fn permits(&self, url: &Url, host: &str) -> bool {
        let port = url.port().map(|port| port.to_string()).unwrap_or_default();
        (self.protocol.as_ref()).is_none_or(|protocol| protocol == url.scheme())
            && self
                .port
                .as_ref()
                .is_none_or(|permitted_port| *permitted_port == port)
            && self.hostname.is_match(host)
            && self.rest.permits(url)
    }
}

impl Local {
    fn new(
        key: &str,
        pathname: &Option<String>,
        search: &Option<String>,
    ) -> Result<Self, ConfigError> {
        let pathname = pathname.as_deref().map(|text| glob(key, text));
        Ok(Self {
            pathname: pathname.transpose()?,
            search: search.clone(),
        })
    }

    fn permits(&self, url: &Url) -> bool {
        let search = url.query().filter(|query| !query.is_empty());
        let search = search.map(|query| format!("?{query}")).unwrap_or_default();
        self.search
            .as_ref()
            .is_none_or(|permitted_search| *permitted_search == search)
            && (self.pathname.as_ref()).is_none_or(|glob| glob.is_match(url.path()))
    }
}

/// Compiles a glob in which `*` does not match slashes and `**` does. As in Next.js, `/a/**` matches `/a` itself,
/// `/a/*` matches `/a/b/` but not `/a/`, and `/**/a` matches `/b/a` but not `/a`.
fn glob(key: &str, text: &str) -> Result<Glob, ConfigError> {
    let has_groups = ["!(", "@(", "+(", "*(", "?("]
        .iter()
        .any(|it| text.contains(it));
    if has_groups || text.starts_with('!') {
        let why = format!(
            "`{text}`: `!` and groups in parentheses are not supported; use `{{a,b}}`, or several patterns"
        );
        return Err(ConfigError::new(key, why));
    }
    let start = match text.strip_prefix("/**/") {
        Some(rest) => format!("/?*/**/{rest}"),
        None => text.to_owned(),
    };
    let all = match (start.strip_suffix("/**"), start.strip_suffix("/*")) {
        (Some(folder), _) if !folder.is_empty() => vec![folder.to_owned(), start],
        (None, Some(folder)) => vec![format!("{folder}/?*"), format!("{folder}/?*/")],
        _ => vec![start],
    };
    let globs = all.iter().map(|one| {
        let glob = GlobBuilder::new(one).literal_separator(true).build();
        let glob = glob.map(|glob| glob.compile_matcher());
        glob.map_err(|error| ConfigError::new(key, format!("`{text}`: {}", error.kind())))
    });
    globs.collect::<Result<_, _>>().map(Glob)
}
