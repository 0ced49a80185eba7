//! The `[upload]` table: images that are sent with the request.

use serde::Deserialize;

use super::AllowedClients;

/// The `[upload]` table: images that are sent with the request. Off by default, because the operator has to decide who
/// may upload images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UploadConfig {
    /// Which clients may post to `/_andon/render`.
    pub allow: AllowedClients,
}
