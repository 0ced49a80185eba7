//! The origins of an imported server: which URLs they permit, and what all remote ones have in common.

use andon_server::config::UrlPattern;
use toml::Value;

use super::assignments::At;
use super::document::Document;

/// The keys that every remote origin of a server gets, such as `timeouts.total`.
pub(super) type Common = Vec<(String, Value)>;

/// Placeholder for the URLs of a server that names no sources: `andon.toml` has to name them.
const UNNAMED: &str = "https://pictures.example/";

/// Adds an origin of absolute URLs. URLs that `andon.toml` cannot permit are noted.
pub(super) fn add_urls(urls: &[String], variable: &str, common: &Common, out: &mut Document) {
    let mut permitted: Vec<String> = Vec::new();
    for url in urls {
        match UrlPattern::try_from(url.clone()) {
            Ok(_) if permitted.contains(url) => {}
            Ok(_) => permitted.push(url.clone()),
            Err(why) => out.note(
                At::FILE,
                variable,
                &format!("http.urls of an [[origin]] cannot list it: {why}"),
            ),
        }
    }
    if !permitted.is_empty() {
        let urls = ("http.urls".to_owned(), Value::from(permitted));
        out.add_origin(common.iter().cloned().chain([urls]));
    }
}

/// Adds an origin of a placeholder, with a note, if there is none: sources of any host are not served.
pub(super) fn add_unnamed(variable: &str, common: &Common, out: &mut Document) {
    if !out.has_origin() {
        out.note(
            At::FILE,
            variable,
            &format!("no source is named: list those of your images in http.urls, in the place of {UNNAMED}"),
        );
        add_urls(&[UNNAMED.to_owned()], variable, common, out);
    }
}

/// Returns the URL of a pattern of URLs up to the last whole segment of its path.
pub(super) fn whole_segments(pattern: &str) -> String {
    let Some((scheme, rest)) = pattern.split_once("://") else {
        return pattern.to_owned();
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let plain = path.split('*').next().unwrap_or_default();
    let folder = plain.rsplit_once('/').map_or("", |(folder, _)| folder);
    match folder {
        "" => format!("{scheme}://{host}/"),
        folder => format!("{scheme}://{host}/{folder}/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_of_urls_is_cut_at_its_last_whole_segment() {
        for (pattern, is) in [
            ("https://a.example", "https://a.example/"),
            ("https://*.a.example/", "https://*.a.example/"),
            ("https://a.example/b/c", "https://a.example/b/"),
            ("https://a.example/b/c/", "https://a.example/b/c/"),
            ("https://a.example/b/*/d/", "https://a.example/b/"),
            ("https://a.example/im*", "https://a.example/"),
        ] {
            assert_eq!(whole_segments(pattern), is);
        }
    }
}
