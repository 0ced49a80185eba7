//! What a dialect's table in the configuration is.

use std::path::Path;

use crate::ConfigError;
use crate::dialect::Dialect;

/// One dialect's keys, with their defaults.
pub trait Settings {
    /// The dialect, if it is switched on.
    ///
    /// # Errors
    /// The first key whose value cannot work.
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError>;

    /// Makes relative paths relative to `folder`.
    fn resolve_paths(&mut self, _folder: &Path) {}
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
            $($(#[$doc])* pub $name: $settings,)+
        }

        /// Every dialect, in the order in which they are asked.
        pub const ALL: &[(&str, Maker)] = &[$((
            stringify!($name),
            |config| Settings::dialect(&config.$name),
        )),+];

        impl Config {
            /// The keys at the top of a configuration file that are read here.
            pub const KEYS: &[&str] = &["rewrite", $(stringify!($name)),+];

            /// Makes relative paths relative to `folder`.
            pub fn resolve_paths(&mut self, folder: &std::path::Path) {
                $(Settings::resolve_paths(&mut self.$name, folder);)+
            }
        }
    };
}

pub(crate) use dialects;
