//! What a dialect's table in the configuration is.

use std::path::Path;

use andon_settings::check;

use crate::ConfigError;
use crate::dialect::Dialect;

/// One dialect's keys, with their defaults.
pub trait Settings {
    /// The dialect, if it is switched on.
    ///
    /// # Errors
    /// The first key whose value cannot work.
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError>;

    /// What its URLs begin with, and what closes them to strangers.
    fn gate(&self) -> Gate;

    /// Makes relative paths relative to `folder`.
    fn resolve_paths(&mut self, _folder: &Path) {}
}

/// What a dialect's table says of who may use its URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Are unsigned URLs answered although others must be signed?
    pub open: bool,
    /// The prefixes of the dialect's URLs.
    pub places: Vec<String>,
    /// Do its URLs say that they are its own, so that another dialect may have the same prefix?
    pub shares_prefix: bool,
    /// Has it keys that its URLs are signed with?
    pub keys: bool,
    /// Does it answer unsigned URLs although it has keys?
    pub answers_unsigned: bool,
    /// Do its URLs name presets, and nothing else?
    pub only_presets: bool,
}

/// `[files]`: files as they are, at their own paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FilesConfig {
    /// Serve them although URLs must be signed.
    pub open: bool,
}

/// What stands behind a prefix for all that is below it.
pub(crate) const BELOW: &str = "/…";

/// What URLs below these prefixes begin with; those that are empty switch a dialect off.
pub(crate) fn below<'a>(prefixes: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let on = prefixes.into_iter().filter(|prefix| !prefix.is_empty());
    on.map(|prefix| format!("{}{BELOW}", prefix.trim_end_matches('/')))
        .collect()
}

/// Where a dialect that is off by default is mounted, without its last slash: `"/"` is the root. `None` for an empty
/// prefix, which switches it off.
///
/// # Errors
/// A prefix that is no path.
pub(crate) fn mount(key: &str, prefix: &str) -> Result<Option<String>, ConfigError> {
    if prefix.is_empty() {
        return Ok(None);
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let sound = prefix.starts_with('/') && prefix.bytes().all(plain);
    check(sound, key, || {
        format!("`{prefix}` must be a path of letters, digits and `-._~`, such as \"/images\"")
    })?;
    Ok(Some(prefix.trim_end_matches('/').to_owned()))
}

/// Lists the dialects: the name of the table in the configuration, and the type of its keys.
macro_rules! dialects {
    ($($(#[$doc:meta])* $name:ident: $settings:ty),+ $(,)?) => {
        /// The part of the configuration that decides how targets are read.
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Config {
            /// Changes to the raw path before any dialect reads it: the first whose pattern matches acts.
            pub rewrite: Vec<Rewrite>,
            /// Keys of signatures in front of any target.
            pub signing: SigningConfig,
            /// nginx's signed locations.
            pub secure_link: Vec<SecureLinkConfig>,
            /// Files as they are.
            pub files: FilesConfig,
            $($(#[$doc])* pub $name: $settings,)+
        }

        /// Every dialect, in the order in which they are asked.
        pub const ALL: &[(&str, Maker)] = &[$((
            stringify!($name),
            |config| Settings::dialect(&config.$name),
        )),+];

        /// What the table of each dialect says of who may use its URLs, in the order of [`ALL`].
        pub(crate) const GATES: &[fn(&Config) -> Gate] = &[$(|config| Settings::gate(&config.$name)),+];

        impl Config {
            /// The keys at the top of a configuration file that are read here.
            pub const KEYS: &[&str] = &["rewrite", "signing", "secure_link", "files", $(stringify!($name)),+];

            /// Lifts `signing.required`, every `[[secure_link]]` and closed dialects, for callers that have checked access.
            pub fn open_all(&mut self) {
                self.signing.required = false;
                self.secure_link.clear();
                self.files.open = true;
                $(self.$name.open = true;)+
            }

            /// Makes relative paths relative to `folder`.
            pub fn resolve_paths(&mut self, folder: &std::path::Path) {
                $(Settings::resolve_paths(&mut self.$name, folder);)+
            }
        }
    };
}

pub(crate) use dialects;
