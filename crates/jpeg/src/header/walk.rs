//! Walks from marker to marker through a JPEG file as libjpeg does. The header's reader and the decoder use it.

use crate::codes::{RST0, RST7};
use crate::tables::Table;

/// A position in the file that only moves forward.
#[derive(Clone)]
pub(crate) struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A marker's segment.
pub(crate) struct Segment<'a> {
    /// The value of the length field, which includes the field itself: at least 2 in a valid file.
    pub(crate) declared: usize,
    /// Offset in the file of the data behind the length field, in bytes.
    pub(crate) start: usize,
    /// The data behind the length field. Empty if the length is below 2.
    pub(crate) body: &'a [u8],
}

impl<'a> Walk<'a> {
    /// Starts a walk behind SOI. Returns `None` if the file does not begin with SOI.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        let begins = bytes.starts_with(&[0xff, 0xd8]);
        begins.then_some(Self { bytes, at: 2 })
    }

    /// Moves to the next marker and returns its code, or `None` at the end of the file. Bytes that belong to no marker
    /// are skipped.
    pub(crate) fn marker(&mut self) -> Option<u8> {
        loop {
            let rest = self.rest();
            let start = memchr::memchr(0xff, rest)?;
            let fill = rest[start..].iter().take_while(|&&byte| byte == 0xff);
            let fill = fill.count();
            let &code = rest.get(start + fill)?;
            self.at += start + fill + 1;
            if code != 0 {
                return Some(code);
            }
        }
    }

    /// Reads the segment at this position. Returns `None` if the file ends inside it.
    pub(crate) fn segment(&mut self) -> Option<Segment<'a>> {
        let rest = self.rest();
        let declared = usize::from(u16::from_be_bytes(*rest.first_chunk()?));
        let body = rest.get(2..declared.max(2))?;
        let start = self.at + 2;
        self.at += declared.max(2);
        Some(Segment {
            declared,
            start,
            body,
        })
    }

    /// Returns the offset of the next byte to read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns the bytes from this position to the end of the file.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Skips `length` bytes.
    pub(crate) fn pass(&mut self, length: usize) {
        self.at += length;
    }
}

/// Reads the quantisation tables of a DQT segment's body into `tables`. Returns `None` if they are malformed.
pub(crate) fn quantisation(mut body: &[u8], tables: &mut [Option<Table>; 4]) -> Option<()> {
    while let Some((&head, rest)) = body.split_first() {
        let wide = head >> 4 != 0;
        let length = if wide { 128 } else { 64 };
        let values = rest.get(..length)?;
        let mut table = [0; 64];
        for (k, step) in table.iter_mut().enumerate() {
            *step = if wide {
                u16::from_be_bytes([values[2 * k], values[2 * k + 1]])
            } else {
                values[k].into()
            };
        }
        *tables.get_mut(usize::from(head & 15))? = Some(table);
        body = &rest[length..];
    }
    Some(())
}

/// Returns the number of entropy-coded bytes at the beginning of `coded`: those before the first marker other than
/// RSTn.
#[must_use]
pub fn coded_length(coded: &[u8]) -> usize {
    let mut from = 0;
    while let Some(at) = memchr::memchr(0xff, &coded[from..]) {
        match coded.get(from + at + 1) {
            Some(0 | RST0..=RST7) => from += at + 2,
            Some(0xff) => from += at + 1,
            _ => return from + at,
        }
    }
    coded.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stray_bytes_and_fill_bytes_are_passed_over() {
        let file = [
            0xff, 0xd8, 7, 0xff, 0, 0xff, 0xff, 0xfe, 0, 3, 9, 0xff, 0xd9,
        ];
        let mut walk = Walk::new(&file).expect("it begins as one");
        assert_eq!(walk.marker(), Some(0xfe));
        let segment = walk.segment().expect("a whole segment");
        assert_eq!((segment.start, segment.body), (10, &[9][..]));
        assert_eq!((walk.marker(), walk.marker()), (Some(0xd9), None));
    }

    #[test]
    fn a_segment_that_the_file_cuts_short_is_none() {
        let file = [0xff, 0xd8, 0xff, 0xfe, 0, 4, 9];
        let mut walk = Walk::new(&file).expect("it begins as one");
        assert_eq!(walk.marker(), Some(0xfe));
        assert!(walk.segment().is_none());
    }
}
