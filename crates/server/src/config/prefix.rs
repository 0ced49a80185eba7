//! Rules of the configuration for all sources below a prefix, such as `[[cache.rule]]`. Of the rules whose prefix
//! matches a source, the one with the longest prefix applies.

use andon_dialects::Source;
use andon_settings::check;
use url::Url;

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

/// Checks that a prefix of sources begins with `/`, or is the beginning of a URL in normalized form, such as
/// `s3://photos/`. `key` is where the prefix is configured.
pub(super) fn check_source_prefix(prefix: &str, key: String) -> Result<(), ConfigError> {
    let Some(Source::Url(named)) = Source::of_overlay(prefix) else {
        return check(prefix.starts_with('/'), key, || {
            format!("\"{prefix}\" begins neither with `/` nor as a URL, such as \"s3://photos/\"")
        });
    };
    let spelling = Url::parse(&named).map_or(named, |url| url.to_string());
    let is_it = spelling.trim_end_matches('/') == prefix.trim_end_matches('/');
    check(is_it, key, || {
        format!("sources are never spelt \"{prefix}\"; write \"{spelling}\"")
    })
}

/// Whether `path` is `prefix` or below it, compared in whole segments. Neither ends with a slash.
pub(crate) fn is_below(prefix: &str, path: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| prefix.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_paths_and_of_urls_are_told_apart_by_whole_segments() {
        let rules = [
            "/",
            "/shop",
            "s3://",
            "s3://photos/",
            "https://cdn.example/a",
        ];
        for (source, is) in [
            ("a.jpg", "/"),
            ("shop/a.jpg", "/shop"),
            ("s3://other/a.jpg", "s3://"),
            ("s3://photos/a.jpg", "s3://photos/"),
            ("s3://photos-2/a.jpg", "s3://"),
            ("https://cdn.example/a/b.jpg", "https://cdn.example/a"),
            ("https://cdn.example/ab.jpg", "/"),
        ] {
            let found = longest_prefix(&rules, source, |rule| rule);
            assert_eq!(found, Some(&is), "{source}");
        }
        for (prefix, is_sound) in [
            ("/", true),
            ("s3://photos", true),
            ("gs://", true),
            ("https://cdn.example", true),
            ("photos", false),
            ("S3://photos/", false),
            ("https://CDN.example/", false),
            ("ftp://cdn.example/", false),
        ] {
            let checked = check_source_prefix(prefix, String::new());
            assert_eq!(checked.is_ok(), is_sound, "{prefix}");
        }
    }
}
