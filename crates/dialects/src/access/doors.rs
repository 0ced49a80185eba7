//! Doors: the dialects that answer requests, and plain files; and which settings close each of them to unsigned URLs.
//!
//! A key for signatures, or a dialect that serves presets only, means that not everybody may have every image. That
//! would be worth nothing if another dialect still gave out the same images. So such a setting closes all other
//! dialects to unsigned URLs, unless their tables say `open = true`.

use std::fmt;

use crate::config::Gate;
use crate::{Config, FILES, ROWS};

/// A dialect that answers requests, or plain files, and who may use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Door {
    /// Name of the door's table in the configuration.
    pub name: &'static str,
    /// How the door's URLs begin, for people to read.
    pub places: String,
    /// Who may use the door, and which setting decides that, for people to read.
    pub who: String,
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<12} {:<32} {}", self.name, self.places, self.who)
    }
}

/// All doors of a configuration, each with the reason why it is closed to unsigned URLs, if it is.
#[derive(Debug)]
pub(crate) struct Doors {
    /// Doors of the dialects that are switched on, in the order of the list of all dialects, each with the reason why
    /// it is closed to unsigned URLs; `None` if it is open.
    dialects: Vec<(Door, Option<String>)>,
    files: (Door, Option<String>),
    /// Dialects that answer URLs without any signature.
    unsigned: Vec<&'static str>,
}

impl Doors {
    /// Decides which doors the configuration closes. `is_on` says whether the dialect of a name is switched on.
    pub(crate) fn new(config: &Config, is_on: impl Fn(&str) -> bool) -> Self {
        let on = ROWS.iter().filter(|row| is_on(row.name));
        let gates: Vec<(&'static str, Gate)> =
            on.map(|row| (row.name, (row.gate)(config))).collect();
        let has_own_keys = !config.signing.named().is_empty();
        let mut closers = Vec::new();
        if has_own_keys {
            closers.push(("signing", "signing.keys".to_owned(), true));
        }
        for (name, gate) in &gates {
            if gate.keys {
                let key = if *name == "imgix" { "tokens" } else { "keys" };
                closers.push((*name, format!("{name}.{key}"), true));
            }
            if gate.only_presets {
                closers.push((*name, format!("{name}.only_presets"), false));
            }
        }
        // Presets restrict which images are made, not which files are served, so that only keys close plain files.
        let files = Gate {
            open: config.files.open || closers.iter().all(|(.., is_key)| !is_key),
            places: vec!["/… (files as they are)".to_owned()],
            ..Gate::default()
        };
        let settings = AccessSettings {
            has_own_keys,
            required: config.signing.required,
            closers,
        };
        Self {
            dialects: gates
                .iter()
                .map(|(name, gate)| settings.door(name, gate))
                .collect(),
            files: settings.door(FILES, &files),
            unsigned: (gates.iter())
                .filter(|(name, gate)| settings.answers_unsigned(name, gate))
                .map(|(name, _)| *name)
                .collect(),
        }
    }

    /// Returns why a door is closed to unsigned URLs; `None` if it is open, or if `signing.required` makes all doors
    /// require a signature. `door` is the index of a dialect, or `None` for plain files.
    pub(crate) fn closing_reason(&self, door: Option<usize>) -> Option<&str> {
        let (_, refusal) = match door {
            None => &self.files,
            Some(dialect) => self.dialects.get(dialect)?,
        };
        refusal.as_deref()
    }

    /// Returns the name of a door. `door` is the index of a dialect, or `None` for plain files.
    pub(crate) fn name(&self, door: Option<usize>) -> &'static str {
        let dialect = door.and_then(|door| self.dialects.get(door));
        dialect.map_or(FILES, |(door, _)| door.name)
    }

    pub(crate) fn of(&self, name: &str) -> Option<usize> {
        self.dialects.iter().position(|(door, _)| door.name == name)
    }

    pub(crate) fn unsigned(&self) -> &[&'static str] {
        &self.unsigned
    }

    /// Returns the doors of all dialects that are switched on, then that of plain files.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Door> {
        let all = self.dialects.iter().chain([&self.files]);
        all.map(|(door, _)| door)
    }
}

/// The settings that decide for every door whether it is closed.
struct AccessSettings {
    /// Whether `[signing]` has keys.
    has_own_keys: bool,
    /// Whether every URL has to be signed with a key of `[signing]`.
    required: bool,
    /// The settings that close doors to unsigned URLs: the name of the door that each belongs to (or `signing`), its
    /// configuration key, and whether it is a signing key.
    closers: Vec<(&'static str, String, bool)>,
}

impl AccessSettings {
    /// Returns the setting, an entry of [`Self::closers`], that closes the door of this name; `None` if the door is
    /// open, or if `signing.required` makes all doors require a signature.
    fn closer(&self, name: &str, gate: &Gate) -> Option<&(&'static str, String, bool)> {
        // A dialect that serves presets only is restricted already, so that the presets of another one do not close it.
        let mut closers = self.closers.iter();
        let by =
            closers.find(|(whose, _, is_key)| *whose != name && (*is_key || !gate.only_presets));
        by.filter(|_| !gate.open && !self.required)
    }

    fn answers_unsigned(&self, name: &str, gate: &Gate) -> bool {
        !self.required && !needs_own_key(gate) && self.closer(name, gate).is_none()
    }

    /// Returns the door of this name, and the reason why it is closed to unsigned URLs, if it is.
    fn door(&self, name: &'static str, gate: &Gate) -> (Door, Option<String>) {
        let signers = |has_keys: bool| match (has_keys, self.has_own_keys) {
            (true, true) => "URLs that are signed with its own keys or a key of [signing]",
            (true, false) => "URLs that are signed with its own keys",
            (false, true) => "URLs that are signed with a key of [signing]",
            (false, false) => "nobody: without [signing] keys no URL of it can be signed",
        };
        let closer = self.closer(name, gate);
        let presets = if gate.only_presets {
            " (presets only)"
        } else {
            ""
        };
        let who = match closer {
            _ if self.required => {
                "URLs that are signed with a key of [signing] (signing.required)".to_owned()
            }
            _ if needs_own_key(gate) => format!("{}{presets}", signers(true)),
            Some((_, key, _)) => format!(
                "{}{presets}; closed by {key}, `open = true` in [{name}] opens it",
                signers(gate.keys)
            ),
            None => format!("everybody{presets}"),
        };
        let refusal = closer.map(|(_, key, _)| {
            format!(
                "it must be signed: {key} is set, and neither is `open = true` in [{name}] nor, of a URL that a [[rewrite]] \
                 leads there, `opens = true` in that"
            )
        });
        let places = gate.places.join(" and ");
        (Door { name, places, who }, refusal)
    }
}

fn needs_own_key(gate: &Gate) -> bool {
    gate.keys && !gate.answers_unsigned
}
