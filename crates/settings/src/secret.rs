//! Configuration values that must not appear in errors and logs.

use std::fmt;

use serde::Deserialize;

/// A text that is a secret: neither `Debug` nor an error about its type prints it.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Secret(String);

impl Secret {
    /// The name under which serde knows this type.
    pub(crate) const NAME: &'static str = "Secret";

    /// Returns the secret text.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}
