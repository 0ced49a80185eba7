//! The `[play]` table: the playground.

use serde::Deserialize;

use super::AllowedClients;

/// The `[play]` table: the playground. It is off by default because it lists images and renders whatever it is asked
/// for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlayConfig {
    /// Which clients may open `/_andon/play`. All but local clients need the administrator's token there.
    pub allow: AllowedClients,
}
