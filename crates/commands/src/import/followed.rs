//! Imports a location that passes requests on to another server of the same nginx configuration, by importing that
//! server's locations in its place.

use regex::Regex;

use super::model::*;
use super::passes::{DEEPEST, Target};
use super::pattern::fixed_start;
use super::syntax::Directive;

/// A server that requests are passed on to, with its own directives.
struct Inner {
    site: Site,
    scope: Scope,
}

impl Site {
    /// Imports the locations of the server that a location passes its requests on to. Returns `false` if `proxy_pass`
    /// leads to no server of this configuration, or to one that makes no images of these paths.
    ///
    /// # Errors
    /// If that server makes images, but it cannot be determined which of its locations answer.
    pub(super) fn follow_pass(&mut self, location: &Location) -> Result<bool, String> {
        let scope = &location.scope;
        let Some(pass) = &scope.here.proxy else {
            return Ok(false);
        };
        let target = Target::of(pass);
        let Some(at) = self.servers.answering(&target, scope.host.as_deref()) else {
            return Ok(false);
        };
        if target.path.contains("small_light(") {
            return Ok(false);
        }
        let inner = self.inner(at);
        let is_as_it_is = target.path.is_empty() || is_own(&target.path, &location.words);
        let is_alone = scope.here.rewrites.is_empty() && scope.makes_nothing();
        let matching = match is_alone && self.servers.depth < DEEPEST {
            true if is_as_it_is => inner.matching_locations(location),
            true => inner.answering(&target.path, location),
            false => None,
        };
        let Some(matching) = matching else {
            let beginning = match () {
                () if !scope.here.rewrites.is_empty() => "",
                () if is_as_it_is => beginning(&location.words),
                () => &target.path[..target.path.find('$').unwrap_or(target.path.len())],
            };
            return match self.sends_files(&inner, beginning) {
                true => Ok(false),
                false => Err(self.unknown(pass, at)),
            };
        };
        let mut named = inner.site.named;
        for named in named.values_mut() {
            named.scope.pass_through(scope);
        }
        let named = std::mem::replace(&mut self.named, named);
        if self.servers.followed.insert(at) {
            self.getparam(&inner.site.small_light, &matching);
            self.small_light.complete(inner.site.small_light);
            self.notes.extend(inner.site.notes);
            self.source_bytes = self.source_bytes.max(inner.site.source_bytes);
            for header in inner.site.headers {
                if self.headers.iter().all(|it| it.0 != header.0) {
                    self.headers.push(header);
                }
            }
        }
        self.servers.depth += 1;
        for mut inner in matching {
            inner.scope.pass_through(scope);
            self.take(&inner);
        }
        self.servers.depth -= 1;
        self.named = named;
        Ok(true)
    }

    /// Reads the directives of the nginx server with the index `at`.
    fn inner(&self, at: usize) -> Inner {
        let mut site = Self::default();
        let mut scope = self.servers.scope.clone();
        site.block(
            without_local_access(&self.servers.all[at]).inside(),
            &mut scope,
        );
        let is_rewritten = !scope.here.rewrites.is_empty();
        let mut inner = Inner { site, scope };
        // `rewrite` directives in the server block apply before any location is chosen, so they are kept to detect such
        // servers.
        if !is_rewritten {
            let here = Here {
                variables: std::mem::take(&mut inner.scope.here.variables),
                ..Here::default()
            };
            inner.scope.here = here;
        }
        inner.scope.in_location = true;
        inner
    }

    /// Whether a server only sends files for paths that begin with `beginning`, i.e. makes no images of them.
    fn sends_files(&self, inner: &Inner, beginning: &str) -> bool {
        let passes_on = |scope: &Scope| {
            let pass = scope.here.proxy.as_deref().map(Target::of);
            pass.is_some_and(|to| self.servers.answering(&to, scope.host.as_deref()).is_some())
        };
        let is_plain =
            |scope: &Scope| scope.makes_nothing() && !scope.here.runs && !passes_on(scope);
        let others = inner.others(beginning).all(|it| is_plain(&it.scope));
        let (_, covering) = inner.covering(beginning);
        others && is_plain(covering) && inner.scope.here.rewrites.is_empty()
    }

    fn unknown(&self, pass: &str, at: usize) -> String {
        let place = &self.servers.all[at].place;
        let which = match at == self.servers.own {
            true => "this server itself".to_owned(),
            false => format!("another server ({}:{})", place.file, place.line),
        };
        let advice = match self.servers.word(at) {
            Some(word) if at != self.servers.own => {
                format!("--server {word} imports that one, for a [[rewrite]] of your own")
            }
            _ => "write a [[rewrite]] to what its location makes".to_owned(),
        };
        format!(
            "not imported: proxy_pass {pass} asks {which}, which makes the images, and which of its locations answers these paths \
             is not known; {advice}"
        )
    }

