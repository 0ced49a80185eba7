//! Reads the directives of the blocks of an nginx configuration, down to the locations.

use std::collections::BTreeMap;

use anyhow::Context;

use super::model::*;
use super::passes::{Servers, names};
use super::pattern::Pattern;
use super::reasons;
use super::syntax::Directive;
use super::units::{bytes, max_age};

/// Reads the server with the name or address `name` from a configuration. Without a name, reads the first server that
/// makes images and is not behind another one, or else the first.
///
/// # Errors
/// If the configuration has no server, or none with this name or address.
pub(super) fn read(all: &[Directive], name: Option<&str>) -> anyhow::Result<Site> {
    let http = all
        .iter()
        .filter(|it| it.name == "http")
        .flat_map(Directive::inside);
    // A file in sites-available has server blocks without an http block around them.
    let http: Vec<&Directive> = http
        .chain(all.iter().filter(|it| it.name != "http"))
        .collect();
    let servers = http.iter().filter(|it| it.name == "server");
    let mut site = Site::default();
    site.servers.all = servers.map(|it| (*it).clone()).collect();
    for directive in http.iter().filter(|it| it.name == "upstream") {
        site.upstream(directive);
    }
    site.servers.own = server_index(&site.servers, name)?;
    let mut outer = Scope::default();
    let others = http
        .iter()
        .copied()
        .filter(|it| !matches!(it.name.as_str(), "server" | "upstream"));
    for directive in others {
        site.directive(directive, &mut outer);
    }
    site.servers.scope = outer.clone();
    let server = site.servers.all[site.servers.own].clone();
    let mut scope = outer.clone();
    site.block(server.inside(), &mut scope);
    site.before_locations(&scope.here);
    let base = outer_base(&server, &outer);
    site.finish(base, &scope);
    Ok(site)
}

/// Returns the index of the server with the name or address `name`, or without a name that of [`Servers::first`].
fn server_index(servers: &Servers, name: Option<&str>) -> anyhow::Result<usize> {
    let Some(name) = name else {
        return servers.first().context("there is no server block");
    };
    servers.of(name).with_context(|| {
        format!(
            "no server has the server_name {name}: {}",
            names_of(&servers.all)
        )
    })
}

/// Returns the names of the servers, for an error message.
fn names_of(servers: &[Directive]) -> String {
    let names: Vec<&str> = servers.iter().flat_map(names).collect();
    match names.is_empty() {
        true => "no server block has one".to_owned(),
        false => format!("there are {}", names.join(", ")),
    }
}

/// Returns the folder with the server's files, for locations that do not set another one.
fn outer_base(server: &Directive, outer: &Scope) -> Option<Base> {
    let root_directive = server.inside().iter().find(|it| it.name == "root");
    let root = root_directive
        .map(|it| it.arg(0))
        .or(outer.root.as_deref())?;
    Some(Base::Folder(root.trim_end_matches('/').to_owned()))
}

impl Site {
    pub(super) fn note(&mut self, directive: &Directive, why: &str) {
        let note = format!("{}: {why}", directive.text());
        self.notes.push((directive.place.clone(), note));
    }

    fn upstream(&mut self, directive: &Directive) {
        let servers = directive.inside().iter().filter(|it| it.name == "server");
        let servers: Vec<&Directive> = servers.collect();
        let addresses = servers.iter().map(|it| it.arg(0).to_owned()).collect();
        self.servers
            .upstreams
            .insert(directive.arg(0).to_owned(), addresses);
        for more in servers.iter().skip(1) {
            self.note(more, "an origin has one address: let its name mean several");
        }
    }

    /// Adds a note for each server that is not imported.
    pub(super) fn others(&mut self) {
        let servers = &self.servers;
        for (at, other) in servers.all.iter().enumerate() {
            if at == servers.own || servers.followed.contains(&at) {
                continue;
            }
            let why = match servers.word(at) {
                Some(word) => format!("another server; --server {word} imports it"),
                None => "another server: Andon has one".to_owned(),
            };
            self.notes.push((other.place.clone(), why));
        }
    }

