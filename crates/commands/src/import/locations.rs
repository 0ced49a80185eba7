//! Converts nginx locations to origins and rewrites.

use std::collections::BTreeMap;

use andon_dialects::forms::is_script;

use super::joined::{Joined, joined};
use super::model::*;
use super::passes::Target;
use super::pattern::{Pattern, fixed_start, names_scripts};
use super::reasons::SCRIPT;
use super::syntax::Place;

mod small_light;

use small_light::has_options;

impl Site {
    /// Converts the locations to origins and rewrites, in the order in which nginx tries them: exact paths, prefixes
    /// that end the search (`^~`), regular expressions in their order, and other prefixes. Longer prefixes come first.
    pub(super) fn finish(&mut self, base: Option<Base>, server: &Scope) {
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
        self.getparam_of_locations(&locations);
        locations.sort_by_key(rank);
        for location in &locations {
            self.take(location);
        }
        for (name, named) in self.named.iter().filter(|(_, named)| !named.is_used) {
            let why = format!("location {name}: only nginx reaches it");
            self.notes.push((named.place.clone(), why));
        }
        // A rule at the end of the list that rewrites paths to themselves has no effect.
        while self.rewrites.last().is_some_and(Rewrite::changes_nothing) {
            self.rewrites.pop();
        }
        self.close_internal();
        if self.origins.is_empty() {
            let why = "no `root` or `alias` of a location that answers names the folder of the images: put it in place of \"html\", which is nginx's default";
            self.notes.push((server_place(&locations), why.to_owned()));
            self.origins.push(Origin {
                prefix: String::new(),
                base: Base::Folder("html".to_owned()),
                cache_control: server.cache_control(),
                ttl: server.ttl.clone(),
            });
        }
        self.others();
        let mut notes: Vec<(Place, String)> = Vec::new();
        for note in std::mem::take(&mut self.notes) {
            // A location that several others lead to adds its notes only once.
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes.sort_by(|a, b| (&a.0.file, a.0.line).cmp(&(&b.0.file, b.0.line)));
        self.notes = notes;
    }

    /// Imports a location, or adds a note on why it cannot be imported.
    pub(super) fn take(&mut self, location: &Location) {
        if let Err(why) = self.location(location) {
            let words = location.words.join(" ");
            self.notes
                .push((location.place.clone(), format!("location {words}: {why}")));
        }
    }

    /// Makes paths below [`INTERNAL`] inaccessible to clients if rewrites lead there.
    fn close_internal(&mut self) {
        let internal = |it: &&Rewrite| it.to.starts_with(INTERNAL);
        let Some(first) = self.rewrites.iter().find(internal) else {
            return;
        };
        let closed = Rewrite {
            from: format!("^{INTERNAL}(/|$)"),
            to: CLOSED.to_owned(),
            opens: false,
            place: first.place.clone(),
        };
        self.rewrites.insert(0, closed);
    }

    fn location(&mut self, location: &Location) -> Result<(), String> {
        let words: Vec<&str> = location.words.iter().map(String::as_str).collect();
        let (mut pattern, prefix) = match words[..] {
            ["=", path] => (Pattern::exact(path), None),
            ["^~", path] | [path] if path.starts_with('/') => (Pattern::prefix(path), Some(path)),
            ["~", text] => (Pattern::regex(text, false)?, None),
            ["~*", text] => (Pattern::regex(text, true)?, None),
            _ => return Err("only nginx reaches it".to_owned()),
        };
        let scope = &location.scope;
        if scope.here.proxy.is_some() && words.last().is_some_and(|words| names_scripts(words)) {
            return Err(format!("a script: {SCRIPT}"));
        }
        self.add_secure_link(location);
        if scope.here.closed {
            self.rewrite(location, &pattern, CLOSED.to_owned());
            return Ok(());
        }
        let mut variables = BTreeMap::new();
        scope.set(&pattern, &mut variables);
        let named_location = self.apply_try_files(location, &mut pattern, &variables)?;
        let location = named_location.as_ref().unwrap_or(location);
        if self.follow_pass(location)? {
            return Ok(());
        }
        location.scope.set(&pattern, &mut variables);
        match self.import_rewrites(location, &pattern, prefix, &variables)? {
            true => Ok(()),
            false => self.add_mapping(location, &pattern, prefix, &variables),
        }
    }

    /// Imports the `rewrite` directives of a location. Returns whether one of them applies to all paths of the
    /// location.
    fn import_rewrites(
        &mut self,
        location: &Location,
        pattern: &Pattern,
        prefix: Option<&str>,
        variables: &BTreeMap<String, String>,
    ) -> Result<bool, String> {
        let scope = &location.scope;
        let words: Vec<&str> = location.words.iter().map(String::as_str).collect();
        for rewrite in &scope.here.rewrites {
            let (from, to) = (rewrite.arg(0), rewrite.arg(1).to_owned());
            if matches!(rewrite.arg(2), "redirect" | "permanent") {
                self.note(rewrite, "Andon redirects nobody");
                continue;
            }
            let same = location.words.last().is_some_and(|word| word == from);
            if from == "^" || same {
                let mut new_pattern = pattern.clone();
                new_pattern.uri = pattern.say(&to, variables)?;
                self.add_mapping(location, &new_pattern, None, variables)?;
                return Ok(true);
            }
            if let Some(joined) = joined_with(&words, variables, from) {
                let mut variables = BTreeMap::new();
                scope.set(&joined.location, &mut variables);
                let mut rewrite_pattern = joined.rewrite;
                rewrite_pattern.uri = rewrite_pattern.say(&to, &variables)?;
                self.add_mapping(location, &rewrite_pattern, None, &variables)?;
                continue;
            }
            let mut rewrite_pattern = Pattern::rewrite(from)?;
            // Group numbers of the location's expression are meaningless in this one, so variables that use them are
            // dropped.
            let mut variables = variables.clone();
            variables.retain(|_, value| !names_group(value));
            rewrite_pattern.uri = rewrite_pattern.say(&to, &variables)?;
            self.add_mapping(location, &rewrite_pattern, None, &variables)?;
            if !from.starts_with('^') || prefix.is_some_and(|prefix| !from[1..].starts_with(prefix))
            {
                self.note(rewrite, "imported as if it stood in the server block");
            }
        }
        Ok(false)
    }

    /// Applies a location's `try_files`: updates the path in `pattern`, or returns the location with the directives of
    /// the named location that serves it instead.
    fn apply_try_files(
        &mut self,
        location: &Location,
        pattern: &mut Pattern,
        variables: &BTreeMap<String, String>,
    ) -> Result<Option<Location>, String> {
        let Some(directive) = &location.scope.here.try_files else {
            return Ok(None);
        };
        let Some((last, paths)) = directive.args.split_last() else {
            return Ok(None);
        };
        // Entries that end with a slash look for index files, which are not images.
        let files: Vec<&String> = paths.iter().filter(|path| !path.ends_with('/')).collect();
        if let Some(named) = self.named(last, location) {
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
                self.note(directive, why);
            }
            return Ok(Some(named));
        }
        if let Some((first, more)) = files.split_first() {
            if !more.is_empty() {
                self.note(directive, &format!("only {first} is looked for"));
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
                    directive,
                    "a missing file is 404; `[[fallback]]` is for images that are made",
                ),
                false => {
                    let prefix = String::new();
                    self.fallback(prefix, last.clone(), 200);
                }
            }
        } else if !last.starts_with('=') {
            self.note(
                directive,
                &format!("{last} is not what a missing file comes to: it is 404"),
            );
        }
        Ok(None)
    }

    /// Returns `location` with the directives of the named location `name`. Variables of `location` are kept, and its
    /// root as well if the named location has none. `None` if there is no such named location.
    fn named(&mut self, name: &str, location: &Location) -> Option<Location> {
        let named = self.named.get_mut(name)?;
        named.is_used = true;
        let mut scope = named.scope.clone();
        scope
            .here
            .variables
            .splice(0..0, location.scope.here.variables.clone());
        scope.root = scope.root.or_else(|| location.scope.root.clone());
        Some(Location {
            words: location.words.clone(),
            place: location.place.clone(),
            scope,
        })
    }

    /// Adds the fallback image for missing images below an origin's `prefix`, if the scope has one.
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

    /// Adds the `[[secure_link]]` table that verifies the URLs of a location, if the location has a `secure_link`. The
    /// table applies to all paths that begin with the fixed prefix of the location's paths.
    fn add_secure_link(&mut self, location: &Location) {
        let scope = &location.scope;
        let (Some(arguments), Some(expression)) = (&scope.link, &scope.link_md5) else {
            return;
        };
        let start = match location
            .words
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()[..]
        {
            ["=" | "^~", path] | [path] => path,
            ["~", text] => fixed_start(text),
            _ => "",
        };
        let link = Link {
            location: if start.is_empty() { "/" } else { start }.to_owned(),
            given: arguments.clone(),
            signed: expression.clone(),
        };
        let covers = |other: &Link| {
            let same = (&other.given, &other.signed) == (&link.given, &link.signed);
            same && link.location.starts_with(&other.location)
        };
        if !self.links.iter().any(covers) {
            self.links.push(link);
        }
    }

    /// Adds the rewrite and, if necessary, the origin of a location. `pattern.uri` is the path that nginx calls `$uri`.
    fn add_mapping(
        &mut self,
        location: &Location,
        pattern: &Pattern,
        prefix: Option<&str>,
        variables: &BTreeMap<String, String>,
    ) -> Result<(), String> {
        let scope = &location.scope;
        let uri = pattern.uri.split('?').next().unwrap_or_default();
        if is_script(uri) && location.words.last().is_none_or(|word| word != uri) {
            return Err(format!(
                "it leads to the script {uri}, and rules do not follow one another: give it a [[rewrite]] of its own; {SCRIPT}"
            ));
        }
        self.small_light.on |= scope.small_light;
        let (mut base, mut path) = self.source(scope, pattern, prefix, variables)?;
        if let Some((_, options)) = path.split_once("small_light(") {
            let to = format!("/small_light({options}");
            self.small_light.on = true;
            if scope.filter.options().is_some() {
                self.filter_beside(location);
            }
            self.rewrite(location, pattern, to);
            return Ok(());
        }
        let options = scope.filter.options();
        let plain = options.is_none() && !scope.small_light;
        let below = prefix.map(|prefix| prefix.trim_end_matches('/'));
        if let (true, Some(base), Some(below)) = (plain, &base, below)
            && self.is_part(base, below, &path)
        {
            self.parts.push(Origin {
                prefix: below.to_owned(),
                base: base.clone(),
                cache_control: scope.cache_control(),
                ttl: scope.ttl.clone(),
            });
            self.fall_back(below, scope);
            self.rewrite(location, pattern, path);
            return Ok(());
        }
        // A folder or server whose files have this prefix in their paths becomes an origin with the prefix in its root.
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
            let names_options = has_options(&pattern.from);
            if names_options && options.is_some() {
                self.filter_beside(location);
            }
            if names_options || options.is_none() {
                return self.small_light_location(location, pattern, &path);
            }
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

    /// Returns the folder or server with a location's files, or `None` if no directive sets one, and the path of the
    /// requested file there.
    fn source(
        &self,
        scope: &Scope,
        pattern: &Pattern,
        prefix: Option<&str>,
        variables: &BTreeMap<String, String>,
    ) -> Result<(Option<Base>, String), String> {
        let uri = pattern.uri.clone();
        // In a prefix location, the replacement is followed by the rest of the path; in an expression's location, it is
        // the whole path.
        let replacement = |with: &str| -> Result<String, String> {
            match prefix {
                Some(_) => Ok(format!("{with}$1")),
                None => pattern.say(with, variables),
            }
        };
        if let Some(url) = &scope.here.proxy {
            let Target { scheme, host, path } = Target::of(url);
            if host.contains('$') {
                return Err(format!("an origin's address is fixed, not `{host}`"));
            }
            let upstream = self.servers.upstreams.get(&host);
            let host = upstream.and_then(|all| all.first()).unwrap_or(&host);
            if host.starts_with("unix:") {
                let why = "origins are asked over TCP: let that server listen on a port as well";
                return Err(why.to_owned());
            }
            let path = match &*path {
                "" => uri,
                path => replacement(path)?,
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
            let (folder, path) = fixed(&replacement(alias)?);
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

    /// Whether `path` is below the prefix `below`, and the origin at `/` has its files in the same `base`.
    fn is_part(&self, base: &Base, below: &str, path: &str) -> bool {
        let whole = self.origins.iter().find(|it| it.prefix.is_empty());
        !below.is_empty() && whole.is_some_and(|it| it.base == *base) && path.starts_with(below)
    }

    /// Returns the prefix of the origin with the files in `base` and the lifetimes and fallback image of `scope`. Adds
    /// the origin if it does not exist, at `prefix` if that is free.
    fn origin(&mut self, base: Option<Base>, scope: &Scope, prefix: Option<&str>) -> String {
        let Some(base) = base else {
            return String::new();
        };
        // Lifetimes and fallback images are settings of an origin, so an existing origin must have the same ones.
        let lifetimes = (scope.cache_control(), scope.ttl.clone());
        let stands_for = |prefix: &str| {
            let fallback = self.fallbacks.iter().find(|it| it.prefix == prefix);
            fallback.map(|it| (it.image.clone(), it.status))
        };
        let is_the_same = |it: &&Origin| {
            let fits = scope.fallback.is_none() || stands_for(&it.prefix) == scope.fallback;
            it.base == base && fits && (&it.cache_control, &it.ttl) == (&lifetimes.0, &lifetimes.1)
        };
        if let Some(origin) = self.origins.iter().find(is_the_same) {
            return origin.prefix.clone();
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

    pub(super) fn rewrite(&mut self, location: &Location, pattern: &Pattern, mut to: String) {
        let from = pattern.without_unused_group(&mut to);
        self.push_rewrite(location, from, to);
    }

    pub(super) fn push_rewrite(&mut self, location: &Location, from: String, to: String) {
        self.rewrites.push(Rewrite {
            from,
            to,
            opens: location.stays(),
            place: location.place.clone(),
        });
    }
}

/// Joins the expression of a location with that of a `rewrite` in it, if variables refer to groups of the location's
/// expression. `None` if none do, or if the expressions cannot be joined.
fn joined_with(
    words: &[&str],
    variables: &BTreeMap<String, String>,
    rewrite: &str,
) -> Option<Joined> {
    let is_needed = variables.values().any(|value| names_group(value));
    match words {
        ["~", text] if is_needed => joined(text, false, rewrite),
        ["~*", text] if is_needed => joined(text, true, rewrite),
        _ => None,
    }
}

/// Whether a value refers to a numbered group of an expression.
fn names_group(value: &str) -> bool {
    let mut parts = value.split('$').skip(1);
    parts.any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns the line of nginx's configuration that notes on the whole server refer to: that of its first location.
fn server_place(locations: &[Location]) -> Place {
    locations.first().map_or_else(
        || Place {
            file: "nginx.conf".to_owned(),
            line: 1,
        },
        |location| location.place.clone(),
    )
}

/// Splits a path with group references, such as `$1`, into the folder before the first reference and the rest.
fn fixed(path: &str) -> (String, String) {
    let start = &path[..path.find('$').unwrap_or(path.len())];
    let (folder, rest) = path.split_at(start.rfind('/').unwrap_or(0));
    (folder.to_owned(), rest.to_owned())
}
