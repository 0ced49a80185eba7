//! What a server block says, in Andon's terms.

use std::collections::BTreeMap;

use super::filter::Filter;
use super::pattern::Pattern;
use super::reasons;
use super::syntax::{Directive, Place};

/// Everything that becomes a key.
#[derive(Debug, Default)]
pub(super) struct Site {
    pub(super) listen: Vec<String>,
    pub(super) workers: Option<String>,
    pub(super) connections: Option<String>,
    pub(super) keep_alive: Option<String>,
    /// The largest `image_filter_buffer` or `small_light_buffer`, in bytes.
    pub(super) source_bytes: Option<u64>,
    pub(super) tls: Tls,
    /// Headers of every answer.
    pub(super) headers: Vec<(String, String)>,
    pub(super) fallbacks: Vec<Fallback>,
    pub(super) origins: Vec<Origin>,
    pub(super) rewrites: Vec<Rewrite>,
    pub(super) small_light: SmallLight,
    pub(super) links: Vec<Link>,
    pub(super) cache: Cache,
    /// What stands for nothing here, and why.
    pub(super) notes: Vec<(Place, String)>,
    upstreams: BTreeMap<String, String>,
    locations: Vec<Location>,
    /// Locations that only others lead to, by their names.
    named: BTreeMap<String, Scope>,
}

/// `[tls]`.
#[derive(Debug, Default)]
pub(super) struct Tls {
    pub(super) listen: Vec<String>,
    pub(super) certificate: Option<String>,
    pub(super) key: Option<String>,
}

/// `[[fallback]]`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fallback {
    /// Without its last slash.
    pub(super) prefix: String,
    pub(super) image: String,
    /// 0: that of the error.
    pub(super) status: u16,
}

/// `[[origin]]`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// Without its last slash.
    pub(super) prefix: String,
    pub(super) base: Base,
    pub(super) cache_control: Option<String>,
    /// How long results are kept.
    pub(super) ttl: Option<String>,
}

/// Where files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Folder(String),
    Server(String),
}

/// `[[rewrite]]`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rewrite {
    pub(super) from: String,
    pub(super) to: String,
    /// Does nginx serve its new path without looking for the location of that, and so for no `secure_link` there?
    pub(super) opens: bool,
    pub(super) place: Place,
}

/// `[[secure_link]]`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// What paths begin with.
    pub(super) location: String,
    pub(super) given: String,
    pub(super) signed: String,
}

/// `[small_light]`.
#[derive(Debug, Default)]
pub(super) struct SmallLight {
    pub(super) on: bool,
    pub(super) getparam_mode: bool,
    pub(super) material_dir: Option<String>,
    pub(super) radius_max: Option<String>,
    pub(super) sigma_max: Option<String>,
    pub(super) patterns: Vec<(Place, String, String)>,
}

/// `[cache]`.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pub(super) disk: Option<(String, Option<u64>)>,
    pub(super) ttl: Option<String>,
    pub(super) negative: Option<String>,
}

/// Directives that hold in a block, those of the blocks around it among them.
#[derive(Clone, Debug, Default)]
struct Scope {
    root: Option<String>,
    filter: Filter,
    small_light: bool,
    expires: Option<String>,
    /// What is added to `Cache-Control`.
    added: Vec<String>,
    ttl: Option<String>,
    fallback: Option<(String, u16)>,
    in_location: bool,
    link: Option<String>,
    link_md5: Option<String>,
    /// These hold in their own block only.
    here: Here,
}

#[derive(Clone, Debug, Default)]
struct Here {
    alias: Option<String>,
    proxy: Option<String>,
    closed: bool,
    /// `allow` and `deny`, as they stand there.
    access: Vec<Directive>,
    adds_headers: bool,
    tried: Option<Directive>,
    rewrites: Vec<Directive>,
    variables: Vec<(String, String)>,
}

#[derive(Debug)]
struct Location {
    words: Vec<String>,
    place: Place,
    scope: Scope,
}

