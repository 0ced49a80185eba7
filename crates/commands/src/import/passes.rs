//! Finds the server block of an nginx configuration that answers the requests of a `proxy_pass`.

use std::collections::{BTreeMap, BTreeSet};

use super::model::Scope;
use super::syntax::Directive;

/// A parsed `proxy_pass` value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) scheme: String,
    /// Host and port, the name of an upstream, or `unix:` and the path of a socket.
    pub(super) host: String,
    /// The path that replaces the request's path; empty if the request's path is passed on unchanged.
    pub(super) path: String,
}

/// Variables that stand for the whole path of a request, with or without its query.
const WHOLE: [&str; 5] = [
    "$request_uri",
    "$uri$is_args$args",
    "$uri?$args",
    "$uri",
    "$document_uri",
];

impl Target {
    pub(super) fn of(value: &str) -> Self {
        let (scheme, rest) = value.split_once("://").unwrap_or(("http", value));
        let at = match rest.strip_prefix("unix:") {
            Some(socket) => socket.find(':').map_or(rest.len(), |at| at + 5),
            None => rest.find('/').unwrap_or(rest.len()),
        };
        let (host, path) = rest.split_at(at);
        let path = path.strip_prefix(':').unwrap_or(path);
        let (host, path) = match path {
            "" => {
                let host_part = WHOLE.iter().find_map(|all| host.strip_suffix(all));
                (host_part.unwrap_or(host), "")
            }
            all if WHOLE.contains(&all) => (host, ""),
            path => (host, path),
        };
        Self {
            scheme: scheme.to_owned(),
            host: host.to_owned(),
            path: path.to_owned(),
        }
    }
}

/// The server blocks of a configuration, one of which is imported.
#[derive(Debug, Default)]
pub(super) struct Servers {
    pub(super) all: Vec<Directive>,
    /// The addresses of each upstream.
    pub(super) upstreams: BTreeMap<String, Vec<String>>,
    /// The directives that apply to all servers.
    pub(super) scope: Scope,
    /// The index of the server that is imported.
    pub(super) own: usize,
    /// The indices of the servers whose locations are imported in the place of a `proxy_pass`.
    pub(super) followed: BTreeSet<usize>,
    /// The number of nested `proxy_pass` directives that are being followed.
    pub(super) depth: usize,
}

impl Servers {
    /// Returns the index of the server of this configuration that answers at `target`, if there is one. `name` is the
    /// `Host` header that a directive sets.
    pub(super) fn answering(&self, target: &Target, name: Option<&str>) -> Option<usize> {
        let one = vec![target.host.clone()];
        let addresses = self.upstreams.get(&target.host).unwrap_or(&one);
        let port = if target.scheme == "https" {
            "443"
        } else {
            "80"
        };
        let to: Vec<Address> = addresses.iter().map(|it| Address::of(it, port)).collect();
        let listens = |fits: &dyn Fn(&Address, &Address) -> bool| -> Vec<usize> {
            let is_there = |listener: &Address| to.iter().any(|to| fits(listener, to));
            let all = self.all.iter().enumerate();
            let all = all.filter(|(_, server)| listened(server).iter().any(is_there));
            all.map(|(at, _)| at).collect()
        };
        // As in nginx, servers that listen on exactly this address take precedence over those that listen on all
        // addresses.
        let mut candidates = listens(&Address::is);
        if candidates.is_empty() {
            candidates = listens(&|listener, to| {
                listener.is_wildcard() && listener.port == to.port && self.is_here(to)
            });
        }
        let name = match name {
            None => &target.host,
            Some(name) if name.starts_with('$') => names(&self.all[self.own]).next().unwrap_or(""),
            Some(name) => name,
        };
        let name = name.split(':').next().unwrap_or_default();
        let named = |at: &&usize| names(&self.all[**at]).any(|it| it == name);
        let is_default = |at: &&usize| {
            let mut listen = directives(&self.all[**at], "listen");
            listen.any(|it| it.args.iter().any(|arg| arg.starts_with("default")))
        };
        let server = candidates.iter().find(named);
        let server = server.or_else(|| candidates.iter().find(is_default));
        server.or(candidates.first()).copied()
    }

    /// Whether an address belongs to the machine of this configuration.
    fn is_here(&self, address: &Address) -> bool {
        let mut all = self.all.iter().flat_map(listened);
        address.is_local() || address.is_wildcard() || all.any(|it| it.host == address.host)
    }

    /// Returns a value of `--server` that selects this server: a name, or else an address.
    pub(super) fn word(&self, at: usize) -> Option<&str> {
        let server = &self.all[at];
        let listens = || {
            let address = directives(server, "listen").next()?.arg(0);
            let is_unique = self.all.iter().filter(|it| listens_at(it, address)).count() == 1;
            is_unique.then_some(address)
        };
        let means_it = |name: &&str| self.of(name) == Some(at);
        names(server).find(means_it).or_else(listens)
    }