    fn getparam(&mut self, settings: &SmallLight, locations: &[Location]) {
        let all = settings.getparam_of_locations.iter().cloned();
        self.small_light.getparam_of_locations.extend(all);
        self.getparam_of_locations(locations);
    }
}

impl Inner {
    /// Returns the locations of this server that answer the requests that `outer` passes on, in the order in which
    /// nginx tries them. `None` if they cannot be determined.
    fn matching_locations(&self, outer: &Location) -> Option<Vec<Location>> {
        if !self.scope.here.rewrites.is_empty() {
            return None;
        }
        let as_outer = |scope: &Scope| Location {
            words: outer.words.clone(),
            place: outer.place.clone(),
            scope: scope.clone(),
        };
        let Some(below) = prefix(&outer.words) else {
            let mut all = self.site.locations.iter();
            if let Some(same) = all.find(|it| it.words == outer.words) {
                return Some(vec![same.copy(outer.words.clone())]);
            }
            let start = beginning(&outer.words);
            let (_, covering) = self.covering(start);
            // This location replaces a part of the path.
            let replaces = covering.here.alias.is_some() || covering.here.proxy.is_some();
            let is_only = self.others(start).next().is_none() && !replaces;
            return is_only.then(|| vec![as_outer(covering)]);
        };
        let (start, covering) = self.covering(below);
        let mut rest = as_outer(covering);
        rest.words = vec![below.to_owned()];
        if let Some(alias) = &mut rest.scope.here.alias {
            *alias += &below[start.len()..];
        }
        if rest.scope.here.proxy.is_some() && start != below {
            return None;
        }
        let mut all = vec![rest];
        for inner in self.others(below) {
            let words = restricted(&inner.words, below)?;
            all.push(inner.copy(words));
        }
        all.sort_by_key(rank);
        Some(all)
    }

    /// Returns the location of this server that answers `path`, which `outer` builds from its groups, such as
    /// `/size/$1/$2`. The expression of that location must have equivalent groups, as `^/size/(\d+)/(.+)$` in this
    /// example; in the returned location it is replaced by the expression of `outer`. `None` if this is uncertain.
    fn answering(&self, path: &str, outer: &Location) -> Option<Vec<Location>> {
        if !self.scope.here.rewrites.is_empty() {
            return None;
        }
        let mut others = self.others(&path[..path.find('$')?]);
        let (only, None) = (others.next()?, others.next()) else {
            return None;
        };
        let ([outer_sign, before], [sign, text]) = (&outer.words[..], &only.words[..]) else {
            return None;
        };
        let has_case = outer_sign == sign || sign == "~*";
        let is_same = whole(text).as_deref() == Some(path)
            && have_same_groups(path, &groups(before)?, &groups(text)?, has_case);
        let here = &only.scope.here;
        let names_file = here.alias.as_ref().is_some_and(|alias| alias.contains('$'))
            && here.rewrites.is_empty()
            && here.proxy.is_none();
        (is_same && names_file && !reads_request(&only.scope))
            .then(|| vec![only.copy(outer.words.clone())])
    }

    /// Returns the longest location prefix that `beginning` starts with, and that location's directives, or an empty
    /// prefix and the directives of the server.
    fn covering(&self, beginning: &str) -> (&str, &Scope) {
        let all = self.site.locations.iter();
        let prefixes = all.filter_map(|it| Some((it.prefix()?, &it.scope)));
        let covering = prefixes.filter(|(prefix, _)| beginning.starts_with(prefix));
        let longest = covering.max_by_key(|(prefix, _)| prefix.len());
        longest.unwrap_or(("", &self.scope))
    }

    /// Returns the locations, other than that of the longest prefix, that may answer paths that begin with `beginning`.
    fn others<'a>(&'a self, beginning: &'a str) -> impl Iterator<Item = &'a Location> {
        let (longest, _) = self.covering(beginning);
        let ends = |it: &Location| it.words[0] == "^~" && it.prefix() == Some(longest);
        let ends_search = self.site.locations.iter().any(ends);
        self.site.locations.iter().filter(move |it| {
            let start = self::beginning(&it.words);
            match it.words[0].starts_with('~') {
                true => {
                    !ends_search && (start.starts_with(beginning) || beginning.starts_with(start))
                }
                false => start.starts_with(beginning) && it.prefix() != Some(longest),
            }
        })
    }
}

