//! What the settings of each dialect have to provide, and the configuration of all dialects.

use std::path::Path;

use andon_recipe::{Wish, nearest};
use andon_settings::check;

use crate::dialect::{Dialect, Target};
use crate::forms::Form;
use crate::options::OptionHelp;
use crate::spelling::{Spelt, Word};
use crate::{ALL, Config, ConfigError, ROWS};

/// The settings of one dialect, with their defaults.
pub trait Settings {
    /// Returns the dialect, or `None` if the settings switch it off.
    ///
    /// # Errors
    /// The first key with an invalid value.
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError>;

    /// Returns how the dialect's URLs begin, and who may use them by these settings.
    fn gate(&self) -> Gate;

    /// Switches the dialect on. Without keys, it then answers unsigned URLs. Other settings are not changed.
    fn switch_on(&mut self, mount: Mount);

    /// Returns settings that switch the dialect on at its usual prefix, where it answers unsigned URLs.
    fn usual() -> Self
    where
        Self: Sized + Default,
    {
        let mut settings = Self::default();
        settings.switch_on(Mount::Usual);
        settings
    }

    /// Whether a target looks like a URL of this dialect at its usual prefix, even if it has mistakes. Always false for
    /// a dialect whose URLs cannot be told from paths of files.
    fn resembles(target: &Target<'_>) -> bool
    where
        Self: Sized + Default,
    {
        is_below(target, &Self::usual().gate().places)
    }

    /// Returns the forms by which logs are searched for the dialect's URLs; empty if no other server has such URLs.
    fn forms() -> &'static [Form]
    where
        Self: Sized,
    {
        &[]
    }

    /// Returns the words of recipes (steps and output settings) that the dialect's options can express, except the
    /// words for the box into which an image is fitted.
    fn words() -> Vec<Word>
    where
        Self: Sized,
    {
        Vec::new()
    }

    /// Writes a wish (a request in the terms that all dialects share) as a URL at the usual prefix. `source` is a path
    /// without a leading slash, percent-encoded except for slashes.
    fn spell(wish: &Wish, source: &str) -> Spelt
    where
        Self: Sized;

    /// Returns one name for each option of the dialect; empty if the dialect has no list of its options.
    fn option_names() -> Vec<String>
    where
        Self: Sized,
    {
        let all = Self::option_help().into_iter();
        all.filter_map(|option| option.names.into_iter().next())
            .collect()
    }

    /// Returns the documentation of each option of the dialect; empty if its options are not documented.
    fn option_help() -> Vec<OptionHelp>
    where
        Self: Sized,
    {
        Vec::new()
    }

    /// Makes relative paths in the settings relative to `folder`.
    fn resolve_paths(&mut self, _folder: &Path) {}
}

/// Where [`Settings::switch_on`] mounts a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mount {
    /// At its usual prefix, where the original server has its URLs.
    Usual,
    /// At a prefix that no other dialect uses, so that all dialects can be on at once.
    Apart,
}

