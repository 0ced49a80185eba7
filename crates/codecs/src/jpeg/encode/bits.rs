//! Writing bits, with the zero behind each byte of ones that entropy-coded data need.

/// Bits behind what a file has so far; not `STUFFED`: without those zeros, to be joined with others.
pub(super) struct BitWriter<const STUFFED: bool> {
    bytes: Vec<u8>,
    /// How many of `bytes` are written.
    length: usize,
    /// Bits that wait, the last ones lowest.
    waiting: u64,
    free: u32,
}

/// Bits without stuffing.
pub(super) struct Bits {
    bytes: Vec<u8>,
    /// How many there are; those behind the last one are 0.
    count: u64,
}

impl<const STUFFED: bool> BitWriter<STUFFED> {
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
        // Of bytes that may all be doubled.
        let most = 16 * writes + 16;
        if self.bytes.len() - self.length < most {
            let length = self.bytes.len();
            self.bytes.resize(length + length / 4 + most, 0);
        }
    }

    /// At most 58 bits; those of `bits` above `count` are 0.
    #[inline(always)]
    pub(super) fn write(&mut self, bits: u64, count: u32) {
        if count > self.free {
            // What is left of the accumulator takes the upper part.
            let over = count - self.free;
            let full = (self.waiting << (self.free & 63)) | bits >> over;
            self.flush(full);
            self.waiting = bits;
            self.free = 64 - over;
        } else {
            self.waiting = (self.waiting << (count & 63)) | bits;
            self.free -= count;
        }
    }

    #[inline(always)]
    fn flush(&mut self, full: u64) {
        let bytes = full.to_be_bytes();
        // Has any byte all bits set?
        let inverse = !full;
        let ones = inverse.wrapping_sub(0x0101_0101_0101_0101) & full & 0x8080_8080_8080_8080 != 0;
        if !(STUFFED && ones) {
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

    /// The bits that wait, in the upper part.
    fn rest(&self) -> [u8; 8] {
        self.waiting
            .checked_shl(self.free)
            .unwrap_or(0)
            .to_be_bytes()
    }
}

impl BitWriter<false> {
    /// What was written.
    pub(super) fn finish(mut self) -> Bits {
        let rest = self.rest();
        let waiting = 64 - self.free;
        let count = 8 * self.length as u64 + u64::from(waiting);
        self.bytes.truncate(self.length);
        self.bytes
            .extend_from_slice(&rest[..waiting.div_ceil(8) as usize]);
        Bits {
            bytes: self.bytes,
            count,
        }
    }
}

impl BitWriter<true> {
    /// Writes what another one has.
    pub(super) fn append(&mut self, bits: &Bits) {
        let (words, rest) = bits.bytes.split_at((bits.count / 64 * 8) as usize);
        for word in words.chunks_exact(8) {
            self.reserve(1);
            let word = u64::from_be_bytes(word.try_into().unwrap_or_default());
            let full = match self.free {
                64 => word,
                0 => self.waiting,
                free => self.waiting << free | word >> (64 - free),
            };
            self.flush(full);
            self.waiting = word;
        }
        let mut left = (bits.count % 64) as u32;
        for &byte in rest {
            let count = left.min(8);
            self.reserve(1);
            self.write(u64::from(byte) >> (8 - count), count);
            left -= count;
        }
    }

    /// Fills the last byte up with ones.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.reserve(2);
        let padding = self.free % 8;
        self.write((1 << padding) - 1, padding);
        let count = (64 - self.free) / 8;
        let rest = self.rest();
        self.stuffed(&rest[..count as usize]);
        self.bytes.truncate(self.length);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes, of which every third is ones, and what they are.
    fn writes(seed: u64) -> (Vec<(u64, u32)>, String) {
        let mut random = seed;
        let mut expected = String::new();
        let one = |round| {
            random = (random.wrapping_mul(6_364_136_223_846_793_005))
                .wrapping_add(1_442_695_040_888_963_407);
            let count = (random >> 32) as u32 % 59;
            let ones = round % 3 == 0;
            let bits = if ones { u64::MAX } else { random } & ((1u64 << count) - 1);
            if count > 0 {
                expected += &format!("{bits:0width$b}", width = count as usize);
            }
            (bits, count)
        };
        let writes = (0..2000).map(one).collect();
        (writes, expected)
    }

    fn write<const STUFFED: bool>(writer: &mut BitWriter<STUFFED>, writes: &[(u64, u32)]) {
        for &(bits, count) in writes {
            writer.reserve(1);
            writer.write(bits, count);
        }
    }

    /// These bits behind a 7, as a file has them.
    fn stuffed(mut expected: String) -> Vec<u8> {
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
        bytes
    }

    #[test]
    fn bits_come_out_in_order_and_bytes_of_ones_are_followed_by_a_zero() {
        let (writes, expected) = writes(1);
        let mut writer = BitWriter::<true>::new(vec![7], 0);
        write(&mut writer, &writes);
        assert!(writer.finish() == stuffed(expected));
    }

    #[test]
    fn pieces_joined_are_what_is_written_in_one_go() {
        let (writes, expected) = writes(2);
        // Pieces of none to many bits, which begin anywhere in a word.
        for length in [1, 2, 3, 7, 50, 333, 2000] {
            let mut writer = BitWriter::<true>::new(vec![7], 0);
            for piece in writes.chunks(length) {
                let mut apart = BitWriter::<false>::new(Vec::new(), 0);
                write(&mut apart, piece);
                writer.append(&apart.finish());
            }
            assert!(
                writer.finish() == stuffed(expected.clone()),
                "pieces of {length}"
            );
        }
        let whole_words = vec![(u32::MAX.into(), 32); 5];
        let mut apart = BitWriter::<false>::new(Vec::new(), 0);
        write(&mut apart, &whole_words);
        let apart = apart.finish();
        let mut writer = BitWriter::<true>::new(vec![7], 0);
        writer.append(&apart);
        writer.append(&apart);
        assert!(writer.finish() == stuffed("1".repeat(320)));
    }
}