impl Location {
    fn copy(&self, words: Vec<String>) -> Self {
        Self {
            words,
            place: self.place.clone(),
            scope: self.scope.clone(),
        }
    }

    /// Returns the path of `location /x/` or `location ^~ /x/`.
    fn prefix(&self) -> Option<&str> {
        plain_prefix(&self.words)
    }
}

impl Scope {
    /// Whether files are sent unchanged, i.e. no image filter applies.
    fn makes_nothing(&self) -> bool {
        self.filter.options().is_none() && !self.small_light
    }

    /// Applies settings of `before`, the block that passes requests on to this one: `expires`, `proxy_cache_valid` and
    /// `secure_link` replace those of this block, and `add_header` adds to them. A fallback image is taken over if this
    /// block has none.
    fn pass_through(&mut self, before: &Self) {
        if before.expires.is_some() {
            self.expires.clone_from(&before.expires);
            self.added.clear();
        }
        for value in &before.added {
            if !self.added.contains(value) {
                self.added.push(value.clone());
            }
        }
        self.ttl = before.ttl.clone().or(self.ttl.take());
        self.fallback = self.fallback.take().or_else(|| before.fallback.clone());
        if before.link.is_some() {
            self.link.clone_from(&before.link);
            self.link_md5.clone_from(&before.link_md5);
        }
    }
}

impl SmallLight {
    /// Adds the settings of another server's `[small_light]`; settings that are already set take precedence.
    fn complete(&mut self, other: Self) {
        self.material_dir = self.material_dir.take().or(other.material_dir);
        self.radius_max = self.radius_max.take().or(other.radius_max);
        self.sigma_max = self.sigma_max.take().or(other.sigma_max);
        self.getparam_mode |= other.getparam_mode;
        self.patterns.extend(other.patterns);
    }
}

/// Returns the block of a server behind a `proxy_pass`, without the `allow` and `deny` rules that admit only this
/// machine. They do not restrict clients, because nginx itself sends the requests, from this machine.
fn without_local_access(block: &Directive) -> Directive {
    let is_own = |it: &Directive| {
        let from = it.arg(0);
        let is_local =
            ["all", "localhost", "::1", "unix:"].contains(&from) || from.starts_with("127.");
        it.name == "allow" && is_local
    };
    let lets_in = block.inside().iter().any(is_own);
    let is_kept = |it: &&Directive| !lets_in || !matches!(it.name.as_str(), "allow" | "deny");
    let inside = block
        .inside()
        .iter()
        .filter(is_kept)
        .map(without_local_access)
        .collect();
    Directive {
        block: block.block.is_some().then_some(inside),
        ..block.clone()
    }
}

/// Returns the prefix of a location if the location matches all paths with that prefix: `location /x/`, and also
/// `location ~ ^/x/`.
fn prefix(words: &[String]) -> Option<&str> {
    match words {
        [sign, text] if sign == "~" => {
            let start = fixed_start(text);
            let rest = &text[1.min(text.len())..].strip_prefix(start)?;
            let is_all = ["", ".*", "(.*)", ".*$", "(.*)$"].contains(rest);
            (is_all && !start.is_empty()).then_some(start)
        }
        _ => plain_prefix(words),
    }
}

/// Returns the path of `location /x/` or `location ^~ /x/`.
fn plain_prefix(words: &[String]) -> Option<&str> {
    match words {
        [path] if path.starts_with('/') => Some(path),
        [sign, path] if sign == "^~" => Some(path),
        _ => None,
    }
}

/// Whether a `proxy_pass` with the path `path` leaves the request's path unchanged, in a location with the arguments
/// `words`. It does if `path` is the location's prefix or exact path, or repeats what its expression matches, as
/// `/x/$1` does for `^/x/(.+)$`.
fn is_own(path: &str, words: &[String]) -> bool {
    match words {
        [sign, text] if sign.starts_with('~') => whole(text).as_deref() == Some(path),
        [sign, exact_path] if sign == "=" => exact_path == path,
        words => prefix(words) == Some(path),
    }
}