    /// Reads the directives of a server or location into `scope`, and then its nested locations.
    pub(super) fn block(&mut self, directives: &[Directive], scope: &mut Scope) {
        scope.here = Here {
            variables: std::mem::take(&mut scope.here.variables),
            ..Here::default()
        };
        let (locations, others): (Vec<_>, Vec<_>) =
            directives.iter().partition(|it| it.name == "location");
        for directive in others {
            self.directive(directive, scope);
        }
        self.access(scope);
        for location in locations {
            let mut inner = scope.clone();
            inner.in_location = true;
            self.block(location.inside(), &mut inner);
            if location.arg(0).starts_with('@') {
                let named = Named {
                    scope: inner,
                    place: location.place.clone(),
                    is_used: false,
                };
                self.named.insert(location.arg(0).to_owned(), named);
                continue;
            }
            let location = Location {
                words: location.args.clone(),
                place: location.place.clone(),
                scope: inner,
            };
            self.locations.push(location);
        }
    }

    fn directive(&mut self, directive: &Directive, scope: &mut Scope) {
        let value = directive.arg(0);
        match directive.name.as_str() {
            "events" => {
                for inner in directive.inside() {
                    self.directive(inner, scope);
                }
            }
            "listen" => self.listen(directive),
            "worker_processes" => self.workers = (value != "auto").then(|| value.to_owned()),
            "worker_connections" => self.connections = Some(value.to_owned()),
            "keepalive_timeout" => self.keep_alive = Some(value.to_owned()),
            "root" => scope.root = Some(value.to_owned()),
            "alias" => scope.here.alias = Some(value.to_owned()),
            "proxy_pass" => scope.here.proxy = Some(value.to_owned()),
            "rewrite" => scope.here.rewrites.push(directive.clone()),
            "set" => {
                let name = value.trim_start_matches('$').to_owned();
                scope
                    .here
                    .variables
                    .push((name, directive.arg(1).to_owned()));
            }
            "secure_link" => scope.link = Some(value.to_owned()),
            "secure_link_md5" => scope.link_md5 = Some(value.to_owned()),
            // The responses that follow from this condition are fixed in Andon: 403 and 410.
            "if" if value.starts_with("($secure_link") => {}
            "internal" => scope.here.closed = true,
            "allow" | "deny" => scope.here.access.push(directive.clone()),
            "return" if value.starts_with('4') => scope.here.closed = true,
            "try_files" => scope.here.try_files = Some(directive.clone()),
            "expires" if value == "off" => scope.expires = None,
            "expires" => match max_age(value) {
                Some(value) => scope.expires = Some(value),
                None => self.note(
                    directive,
                    "write the Cache-Control yourself, in a [[cache.rule]]",
                ),
            },
            "add_header" => self.add_header(directive, scope),
            "error_page" => self.error_page(directive, scope),
            "ssl_certificate" => self.tls.certificate = Some(value.to_owned()),
            "ssl_certificate_key" => self.tls.key = Some(value.to_owned()),
            "http2" if value == "on" => {}
            "image_filter_buffer" | "small_light_buffer" => {
                self.source_bytes = self.source_bytes.max(bytes(value));
            }
            "image_filter_transparency" if value == "on" => {}
            name if name.starts_with("small_light") => self.of_small_light(directive, scope),
            "proxy_cache_path" => self.cache_path(directive),
            "proxy_cache_valid" => self.cache_valid(directive, scope),
            "proxy_cache" | "server_name" => {}
            _ if scope.filter.take(directive) => {}
            _ => self.without_key(directive, scope),
        }
    }

    /// Adds a note on a directive that has no equivalent key in Andon's configuration. Stores the `Host` header that it
    /// sets for requests that are passed on, and whether it passes requests to a program.
    fn without_key(&mut self, directive: &Directive, scope: &mut Scope) {
        let name = directive.name.as_str();
        scope.here.runs |= reasons::is_program(name);
        if name == "proxy_set_header" && directive.arg(0).eq_ignore_ascii_case("host") {
            scope.host = Some(directive.arg(1).to_owned());
        }
        self.note(directive, reasons::why(name));
    }