    /// Returns the index of the server with this name or address. If several have the name, for example because one
    /// only redirects to HTTPS, the first that makes images is returned.
    pub(super) fn of(&self, word: &str) -> Option<usize> {
        let is_named = |at: &usize| names(&self.all[*at]).any(|it| it == word);
        let named: Vec<usize> = (0..self.all.len()).filter(is_named).collect();
        let maker = named.iter().find(|at| self.makes(**at, 0));
        let by_name = maker.or(named.first()).copied();
        by_name.or_else(|| self.all.iter().position(|it| listens_at(it, word)))
    }

    /// Returns the first server that makes images and is not behind another such server. If there is none, returns the
    /// first that makes images, or else the first.
    pub(super) fn first(&self) -> Option<usize> {
        let all = 0..self.all.len();
        let makers: Vec<usize> = all.filter(|at| self.makes(*at, 0)).collect();
        let is_behind = |at: &usize| {
            let mut others = makers.iter().filter(|other| *other != at);
            others.any(|other| self.pass_targets(*other).contains(at))
        };
        let front = makers.iter().find(|at| !is_behind(at));
        let first = front.or(makers.first()).copied();
        first.or((!self.all.is_empty()).then_some(0))
    }

    /// Whether a server makes images, or passes requests on to one that does.
    fn makes(&self, at: usize, depth: usize) -> bool {
        let targets = || self.pass_targets(at).into_iter().filter(|to| *to != at);
        makes_images(&self.all[at])
            || depth < DEEPEST && targets().any(|to| self.makes(to, depth + 1))
    }

    /// Returns the indices of the servers that a server passes requests on to.
    fn pass_targets(&self, at: usize) -> BTreeSet<usize> {
        fn all<'a>(block: &'a Directive, values: &mut Vec<&'a str>) {
            for inner in block.inside() {
                match inner.name.as_str() {
                    "proxy_pass" => values.push(inner.arg(0)),
                    _ => all(inner, values),
                }
            }
        }
        let mut values = Vec::new();
        all(&self.all[at], &mut values);
        let targets = values.into_iter().map(Target::of);
        targets.filter_map(|to| self.answering(&to, None)).collect()
    }
}

/// Maximum number of nested `proxy_pass` directives that are followed, because servers may pass requests on to each
/// other in a circle.
pub(super) const DEEPEST: usize = 8;

fn makes_images(server: &Directive) -> bool {
    server.inside().iter().any(|it| {
        it.name.starts_with("image_filter")
            || it.name.starts_with("small_light")
            || makes_images(it)
    })
}

fn directives<'a>(server: &'a Directive, name: &'a str) -> impl Iterator<Item = &'a Directive> {
    server.inside().iter().filter(move |it| it.name == name)
}

/// Returns the names of a server.
pub(super) fn names(server: &Directive) -> impl Iterator<Item = &str> {
    let all = directives(server, "server_name");
    all.flat_map(|it| it.args.iter().map(String::as_str))
}

fn listens_at(server: &Directive, word: &str) -> bool {
    directives(server, "listen").any(|it| it.arg(0) == word)
}

