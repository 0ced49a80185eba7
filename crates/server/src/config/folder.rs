//! The `[folder]` table: the page with the images of a folder.

use serde::Deserialize;

use super::AllowedClients;

/// The `[folder]` table: the page at `/` with the images of the folder that is served there, if only its images are.
/// It is off by default because it lists them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FolderConfig {
    /// Which clients may see the page.
    pub allow: AllowedClients,
}
