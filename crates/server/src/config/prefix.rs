//! Prefixes of source paths, of which the longest applies.

use andon_settings::check;

use super::ConfigError;

/// Returns the rule with the longest prefix that `source` is below, if any.
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

/// Checks that a prefix begins with `/`; `key` is where it is configured.
pub(super) fn check_prefix(prefix: &str, key: String) -> Result<(), ConfigError> {
    check(prefix.starts_with('/'), key, || {
        format!("\"{prefix}\" does not begin with `/`")
    })
}

/// Whether `path` is `prefix` or below it, compared in whole segments. Neither ends with a slash.
pub(crate) fn is_below(prefix: &str, path: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| prefix.is_empty() || rest.is_empty() || rest.starts_with('/'))
}