/// Where targets are rewritten to that nobody may ask for: names that begin with a dot are never served.
const CLOSED: &str = "/.closed";
/// What the rewritten targets of image_filter begin with, and origins that only locations know.
pub(super) const INTERNAL: &str = "/_nginx";

/// Reads a configuration; of several servers the one with this name, or the first that makes pictures.
///
/// # Errors
/// No server, or none with the name.
pub(super) fn read(all: &[Directive], name: Option<&str>) -> anyhow::Result<Site> {
    let http = all
        .iter()
        .filter(|it| it.name == "http")
        .flat_map(Directive::inside);
    // A file of sites-available has no http block around its servers.
    let http: Vec<&Directive> = http
        .chain(all.iter().filter(|it| it.name != "http"))
        .collect();
    let servers: Vec<&Directive> = http
        .iter()
        .copied()
        .filter(|it| it.name == "server")
        .collect();
    let chosen = match name {
        Some(name) => {
            let named = |it: &&&Directive| {
                it.inside()
                    .iter()
                    .any(|it| it.name == "server_name" && it.args.iter().any(|arg| arg == name))
            };
            servers.iter().find(named)
        }
        None => servers
            .iter()
            .find(|it| makes_pictures(it))
            .or(servers.first()),
    };
    let Some(chosen) = chosen else {
        match name {
            Some(name) => anyhow::bail!("no server has the server_name {name}"),
            None => anyhow::bail!("there is no server block"),
        }
    };
    let mut site = Site::default();
    for directive in http.iter().filter(|it| it.name == "upstream") {
        site.upstream(directive);
    }
    let mut outer = Scope::default();
    let others = http
        .iter()
        .copied()
        .filter(|it| !matches!(it.name.as_str(), "server" | "upstream"));
    for directive in others {
        site.directive(directive, &mut outer);
    }
    for other in servers.iter().filter(|it| *it != chosen) {
        let names = other.inside().iter().find(|it| it.name == "server_name");
        let why = match names {
            Some(names) => format!("another server; --server {} imports it", names.arg(0)),
            None => "another server: Andon has one".to_owned(),
        };
        site.notes.push((other.place.clone(), why));
    }
    let mut scope = outer.clone();
    site.block(chosen.inside(), &mut scope);
    site.before_locations(&scope.here);
    let base = outer_base(chosen, &outer);
    site.finish(base, &scope);
    Ok(site)
}

fn makes_pictures(server: &Directive) -> bool {
    server.inside().iter().any(|it| {
        it.name.starts_with("image_filter")
            || it.name.starts_with("small_light")
            || makes_pictures(it)
    })
}

/// The folder that files are in unless a location says otherwise.
fn outer_base(server: &Directive, outer: &Scope) -> Option<Base> {
    let own = server.inside().iter().find(|it| it.name == "root");
    let root = own.map(|it| it.arg(0)).or(outer.root.as_deref())?;
    Some(Base::Folder(root.trim_end_matches('/').to_owned()))
}

impl Site {
    fn note(&mut self, directive: &Directive, why: &str) {
        let note = format!("{}: {why}", directive.text());
        self.notes.push((directive.place.clone(), note));
    }

    fn upstream(&mut self, directive: &Directive) {
        let mut servers = directive.inside().iter().filter(|it| it.name == "server");
        let Some(first) = servers.next() else { return };
        self.upstreams
            .insert(directive.arg(0).to_owned(), first.arg(0).to_owned());
        for more in servers {
            self.note(more, "an origin has one address: let its name mean several");
        }
    }