/// Returns the addresses on which a server listens, except for QUIC.
fn listened(server: &Directive) -> Vec<Address> {
    let all = directives(server, "listen");
    let all = all.filter(|it| !it.args.iter().any(|arg| arg == "quic"));
    let all: Vec<Address> = all.map(|it| Address::of(it.arg(0), "80")).collect();
    match directives(server, "listen").next() {
        Some(_) => all,
        None => vec![Address::of("80", "80")],
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Address {
    /// Host name or IP address, `*` for all addresses, or `unix:` and the path of a socket.
    host: String,
    port: String,
}

impl Address {
    /// Parses an address of a `listen` directive or an upstream. `port` is the default port.
    fn of(text: &str, port: &str) -> Self {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        let (host, port) = match text.rsplit_once(':') {
            _ if text.starts_with("unix:") => (text.trim_end_matches(':'), ""),
            Some((host, port)) if is_number(port) => (host, port),
            None if is_number(text) => ("*", text),
            _ => (text, port),
        };
        let host = match host {
            "0.0.0.0" | "[::]" => "*",
            host => host,
        };
        Self {
            host: host.to_ascii_lowercase(),
            port: port.to_owned(),
        }
    }

    fn is_wildcard(&self) -> bool {
        self.host == "*"
    }

    fn is_local(&self) -> bool {
        let host = self.host.as_str();
        host == "localhost" || host == "[::1]" || host.starts_with("127.")
    }

    /// Whether both are the same address. `localhost` equals any loopback address.
    fn is(&self, other: &Self) -> bool {
        let has_name = self.host == "localhost" || other.host == "localhost";
        let is_one = has_name && self.is_local() && other.is_local();
        self.port == other.port && (self.host == other.host || is_one)
    }
}

#[cfg(test)]
mod tests {
    use super::super::syntax::parse;
    use super::*;

    fn servers(text: &str) -> Servers {
        let all = parse(text, "nginx.conf").unwrap();
        let (servers, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|it| it.name == "server");
        let upstreams = others.iter().map(|it| {
            let servers = it.inside().iter().map(|it| it.arg(0).to_owned());
            (it.arg(0).to_owned(), servers.collect())
        });
        Servers {
            upstreams: upstreams.collect(),
            all: servers,
            ..Servers::default()
        }
    }

    #[test]
    fn a_target_is_found_by_every_way_to_name_an_address() {
        let all = servers(
            "upstream sized { server 10.9.9.9:81; server 127.0.0.1:8001; } upstream socket { server unix:/run/s.sock; }
             server { listen 80; server_name outer; } server { listen 127.0.0.1:8001; } server { listen *:8002; }
             server { listen [::]:8003; } server { listen unix:/run/s.sock; } server { listen localhost:8004; }
             server { listen 10.0.0.1:8005; } server { listen 8006 ssl; }",
        );
        for (pass, at) in [
            ("http://127.0.0.1", Some(0)),
            ("http://127.0.0.1:8001", Some(1)),
            ("http://localhost:8001$request_uri", Some(1)),
            ("http://sized/a/$1", Some(1)),
            ("http://127.0.0.1:8002/", Some(2)),
            ("http://[::1]:8003", Some(3)),
            ("http://unix:/run/s.sock", Some(4)),
            ("http://unix:/run/s.sock:/x/", Some(4)),
            ("http://socket", Some(4)),
            ("http://127.0.0.1:8004", Some(5)),
            ("http://10.0.0.1:8005", Some(6)),
            // 10.0.0.1 is an address of this machine, because another server listens on it.
            ("https://10.0.0.1:8006", Some(7)),
            ("http://10.0.0.2:8006", None),
            ("http://127.0.0.2:8001", None),
            ("https://127.0.0.1", None),
            ("http://images.example", None),
        ] {
            assert_eq!(all.answering(&Target::of(pass), None), at, "{pass}");
        }
    }

    #[test]
    fn of_servers_at_one_address_the_host_header_chooses() {
        let all = servers(
            "server { listen 80; server_name outer; } server { listen 80; server_name inner; }
             server { listen 80 default_server; server_name other; } server { listen 127.0.0.1:80; }",
        );
        let to = |pass: &str, name| all.answering(&Target::of(pass), name);
        assert_eq!(to("http://127.0.0.1", Some("inner")), Some(3));
        assert_eq!(to("http://127.0.0.2", Some("inner")), Some(1));
        assert_eq!(to("http://127.0.0.2", Some("inner:80")), Some(1));
        assert_eq!(to("http://127.0.0.2", Some("$host")), Some(0));
        assert_eq!(to("http://127.0.0.2", None), Some(2));
    }

    #[test]
    fn the_path_of_a_target_is_empty_where_it_is_passed_on_as_it_is() {
        for (pass, host, path) in [
            ("http://a:1", "a:1", ""),
            ("http://a:1/", "a:1", "/"),
            ("http://a:1$request_uri", "a:1", ""),
            ("http://a:1$uri$is_args$args", "a:1", ""),
            ("http://a:1/b/$1", "a:1", "/b/$1"),
            ("http://unix:/s", "unix:/s", ""),
            ("http://unix:/s:", "unix:/s", ""),
            ("http://unix:/s:/b", "unix:/s", "/b"),
            ("http://unix:/s:$request_uri", "unix:/s", ""),
        ] {
            let target = Target::of(pass);
            assert_eq!((&*target.host, &*target.path), (host, path), "{pass}");
        }
    }

    #[test]
    fn the_server_that_clients_reach_is_the_first() {
        let inner = "server { listen 127.0.0.1:1; location / { image_filter resize 1 1; } }";
        let outer = "server { listen 80; location / { proxy_pass http://localhost:1; } }";
        let other = "server { listen 80; root /a; }";
        for (text, at) in [
            (format!("{inner}{outer}"), 1),
            (format!("{other}{outer}{inner}"), 1),
            (format!("{other}{inner}"), 1),
            (format!("{other}{other}"), 0),
        ] {
            assert_eq!(servers(&text).first(), Some(at), "{text}");
        }
        assert_eq!(servers("").first(), None);
    }
}
