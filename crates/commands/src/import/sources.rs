//! The origins of an imported server: the URLs that they permit, and the keys that all remote origins share.

use andon_server::config::UrlPattern;
use std::net::Ipv4Addr;

use toml::Value;
use url::{Host, Url};

use super::assignments::At;
use super::document::Document;

/// Addresses of private networks. 100.64.0.0/10 (RFC 6598) is included, because pods of some clouds have such
/// addresses; other servers consider them public.
pub(super) const PRIVATE: [&str; 5] = [
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",
    "fc00::/7",
];

/// Loopback addresses.
pub(super) const LOOPBACK: [&str; 2] = ["127.0.0.0/8", "::1/128"];

/// The keys that every remote origin of a server has, such as `timeouts.total`, with their values.
pub(super) type Common = Vec<(String, Value)>;

/// Placeholder for URLs if the imported server names no sources: the user has to replace it in `andon.toml`.
const UNNAMED: &str = "https://pictures.example/";

/// Adds an origin for absolute URLs. URLs that `andon.toml` cannot express are noted.
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

/// Adds an origin with a placeholder, and a note, if the document has no origin: Andon does not serve sources of
/// arbitrary hosts.
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

/// Cuts a URL pattern after the last slash of its path that precedes any `*`.
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

/// Whether the host of a URL may be in a private network, judging by its name, such as a service in a cluster, by its
/// address, or because its URL has no TLS.
pub(super) fn is_of_own_network(url: &str) -> bool {
    let url = Url::parse(url).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain("localhost")) => false,
        Some(Host::Domain(name)) => {
            let has_end = OWN_NAMES.iter().any(|end| name.ends_with(end));
            let is_open = url.as_ref().is_some_and(|url| url.scheme() == "http");
            has_end || !name.contains('.') || is_open && !name.contains('*')
        }
        Some(Host::Ipv4(address)) => address.is_private() || is_shared(address),
        Some(Host::Ipv6(address)) => address.is_unique_local(),
        None => false,
    }
}

/// Suffixes of names in private networks.
const OWN_NAMES: [&str; 10] = [
    ".svc",
    ".cluster.local",
    ".local",
    ".internal",
    ".intern",
    ".intranet",
    ".private",
    ".corp",
    ".home.arpa",
    ".lan",
];

/// Whether an address is in 100.64.0.0/10.
fn is_shared(address: Ipv4Addr) -> bool {
    matches!(address.octets(), [100, 64..=127, ..])
}

/// Whether the host of a URL is this machine.
pub(super) fn is_of_this_machine(url: &str) -> bool {
    let url = Url::parse(url).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
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

    #[test]
    fn hosts_of_a_private_network_are_told_from_public_ones() {
        for own in [
            "http://media.shop.svc.cluster.local:8000/",
            "http://media.shop.svc/a/",
            "https://media:8443/",
            "http://10.1.2.3/",
            "http://100.64.3.4:8080/",
            "http://100.127.255.1/",
            "http://[fd00::1]/",
            "http://files.corp.internal/",
            "https://bilder.firma.intern/",
            "http://www.firma.example/bilder/",
        ] {
            assert!(is_of_own_network(own), "{own}");
        }
        for other in [
            "https://cdn.example.com/",
            "https://*.example.com/",
            "http://*.example.com/",
            "http://localhost:9000/",
            "http://127.0.0.1/",
            "http://169.254.169.254/",
            "https://8.8.8.8/",
            "https://100.128.0.1/",
        ] {
            assert!(!is_of_own_network(other), "{other}");
        }
        for (url, is_here) in [
            ("http://localhost:9000/", true),
            ("http://127.0.0.1/", true),
            ("http://[::1]:80/", true),
            ("http://10.1.2.3/", false),
            ("http://localhost.example/", false),
        ] {
            assert_eq!(is_of_this_machine(url), is_here, "{url}");
        }
    }
}
