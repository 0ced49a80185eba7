//! Writing bits, with the zero behind each byte of ones that entropy-coded data need.

/// Bits behind what a file has so far.
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// How many of `bytes` are written.
    length: usize,
    /// Bits that wait, the last ones lowest.
    waiting: u64,
    free: u32,
}

impl BitWriter {
    /// Goes on behind `bytes`; there will be about `bits`.
    pub(super) fn new(mut bytes: Vec<u8>, bits: u64) -> Self {
        let length = bytes.len();
        // Few bytes are ones alone.
        let expected = bits / 8 + bits / 800 + 64;
        bytes.resize(length + usize::try_from(expected).unwrap_or(0), 0);
        Self {
            bytes,
            length,
            waiting: 0,
            free: 64,
        }
    }

    /// Makes room for `writes` more writes.
    #[inline(always)]
    pub(super) fn reserve(&mut self, writes: usize) {
        // Of at most 27 bits, and of bytes that may all be doubled.
        let most = 8 * writes + 16;
        if self.bytes.len() - self.length < most {
            let length = self.bytes.len();
            self.bytes.resize(length + length / 4 + most, 0);
        }
    }

    /// At most 32 bits; those of `bits` above `count` are 0.
    #[inline(always)]
    pub(super) fn write(&mut self, bits: u32, count: u32) {
        if count > self.free {
            // What is left of the accumulator takes the upper part.
            let over = count - self.free;
            let full = (self.waiting << (self.free & 63)) | u64::from(bits) >> over;
            self.flush(full);
            self.waiting = u64::from(bits);
            self.free = 64 - over;
        } else {
            self.waiting = (self.waiting << (count & 63)) | u64::from(bits);
            self.free -= count;
        }
    }

    #[inline(always)]
    fn flush(&mut self, full: u64) {
        let bytes = full.to_be_bytes();
        // Has any byte all bits set?
        let inverse = !full;
        if inverse.wrapping_sub(0x0101_0101_0101_0101) & full & 0x8080_8080_8080_8080 == 0 {
            self.bytes[self.length..self.length + 8].copy_from_slice(&bytes);
            self.length += 8;
        } else {
            self.stuffed(&bytes);
        }
    }

    fn stuffed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.bytes[self.length] = byte;
            self.length += 1;
            if byte == 0xff {
                self.bytes[self.length] = 0;
                self.length += 1;
            }
        }
    }

    /// Fills the last byte up with ones.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.reserve(2);
        let padding = self.free % 8;
        self.write((1 << padding) - 1, padding);
        let count = (64 - self.free) / 8;
        let rest = (self.waiting << (self.free & 63)).to_be_bytes();
        if count > 0 {
            self.stuffed(&rest[..count as usize]);
        }
        self.bytes.truncate(self.length);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_out_in_order_and_bytes_of_ones_are_followed_by_a_zero() {
        let mut random = 1u32;
        let mut writer = BitWriter::new(vec![7], 0);
        let mut expected = String::new();
        for round in 0..2000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let count = random >> 27;
            let ones = round % 3 == 0;
            let bits = if ones { u32::MAX } else { random } & ((1u64 << count) - 1) as u32;
            writer.reserve(1);
            writer.write(bits, count);
            if count > 0 {
                expected += &format!("{bits:0width$b}", width = count as usize);
            }
        }
        while !expected.len().is_multiple_of(8) {
            expected.push('1');
        }
        let mut bytes = vec![7];
        for at in (0..expected.len()).step_by(8) {
            let byte = u8::from_str_radix(&expected[at..at + 8], 2).expect("bits");
            bytes.push(byte);
            if byte == 0xff {
                bytes.push(0);
            }
        }
        assert!(writer.finish() == bytes);
    }
}
