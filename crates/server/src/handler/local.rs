//! Decides which requests are local: those that come from this machine and not through a proxy.
//!
//! A proxy on the same machine connects from a loopback address, and a bare `proxy_pass` even sends a loopback `Host`
//! and no header that names its client. If a server has a configuration file, an address therefore proves nothing. A
//! Unix socket does, unless it is used by a proxy (`[proxy] trusted`), and so does the administrator's token.

use std::net::IpAddr;

use hyper::HeaderMap;
use hyper::header::{self, HeaderValue};
use hyper::http::uri::Authority;

use crate::config::AllowedClients;
use crate::error::Error;
use crate::handler::App;
use crate::net::Peer;
use crate::request::forwarded::Visitor;

impl App {
    /// Whether this visitor may use a part of the server that is open to the clients in `allow`. The administrator's
    /// token opens every part that is switched on.
    pub(crate) fn admits(
        &self,
        allow: AllowedClients,
        visitor: Visitor,
        headers: &HeaderMap,
    ) -> bool {
        match allow {
            AllowedClients::Off => false,
            AllowedClients::All => true,
            AllowedClients::Local => self.is_local(visitor, headers) || self.knows_token(headers),
        }
    }

    /// Whether the visitor is a process of this machine, with no proxy in between.
    pub(super) fn is_local(&self, visitor: Visitor, headers: &HeaderMap) -> bool {
        let is_near = match visitor.peer {
            // A visitor whom a proxy names in a header is a client of that proxy, not a process of this machine.
            Peer::Unix => visitor.header.is_none(),
            Peer::Tcp(address) => self.loopback_is_local && address.is_loopback(),
        };
        let is_believed = |name: &str| visitor.header == Some(name);
        let mut passed_on = PASSED_ON.iter().filter(|name| !is_believed(name));
        is_near && !passed_on.any(|name| headers.contains_key(*name)) && is_own_host(headers)
    }

    /// Whether the visitor uses a server that was started without a configuration file, on the same machine.
    pub(super) fn is_own_user(&self, visitor: Visitor, headers: &HeaderMap) -> bool {
        self.loopback_is_local && self.is_local(visitor, headers)
    }

    pub(super) fn knows_token(&self, headers: &HeaderMap) -> bool {
        let token = self.token.as_ref();
        token.is_some_and(|token| token.opens(headers))
    }

    /// Refuses requests at a metrics address that come from a page of another site whose name was made to resolve to this
    /// machine (DNS rebinding): the client is local, but its `Host` names the other site.
    pub(super) fn check_own_host(
        &self,
        visitor: Visitor,
        headers: &HeaderMap,
    ) -> Result<(), Error> {
        let is_loopback = matches!(visitor.peer, Peer::Tcp(address) if address.is_loopback());
        match is_loopback && !is_own_host(headers) && !self.knows_token(headers) {
            true => Err(Error::OtherHost),
            false => Ok(()),
        }
    }
}

/// Refuses requests that a browser sends for a page of another site. Older browsers, and browsers on plain HTTP, send
/// `Origin` at most, and no `Sec-Fetch-Site`.
pub(super) fn check_site(headers: &HeaderMap) -> Result<(), Error> {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let origin = headers.get(header::ORIGIN);
    let is_own = match (site, origin) {
        (Some(site), _) => matches!(site, b"same-origin" | b"none"),
        (None, None) => true,
        (None, Some(origin)) => {
            let origin = origin.to_str().unwrap_or_default();
            let (_, authority) = origin.split_once("://").unwrap_or_default();
            let host = headers.get(header::HOST).and_then(|it| it.to_str().ok());
            host.is_some_and(|host| host.eq_ignore_ascii_case(authority))
        }
    };
    match is_own {
        true => Ok(()),
        false => Err(Error::OtherSite),
    }
}

/// Whether the request's `Host` is a name or a loopback address of this machine: a name without a dot counts as one.
/// The name of another site contains a dot, whether the site made its name resolve to this machine or a proxy passed
/// the name on.
fn is_own_host(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST) else {
        // Only HTTP/1.0 requests have no `Host`, and browsers do not send those.
        return true;
    };
    let host = host
        .to_str()
        .ok()
        .and_then(|it| it.parse::<Authority>().ok());
    host.is_some_and(|host| {
        let name = host.host().trim_start_matches('[').trim_end_matches(']');
        match name.parse::<IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) => !name.is_empty() && !name.contains('.'),
        }
    })
}

/// Headers that show that a proxy passed the request on.
const PASSED_ON: &[&str] = &[
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn only_hosts_of_this_machine_are_its_own() {
        for (host, own) in [
            ("localhost:8088", true),
            ("LOCALHOST", true),
            ("andon", true),
            ("127.0.0.1:8088", true),
            ("127.8.8.8", true),
            ("[::1]:8088", true),
            ("192.0.2.1:8088", false),
            ("localhost.example", false),
            ("127.0.0.1.example", false),
            ("127.1", false),
            ("", false),
        ] {
            assert_eq!(is_own_host(&headers(&[("host", host)])), own, "{host}");
        }
    }

    #[test]
    fn pages_of_other_sites_are_known_by_what_browsers_say_of_them() {
        for (pairs, own) in [
            (&[][..], true),
            (&[("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "none")], true),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("origin", "http://localhost:8080")], true),
            (&[("origin", "http://localhost:8081")], false),
            (&[("origin", "https://evil.example")], false),
            (&[("origin", "null")], false),
        ] {
            let mut headers = headers(pairs);
            headers.insert(header::HOST, HeaderValue::from_static("localhost:8080"));
            assert_eq!(check_site(&headers).is_ok(), own, "{pairs:?}");
        }
    }
}
