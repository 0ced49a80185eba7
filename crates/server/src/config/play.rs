//! `[play]`: the playground.

use serde::Deserialize;

use super::AllowedClients;

/// `[play]`. Off by default: it lists images, and renders whatever it is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlayConfig {
    /// Who may open `/_andon/play`. All but local clients need the administrator's token there.
    pub allow: AllowedClients,
}
