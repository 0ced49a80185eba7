//! Reads a whole response body, or fails.

use std::time::Duration;

use andon_pixels::Bound;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::timeout;

use super::coding::Coding;
use crate::error::Error;
use crate::error::{Late, OriginError};
use crate::origins::budget::{Reservation, SourceMemory};

/// Reads the whole body, and returns it with the reservation of its memory. hyper reports an error for every body that
/// ends before its declared length or its last chunk. A body with neither a length nor chunks ends with its connection,
/// so whether it is complete is unknown.
pub(super) async fn whole(
    mut body: Incoming,
    most: u64,
    idle: Duration,
    coding: Coding,
    memory: &SourceMemory,
) -> Result<(Bytes, Reservation), Error> {
    let declared_length = body.size_hint().exact();
    if let Some(length) = declared_length.filter(|length| *length > most) {
        return Err(too_large(length, most));
    }
    // All memory is reserved at once: bodies that reserved it in pieces could wait for one another for ever.
    let mut hold = memory
        .take(coding.holds(declared_length.unwrap_or(most), most))
        .await;
    let mut bytes = BytesMut::with_capacity(declared_length.map_or(0, |length| length as usize));
    loop {
        let frame = timeout(idle, body.frame())
            .await
            .map_err(|_| OriginError::Slow {
                late: Late::Piece,
                after: idle,
            })?;
        let Some(frame) = frame else { break };
        let frame = frame.map_err(|_| OriginError::BrokenOff)?;
        // Trailers are ignored.
        let Ok(piece) = frame.into_data() else {
            continue;
        };
        let length = (bytes.len() + piece.len()) as u64;
        if length > most {
            return Err(too_large(length, most));
        }
        bytes.extend_from_slice(&piece);
    }
    let length = bytes.len() as u64;
    if declared_length.is_some_and(|declared_length| declared_length != length) {
        return Err(OriginError::BrokenOff.into());
    }
    hold.shrink_to(coding.holds(length, most));
    Ok((bytes.freeze(), hold))
}

/// Reads up to `most` bytes of a body, or fewer if it breaks off.
pub(super) async fn beginning(mut body: Incoming, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < most
        && let Some(Ok(frame)) = body.frame().await
    {
        if let Ok(piece) = frame.into_data() {
            let count = piece.len().min(most - bytes.len());
            bytes.extend_from_slice(&piece[..count]);
        }
    }
    bytes
}

/// Returns the error for a source of `value` bytes, of which `limit` are allowed.
pub(super) fn too_large(value: u64, limit: u64) -> Error {
    Error::Pixels(andon_pixels::Error::Limit {
        bound: Bound::SOURCE_BYTES,
        value,
        limit,
    })
}
