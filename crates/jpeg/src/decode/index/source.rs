//! The files that can have an index of entry points into their scan: sequential JPEG files with a single scan.

use crate::decode::plane::PlaneDecoder;
use crate::decode::segments::{FrameHeader, ScanHeader, Segment, Segments};
use crate::error::{Error, Result};

/// Reads a file up to its only scan. Returns `Unsupported` if the file is progressive or has several scans.
pub(super) fn at_scan(bytes: &[u8]) -> Result<(Segments<'_>, FrameHeader, ScanHeader)> {
    let mut segments = Segments::new(bytes)?;
    let Segment::Frame(frame) = segments.next()? else {
        return Err(Error::UNSUPPORTED);
    };
    match segments.next()? {
        Segment::Scan(scan)
            if !frame.progressive && scan.components.len() == frame.components.len() =>
        {
            Ok((segments, frame, scan))
        }
        _ => Err(Error::UNSUPPORTED),
    }
}

/// Creates the planes of an image with these numbers of samples per block side for luma and for chroma.
pub(super) fn planes(frame: &FrameHeader, sizes: [u8; 2]) -> Vec<PlaneDecoder> {
    let of = |index: usize| PlaneDecoder::new(frame, index, std::iter::once(sizes[index.min(1)]));
    (0..frame.components.len()).map(of).collect()
}

/// Returns the size of an MCU in px.
pub(super) fn mcu(frame: &FrameHeader) -> (u32, u32) {
    match frame.components.len() {
        1 => (8, 8),
        _ => (8 * frame.h_max, 8 * frame.v_max),
    }
}
