//! Writes bits, and inserts a zero after each byte 0xFF, as entropy-coded data require.

use memchr::memchr;

/// Appends bits to a growing buffer.
#[derive(Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// Number of complete bytes in `bytes`.
    length: usize,
    /// The bits that follow the complete bytes, the first one in the highest position. All lower bits are 0.
    tail: u64,
    /// Number of bits in `tail`, at most 7.
    count: u32,
}

/// A finished sequence of bits. The unused bits of its last byte are 0.
pub(super) struct Bits {
    bytes: Vec<u8>,
    /// The number of bits.
    count: u64,
}

/// Maximum number of bits of a single write.
const MOST_BITS: u32 = 56;

impl BitWriter {
    /// Creates a writer with room for about `bits` bits.
    pub(super) fn new(bits: u64) -> Self {
        Self {
            bytes: vec![0; usize::try_from(bits / 8).unwrap_or(0) + 64],
            ..Self::default()
        }
    }

    /// Makes room for `bits` more bits.
    pub(super) fn reserve(&mut self, bits: u64) {
        // The last write stores a whole word.
        let room = usize::try_from(bits / 8).unwrap_or(0) + 16;
        if self.bytes.len() - self.length < room {
            let length = self.bytes.len();
            self.bytes.resize(length + length / 4 + room, 0);
        }
    }

    /// Writes the lowest `count` bits of `bits`, at most 56. The higher bits must be 0.
    ///
    /// Every call stores a whole word instead of branching on whether a word is full, which the processor could not
    /// predict.
    #[inline(always)]
    pub(super) fn write(&mut self, bits: u64, count: u32) {
        debug_assert!(count <= MOST_BITS, "{count} bits at once");
        let total = self.count + count;
        // If there are no bits at all, the shift by 64 wraps to a shift by 0, of a value that is 0.
        self.tail |= bits.wrapping_shl(64 - total);
        self.bytes[self.length..self.length + 8].copy_from_slice(&self.tail.to_be_bytes());
        self.length += (total / 8) as usize;
        self.tail <<= total & 0x38;
        self.count = total % 8;
    }

    /// Appends a finished sequence of bits.
    pub(super) fn append(&mut self, bits: &Bits) {
        let (words, rest) = bits.bytes.split_at((bits.count / 64 * 8) as usize);
        self.reserve(bits.count);
        for word in words.as_chunks().0 {
            let word = u64::from_be_bytes(*word);
            let full = self.tail | word >> self.count;
            self.bytes[self.length..self.length + 8].copy_from_slice(&full.to_be_bytes());
            self.length += 8;
            self.tail = word.checked_shl(64 - self.count).unwrap_or(0);
        }
        let mut bits_left = (bits.count % 64) as u32;
        for &byte in rest {
            let count = bits_left.min(8);
            self.write(u64::from(byte) >> (8 - count), count);
            bits_left -= count;
        }
    }

    /// Returns the bits that were written.
    pub(super) fn finish(mut self) -> Bits {
        self.reserve(0);
        self.write(0, 0);
        let count = 8 * self.length as u64 + u64::from(self.count);
        self.bytes.truncate(count.div_ceil(8) as usize);
        Bits {
            bytes: self.bytes,
            count,
        }
    }
}

impl Bits {
    /// Appends the bits to a file as entropy-coded data: inserts a zero after each byte 0xFF, and fills up the last
    /// byte with ones.
    pub(super) fn stuff(mut self, file: &mut Vec<u8>) {
        if let Some(last) = self.bytes.last_mut() {
            let padding = (self.count.next_multiple_of(8) - self.count) as u32;
            *last |= ((1u16 << padding) - 1) as u8;
        }
        // Few bytes are 0xFF and need a zero.
        file.reserve(self.bytes.len() + self.bytes.len() / 100 + 16);
        let mut rest = &self.bytes[..];
        while let Some(at) = memchr(0xff, rest) {
            let (run, tail) = rest.split_at(at + 1);
            file.extend_from_slice(run);
            file.push(0);
            rest = tail;
        }
        file.extend_from_slice(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns random writes, every third of which is all ones, and the bits they amount to as text.
    fn writes(seed: u64) -> (Vec<(u64, u32)>, String) {
        let mut random = seed;
        let mut expected = String::new();
        let one = |round| {
            random = (random.wrapping_mul(6_364_136_223_846_793_005))
                .wrapping_add(1_442_695_040_888_963_407);
            let count = (random >> 32) as u32 % 57;
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

    fn written(writes: &[(u64, u32)]) -> Bits {
        let mut writer = BitWriter::default();
        for &(bits, count) in writes {
            writer.reserve(count.into());
            writer.write(bits, count);
        }
        writer.finish()
    }

    /// Returns the bytes of a file that consists of a byte 7 and then the bits in `expected` (digits 0 and 1), filled
    /// up with ones to whole bytes and stuffed.
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

    fn file(bits: Bits) -> Vec<u8> {
        let mut file = vec![7];
        bits.stuff(&mut file);
        file
    }

    #[test]
    fn bits_come_out_in_order_and_bytes_of_ones_are_followed_by_a_zero() {
        let (writes, expected) = writes(1);
        assert!(file(written(&writes)) == stuffed(expected));
    }

    #[test]
    fn what_is_left_of_the_last_byte_is_ones() {
        for count in 0..=17 {
            let bits = written(&[(0, count)]);
            assert_eq!(file(bits), stuffed("0".repeat(count as usize)));
        }
    }

    #[test]
    fn pieces_joined_are_what_is_written_in_one_go() {
        let (writes, expected) = writes(2);
        // Pieces of none to many bits, which begin anywhere in a word.
        for length in [1, 2, 3, 7, 50, 333, 2000] {
            let mut writer = BitWriter::default();
            for piece in writes.chunks(length) {
                writer.append(&written(piece));
            }
            assert!(
                file(writer.finish()) == stuffed(expected.clone()),
                "pieces of {length}"
            );
        }
        // A whole word behind a few bits: what is left of it waits when nothing else comes.
        let mut writer = BitWriter::default();
        writer.append(&written(&[(0b101, 3)]));
        writer.append(&written(&[(u32::MAX.into(), 32); 2]));
        let expected = "101".to_owned() + &"1".repeat(64);
        assert!(file(writer.finish()) == stuffed(expected));
        let whole_words = written(&[(u32::MAX.into(), 32); 4]);
        let mut writer = BitWriter::default();
        writer.append(&whole_words);
        writer.append(&whole_words);
        assert!(file(writer.finish()) == stuffed("1".repeat(256)));
    }
}
