//! A most-significant-bit-first reader over unstuffed entropy-coded bytes.

use std::ops::Range;

/// A reader of the bits of a part of `data`. After the end of the part, it reads the rest of the data, and after the
/// end of the data, zeros. [`Bits::overrun`] reports whether it has read beyond the part.
///
/// Functions that are rarely called take and return a copy of the reader instead of a reference to it, because a
/// reader whose address is taken cannot stay in registers.
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    data: &'a [u8],
    /// Offset in `data` of the end of the part that is read, in bytes.
    end: usize,
    /// Offset in `data` of the next byte to load into `buffer`.
    position: usize,
    /// Loaded bits, left-aligned. The bits below the first `count` are 0, or already those of the data that are loaded
    /// next: loading them again changes nothing.
    buffer: u64,
    /// Number of loaded bits in `buffer` that have not been consumed yet.
    count: u32,
}

impl<'a> Bits<'a> {
    /// Creates a reader of all of `data`.
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self::within(data, 0..data.len())
    }

    /// Creates a reader of the bytes `part` of `data`.
    pub(super) fn within(data: &'a [u8], part: Range<usize>) -> Self {
        Self {
            data,
            end: part.end,
            position: part.start,
            buffer: 0,
            count: 0,
        }
    }

    /// Loads bytes until at least 56 bits are available. Every call loads 8 bytes, without a branch except at the end
    /// of the data. Only the bytes that fit whole into the buffer count as loaded, and the next call loads the rest
    /// again (Giesen, "Reading bits in far too many ways", variant 4).
    #[inline(always)]
    pub(super) fn refill(&mut self) {
        let word = match self
            .data
            .get(self.position..)
            .and_then(|rest| rest.first_chunk::<8>())
        {
            Some(bytes) => u64::from_be_bytes(*bytes),
            None => last_bytes(self.data, self.position),
        };
        self.buffer |= word >> self.count;
        self.position += ((63 - self.count) >> 3) as usize;
        self.count |= 56;
    }

    /// Returns the next `n` bits (1 to 32) without consuming them.
    #[inline(always)]
    pub(super) fn peek(&self, n: u32) -> usize {
        (self.buffer >> (64 - n)) as usize
    }

    /// Consumes `n` bits, which `refill` must have made available.
    #[inline(always)]
    pub(super) fn consume(&mut self, n: u32) {
        self.buffer <<= n;
        self.count = self.count.wrapping_sub(n);
    }

    /// Returns how many bits may be consumed before the next refill.
    #[inline(always)]
    pub(super) fn available(&self) -> u32 {
        self.count
    }

    /// Consumes the next `n` bits (0 to 32) and returns them as a number, refilling if needed.
    #[inline(always)]
    pub(super) fn take(&mut self, n: u32) -> u32 {
        if self.count < n {
            self.refill();
        }
        // In two steps, because n = 0 would shift by 64.
        let value = (self.buffer >> 1 >> (63 - n)) as u32;
        self.consume(n);
        value
    }

    /// Returns the position of the next bit, counted from the beginning of the data.
    #[inline(always)]
    pub(super) fn consumed(&self) -> u64 {
        self.position as u64 * 8 - u64::from(self.count)
    }

    /// Whether bits after the end of the part that this reader reads were consumed.
    pub(super) fn overrun(&self) -> bool {
        self.consumed() > self.end as u64 * 8
    }
}

/// Returns the 8 bytes from `position`, with zeros beyond the end of `data`.
#[cold]
#[inline(never)]
fn last_bytes(data: &[u8], position: usize) -> u64 {
    let mut word = [0u8; 8];
    let rest = data.get(position..).unwrap_or_default();
    for (to, from) in word.iter_mut().zip(rest) {
        *to = *from;
    }
    u64::from_be_bytes(word)
}

/// Decodes a JPEG magnitude: `size` bits (1 to 15) whose leading zero means negative (T.81, F.2.2.1 EXTEND).
#[inline(always)]
pub(super) fn extend(bits: u32, size: u32) -> i32 {
    let half = 1i32 << (size - 1);
    let value = bits as i32;
    if value < half {
        value - 2 * half + 1
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_in_order_across_refills_and_end_in_zeros() {
        let data: Vec<u8> = (0..40u8).map(|i| i.wrapping_mul(37)).collect();
        let bit = |i: usize| u32::from(data.get(i / 8).map_or(0, |b| b >> (7 - i % 8) & 1));
        let mut bits = Bits::new(&data);
        let mut at = 0;
        for n in (1..=17).cycle().take(60) {
            let expected = (0..n as usize).fold(0, |acc, i| acc << 1 | bit(at + i));
            assert_eq!(bits.take(n), expected, "{n} bits at {at}");
            at += n as usize;
            assert_eq!(bits.overrun(), at > data.len() * 8, "overrun at {at}");
        }
    }

    #[test]
    fn a_part_is_read_on_beyond_its_end_and_tells() {
        let mut bits = Bits::within(&[1, 2, 3, 4], 1..3);
        assert_eq!((bits.take(16), bits.overrun()), (0x0203, false));
        assert_eq!((bits.take(1), bits.overrun()), (0, true));
        assert_eq!(bits.take(15), 0x0400);
    }

    #[test]
    fn magnitudes_extend_as_in_the_standard() {
        assert_eq!((extend(0, 1), extend(1, 1)), (-1, 1));
        assert_eq!(
            (
                extend(0b000, 3),
                extend(0b011, 3),
                extend(0b100, 3),
                extend(0b111, 3)
            ),
            (-7, -4, 4, 7)
        );
    }
}