impl Mount {
    /// Returns the prefix of a dialect whose usual prefix is the root: `/` for [`Mount::Usual`], and `apart` for
    /// [`Mount::Apart`].
    pub(crate) fn of(self, apart: &'static str) -> &'static str {
        match self {
            Self::Usual => "/",
            Self::Apart => apart,
        }
    }
}

/// The functions and facts of a dialect that do not depend on the configuration.
pub(crate) struct Row {
    /// The name of the dialect and of its table in the configuration.
    pub(crate) name: &'static str,
    /// Returns how the dialect's URLs begin, and who may use them. See [`Settings::gate`].
    pub(crate) gate: fn(&Config) -> Gate,
    /// Switches the dialect on. See [`Settings::switch_on`].
    pub(crate) switch_on: fn(&mut Config, Mount),
    /// Whether a target looks like a URL of the dialect. See [`Settings::resembles`].
    pub(crate) resembles: fn(&Target<'_>) -> bool,
    /// Returns how the dialect's URLs begin at its usual prefix, as in [`Gate::places`].
    pub(crate) usual_places: fn() -> Vec<String>,
    /// Returns how the dialect's URLs begin if all dialects are on ([`Config::switch_on_all`]).
    pub(crate) places_apart: fn() -> Vec<String>,
    /// Returns the forms by which logs are searched for the dialect's URLs. See [`Settings::forms`].
    pub(crate) forms: fn() -> &'static [Form],
    /// Writes a request as a URL of the dialect. See [`Settings::spell`].
    pub(crate) spell: fn(&Wish, &str) -> Spelt,
    /// Returns the words of recipes (steps and output settings) that the dialect's options can express. See
    /// [`Settings::words`].
    pub(crate) words: fn() -> Vec<Word>,
    /// Returns one name for each option of the dialect. See [`Settings::option_names`].
    pub(crate) option_names: fn() -> Vec<String>,
    /// Returns the documentation of each option of the dialect. See [`Settings::option_help`].
    pub(crate) option_help: fn() -> Vec<OptionHelp>,
}

impl Row {
    /// Returns the row of the dialect of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        ROWS.iter().find(|row| row.name == name)
    }
}

impl Config {
    /// Switches on all dialects, each at a prefix of its own.
    pub fn switch_on_all(&mut self) {
        for row in ROWS {
            if !self.is_on(row.name) {
                (row.switch_on)(self, Mount::Apart);
            }
        }
    }

    /// Switches on the dialect of this name at its usual prefix. Its other settings are not changed.
    ///
    /// # Errors
    /// If there is no such dialect.
    pub fn switch_on(&mut self, name: &str) -> Result<(), ConfigError> {
        let row = Row::named(name).ok_or_else(|| {
            let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
            let near = nearest(name, names.iter().copied());
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let list = names.join(", ");
            ConfigError::new(
                "",
                format!("there is no dialect `{name}`{hint}; known are {list}"),
            )
        })?;
        (row.switch_on)(self, Mount::Usual);
        Ok(())
    }

    /// Whether the dialect of this name is switched on.
    #[must_use]
    pub fn is_on(&self, name: &str) -> bool {
        let mut all = ALL.iter();
        let maker = all.find(|(dialect, _)| *dialect == name);
        maker.is_some_and(|(_, make)| !matches!(make(self), Ok(None)))
    }
}

/// Where a dialect's URLs begin, and who may use them, as its settings say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Whether unsigned URLs are answered although `[signing]`, or another dialect's keys or presets, would close this
    /// dialect to them.
    pub open: bool,
    /// How the dialect's URLs begin, as texts such as `/images/…`.
    pub places: Vec<String>,
    /// Whether another dialect may have the same prefix, because the dialect's URLs can be told from those of others.
    pub shares_prefix: bool,
    /// Whether the dialect has keys of its own with which its URLs are signed.
    pub keys: bool,
    /// Whether the dialect answers unsigned URLs although it has keys.
    pub answers_unsigned: bool,
    /// Whether the dialect's URLs can name presets and nothing else.
    pub only_presets: bool,
}

/// The table `[files]` of the configuration: plain files, served unchanged at their own paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FilesConfig {
    /// Whether unsigned URLs of plain files are answered although `[signing]` or a dialect has keys.
    pub open: bool,
}

/// What is appended to a prefix, in messages, to mean all paths below it.
pub(crate) const BELOW: &str = "/…";