    /// Reads a directive of the ngx_small_light module.
    fn of_small_light(&mut self, directive: &Directive, scope: &mut Scope) {
        let value = directive.arg(0);
        match directive.name.as_str() {
            "small_light" => scope.small_light = value == "on",
            "small_light_getparam_mode" => self.getparam_mode(directive, scope),
            "small_light_pattern_define" => {
                let options = directive.arg(1).to_owned();
                let pattern = (directive.place.clone(), value.to_owned(), options);
                self.small_light.patterns.push(pattern);
            }
            "small_light_material_dir" => self.small_light.material_dir = Some(value.to_owned()),
            "small_light_radius_max" => self.small_light.radius_max = Some(value.to_owned()),
            "small_light_sigma_max" => self.small_light.sigma_max = Some(value.to_owned()),
            name => self.note(directive, reasons::why(name)),
        }
    }

    /// Reads `small_light_getparam_mode`. Andon's setting applies to all paths, so directives in locations are
    /// collected and decided on when all locations are known.
    fn getparam_mode(&mut self, directive: &Directive, scope: &mut Scope) {
        let is_on = directive.arg(0) == "on";
        match (scope.in_location, is_on) {
            (true, true) => self
                .small_light
                .getparam_of_locations
                .push(directive.clone()),
            (true, false) if scope.getparam_mode => {
                self.note(directive, "`getparam_mode` is for every path here");
            }
            (true, false) => {}
            (false, _) => self.small_light.getparam_mode = is_on,
        }
        scope.getparam_mode = is_on;
    }

