//! Counts the groups of prefix codes in a lossless bitstream (WebP Lossless §6.2). For each group, libwebp builds
//! tables of at least five kilobytes before the first pixel, while a group takes as little as 20 bits in the file.
//!
//! The groups are counted by reading everything before the pixels: the small images of the transforms, and the image
//! that assigns a group to each block of pixels. The largest group number in that image determines the result.

use andon_pixels::{Error, Result};

use super::NAME;
use super::riff::Chunks;

/// Checks the number of groups of prefix codes in the lossless bitstreams among these chunks, for an image of `size`
/// px. A bitstream that cannot be read passes, because libwebp reports the error.
///
/// # Errors
/// `Unsupported` if a bitstream has too many groups.
pub(super) fn check(mut chunks: Chunks<'_>, size: (u32, u32)) -> Result<()> {
    // A group applies to squares of 4 px or more, and takes at least 20 bits.
    let squares = u64::from(size.0.div_ceil(4)) * u64::from(size.1.div_ceil(4));
    let most = squares.min(chunks.rest().len() as u64 * 8 / 20);
    if most <= FEW_GROUPS {
        return Ok(());
    }
    loop {
        let rest = chunks.rest();
        let (name, data) = match chunks.next() {
            None => return Ok(()),
            Some(Ok(chunk)) => (chunk.name, chunk.data),
            // libwebp decodes the available part of a chunk that is cut off, so it is checked as well.
            Some(Err(_)) => match rest.split_first_chunk() {
                Some((name, rest)) => (*name, rest.get(4..).unwrap_or_default()),
                None => return Ok(()),
            },
        };
        let groups = match (&name, data) {
            // Skips a signature and the size, which are known. The rest has the form of an alpha plane.
            (b"VP8L", data) => data.get(5..).and_then(|data| count(data, size)),
            // Only alpha planes with lossless compression contain groups.
            (b"ALPH", [head, data @ ..]) if head & 3 == 1 => count(data, size),
            _ => None,
        };
        if let Some(groups) = groups.filter(|groups| *groups > MOST_GROUPS) {
            return Err(Error::unsupported(
                NAME,
                format!("{groups} groups of prefix codes (up to {MOST_GROUPS} are read)"),
            ));
        }
    }
}

/// Maximum number of groups of prefix codes in a bitstream, if they are counted. libwebp's encoder writes no more.
pub(super) const MOST_GROUPS: u32 = 2600;

/// Number of groups of prefix codes up to which they are not counted: if neither the file's length nor the image's size
/// permits more, the file is accepted. The tables of this many groups take at most 24 MiB.
const FEW_GROUPS: u64 = 4096;

/// Bytes that libwebp allocates for each group of prefix codes.
pub(super) const GROUP_BYTES: u64 = 6 << 10;

/// Returns the number of groups of prefix codes that the pixels of an image of this size may use, or `None` if the
/// bitstream is broken.
fn count(stream: &[u8], (mut width, height): (u32, u32)) -> Option<u32> {
    let mut bits = Bits {
        bytes: stream,
        at: 0,
    };
    let part = |side: u32, bits: u32| side.div_ceil(1 << bits);
    let mut transforms_seen = [false; 4];
    while bits.take(1)? == 1 {
        let kind = bits.take(2)?;
        // libwebp rejects repeated transforms, too.
        if std::mem::replace(&mut transforms_seen[kind as usize], true) {
            return None;
        }
        match kind {
            PREDICTOR | COLOUR => {
                let block = bits.take(3)? + 2;
                bits.image(part(width, block), part(height, block))?;
            }
            INDICES => {
                let colours = bits.take(8)? + 1;
                bits.image(colours, 1)?;
                width = part(
                    width,
                    match colours {
                        0..=2 => 3,
                        3..=4 => 2,
                        5..=16 => 1,
                        _ => 0,
                    },
                );
            }
            _ => {}
        }
    }
    bits.cache()?;
    match bits.take(1)? {
        0 => Some(1),
        _ => {
            let block = bits.take(3)? + 2;
            let most = bits.image(part(width, block), part(height, block))?;
            Some(most + 1)
        }
    }
}

const PREDICTOR: u32 = 0;
const COLOUR: u32 = 1;
const INDICES: u32 = 3;

/// A reader of a bitstream that stores the lowest bit of a byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    /// Position in bits from the beginning.
    at: usize,
}

