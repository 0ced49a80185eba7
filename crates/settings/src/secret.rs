//! Values that no error and no log may show.

use std::fmt;

use serde::Deserialize;

/// A text that is a secret. Neither `Debug` nor an error about its type shows it.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Secret(String);

impl Secret {
    /// Name of this type, as serde knows it.
    pub(crate) const NAME: &'static str = "Secret";

    /// Returns the text.
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
