//! The `[folder]` table: the page with the images of a folder.

use serde::Deserialize;

use super::AllowedClients;

/// The `[folder]` table: the page at `/`, which lists the images of the folder served there. The page exists only if
/// that folder serves images and no other files. It is off by default, so that the images are not listed without the
/// operator's consent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FolderConfig {
    /// Which clients may see the page.
    pub allow: AllowedClients,
}
