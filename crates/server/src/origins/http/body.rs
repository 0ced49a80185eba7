//! Reads a response body to its end, or fails.

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
/// ends before its declared length or its last chunk. A body that has neither ends with its connection, and nothing
/// more can be known about its completeness.
pub(super) async fn whole(
    mut body: Incoming,
    most: u64,
    idle: Duration,
    coding: Coding,
    held: &SourceMemory,
) -> Result<(Bytes, Reservation), Error> {
    let declared = body.size_hint().exact();
    if let Some(length) = declared.filter(|length| *length > most) {
        return Err(too_large(length, most));
    }
    // All at once: bodies that took their room piece by piece could wait for one another for ever.
    let mut hold = held
        .take(coding.holds(declared.unwrap_or(most), most))
        .await;
    let mut bytes = BytesMut::with_capacity(declared.map_or(0, |length| length as usize));
    loop {
        let frame = timeout(idle, body.frame())
            .await
            .map_err(|_| OriginError::Slow {
                late: Late::Piece,
                after: idle,
            })?;
        let Some(frame) = frame else { break };
        let frame = frame.map_err(|_| OriginError::BrokenOff)?;
        // Trailers are of no use here.
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
    if declared.is_some_and(|declared| declared != length) {
        return Err(OriginError::BrokenOff.into());
    }
    hold.shrink_to(coding.holds(length, most));
    Ok((bytes.freeze(), hold))
}

/// Reads up to `most` bytes of a body, or what there is of it before it breaks off.
pub(super) async fn beginning(mut body: Incoming, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < most
        && let Some(Ok(frame)) = body.frame().await
    {
        if let Ok(piece) = frame.into_data() {
            let left = piece.len().min(most - bytes.len());
            bytes.extend_from_slice(&piece[..left]);
        }
    }
    bytes
}

pub(super) fn too_large(value: u64, limit: u64) -> Error {
    Error::Pixels(andon_pixels::Error::Limit {
        bound: Bound::SOURCE_BYTES,
        value,
        limit,
    })
}
