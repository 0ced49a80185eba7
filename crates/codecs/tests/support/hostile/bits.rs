//! Packs bits into bytes, and makes the few compressed streams that hostile files need.

/// A bit writer that fills bytes from the lowest bit, as in DEFLATE and WebP.
#[derive(Default)]
pub(super) struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    /// Writes the lowest bits of a number, padded with zeros.
    pub(super) fn put(&mut self, value: u32, count: u32) {
        for bit in 0..count {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                let set = value.checked_shr(bit).unwrap_or(0) & 1;
                *last |= (set as u8) << (self.used % 8);
            }
            self.used += 1;
        }
    }

    /// Writes a Huffman code, whose highest bit comes first.
    pub(super) fn code(&mut self, code: u32, count: u32) {
        for bit in (0..count).rev() {
            self.put(code >> bit & 1, 1);
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Returns a zlib stream of this number of zeros, which is a thousandth as long.
pub(super) fn zeros(count: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    // A single block with fixed codes.
    bits.put(1, 1);
    bits.put(1, 2);
    let zero = |bits: &mut Bits| bits.code(0b0011_0000, 8);
    if count > 0 {
        zero(&mut bits);
        for _ in 0..(count - 1) / 258 {
            // A copy of 258 bytes from a distance of one byte.
            bits.code(0b1100_0101, 8);
            bits.code(0, 5);
        }
        (0..(count - 1) % 258).for_each(|_| zero(&mut bits));
    }
    bits.code(0, 7);
    let checksum = (count % 65_521) as u32 * 65_536 + 1;
    [&[0x78, 1][..], &bits.into_bytes(), &checksum.to_be_bytes()].concat()
}

/// Returns `count` empty deflate blocks, followed by the stream.
pub(super) fn after_empty_blocks(count: usize, stream: &[u8]) -> Vec<u8> {
    let empty = [0, 0, 0, 0xff, 0xff].repeat(count);
    [&stream[..2], &empty, &stream[2..]].concat()
}