impl Bits<'_> {
    /// Returns the next 16 bits as a number, without consuming them. Bits beyond the end are zero.
    fn peek(&self) -> u32 {
        let bytes = self.bytes.get(self.at / 8..).unwrap_or_default();
        let three = bytes.iter().take(3).enumerate();
        let word = three.fold(0, |word, (place, byte)| {
            word | u32::from(*byte) << (8 * place)
        });
        word >> (self.at % 8) & 0xffff
    }

    fn pass(&mut self, count: u32) -> Option<()> {
        self.at += count as usize;
        (self.at <= 8 * self.bytes.len()).then_some(())
    }

    fn take(&mut self, count: u32) -> Option<u32> {
        let value = self.peek() & ((1 << count) - 1);
        self.pass(count)?;
        Some(value)
    }

    fn symbol(&mut self, code: &Code) -> Option<u32> {
        let (symbol, length) = code.look(self.peek())?;
        self.pass(length)?;
        Some(symbol)
    }

    /// Reads the number of colours in the colour cache, which is 0 without a cache.
    fn cache(&mut self) -> Option<u32> {
        match self.take(1)? {
            0 => Some(0),
            _ => Some(self.take(4)?)
                .filter(|bits| (1..=11).contains(bits))
                .map(|bits| 1 << bits),
        }
    }

    /// Reads an image that is coded with one group of prefix codes. Returns the maximum of red × 256 + green over its
    /// pixels. Pixels that are copied or come from the colour cache repeat earlier ones, so they cannot exceed this
    /// maximum.
    fn image(&mut self, width: u32, height: u32) -> Option<u32> {
        let cache = self.cache()?;
        let green = self.code(256 + LENGTHS + cache)?;
        let other_codes = [self.code(256)?, self.code(256)?, self.code(256)?];
        let distance = self.code(DISTANCES)?;
        let pixels = u64::from(width) * u64::from(height);
        let (mut read, mut most) = (0, 0);
        while read < pixels {
            match self.symbol(&green)? {
                value @ 0..256 => {
                    let red = self.symbol(&other_codes[0])?;
                    self.symbol(&other_codes[1])?;
                    self.symbol(&other_codes[2])?;
                    most = most.max(red << 8 | value);
                    read += 1;
                }
                length if length < 256 + LENGTHS => {
                    read += self.prefixed(length - 256)?;
                    let distance = self.symbol(&distance)?;
                    self.prefixed(distance)?;
                }
                _ => read += 1,
            }
        }
        Some(most)
    }

    /// Reads the rest of a length or distance that begins with this prefix symbol, and returns the length or distance.
    fn prefixed(&mut self, symbol: u32) -> Option<u64> {
        if symbol < 4 {
            return Some(u64::from(symbol) + 1);
        }
        let more = (symbol - 2) >> 1;
        let base = u64::from(2 + (symbol & 1)) << more;
        // The number has up to 18 bits, more than one call can read.
        let low = self.take(more.min(9))?;
        let high = self.take(more - more.min(9))?;
        Some(base + u64::from(low | high << more.min(9)) + 1)
    }

    /// Reads a prefix code over `symbols` symbols.
    fn code(&mut self, symbols: u32) -> Option<Code> {
        if self.take(1)? == 1 {
            let has_second = self.take(1)?;
            let wide = self.take(1)?;
            let first = self.take(if wide == 1 { 8 } else { 1 })?;
            let mut lengths = vec![0; symbols as usize];
            let second = match has_second {
                0 => first,
                _ => self.take(8)?,
            };
            for symbol in [first, second] {
                // libwebp ignores symbols outside the code's alphabet.
                if let Some(length) = lengths.get_mut(symbol as usize) {
                    *length = 1;
                }
            }
            return Code::of(&lengths);
        }
        let mut lengths = [0; ORDER.len()];
        let count = self.take(4)? as usize + 4;
        for place in ORDER.get(..count)? {
            lengths[*place] = self.take(3)? as u8;
        }
        let of_lengths = Code::of(&lengths)?;
        let mut remaining = match self.take(1)? {
            0 => symbols,
            _ => {
                let bits = 2 + 2 * self.take(3)?;
                2 + self.take(bits)?
            }
        };
        let mut lengths = Vec::with_capacity(symbols as usize);
        let mut last = 8;
        while lengths.len() < symbols as usize && remaining > 0 {
            remaining -= 1;
            let (length, times) = match self.symbol(&of_lengths)? {
                length @ 0..16 => (length as u8, 1),
                16 => (last, 3 + self.take(2)?),
                17 => (0, 3 + self.take(3)?),
                _ => (0, 11 + self.take(7)?),
            };
            if length > 0 {
                last = length;
            }
            lengths.extend(std::iter::repeat_n(length, times as usize));
        }
        (lengths.len() <= symbols as usize).then_some(())?;
        Code::of(&lengths)
    }
}

