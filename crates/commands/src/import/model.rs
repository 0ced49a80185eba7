//! The parts of an nginx configuration: those that are written to `andon.toml`, and those that are collected until all
//! locations are read.

use std::collections::BTreeMap;

use super::filter::Filter;
use super::passes::Servers;
use super::pattern::Pattern;
use super::syntax::{Directive, Place};

/// Everything in an nginx configuration that is written to `andon.toml`.
#[derive(Debug, Default)]
pub(super) struct Site {
    pub(super) listen: Vec<String>,
    pub(super) workers: Option<String>,
    pub(super) connections: Option<String>,
    pub(super) keep_alive: Option<String>,
    /// The largest `image_filter_buffer` or `small_light_buffer`, in bytes.
    pub(super) source_bytes: Option<u64>,
    pub(super) tls: Tls,
    /// Headers that all responses have.
    pub(super) headers: Vec<(String, String)>,
    pub(super) fallbacks: Vec<Fallback>,
    pub(super) origins: Vec<Origin>,
    /// Prefixes below the origin at `/` with the same files but their own lifetimes. They become rules in `[cache]`,
    /// not origins.
    pub(super) parts: Vec<Origin>,
    pub(super) rewrites: Vec<Rewrite>,
    pub(super) small_light: SmallLight,
    pub(super) links: Vec<Link>,
    pub(super) cache: Cache,
    /// Notes on the lines of nginx's configuration that have no equivalent in Andon, with the reasons.
    pub(super) notes: Vec<(Place, String)>,
    /// All servers of the configuration.
    pub(super) servers: Servers,
    pub(super) locations: Vec<Location>,
    /// Named locations by name. They are reached only from other locations.
    pub(super) named: BTreeMap<String, Named>,
}

/// The `[tls]` table.
#[derive(Debug, Default)]
pub(super) struct Tls {
    pub(super) listen: Vec<String>,
    pub(super) certificate: Option<String>,
    pub(super) key: Option<String>,
}

/// A `[[fallback]]` table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fallback {
    /// Path prefix, without the slash at its end.
    pub(super) prefix: String,
    pub(super) image: String,
    /// Status of the response. 0 keeps the status of the error.
    pub(super) status: u16,
}

/// An `[[origin]]` table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// Path prefix, without the slash at its end.
    pub(super) prefix: String,
    pub(super) base: Base,
    pub(super) cache_control: Option<String>,
    /// How long results are cached, in nginx's notation.
    pub(super) ttl: Option<String>,
}

/// The place of an origin's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Folder(String),
    Server(String),
}

/// A `[[rewrite]]` table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rewrite {
    pub(super) from: String,
    pub(super) to: String,
    /// Whether nginx keeps serving the new path in the location that rewrote it. If so, a `secure_link` of the location
    /// that matches the new path does not apply.
    pub(super) opens: bool,
    pub(super) place: Place,
}

/// A `[[secure_link]]` table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Prefix of the paths that are served only with a valid signature.
    pub(super) location: String,
    pub(super) given: String,
    pub(super) signed: String,
}

/// The `[small_light]` table.
#[derive(Debug, Default)]
pub(super) struct SmallLight {
    pub(super) on: bool,
    pub(super) getparam_mode: bool,
    /// The `small_light_getparam_mode on` directives inside locations.
    pub(super) getparam_of_locations: Vec<Directive>,
    pub(super) material_dir: Option<String>,
    pub(super) radius_max: Option<String>,
    pub(super) sigma_max: Option<String>,
    pub(super) patterns: Vec<(Place, String, String)>,
}

/// The `[cache]` table.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pub(super) disk: Option<(String, Option<u64>)>,
    pub(super) ttl: Option<String>,
    pub(super) negative: Option<String>,
}

/// The directives that apply in a block of nginx's configuration, including those inherited from outer blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) root: Option<String>,
    pub(super) filter: Filter,
    pub(super) small_light: bool,
    pub(super) getparam_mode: bool,
    pub(super) expires: Option<String>,
    /// Values that `add_header` adds to `Cache-Control`.
    pub(super) added: Vec<String>,
    pub(super) ttl: Option<String>,
    pub(super) fallback: Option<(String, u16)>,
    pub(super) in_location: bool,
    /// The `Host` header of requests that are passed on, if a directive sets it.
    pub(super) host: Option<String>,
    pub(super) link: Option<String>,
    pub(super) link_md5: Option<String>,
    /// Directives that apply in their own block only.
    pub(super) here: Here,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Here {
    pub(super) alias: Option<String>,
    pub(super) proxy: Option<String>,
    pub(super) closed: bool,
    /// Whether a program generates the responses, as with `fastcgi_pass`.
    pub(super) runs: bool,
    /// The `allow` and `deny` directives of the block.
    pub(super) access: Vec<Directive>,
    pub(super) adds_headers: bool,
    pub(super) try_files: Option<Directive>,
    pub(super) rewrites: Vec<Directive>,
    pub(super) variables: Vec<(String, String)>,
}

/// A named location, `location @name`.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) scope: Scope,
    pub(super) place: Place,
    pub(super) is_used: bool,
}

#[derive(Debug)]
pub(super) struct Location {
    pub(super) words: Vec<String>,
    pub(super) place: Place,
    pub(super) scope: Scope,
}

/// Returns the sort key of a location in the order in which nginx tries them, as [`Site::finish`] describes it.
pub(super) fn rank(location: &Location) -> (usize, usize) {
    match location.words.first().map(String::as_str) {
        Some("=") => (0, 0),
        Some("^~") => (1, usize::MAX - location.words.get(1).map_or(0, String::len)),
        Some("~" | "~*") => (2, 0),
        Some(path) => (3, usize::MAX - path.len()),
        None => (4, 0),
    }
}

/// The target of rewrites for paths that clients must not access. Names that begin with a dot are never served.
pub(super) const CLOSED: &str = "/.closed";
/// Prefix of the rewritten targets of `image_filter`, and of origins that only rewrites refer to.
pub(super) const INTERNAL: &str = "/_nginx";

impl Scope {
    /// Sets variables to the values of the block's `set` directives. Values that cannot be translated are skipped.
    pub(super) fn set(&self, pattern: &Pattern, variables: &mut BTreeMap<String, String>) {
        for (name, value) in &self.here.variables {
            if let Ok(value) = pattern.say(value, variables) {
                variables.insert(name.clone(), value);
            }
        }
    }

    /// Returns the value of `Cache-Control`, from `expires` and `add_header`. `None` if there is neither.
    pub(super) fn cache_control(&self) -> Option<String> {
        let parts: Vec<&str> = (self.expires.iter().chain(&self.added))
            .map(String::as_str)
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl Location {
    /// Whether nginx serves files from within this location, without choosing another one, and without verifying a
    /// signature.
    pub(super) fn stays(&self) -> bool {
        let mut rewrites = self.scope.here.rewrites.iter();
        self.scope.link.is_none() && rewrites.all(|it| it.arg(2) == "break")
    }
}

impl Rewrite {
    /// Whether the rule rewrites every path that it matches to itself.
    pub(super) fn changes_nothing(&self) -> bool {
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