    /// A server's or a location's directives, then its locations.
    fn block(&mut self, directives: &[Directive], scope: &mut Scope) {
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
                self.named.insert(location.arg(0).to_owned(), inner);
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
            // What follows from it is fixed here: 403 and 410.
            "if" if value.starts_with("($secure_link") => {}
            "internal" => scope.here.closed = true,
            "allow" | "deny" => scope.here.access.push(directive.clone()),
            "return" if value.starts_with('4') => scope.here.closed = true,
            "try_files" => scope.here.tried = Some(directive.clone()),
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
            "small_light" => scope.small_light = value == "on",
            "small_light_getparam_mode" => self.small_light.getparam_mode |= value == "on",
            "small_light_pattern_define" => {
                let options = directive.arg(1).to_owned();
                let pattern = (directive.place.clone(), value.to_owned(), options);
                self.small_light.patterns.push(pattern);
            }
            "small_light_material_dir" => self.small_light.material_dir = Some(value.to_owned()),
            "small_light_radius_max" => self.small_light.radius_max = Some(value.to_owned()),
            "small_light_sigma_max" => self.small_light.sigma_max = Some(value.to_owned()),
            "proxy_cache_path" => self.cache_path(directive),
            "proxy_cache_valid" => self.cache_valid(directive, scope),
            "proxy_cache" | "server_name" => {}
            _ if scope.filter.take(directive) => {}
            name => self.note(directive, reasons::why(name)),
        }
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

