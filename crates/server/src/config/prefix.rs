//! Prefixes of sources' paths, of which the longest wins.

use andon_settings::check;

use super::ConfigError;

/// The rule of the longest prefix that a source is below.
pub(super) fn longest_prefix<'a, T>(
    rules: &'a [T],
    source: &str,
    prefix: impl Fn(&T) -> &str,
) -> Option<&'a T> {
    let source = source.trim_start_matches('/');
    let prefixes = rules
        .iter()
        .map(|rule| (prefix(rule).trim_matches('/'), rule));
    let above = prefixes.filter(|(prefix, _)| is_below(prefix, source));
    above
        .max_by_key(|(prefix, _)| prefix.len())
        .map(|(_, rule)| rule)
}

/// A prefix as `key` has it.
pub(super) fn check_prefix(prefix: &str, key: String) -> Result<(), ConfigError> {
    check(prefix.starts_with('/'), key, || {
        format!("\"{prefix}\" does not begin with `/`")
    })
}

/// Is `path` below `prefix`, whole segments counted? Both without slashes at their ends.
pub(crate) fn is_below(prefix: &str, path: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| prefix.is_empty() || rest.is_empty() || rest.starts_with('/'))
}
