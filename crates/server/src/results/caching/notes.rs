//! What the server writes down beside a result: enough to ask the origin whether it is still good, and
//! to answer as if it had just been made.

use andon_cache::Entry;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::life::ClientSide;
use crate::origins::SourceValidators;

/// The notes of one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notes {
    /// The state of the source that it was made from, if that came over a network.
    pub(crate) source: Option<SourceValidators>,
    /// What clients are told about keeping it.
    pub(crate) client: ClientSide,
    /// How it was made, if that is told.
    pub(crate) plan: Option<String>,
    /// What of the source was left out although nobody asked for that.
    #[serde(default)]
    pub(crate) picture: Vec<String>,
    /// Microseconds of processor time that its plan predicted.
    #[serde(default)]
    pub(crate) cost: u64,
}

impl Notes {
    pub(crate) fn of(entry: &Entry) -> Self {
        // Only an entry of another version cannot be read, and those have other keys.
        serde_json::from_slice(&entry.notes).unwrap_or_default()
    }

    pub(crate) fn written(&self) -> Bytes {
        serde_json::to_vec(self).unwrap_or_default().into()
    }
}
