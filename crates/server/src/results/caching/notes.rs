//! Notes that the server stores with a result: enough to ask the origin whether it is still current, and to answer as
//! if it had just been made.

use andon_cache::Entry;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::life::ClientSide;
use crate::origins::SourceValidators;

/// The notes of one cache entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notes {
    /// State of the source that the result was made from, if it was fetched over a network.
    pub(crate) source: Option<SourceValidators>,
    /// What clients are told about keeping the result.
    pub(crate) client: ClientSide,
    /// The plan by which the result was made, if plans are shown to clients.
    pub(crate) plan: Option<String>,
    /// What was left out of the source although the request did not ask for that.
    #[serde(default, alias = "picture")]
    pub(crate) image: Vec<String>,
    /// Processor time that the result's plan predicted, in microseconds.
    #[serde(default)]
    pub(crate) cost: u64,
    /// Size in bytes of the source and the overlays that the result was made from; 0 if that is unknown, and for what is
    /// no image.
    #[serde(default)]
    pub(crate) source_bytes: u64,
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