    /// Who is allowed: Andon has no lists of addresses, so a location that has one answers nobody.
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
                "Andon has no lists of addresses, so it answers nobody here: keep a proxy in front of it that does, and take the rewrite to /.closed out"
            }
            _ => reasons::why("allow"),
        };
        let rules: Vec<String> = rules.iter().map(Directive::text).collect();
        self.notes
            .push((first.place.clone(), format!("{}: {why}", rules.join("; "))));
    }

    /// A header of answers. A block that adds one has none of those around it.
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

    /// An image in place of one that is missing or broken.
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
        self.cache.disk = Some((directive.arg(0).to_owned(), size.and_then(bytes)));
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

    /// What a server block does before it looks for a location.
    fn before_locations(&mut self, here: &Here) {
        for rewrite in &here.rewrites {
            let to = Pattern::rewrite(rewrite.arg(0)).and_then(|own| {
                let path = own.say(rewrite.arg(1), &BTreeMap::new())?;
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

    /// Locations become origins and rewrites, in nginx's order: exact ones, prefixes that end the search, expressions as
    /// they are written, other prefixes, the longest first.
    fn finish(&mut self, base: Option<Base>, server: &Scope) {
        if let Some(base) = base {
            self.origins.push(Origin {
                prefix: String::new(),
                base,
                cache_control: server.cache_control(),
                ttl: server.ttl.clone(),
            });
        }
        self.fall_back("", server);
        if self.tls.listen.is_empty() != self.tls.certificate.is_none()
            || self.tls.certificate.is_some() != self.tls.key.is_some()
        {
            let place = server_place(&self.locations);
            let why = "TLS needs an address, ssl_certificate and ssl_certificate_key: write [tls] yourself";
            self.notes.push((place, why.to_owned()));
            self.tls = Tls::default();
        }
        let mut locations = std::mem::take(&mut self.locations);
        let rank = |location: &Location| match location.words.first().map(String::as_str) {
            Some("=") => (0, 0),
            Some("^~") => (1, usize::MAX - location.words[1].len()),
            Some("~" | "~*") => (2, 0),
            Some(path) => (3, usize::MAX - path.len()),
            None => (4, 0),
        };
        locations.sort_by_key(rank);
        for location in &locations {
            if let Err(why) = self.location(location) {
                let words = location.words.join(" ");
                self.notes
                    .push((location.place.clone(), format!("location {words}: {why}")));
            }
        }
        // What nothing follows, and which changes nothing, need not be said.
        while self.rewrites.last().is_some_and(Rewrite::changes_nothing) {
            self.rewrites.pop();
        }
        let internal = |to: &str| to.starts_with(INTERNAL);
        let place = self
            .rewrites
            .iter()
            .find(|it| internal(&it.to))
            .map(|it| it.place.clone());
        if let Some(place) = place {
            let from = format!("^{INTERNAL}(/|$)");
            self.rewrites.insert(
                0,
                Rewrite {
                    from,
                    to: CLOSED.to_owned(),
                    opens: false,
                    place,
                },
            );
        }
        if self.origins.is_empty() {
            self.origins.push(Origin {
                prefix: String::new(),
                base: Base::Folder("html".to_owned()),
                cache_control: server.cache_control(),
                ttl: server.ttl.clone(),
            });
        }
        self.notes
            .sort_by(|a, b| (&a.0.file, a.0.line).cmp(&(&b.0.file, b.0.line)));
    }

    fn location(&mut self, location: &Location) -> Result<(), String> {
        let words: Vec<&str> = location.words.iter().map(String::as_str).collect();
        let (pattern, prefix) = match words[..] {
            ["=", path] => (Pattern::exact(path), None),
            ["^~", path] | [path] if path.starts_with('/') => (Pattern::prefix(path), Some(path)),
            ["~", text] => (Pattern::regex(text, false)?, None),
            ["~*", text] => (Pattern::regex(text, true)?, None),
            _ => return Err("only nginx reaches it".to_owned()),
        };
        let scope = &location.scope;
        self.signed(location);
        if scope.here.closed {
            self.rewrite(location, &pattern, CLOSED.to_owned());
            return Ok(());
        }
        let mut variables = BTreeMap::new();
        for (name, value) in &scope.here.variables {
            if let Ok(value) = pattern.say(value, &variables) {
                variables.insert(name.clone(), value);
            }
        }
        let mut pattern = pattern;
        let elsewhere = self.tried(location, &mut pattern, &variables)?;
        let location = elsewhere.as_ref().unwrap_or(location);
        let scope = &location.scope;
        for (name, value) in &scope.here.variables {
            if let Ok(value) = pattern.say(value, &variables) {
                variables.insert(name.clone(), value);
            }
        }
        let mut fell_through = true;
        for rewrite in &scope.here.rewrites {
            let (from, to) = (rewrite.arg(0), rewrite.arg(1).to_owned());
            if matches!(rewrite.arg(2), "redirect" | "permanent") {
                self.note(rewrite, "Andon redirects nobody");
                continue;
            }
            let same = location.words.last().is_some_and(|own| own == from);
            if from == "^" || same {
                let mut moved = pattern.clone();
                moved.uri = pattern.say(&to, &variables)?;
                self.mapped(location, &moved, None, &variables)?;
                fell_through = false;
                break;
            }
            let mut own = Pattern::rewrite(from)?;
            own.uri = own.say(&to, &variables)?;
            self.mapped(location, &own, None, &variables)?;
            if !from.starts_with('^') || prefix.is_some_and(|prefix| !from[1..].starts_with(prefix))
            {
                self.note(rewrite, "imported as if it stood in the server block");
            }
        }
        match fell_through {
            true => self.mapped(location, &pattern, prefix, &variables),
            false => Ok(()),
        }
    }

    /// What `try_files` comes to: another path of the location, or what a named location does instead of this one.
    fn tried(
        &mut self,
        location: &Location,
        pattern: &mut Pattern,
        variables: &BTreeMap<String, String>,
    ) -> Result<Option<Location>, String> {
        let Some(tried) = &location.scope.here.tried else {
            return Ok(None);
        };
        let Some((last, paths)) = tried.args.split_last() else {
            return Ok(None);
        };
        // Folders have indexes, and are no images.
        let files: Vec<&String> = paths.iter().filter(|path| !path.ends_with('/')).collect();
        if let Some(named) = self.named.get(last) {
            let mut scope = named.clone();
            scope
                .here
                .variables
                .splice(0..0, location.scope.here.variables.clone());
            scope.root = scope.root.or_else(|| location.scope.root.clone());
            let why = match files[..] {
                [] => None,
                [only] if only == "$uri" => {
                    Some("a file that is there is treated as all others are, and not sent as it is")
                }
                _ => {
                    Some("no such files are looked for: Andon makes results and keeps them itself")
                }
            };
            if let Some(why) = why {
                self.note(tried, why);
            }
            return Ok(Some(Location {
                words: location.words.clone(),
                place: location.place.clone(),
                scope,
            }));
        }
        if let Some((first, more)) = files.split_first() {
            if !more.is_empty() {
                self.note(tried, &format!("only {first} is looked for"));
            }
            if *first != "$uri" {
                pattern.uri = pattern.say(first, variables)?;
            }
        }
        if last.starts_with('/') && !last.contains('$') {
            let scope = &location.scope;
            let plain = scope.filter.options().is_none() && !scope.small_light;
            match plain {
                true => self.note(
                    tried,
                    "a missing file is 404; `[[fallback]]` is for images that are made",
                ),
                false => {
                    let prefix = String::new();
                    self.fallback(prefix, last.clone(), 200);
                }
            }
        } else if !last.starts_with('=') {
            self.note(
                tried,
                &format!("{last} is not what a missing file comes to: it is 404"),
            );
        }
        Ok(None)
    }

    /// The image that stands for missing ones of an origin.
    fn fall_back(&mut self, prefix: &str, scope: &Scope) {
        if let Some((image, status)) = scope.fallback.clone() {
            self.fallback(prefix.to_owned(), image, status);
        }
    }

    fn fallback(&mut self, prefix: String, image: String, status: u16) {
        let fallback = Fallback {
            prefix,
            image,
            status,
        };
        let is_new = self.fallbacks.iter().all(|it| it.prefix != fallback.prefix);
        if is_new {
            self.fallbacks.push(fallback);
        }
    }

    /// What checks the URLs of a location: of everything that begins as they do.
    fn signed(&mut self, location: &Location) {
        let scope = &location.scope;
        let (Some(given), Some(signed)) = (&scope.link, &scope.link_md5) else {
            return;
        };
        let start = match location
            .words
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()[..]
        {
            ["=" | "^~", path] | [path] => path,
            ["~", text] => {
                let text = text.strip_prefix('^').unwrap_or_default();
                let meta = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_'));
                // The last letter before may be repeated, or left out.
                let fixed = &text[..text.find(meta).unwrap_or(text.len())];
                &fixed[..fixed.rfind('/').map_or(0, |at| at + 1)]
            }
            _ => "",
        };
        let link = Link {
            location: if start.is_empty() { "/" } else { start }.to_owned(),
            given: given.clone(),
            signed: signed.clone(),
        };
        if !self.links.contains(&link) {
            self.links.push(link);
        }
    }

    /// The rewrite of a location whose path is what `pattern` calls `$uri`.
    fn mapped(
        &mut self,
        location: &Location,
        pattern: &Pattern,
        prefix: Option<&str>,
        variables: &BTreeMap<String, String>,
    ) -> Result<(), String> {
        let scope = &location.scope;
        self.small_light.on |= scope.small_light;
        let (mut base, mut path) = self.source(scope, pattern, prefix, variables)?;
        if let Some((_, options)) = path.split_once("small_light(") {
            let to = format!("/small_light({options}");
            self.small_light.on = true;
            self.rewrite(location, pattern, to);
            return Ok(());
        }
        let options = scope.filter.options();
        let plain = options.is_none() && !scope.small_light;
        // Files of another root below their own prefix.
        let below = prefix.map(|prefix| prefix.trim_end_matches('/'));
        let rest = below
            .and_then(|below| path.strip_prefix(below))
            .map(str::to_owned);
        if let (true, Some(base), Some(below), Some(rest)) = (plain, &mut base, below, rest)
            && self.origins.iter().all(|it| it.base != *base)
        {
            let (Base::Folder(root) | Base::Server(root)) = base;
            *root += below;
            path = rest;
        }
        let at = self.origin(base, scope, prefix.filter(|_| plain));
        self.fall_back(&at, scope);
        let path = format!("{at}{path}");
        if scope.small_light && !self.small_light.getparam_mode {
            return self.small_light_location(location, pattern, &path);
        }
        if let Some(options) = options {
            let options = pattern.say(&options, variables)?;
            let to = format!("{INTERNAL}/image_filter({options}){path}");
            self.rewrite(location, pattern, to);
        } else {
            self.rewrite(location, pattern, path);
        }
        Ok(())
    }

    /// Where a location's files are, and the path there.
    fn source(
        &self,
        scope: &Scope,
        pattern: &Pattern,
        prefix: Option<&str>,
        variables: &BTreeMap<String, String>,
    ) -> Result<(Option<Base>, String), String> {
        let uri = pattern.uri.clone();
        // What replaces a prefix is followed by the rest of the path; in expressions it is all of it.
        let replaced = |with: &str| -> Result<String, String> {
            match prefix {
                Some(_) => Ok(format!("{with}$1")),
                None => pattern.say(with, variables),
            }
        };
        if let Some(url) = &scope.here.proxy {
            let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if host.contains('$') {
                return Err(format!("an origin's address is fixed, not `{host}`"));
            }
            let host = self.upstreams.get(host).map_or(host, String::as_str);
            let path = match path {
                "" => uri,
                path => replaced(path)?,
            };
            if path.contains('?') {
                return Err("origins are asked for paths, without a query".to_owned());
            }
            let (folder, path) = fixed(&path);
            return Ok((
                Some(Base::Server(format!("{scheme}://{host}{folder}"))),
                path,
            ));
        }
        if let Some(alias) = &scope.here.alias {
            let (folder, path) = fixed(&replaced(alias)?);
            return Ok((Some(Base::Folder(folder)), path));
        }
        let Some(root) = &scope.root else {
            return Ok((None, uri));
        };
        if root.contains('$') {
            return Err(format!("a root is one folder, not `{root}`"));
        }
        let root = root.trim_end_matches('/');
        Ok((Some(Base::Folder(root.to_owned())), uri))
    }

    /// The prefix of the origin with these files, made if there is none.
    fn origin(&mut self, base: Option<Base>, scope: &Scope, prefix: Option<&str>) -> String {
        let Some(base) = base else {
            return String::new();
        };
        // What is told of lifetimes, and what stands for missing images, is told of an origin.
        let lifetimes = (scope.cache_control(), scope.ttl.clone());
        let stands_for = |prefix: &str| {
            let own = self.fallbacks.iter().find(|it| it.prefix == prefix);
            own.map(|it| (it.image.clone(), it.status))
        };
        let is_the_same = |it: &&Origin| {
            let fits = scope.fallback.is_none() || stands_for(&it.prefix) == scope.fallback;
            it.base == base && fits && (&it.cache_control, &it.ttl) == (&lifetimes.0, &lifetimes.1)
        };
        if let Some(known) = self.origins.iter().find(is_the_same) {
            return known.prefix.clone();
        }
        let free = |prefix: &str| self.origins.iter().all(|it| it.prefix != prefix);
        let named = prefix
            .map(|prefix| prefix.trim_end_matches('/'))
            .filter(|it| free(it));
        let prefix = match named {
            Some(named) => named.to_owned(),
            None if free("") => String::new(),
            None => format!("{INTERNAL}/{}", self.origins.len()),
        };
        self.origins.push(Origin {
            prefix: prefix.clone(),
            base,
            cache_control: lifetimes.0,
            ttl: lifetimes.1,
        });
        prefix
    }

    /// A location of the module: the options stand in the URL, where the expression has `small_light`.
    fn small_light_location(
        &mut self,
        location: &Location,
        pattern: &Pattern,
        path: &str,
    ) -> Result<(), String> {
        const SEGMENTS: [&str; 3] = [
            "small_light[^/]*",
            "small_light[^/]+",
            r"small_light\([^\)]*\)",
        ];
        let from = &pattern.from;
        let found = SEGMENTS
            .iter()
            .find_map(|segment| Some((from.find(segment)?, *segment)));
        let Some((at, segment)) = found else {
            // Without options in its paths nothing is done.
            self.rewrite(location, pattern, path.to_owned());
            return Ok(());
        };
        // A group around the options; those that begin after it have the next number.
        let (before, after) = (&from[..at], &from[at + segment.len()..]);
        let group = groups(before) + 1;
        let from = format!(r"{before}(small_light\([^)/]*\))[^/]*{after}");
        let mut to = path.to_owned();
        for number in (group..=8).rev() {
            to = to.replace(&format!("${number}"), &format!("${}", number + 1));
        }
        let to = format!("/${group}{to}");
        let place = location.place.clone();
        self.rewrites.push(Rewrite {
            from,
            to,
            opens: location.stays(),
            place,
        });
        Ok(())
    }

    fn rewrite(&mut self, location: &Location, pattern: &Pattern, mut to: String) {
        let from = pattern.without_unused_group(&mut to);
        let place = location.place.clone();
        self.rewrites.push(Rewrite {
            from,
            to,
            opens: location.stays(),
            place,
        });
    }
}

impl Scope {
    /// `expires`, and what is added to it.
    fn cache_control(&self) -> Option<String> {
        let parts: Vec<&str> = (self.expires.iter().chain(&self.added))
            .map(String::as_str)
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Where what concerns the whole server is told.
fn server_place(locations: &[Location]) -> Place {
    locations.first().map_or_else(
        || Place {
            file: "nginx.conf".to_owned(),
            line: 1,
        },
        |location| location.place.clone(),
    )
}

impl Location {
    /// Are its files served by this very location, which asks for no signature?
    fn stays(&self) -> bool {
        let mut rewrites = self.scope.here.rewrites.iter();
        self.scope.link.is_none() && rewrites.all(|it| it.arg(2) == "break")
    }
}

impl Rewrite {
    /// A path that becomes itself.
    fn changes_nothing(&self) -> bool {
        let whole = self.from.trim_start_matches("(?i)").starts_with("^(") && self.to == "$1";
        let prefix = self
            .from
            .strip_suffix("(.*)$")
            .and_then(|from| from.strip_prefix('^'));
        let same = |prefix: &str| self.to == format!("{}$1", prefix.replace('\\', ""));
        let exact = self
            .from
            .strip_prefix('^')
            .and_then(|from| from.strip_suffix('$'));
        whole
            || prefix.is_some_and(same)
            || exact.is_some_and(|exact| exact.replace('\\', "") == self.to)
    }
}

/// How many groups an expression opens.
fn groups(text: &str) -> usize {
    let bytes = text.as_bytes();
    let opens = |at: &usize| {
        let escaped = bytes[..*at]
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count()
            % 2
            == 1;
        let rest = &text[at + 1..];
        let named = ["?<", "?P<"].iter().any(|start| rest.starts_with(start));
        bytes[*at] == b'(' && !escaped && (named || !rest.starts_with('?'))
    };
    (0..bytes.len()).filter(opens).count()
}

/// The folder before the first group, and the path from it on.
fn fixed(path: &str) -> (String, String) {
    let fixed = &path[..path.find('$').unwrap_or(path.len())];
    let (folder, rest) = path.split_at(fixed.rfind('/').unwrap_or(0));
    (folder.to_owned(), rest.to_owned())
}

/// `10g`, `512k` in bytes.
fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len()),
    );
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// `expires 30d` as Cache-Control.
fn max_age(text: &str) -> Option<String> {
    match text {
        "max" => Some("max-age=315360000".to_owned()),
        "epoch" | "-1" => Some("no-cache".to_owned()),
        text => seconds(text).map(|seconds| format!("max-age={seconds}")),
    }
}

/// `1h 30m`, `90`, `30d`.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let mut total = 0_u64;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let letters = after
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let unit = match unit {
            "" | "s" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 86_400,
            "w" => 7 * 86_400,
            "M" => 30 * 86_400,
            "y" => 365 * 86_400,
            _ => return None,
        };
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(unit)?)?;
        rest = after.trim_start();
    }
    (!text.is_empty()).then_some(total)
}
