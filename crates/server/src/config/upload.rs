//! `[upload]`: images that come with the request.

use serde::Deserialize;

use super::AllowedClients;

/// `[upload]`. Off by default: whether anybody may hand images in is for the operator to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UploadConfig {
    /// Who may post to `/_andon/render`.
    pub allow: AllowedClients,
}