/// Returns the path that an expression matches in full, with its groups as references, such as `/x/$1` for `^/x/(.+)$`.
/// `None` if it cannot be written in this way.
fn whole(text: &str) -> Option<String> {
    let inner = text.strip_prefix('^')?.strip_suffix('$')?;
    let (mut path, mut depth, mut groups) = (String::new(), 0, 0);
    let mut chars = inner.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '(' => {
                // `(?:…)` has no number, and other such groups have a name or no match.
                if chars.peek() == Some(&'?') {
                    return None;
                }
                groups += 1;
                if depth == 0 {
                    path += &format!("${groups}");
                }
                depth += 1;
            }
            ')' => depth -= 1,
            '\\' => {
                let escaped = chars.next()?;
                if depth == 0 {
                    path.extend((!escaped.is_alphanumeric()).then_some(escaped));
                }
                (depth > 0 || !escaped.is_alphanumeric()).then_some(())?;
            }
            _ if depth > 0 => {}
            char if char.is_alphanumeric() || matches!(char, '/' | '-' | '_' | ',') => {
                path.push(char);
            }
            _ => return None,
        }
    }
    (depth == 0).then_some(path)
}

/// Whether the groups `after` of one expression capture the same texts as the groups `before` of another, when the
/// first is matched against `path`, in which `$1`, `$2`, … stand for what `before` captured. `has_case` says whether
/// the groups `after` match in every letter case in which the groups `before` do.
fn have_same_groups(path: &str, before: &[String], after: &[String], has_case: bool) -> bool {
    let is_empty =
        |group: &str| Regex::new(&format!("^(?:{group})$")).is_ok_and(|it| it.is_match(""));
    let mut rest = path;
    for (at, (before, after)) in before.iter().zip(after).enumerate() {
        let Some((_, behind)) = rest.split_once(&format!("${}", at + 1)) else {
            return false;
        };
        rest = behind;
        let fits = match behind.is_empty() {
            true => {
                matches!(&**after, ".+" | ".*") && !is_empty(before) || before == after && has_case
            }
            false => before == after && has_case && ends_before(after, behind.chars().next()),
        };
        if !fits {
            return false;
        }
    }
    before.len() == after.len() && rest.is_empty()
}

/// Whether no text that a group matches contains `next`, so that the group's match ends before it.
fn ends_before(group: &str, next: Option<char>) -> bool {
    let Some(next) = next.filter(|it| *it != '$') else {
        return false;
    };
    if group == "[^/]+" {
        return next == '/';
    }
    // Only for digits, letters and alternatives of them is it known what they match.
    let literals = group.replace(r"\d", "0").replace("[0-9]", "0");
    let is_known = |char: char| char.is_ascii_alphanumeric() || "-_|+*?{,}".contains(char);
    literals.chars().all(is_known)
        && !next.is_ascii_digit()
        && !literals.contains(next)
        && !literals.contains(next.to_ascii_uppercase())
        && !literals.contains(next.to_ascii_lowercase())
}

/// Whether a location uses its request's path or query, so that another path or query would change the result.
fn reads_request(scope: &Scope) -> bool {
    // The debug format has every directive, so a variable is found wherever it is used.
    let all = format!("{scope:?}");
    let variables = [
        "$uri",
        "$document_uri",
        "$request_uri",
        "$args",
        "$query_string",
        "$is_args",
        "$arg_",
    ];
    scope.link.is_some() || variables.iter().any(|name| all.contains(name))
}

/// Returns the groups of an expression without their parentheses. `None` if groups are nested or not captured.
fn groups(text: &str) -> Option<Vec<String>> {
    let (mut all, mut depth) = (Vec::new(), 0);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '(' => {
                (depth == 0 && chars.peek() != Some(&'?')).then_some(())?;
                depth = 1;
                all.push(String::new());
                continue;
            }
            ')' => depth = 0,
            _ => {}
        }
        if depth == 1 {
            let group: &mut String = all.last_mut()?;
            group.push(char);
            if char == '\\' {
                group.extend(chars.next());
            }
        }
    }
    (depth == 0).then_some(all)
}

/// Returns a prefix that all paths of a location have.
fn beginning(words: &[String]) -> &str {
    match words {
        [sign, text] if sign.starts_with('~') => fixed_start(text),
        [path] | [_, path] => path,
        _ => "",
    }
}

