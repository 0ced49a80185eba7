//! The container: chunks of a four-letter name, a length, and data padded to an even length.

use andon_pixels::Error;

use super::NAME;

/// Bits of the VP8X chunk's first byte.
pub(super) mod flags {
    /// There is a colour profile.
    pub(in super::super) const ICC: u8 = 0x20;
    /// Some pixel is not opaque.
    pub(in super::super) const ALPHA: u8 = 0x10;
    /// There is an EXIF block.
    pub(in super::super) const EXIF: u8 = 0x08;
    /// There is an XMP packet.
    pub(in super::super) const XMP: u8 = 0x04;
    /// There are frames.
    pub(in super::super) const ANIMATION: u8 = 0x02;
}

/// Bits of the last byte of a frame's header.
pub(super) mod frame_flags {
    /// Its pixels take the place of what is there.
    pub(in super::super) const REPLACE: u8 = 0x02;
    /// Its place becomes clear before the next frame.
    pub(in super::super) const CLEAR: u8 = 0x01;
}

/// One chunk of a file in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'a> {
    /// Its name.
    pub(super) name: [u8; 4],
    /// Its data, padding left out.
    pub(super) data: &'a [u8],
}

/// The chunks in a run of bytes. A chunk that is cut off ends the walk with `Err`.
#[derive(Clone, Debug)]
pub(super) struct Chunks<'a> {
    rest: &'a [u8],
}

impl<'a> Chunks<'a> {
    /// The chunks of a file, and whether all the bytes that its header promises are there.
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

    /// The chunks in a part of a file.
    pub(super) fn of(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// What has not been walked yet.
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

/// 24 bits, little-endian.
pub(super) fn u24(bytes: &[u8]) -> Option<u32> {
    let &[a, b, c] = bytes.first_chunk()?;
    Some(u32::from_le_bytes([a, b, c, 0]))
}

/// Appends a chunk.
pub(super) fn push_chunk(out: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(&(data.len() as u32).to_le_bytes());
    out.extend_from_slice(data);
    if data.len() % 2 == 1 {
        out.push(0);
    }
}
