//! `[upload]`: pictures that come with the request.

use serde::Deserialize;

use super::AllowedClients;

/// `[upload]`. Off by default: behind a proxy on the same machine everybody is local, and whether the
/// world may hand pictures in is for the operator to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UploadConfig {
    /// Who may post to `/_andon/render`.
    pub allow: AllowedClients,
}
