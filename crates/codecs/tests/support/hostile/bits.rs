//! Bits into bytes, and the few compressed streams that hostile files need.

/// Bits, the lowest of a byte first, as DEFLATE and WebP have them.
#[derive(Default)]
pub(super) struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    /// The lowest bits of a number, and zeros behind them.
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

    /// A Huffman code, whose highest bit comes first.
    pub(super) fn code(&mut self, code: u32, count: u32) {
        for bit in (0..count).rev() {
            self.put(code >> bit & 1, 1);
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// A zlib stream of that many zeros: a thousandth of their number.
pub(super) fn zeros(count: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    // One block, the last, with fixed codes.
    bits.put(1, 1);
    bits.put(1, 2);
    let zero = |bits: &mut Bits| bits.code(0b0011_0000, 8);
    if count > 0 {
        zero(&mut bits);
        for _ in 0..(count - 1) / 258 {
            // 258 bytes from one byte before.
            bits.code(0b1100_0101, 8);
            bits.code(0, 5);
        }
        (0..(count - 1) % 258).for_each(|_| zero(&mut bits));
    }
    bits.code(0, 7);
    let checksum = (count % 65_521) as u32 * 65_536 + 1;
    [&[0x78, 1][..], &bits.into_bytes(), &checksum.to_be_bytes()].concat()
}

/// Deflated nothing, over and over: `count` empty blocks, and then what is there.
pub(super) fn after_empty_blocks(count: usize, stream: &[u8]) -> Vec<u8> {
    let empty = [0, 0, 0, 0xff, 0xff].repeat(count);
    [&stream[..2], &empty, &stream[2..]].concat()
}
