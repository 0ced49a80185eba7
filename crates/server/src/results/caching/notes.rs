//! Notes that the server stores with a result: enough to revalidate it at the origin, and to respond as if it had just
//! been made.

use andon_cache::Entry;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::life::ClientSide;
use crate::origins::SourceValidators;

/// Data that the server stores with a result in its cache entry, in addition to the response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notes {
    /// State of the source that the result was made from, if it was fetched over a network.
    pub(crate) source: Option<SourceValidators>,
    /// What clients are told about caching the result.
    pub(crate) client: ClientSide,
    /// The plan by which the result was made, if plans are shown to clients.
    pub(crate) plan: Option<String>,
    /// Parts of the source that were left out although the request did not ask for that, one sentence each.
    #[serde(default, alias = "picture")]
    pub(crate) image: Vec<String>,
    /// Processor time that the result's plan predicted, in microseconds.
    #[serde(default)]
    pub(crate) cost: u64,
    /// Size in bytes of the source and the overlays that the result was made from; 0 if that is unknown, and for
    /// results that are no images.
    #[serde(default)]
    pub(crate) source_bytes: u64,
}

impl Notes {
    /// Decodes the notes in a cache entry.
    pub(crate) fn of(entry: &Entry) -> Self {
        // Only the notes of another version cannot be decoded, and its entries have other keys.
        serde_json::from_slice(&entry.notes).unwrap_or_default()
    }

    /// Encodes these notes for storage in a cache entry.
    pub(crate) fn encode(&self) -> Bytes {
        serde_json::to_vec(self).unwrap_or_default().into()
    }
}