/// Number of symbols for the length of a copy.
const LENGTHS: u32 = 24;
/// Number of symbols for the distance of a copy.
const DISTANCES: u32 = 40;

/// The order in which the lengths of the codes for code lengths are stored.
const ORDER: [usize; 19] = [
    17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
];

/// A prefix code for decoding.
struct Code {
    /// For each value of the next [`SHORT`] bits, the symbol and the length of its code in bits. The length is [`LONG`]
    /// if the code has more than [`SHORT`] bits.
    short: [(u16, u8); 1 << SHORT],
    /// Symbols in the order of their codes.
    symbols: Vec<u16>,
    /// Number of symbols with each code length.
    counts: [u32; LONGEST + 1],
}

/// Length of the longest code in bits.
const LONGEST: usize = 15;

/// Length in bits of the longest code that is looked up in a table.
const SHORT: u32 = 8;

/// Placeholder for the length of a code that is too long for the table.
const LONG: u8 = u8::MAX;

impl Code {
    /// Builds the prefix code with these code lengths, or returns `None` if there is no such code.
    fn of(lengths: &[u8]) -> Option<Self> {
        let mut counts = [0_u32; LONGEST + 1];
        for length in lengths.iter().filter(|length| **length > 0) {
            *counts.get_mut(usize::from(*length))? += 1;
        }
        let (mut places, mut codes) = ([0; LONGEST + 2], [0_u32; LONGEST + 2]);
        for length in 1..=LONGEST {
            places[length + 1] = places[length] + counts[length];
            codes[length + 1] = (codes[length] + counts[length]) << 1;
        }
        let mut code = Self {
            short: [(0, LONG); 1 << SHORT],
            symbols: vec![0; places[LONGEST + 1] as usize],
            counts,
        };
        for (symbol, length) in (0_u16..).zip(lengths) {
            let length = usize::from(*length);
            if length == 0 {
                continue;
            }
            *code.symbols.get_mut(places[length] as usize)? = symbol;
            places[length] += 1;
            let code_bits = codes[length];
            codes[length] += 1;
            if length as u32 <= SHORT {
                // The bitstream has the bits of a code in reverse order.
                let first = (code_bits.reverse_bits() >> (32 - length)) as usize;
                let all = code.short.iter_mut().skip(first).step_by(1 << length);
                all.for_each(|entry| *entry = (symbol, length as u8));
            }
        }
        match code.symbols[..] {
            [] => return None,
            // The code for a single symbol has no bits.
            [only] => code.short.fill((only, 0)),
            _ => {}
        }
        Some(code)
    }

    /// Returns the symbol whose code is at the beginning of `bits`, and the length of the code in bits.
    fn look(&self, bits: u32) -> Option<(u32, u32)> {
        let (symbol, length) = self.short[(bits & 0xff) as usize];
        if length != LONG {
            return Some((symbol.into(), length.into()));
        }
        let (mut code, mut first, mut index) = (0, 0, 0);
        for length in 1..=LONGEST {
            code |= bits >> (length - 1) & 1;
            let count = self.counts[length];
            if code < first + count {
                let symbol = self.symbols.get((index + code - first) as usize)?;
                return Some(((*symbol).into(), length as u32));
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_beginning_of_a_sample_and_any_bits_are_read_or_not() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/webp/");
        let file = std::fs::read(format!("{folder}lossless.webp")).unwrap();
        let stream = &file[25..];
        let whole = count(stream, (200, 113));
        assert!(whole.is_some_and(|groups| groups < 64), "{whole:?}");
        for length in 0..stream.len().min(2000) {
            let groups = count(&stream[..length], (200, 113));
            assert!(groups.is_none() || groups == whole, "{length}: {groups:?}");
        }
        let mut bits = 1_u64;
        for _ in 0..2000 {
            let stream: Vec<u8> = (0..64)
                .map(|_| {
                    bits ^= bits << 13;
                    bits ^= bits >> 7;
                    bits ^= bits << 17;
                    bits as u8
                })
                .collect();
            let _ = count(&stream, (640, 480));
        }
    }
}
