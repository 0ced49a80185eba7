//! Which sources URLs may name.

use regex::Regex;

use super::path::LOCAL;
use crate::errors::Fault;
use crate::refusal::Refusal;
use crate::request::{Source, relative};

/// Which sources URLs may name, and how their names are translated into those of the server.
#[derive(Debug)]
pub(super) struct Sources {
    pub(super) base: String,
    pub(super) replacements: Vec<(Regex, String)>,
    /// Permitted beginnings of sources. Empty: every source that an origin has is allowed.
    pub(super) patterns: Vec<Regex>,
}

/// Returns the URL for the name of a source. An HTTP URL is returned unchanged. In the key of a bucket, `%` and `#` are
/// literal and so have to be escaped.
fn as_url(source: &str) -> String {
    match is_of_web(source) {
        true => source.to_owned(),
        false => source.replace('%', "%25").replace('#', "%23"),
    }
}

/// Returns the name of the source from which [`as_url`] makes this URL.
pub(super) fn of_url(url: &str) -> String {
    match is_of_web(url) {
        true => url.to_owned(),
        false => url.replace("%23", "#").replace("%25", "%"),
    }
}

fn is_of_web(source: &str) -> bool {
    let (scheme, _) = source.split_once(':').unwrap_or_default();
    ["http", "https"]
        .iter()
        .any(|web| scheme.eq_ignore_ascii_case(web))
}

impl Sources {
    /// Whether a source is allowed, both literally and with repeated slashes merged, because the server merges them.
    fn allows(&self, source: &str) -> bool {
        let (scheme, rest) = source.split_once("://").unwrap_or(("", source));
        let plain = match scheme {
            LOCAL => format!("{scheme}:///{}", relative(rest)),
            _ => format!("{scheme}://{}", relative(rest)),
        };
        let all = [source, &plain];
        self.patterns.is_empty()
            || all
                .iter()
                .all(|text| self.patterns.iter().any(|pattern| pattern.is_match(text)))
    }

    pub(super) fn source(&self, name: &str) -> Result<Source, Refusal> {
        let mut source = name.to_owned();
        for (from, to) in &self.replacements {
            source = from.replace_all(&source, to).into_owned();
        }
        if !source.starts_with(&self.base) {
            source.insert_str(0, &self.base);
        }
        let refuse = |why: &str| Refusal::of(Fault::Source, name, why);
        if !self.allows(&source) {
            return Err(refuse("it is not among the sources that are allowed here"));
        }
        match source.split_once("://") {
            Some((LOCAL, path)) => Ok(Source::from_path(path)),
            Some((scheme, rest)) if !scheme.is_empty() && !rest.is_empty() => {
                Ok(Source::Url(as_url(&source)))
            }
            _ => Err(refuse(
                "it is no URL: it must be as `http://…` or `local:///…`",
            )),
        }
    }
}
