//! Boxes of ISO 14496-12: a length, a four-letter type and a payload. Nothing in this module is recursive or reads
//! beyond the enclosing payload.

use andon_pixels::{Error, Result};

/// A four-letter type, such as that of a box.
pub(crate) type Kind = [u8; 4];

/// A box in a sequence of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Box<'a> {
    /// The type of the box.
    pub(crate) kind: Kind,
    /// The payload, or only its beginning if the box is cut off.
    pub(crate) data: &'a [u8],
    /// Whether the box is complete.
    pub(crate) whole: bool,
    /// Offset of the end of the box, in bytes, from the start of the sequence.
    pub(crate) end: usize,
}

/// Iterator over the boxes in a sequence of bytes. It ends at the first position without a readable header.
#[derive(Clone, Debug)]
pub(crate) struct Boxes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Boxes<'a> {
    /// Iterates over the boxes of a file or of a box's payload.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }
}

impl<'a> Iterator for Boxes<'a> {
    type Item = Box<'a>;

    fn next(&mut self) -> Option<Box<'a>> {
        let rest = self.bytes.get(self.at..)?;
        let (size, body) = rest.split_first_chunk()?;
        let (kind, body) = body.split_first_chunk()?;
        let (size, header) = match u32::from_be_bytes(*size) {
            0 => (rest.len() as u64, 8),
            1 => (u64::from_be_bytes(*body.first_chunk()?), 16),
            size => (u64::from(size), 8),
        };
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size < header {
            return None;
        }
        let end = size.min(rest.len());
        self.at += end;
        Some(Box {
            kind: *kind,
            data: &rest[header.min(end)..end],
            whole: size <= rest.len(),
            end: self.at,
        })
    }
}

/// Reader of consecutive numbers from a payload. Reading beyond its end is an error.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    format: &'static str,
}

impl<'a> Fields<'a> {
    /// Starts to read a payload.
    pub(crate) fn of(payload: &'a [u8], format: &'static str) -> Self {
        Self {
            rest: payload,
            format,
        }
    }

    /// Starts to read the payload of a full box. Returns its version, its flags and the reader for the rest.
    pub(crate) fn full(payload: &'a [u8], format: &'static str) -> Result<(u8, u32, Self)> {
        let mut fields = Self::of(payload, format);
        let word = fields.u32()?;
        Ok(((word >> 24) as u8, word & 0xff_ffff, fields))
    }

    fn cut_off(&self) -> Error {
        Error::broken(self.format, "a box of its container is cut off")
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (bytes, rest) = self
            .rest
            .split_first_chunk()
            .ok_or_else(|| self.cut_off())?;
        self.rest = rest;
        Ok(*bytes)
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn kind(&mut self) -> Result<Kind> {
        self.array()
    }

    /// Reads a number of 0, 2, 4 or 8 bytes. A number of 0 bytes is 0.
    pub(crate) fn sized(&mut self, bytes: u8) -> Result<u64> {
        match bytes {
            0 => Ok(0),
            2 => self.u16().map(u64::from),
            4 => self.u32().map(u64::from),
            8 => self.u64(),
            _ => Err(Error::broken(
                self.format,
                format!("its container counts in {bytes} bytes"),
            )),
        }
    }

    /// Reads a number of 32 bits if `long` is set, otherwise of 16 bits as in early versions.
    pub(crate) fn long_if(&mut self, long: bool) -> Result<u32> {
        match long {
            true => self.u32(),
            false => self.u16().map(u32::from),
        }
    }

    /// Reads a text that ends with a zero byte or with the payload.
    pub(crate) fn text(&mut self) -> &'a [u8] {
        let end = memchr::memchr(0, self.rest).unwrap_or(self.rest.len());
        let text = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        text
    }

    /// Returns the bytes that have not been read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}
