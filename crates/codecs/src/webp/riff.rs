//! The RIFF container: chunks of a four-letter name, a length, and data padded to an even length.

use andon_pixels::Error;

use super::NAME;

/// Flags in the first byte of the VP8X chunk.
pub(super) mod flags {
    /// The file has an ICC profile.
    pub(in super::super) const ICC: u8 = 0x20;
    /// Some pixels may not be opaque.
    pub(in super::super) const ALPHA: u8 = 0x10;
    /// The file has an EXIF block.
    pub(in super::super) const EXIF: u8 = 0x08;
    /// The file has an XMP packet.
    pub(in super::super) const XMP: u8 = 0x04;
    /// The file is an animation.
    pub(in super::super) const ANIMATION: u8 = 0x02;
}

/// Flags in the last byte of an ANMF frame header.
pub(super) mod frame_flags {
    /// The frame's pixels replace those below instead of being blended over them.
    pub(in super::super) const REPLACE: u8 = 0x02;
    /// The frame's area becomes transparent before the next frame.
    pub(in super::super) const CLEAR: u8 = 0x01;
}

/// One chunk of a file in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'a> {
    /// The chunk's name (`FourCC`).
    pub(super) name: [u8; 4],
    /// The chunk's data, without padding.
    pub(super) data: &'a [u8],
}

/// Iterates over the chunks in a range of bytes. A chunk that is cut off yields `Err` and ends the iteration.
#[derive(Clone, Debug)]
pub(super) struct Chunks<'a> {
    rest: &'a [u8],
}

impl<'a> Chunks<'a> {
    /// Returns the chunks of a file, and whether all bytes that its header declares are present.
    pub(super) fn of_file(bytes: &'a [u8]) -> Result<(Self, bool), Error> {
        let not_webp = || Error::broken(NAME, "it lacks the RIFF header");
        let rest = bytes.strip_prefix(b"RIFF").ok_or_else(not_webp)?;
        let (size, rest) = rest.split_first_chunk().ok_or_else(not_webp)?;
        let size = u32::from_le_bytes(*size) as usize;
        let whole = rest.len() >= size;
        let rest = rest[..size.min(rest.len())]
            .strip_prefix(b"WEBP")
            .ok_or_else(not_webp)?;
        Ok((Self { rest }, whole))
    }

    /// Returns the chunks in a part of a file.
    pub(super) fn of(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// Returns the bytes that have not been read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let Some((chunk, rest)) = split_chunk(self.rest) else {
            self.rest = &[];
            return Some(Err(Error::broken(NAME, "it is cut off")));
        };
        self.rest = rest;
        Some(Ok(chunk))
    }
}

fn split_chunk(bytes: &[u8]) -> Option<(Chunk<'_>, &[u8])> {
    let (name, rest) = bytes.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let length = u32::from_le_bytes(*length) as usize;
    let (data, rest) = rest.split_at_checked(length)?;
    // Some writers leave out the padding of the last chunk.
    let rest = rest.get(length % 2..).unwrap_or(&[]);
    Some((Chunk { name: *name, data }, rest))
}

/// Reads a little-endian number of 24 bits.
pub(super) fn u24(bytes: &[u8]) -> Option<u32> {
    let &[a, b, c] = bytes.first_chunk()?;
    Some(u32::from_le_bytes([a, b, c, 0]))
}

/// Appends a chunk, padded to an even length.
pub(super) fn push_chunk(out: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(&(data.len() as u32).to_le_bytes());
    out.extend_from_slice(data);
    if data.len() % 2 == 1 {
        out.push(0);
    }
}