    fn listen(&mut self, directive: &Directive) {
        if directive.args.iter().any(|arg| arg == "quic") {
            return self.note(directive, reasons::QUIC);
        }
        let address = directive.arg(0);
        let address = match address.strip_prefix("unix:") {
            Some(_) => address.to_owned(),
            None if address.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("0.0.0.0:{address}")
            }
            None => {
                let all = address.replace('*', "0.0.0.0");
                let has_port = all.rsplit(']').next().is_some_and(|end| end.contains(':'));
                if has_port { all } else { format!("{all}:80") }
            }
        };
        let is_tls = directive.args.iter().any(|arg| arg == "ssl");
        let all = match is_tls {
            true => &mut self.tls.listen,
            false => &mut self.listen,
        };
        if !all.contains(&address) {
            all.push(address);
        }
    }

    /// Applies `allow` and `deny`. Andon has no address lists, so a location with `deny all` is closed to every client,
    /// even if it allows some addresses.
    fn access(&mut self, scope: &mut Scope) {
        let rules = std::mem::take(&mut scope.here.access);
        let Some(first) = rules.first() else { return };
        let denies_all = rules
            .iter()
            .any(|it| it.name == "deny" && it.arg(0) == "all");
        let allows = rules.iter().any(|it| it.name == "allow");
        scope.here.closed |= denies_all && scope.in_location;
        let why = match (denies_all, allows, scope.in_location) {
            (true, false, true) => return,
            (true, true, true) => {
                "Andon has no lists of addresses, so it answers nobody here: where a proxy in front of it keeps all others out, import the file again without these lines"
            }
            _ => reasons::why("allow"),
        };
        let rules: Vec<String> = rules.iter().map(Directive::text).collect();
        self.notes
            .push((first.place.clone(), format!("{}: {why}", rules.join("; "))));
    }

    /// Reads `add_header`. As in nginx, a block with its own `add_header` inherits none from outer blocks.
    fn add_header(&mut self, directive: &Directive, scope: &mut Scope) {
        if !scope.here.adds_headers {
            scope.here.adds_headers = true;
            scope.added.clear();
        }
        let (name, value) = (directive.arg(0), directive.arg(1));
        let is_fixed = !value.contains('$');
        match name.to_ascii_lowercase().as_str() {
            "cache-control" if is_fixed => scope.added.push(value.to_owned()),
            "cache-control" => self.note(
                directive,
                "has a variable: write it yourself, in a [[cache.rule]]",
            ),
            "vary" | "etag" | "last-modified" | "content-type" => {
                self.note(directive, "is not needed: answers have their own");
            }
            _ if scope.in_location => {
                self.note(
                    directive,
                    "would hold for all answers; `[headers]` adds such headers",
                );
            }
            _ if !is_fixed => self.note(directive, "has a variable: `[headers]` adds fixed values"),
            _ => self.headers.push((name.to_owned(), value.to_owned())),
        }
    }

    /// Reads `error_page`, which may name an image to send in the place of a missing or broken one.
    fn error_page(&mut self, directive: &Directive, scope: &mut Scope) {
        let Some((uri, rest)) = directive.args.split_last() else {
            return;
        };
        let (status, codes) = match rest.split_last() {
            Some((last, codes)) if last.starts_with('=') => {
                (last[1..].parse().unwrap_or(200), codes)
            }
            _ => (0, rest),
        };
        let is_image = codes.iter().any(|code| code == "404" || code == "415");
        let is_file = uri.starts_with('/') && !uri.contains('$');
        match is_image && is_file {
            true => scope.fallback = Some((uri.clone(), status)),
            false => self.note(directive, reasons::why("error_page")),
        }
    }

    fn cache_path(&mut self, directive: &Directive) {
        if self.cache.disk.is_some() {
            return self.note(directive, "Andon has one cache on disk");
        }
        let size = directive
            .args
            .iter()
            .find_map(|arg| arg.strip_prefix("max_size="));
        // Uses another folder than nginx, because nginx deletes files that it does not know from its cache.
        let path = format!("{}-andon", directive.arg(0).trim_end_matches('/'));
        self.cache.disk = Some((path, size.and_then(bytes)));
        if let Some(inactive) = directive
            .args
            .iter()
            .find(|arg| arg.starts_with("inactive="))
        {
            let inactive = format!(
                "proxy_cache_path {inactive}: what is asked for least goes first, whatever its age"
            );
            self.notes.push((directive.place.clone(), inactive));
        }
    }

    fn cache_valid(&mut self, directive: &Directive, scope: &mut Scope) {
        let Some((time, codes)) = directive.args.split_last() else {
            return;
        };
        if codes.is_empty() || codes.iter().any(|code| code == "200" || code == "any") {
            match scope.in_location {
                true => scope.ttl = Some(time.clone()),
                false => self.cache.ttl = Some(time.clone()),
            }
        }
        if codes.iter().any(|code| code == "404" || code == "any") {
            match scope.in_location {
                true => self.note(
                    directive,
                    "what is missing is remembered as long everywhere: `negative` in [cache]",
                ),
                false => self.cache.negative = Some(time.clone()),
            }
        }
    }

    /// Imports the `rewrite` directives that nginx applies in the server block before it chooses a location, if their
    /// new paths contain the options of small_light. Adds a note on every other `rewrite` in the server block.
    fn before_locations(&mut self, here: &Here) {
        for rewrite in &here.rewrites {
            let to = Pattern::rewrite(rewrite.arg(0)).and_then(|pattern| {
                let path = pattern.say(rewrite.arg(1), &BTreeMap::new())?;
                let (_, options) = path
                    .split_once("small_light(")
                    .ok_or("write a [[rewrite]] to what the location of its new path comes to")?;
                Ok(format!("/small_light({options}"))
            });
            match to {
                Err(why) => self.note(rewrite, &why),
                Ok(to) => {
                    self.small_light.on = true;
                    let (from, place) = (rewrite.arg(0).to_owned(), rewrite.place.clone());
                    self.rewrites.push(Rewrite {
                        from,
                        to,
                        opens: false,
                        place,
                    });
                }
            }
        }
    }
}
