//! What a configuration of nginx comes to: what is written, and what is kept of blocks until their locations are read.

use std::collections::BTreeMap;

use super::filter::Filter;
use super::pattern::Pattern;
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
    /// The lines of the old configuration that have no counterpart here, each with the reason.
    pub(super) notes: Vec<(Place, String)>,
    pub(super) upstreams: BTreeMap<String, String>,
    pub(super) locations: Vec<Location>,
    /// Locations that only others lead to, by their names.
    pub(super) named: BTreeMap<String, Named>,
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
pub(super) struct Scope {
    pub(super) root: Option<String>,
    pub(super) filter: Filter,
    pub(super) small_light: bool,
    pub(super) expires: Option<String>,
    /// What is added to `Cache-Control`.
    pub(super) added: Vec<String>,
    pub(super) ttl: Option<String>,
    pub(super) fallback: Option<(String, u16)>,
    pub(super) in_location: bool,
    pub(super) link: Option<String>,
    pub(super) link_md5: Option<String>,
    /// These hold in their own block only.
    pub(super) here: Here,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Here {
    pub(super) alias: Option<String>,
    pub(super) proxy: Option<String>,
    pub(super) closed: bool,
    /// `allow` and `deny`, as they stand there.
    pub(super) access: Vec<Directive>,
    pub(super) adds_headers: bool,
    pub(super) tried: Option<Directive>,
    pub(super) rewrites: Vec<Directive>,
    pub(super) variables: Vec<(String, String)>,
}

/// `location @name`.
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

/// Where targets are rewritten to that nobody may ask for: names that begin with a dot are never served.
pub(super) const CLOSED: &str = "/.closed";
/// What the rewritten targets of image_filter begin with, and origins that only locations know.
pub(super) const INTERNAL: &str = "/_nginx";

impl Scope {
    /// Gives variables the values of the block's `set` directives, as far as these are known.
    pub(super) fn set(&self, pattern: &Pattern, variables: &mut BTreeMap<String, String>) {
        for (name, value) in &self.here.variables {
            if let Ok(value) = pattern.say(value, variables) {
                variables.insert(name.clone(), value);
            }
        }
    }

    /// `expires`, and what is added to it.
    pub(super) fn cache_control(&self) -> Option<String> {
        let parts: Vec<&str> = (self.expires.iter().chain(&self.added))
            .map(String::as_str)
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl Location {
    /// Are its files served by this very location, which asks for no signature?
    pub(super) fn stays(&self) -> bool {
        let mut rewrites = self.scope.here.rewrites.iter();
        self.scope.link.is_none() && rewrites.all(|it| it.arg(2) == "break")
    }
}

impl Rewrite {
    /// A path that becomes itself.
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
