//! The configuration of signatures in front of targets.

use std::collections::BTreeMap;

use andon_settings::check;
use serde::Deserialize;

use super::Signing;
use crate::ConfigError;
use crate::signature::Key;

/// The `[signing]` table: signatures in front of targets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SigningConfig {
    /// The signing keys. Without keys, no signature is checked.
    pub keys: Keys,
    /// Whether unsigned targets are refused.
    pub required: bool,
    /// Length in bytes, 16 to 32, to which signatures may be truncated.
    pub bytes: usize,
    /// Whether keys that can be guessed are allowed.
    pub weak_keys: bool,
}

/// Signing keys: a list, whose entries get the names `1`, `2` …, or a table with names of its own.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a list of keys, or a table of names and keys"
)]
pub enum Keys {
    /// Keys without names.
    List(Vec<String>),
    /// Keys by name.
    Named(BTreeMap<String, String>),
}

/// Hides the keys.
impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(…)")
    }
}

impl Default for SigningConfig {
    fn default() -> Self {
        Self {
            keys: Keys::List(Vec::new()),
            required: false,
            bytes: 32,
            weak_keys: false,
        }
    }
}

impl SigningConfig {
    /// Returns every key by its name.
    #[must_use]
    pub fn named(&self) -> BTreeMap<String, Vec<u8>> {
        let bytes = |key: &String| key.clone().into_bytes();
        match &self.keys {
            Keys::List(keys) => (1..)
                .map(|number: usize| number.to_string())
                .zip(keys.iter().map(bytes))
                .collect(),
            Keys::Named(keys) => keys
                .iter()
                .map(|(name, key)| (name.clone(), bytes(key)))
                .collect(),
        }
    }

    pub(crate) fn checked(&self) -> Result<Signing, ConfigError> {
        check((16..=32).contains(&self.bytes), "signing.bytes", || {
            format!("{} must be from 16 to 32", self.bytes)
        })?;
        let mut keys = BTreeMap::new();
        for (name, key) in self.named() {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            check(
                !name.is_empty() && name.bytes().all(plain),
                "signing.keys",
                || format!("`{name}` must be a name of letters, digits, `-` and `_`"),
            )?;
            keys.insert(name, Key::new("signing.keys", key, self.weak_keys)?);
        }
        check(
            !self.required || !keys.is_empty(),
            "signing.required",
            || "without a key nothing could be asked for: add one to `signing.keys`".to_owned(),
        )?;
        Ok(Signing {
            keys,
            required: self.required,
            bytes: self.bytes,
        })
    }
}
