//! Which URLs may be named as sources, and which sources are URLs at all.

use url::Url;

use crate::ConfigError;
use crate::hosts::Hosts;
use crate::percent;
use crate::remote_pattern::RemotePattern;

/// URLs that may be named as a source.
#[derive(Debug)]
pub(super) struct Remote {
    hosts: Hosts,
    patterns: Vec<RemotePattern>,
}

/// How often a source is percent-decoded at most to find out whether it is a URL.
const MOST_ROUNDS: usize = 10;

impl Remote {
    pub(super) fn new(domains: &[String], patterns: &[RemotePattern]) -> Result<Self, ConfigError> {
        if let Some(index) = patterns.iter().position(|it| it.search.is_some()) {
            return Err(ConfigError::new(
                format!("astro.remote_patterns.{index}.search"),
                "Astro's patterns have no `search`: leave it out, and any query is permitted",
            ));
        }
        Ok(Self {
            hosts: Hosts::new("astro.domains", domains)?,
            patterns: patterns.to_vec(),
        })
    }

    /// Returns the absolute URL that a source stands for, or `None` if it may not be named.
    pub(super) fn url_of(&self, source: &str) -> Option<String> {
        let url = Url::parse(source).ok()?;
        let host = url.host_str()?;
        let restricts = !self.hosts.is_empty() || !self.patterns.is_empty();
        let is_allowed = !restricts
            || self.hosts.has(host)
            || self.patterns.iter().any(|pattern| fits(pattern, &url));
        let is_http = ["http", "https"].contains(&url.scheme());
        (is_http && is_allowed).then(|| source.trim().to_owned())
    }
}

/// Whether a URL fits a pattern.
pub(super) fn fits(pattern: &RemotePattern, url: &Url) -> bool {
    let is = |expected: &Option<String>, is: &dyn Fn(&str) -> bool| match expected.as_deref() {
        None | Some("") => true,
        Some(expected) => is(expected),
    };
    let port = url.port().map(|port| port.to_string()).unwrap_or_default();
    is(&pattern.protocol, &|expected| expected == url.scheme())
        && is(&pattern.hostname, &|expected| {
            url.host_str().is_some_and(|host| fits_host(expected, host))
        })
        && is(&pattern.port, &|expected| expected == port)
        && is(&pattern.pathname, &|expected| {
            fits_path(expected, url.path())
        })
}

/// Whether a host name fits a pattern.
fn fits_host(pattern: &str, host: &str) -> bool {
    if let Some(rest) = pattern.strip_prefix("**.") {
        let labels = host.strip_suffix(rest);
        return labels.is_some_and(|labels| labels.ends_with('.'));
    }
    match pattern.strip_prefix("*.") {
        Some(rest) => {
            let label = host.strip_suffix(rest).and_then(|it| it.strip_suffix('.'));
            label.is_some_and(|label| !label.is_empty() && !label.contains('.'))
        }
        None => pattern == host,
    }
}

/// Whether a path fits a pattern.
fn fits_path(pattern: &str, path: &str) -> bool {
    if let Some(start) = pattern.strip_suffix("/**") {
        let rest = path.strip_prefix(start).and_then(|it| it.strip_prefix('/'));
        return rest.is_some_and(|rest| !rest.is_empty());
    }
    match pattern.strip_suffix("/*") {
        Some(start) => {
            let rest = path.strip_prefix(start).and_then(|it| it.strip_prefix('/'));
            let segments = |rest: &str| rest.split('/').filter(|it| !it.is_empty()).count();
            rest.is_some_and(|rest| segments(rest) == 1)
        }
        None => pattern == path,
    }
}

/// Whether a source is a URL, or becomes one when its percent escapes are decoded, once or repeatedly.
pub(super) fn is_remote(source: &str) -> bool {
    let mut decoded = source.trim().to_owned();
    for _ in 0..MOST_ROUNDS {
        match percent::decode(&decoded) {
            Ok(next) if next != decoded => decoded = next,
            _ => break,
        }
    }
    if decoded.starts_with('\\') || decoded.starts_with("//") || decoded.starts_with("/\\") {
        return true;
    }
    // A path has no scheme. A drive letter with its colon is not a scheme either.
    let is_drive = decoded.as_bytes().get(1) == Some(&b':') && !decoded.starts_with(':');
    !decoded.is_empty()
        && !decoded.starts_with('/')
        && !is_drive
        && Url::parse(&decoded).is_ok_and(|url| url.scheme() != "file")
}