/// Whether a target is at or below one of these places, which are written as [`Gate::places`] are. The root does not
/// count, because everything is below it.
pub(crate) fn is_below(target: &Target<'_>, places: &[String]) -> bool {
    places.iter().any(|place| {
        let prefix = place.trim_end_matches(BELOW);
        let rest = target.path.strip_prefix(prefix);
        !prefix.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Returns each prefix with `BELOW` appended. Empty prefixes, which switch a dialect off, are left out.
pub(crate) fn below<'a>(prefixes: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let on = prefixes.into_iter().filter(|prefix| !prefix.is_empty());
    on.map(|prefix| format!("{}{BELOW}", prefix.trim_end_matches('/')))
        .collect()
}

/// Validates a prefix that may be empty, and returns it without its trailing slash, so that `"/"` becomes the empty
/// text. `None` for an empty prefix, which switches the dialect off.
///
/// # Errors
/// A prefix that is not a path.
pub(crate) fn mount(key: &str, prefix: &str) -> Result<Option<String>, ConfigError> {
    if prefix.is_empty() {
        return Ok(None);
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let is_valid = prefix.starts_with('/') && prefix.bytes().all(is_plain);
    check(is_valid, key, || {
        format!("`{prefix}` must be a path of letters, digits and `-._~`, such as \"/images\"")
    })?;
    Ok(Some(prefix.trim_end_matches('/').to_owned()))
}

/// Defines `Config`, `ALL` and `ROWS` from a list of dialects: the name of each one's table in the configuration, and
/// the type of its settings.
macro_rules! dialects {
    ($($(#[$doc:meta])* $name:ident: $settings:ty),+ $(,)?) => {
        /// The part of the configuration that decides how targets are read.
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Config {
            /// Rules that rewrite the raw path before any dialect reads it. Only the first rule whose pattern matches
            /// is applied.
            pub rewrite: Vec<Rewrite>,
            /// Keys for signatures that may stand in front of any target.
            pub signing: SigningConfig,
            /// Locations that are signed as by nginx's `secure_link`.
            pub secure_link: Vec<SecureLinkConfig>,
            /// Plain files, served unchanged.
            pub files: FilesConfig,
            /// What unsigned URLs may ask for.
            pub permitted: PermittedConfig,
            /// Dialects in which client hints count.
            pub client_hints: ClientHintsConfig,
            $($(#[$doc])* pub $name: $settings,)+
        }

        /// All dialects, by name, in the order in which they are tried.
        pub const ALL: &[(&str, Maker)] = &[$((
            stringify!($name),
            |config| Settings::dialect(&config.$name),
        )),+];

        /// The functions and facts of each dialect of [`ALL`], in that order.
        pub(crate) const ROWS: &[config::Row] = &[$(config::Row {
            name: stringify!($name),
            gate: |config| Settings::gate(&config.$name),
            switch_on: |config, mount| Settings::switch_on(&mut config.$name, mount),
            resembles: <$settings as Settings>::resembles,
            usual_places: || <$settings as Settings>::usual().gate().places,
            places_apart: || {
                let mut apart = <$settings>::default();
                Settings::switch_on(&mut apart, config::Mount::Apart);
                Settings::gate(&apart).places
            },
            forms: <$settings as Settings>::forms,
            spell: <$settings as Settings>::spell,
            words: <$settings as Settings>::words,
            option_names: <$settings as Settings>::option_names,
            option_help: <$settings as Settings>::option_help,
        }),+];

        impl Config {
            /// The top-level keys of a configuration file that belong to this struct.
            pub const KEYS: &[&str] = &["rewrite", "signing", "secure_link", "files", "permitted", "client_hints", $(stringify!($name)),+];

            /// Lifts all restrictions of access, for callers that have checked access themselves: `signing.required`,
            /// every `[[secure_link]]`, `[permitted]`, and the closing of dialects and files to unsigned URLs.
            pub fn open_all(&mut self) {
                self.signing.required = false;
                self.secure_link.clear();
                self.files.open = true;
                self.permitted = PermittedConfig::default();
                $(self.$name.open = true;)+
            }

            /// Makes relative paths in the settings of all dialects relative to `folder`.
            pub fn resolve_paths(&mut self, folder: &std::path::Path) {
                $(Settings::resolve_paths(&mut self.$name, folder);)+
            }
        }
    };
}

pub(crate) use dialects;
