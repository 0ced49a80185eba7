//! Signing keys, as given in the configuration.

use std::fmt;

use andon_settings::check;

use crate::ConfigError;

/// A signing key. Its `Debug` output hides the bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Vec<u8>);

impl Key {
    /// Minimum length in bytes of a key that is not weak.
    pub const LEAST: usize = 16;

    /// Creates a key from the option `name` of the configuration. Anyone with one signed URL could guess a weak key:
    /// one of fewer than [`Self::LEAST`] bytes, or of one byte repeated. Such a key is refused unless `weak` keys are
    /// allowed.
    ///
    /// # Errors
    /// A weak key that is not allowed, and always an empty key.
    pub fn new(name: &str, bytes: Vec<u8>, weak: bool) -> Result<Self, ConfigError> {
        check(!bytes.is_empty(), name, || {
            "a key must not be empty".to_owned()
        })?;
        let repeated = bytes.iter().all(|byte| Some(byte) == bytes.first());
        check(
            weak || (bytes.len() >= Self::LEAST && !repeated),
            name,
            || {
                let (length, least) = (bytes.len(), Self::LEAST);
                format!(
                    "this key of {length} bytes can be guessed: it must have at least {least} that differ (`openssl rand -hex 32` \
                 makes one), or `weak_keys = true` must say that it is meant so"
                )
            },
        )?;
        Ok(Self(bytes))
    }

    /// Creates a key from hexadecimal digits.
    ///
    /// # Errors
    /// Those of [`Self::new`], and a text that is not hexadecimal.
    pub fn from_hex(name: &str, hex: &str, weak: bool) -> Result<Self, ConfigError> {
        let bytes = unhex(hex).ok_or_else(|| {
            ConfigError::new(
                name,
                "a key must be an even number of hexadecimal digits".to_owned(),
            )
        })?;
        Self::new(name, bytes, weak)
    }

    /// Returns the bytes of the key.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Decodes hexadecimal digits in upper or lower case; `None` for any other text.
#[must_use]
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pair = |pair: &[u8]| match *pair {
        [high, low] => Some((digit(high)? << 4 | digit(low)?) as u8),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}