/// Returns the arguments of a location directive, changed to match only paths with `prefix`. `None` if no expression
/// can do so.
fn restricted(words: &[String], prefix: &str) -> Option<Vec<String>> {
    let [sign, text] = words else {
        return Some(words.to_vec());
    };
    if !sign.starts_with('~') || prefix == "/" || fixed_start(text).starts_with(prefix) {
        return Some(words.to_vec());
    }
    if text.contains('^') {
        return None;
    }
    // The slash at the end of the prefix may be the same as the one that the expression begins with.
    let (start, between) = match prefix.strip_suffix('/') {
        Some(start) if text.starts_with('/') => (start, "(?:/.*?)?"),
        _ => (prefix, ".*?"),
    };
    let start = regex::escape(start);
    let text = format!("^(?-i:{start}){between}(?:{text})");
    Some(vec![sign.clone(), text])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_repeats_the_groups_is_the_same() {
        for (text, path) in [
            (r"^/img/(\d+|-)x(\d+|-)/(.+)$", Some("/img/$1x$2/$3")),
            (r"^/a\.b/((\d+)x(\d+))/(.+\.jpg)$", Some("/a.b/$1/$4")),
            ("^/a/([^/)]+)$", None),
            (r"^/\d+/(.+)$", None),
            ("^/a?/(.+)$", None),
            ("^/(?<w>.+)$", None),
            ("^/(.+)", None),
        ] {
            assert_eq!(whole(text).as_deref(), path, "{text}");
        }
    }

    #[test]
    fn groups_that_may_split_a_path_elsewhere_are_others() {
        for (path, before, after, is_same) in [
            (
                "/s/$1/$2/$3",
                [r"\d+", r"\d+|-", ".+"],
                [r"\d+", r"\d+|-", ".+"],
                true,
            ),
            (
                "/s/$1x$2/$3",
                [r"\d+", r"[0-9]{2,4}", r".+\.jpg"],
                [r"\d+", r"[0-9]{2,4}", ".+"],
                true,
            ),
            (
                "/s/$1/$2/$3",
                ["[^/]+", "crop|fit", ".+"],
                ["[^/]+", "crop|fit", ".+"],
                true,
            ),
            // A group may contain the separator after it, be empty, or have a different expression.
            (
                "/s/$1-$2/$3",
                [".+", ".+", r"\d+"],
                [".+", ".+", r"\d+"],
                false,
            ),
            (
                "/s/$1-$2/$3",
                [r"\d+|-", r"\d+", ".+"],
                [r"\d+|-", r"\d+", ".+"],
                false,
            ),
            (
                "/s/$1$2/$3",
                [r"\d+", r"\d+", ".+"],
                [r"\d+", r"\d+", ".+"],
                false,
            ),
            (
                "/s/$1/$2/$3",
                [r"\d+", r"\d+", ".*"],
                [r"\d+", r"\d+", ".+"],
                false,
            ),
            (
                "/s/$1/$2/$3",
                [r"\d+", r"\d{2}", ".+"],
                [r"\d+", r"\d+", ".+"],
                false,
            ),
            (
                "/s/$2/$1/$3",
                [r"\d+", r"\d+", ".+"],
                [r"\d+", r"\d+", ".+"],
                false,
            ),
            (
                "/s/$1x$2/$3",
                ["max|min", r"\d+", ".+"],
                ["max|min", r"\d+", ".+"],
                false,
            ),
        ] {
            let [before, after] = [before, after].map(|all| all.map(str::to_owned));
            assert_eq!(
                have_same_groups(path, &before, &after, true),
                is_same,
                "{path} {after:?}"
            );
        }
    }

    #[test]
    fn groups_are_read_side_by_side_alone() {
        for (text, expected) in [
            (
                r"^/img/(\d+|-)x(\d+|-)/(.+)$",
                Some(vec![r"\d+|-", r"\d+|-", ".+"]),
            ),
            (r"^/a/(b\)c)/$", Some(vec![r"b\)c"])),
            ("^/a$", Some(vec![])),
            (r"^/a/((\d+)x)$", None),
            (r"^/(?:a|b)/(\d+)$", None),
        ] {
            let expected = expected.map(|all| all.into_iter().map(str::to_owned).collect());
            assert_eq!(groups(text), expected, "{text}");
        }
    }

    #[test]
    fn an_expression_is_restricted_to_a_prefix() {
        for (text, prefix, matches, not) in [
            (r"\.png$", "/img/", "/img/a/b.png", "/a.png"),
            (r"/sq(\d+)/", "/img/", "/img/sq5/a", "/imgx/sq5/a"),
            (r"/sq(\d+)/", "/img/", "/img/x/sq5/a", "/sq5/img/"),
            (r"^/img/a", "/img/", "/img/a", "/a"),
            ("a", "/", "/a", "/b"),
        ] {
            let words = ["~".to_owned(), text.to_owned()];
            let words = restricted(&words, prefix).expect(text);
            let regex = Regex::new(&words[1]).expect(text);
            assert!(regex.is_match(matches) && !regex.is_match(not), "{regex}");
        }
        assert_eq!(
            restricted(&["~".to_owned(), "^/i(mg)/".to_owned()], "/img/"),
            None
        );
    }
}
