//! LZW decompression of a frame's indices.
//!
//! We do not use the `gif` crate's decompressor, because it returns wrong pixels if they are requested in small
//! portions (which interlaced rows and interrupts both need), and rejects streams with repeated clear codes. Every
//! string of the dictionary has already been written to the output, followed by the pixel that extends it. A dictionary
//! entry is therefore a position and a length in the output, and decoding a code is a copy.

use andon_pixels::{Error, Interrupt, Result};

use super::NAME;
use crate::guard;

/// Unpacks `pixels` indices from the sub-blocks at the start of `data`. Data after the last pixel is ignored.
///
/// # Errors
/// `Broken` if there are fewer indices; `Interrupted`.
pub(super) fn unpack(
    data: &[u8],
    index_bits: u8,
    pixels: usize,
    interrupt: &dyn Interrupt,
) -> Result<Vec<u8>> {
    let mut out = vec![0; pixels];
    unpack_to(&mut out, &mut 0, data, index_bits, interrupt)?;
    Ok(out)
}

/// Unpacks up to `pixels` indices, ending at damage or the end of the file.
pub(super) fn unpack_there(
    data: &[u8],
    index_bits: u8,
    pixels: usize,
    interrupt: &dyn Interrupt,
) -> Result<Vec<u8>> {
    let mut out = vec![0; pixels];
    let mut filled = 0;
    match unpack_to(&mut out, &mut filled, data, index_bits, interrupt) {
        Err(Error::Broken { .. }) => out.truncate(filled),
        made => made?,
    }
    Ok(out)
}

/// Fills `out` with indices. `filled` is always the number of indices written so far, also after an error.
fn unpack_to(
    out: &mut [u8],
    filled: &mut usize,
    data: &[u8],
    index_bits: u8,
    interrupt: &dyn Interrupt,
) -> Result<()> {
    // Colour tables have up to 8 bits, but some writers declare a larger index size and use only small indices.
    if !(1..MOST_BITS).contains(&index_bits) {
        return Err(Error::broken(NAME, "its indices have an impossible size"));
    }
    let clear = 1 << index_bits;
    let end = clear + 1;
    let mut codes = Codes::new(data);
    let mut strings = [Span::default(); STRINGS];

    let (mut bits, mut next, mut last) = (index_bits + 1, end + 1, None::<Span>);
    let mut look = 0;
    while *filled < out.len() {
        if *filled >= look {
            guard::check_interrupt(interrupt)?;
            look = *filled + PIXELS_BETWEEN_LOOKS;
        }
        let code = codes.next(bits).ok_or_else(too_few)?;
        if code == clear {
            (bits, next, last) = (index_bits + 1, end + 1, None);
            continue;
        }
        if code == end {
            return Err(too_few());
        }
        let written = *filled;
        let length = match last {
            _ if code < clear => {
                out[*filled] = code as u8;
                1
            }
            Some(_) if code < next => repeat(out, *filled, strings[code]),
            // The code refers to the string that it defines itself: the last string, followed by its own first pixel.
            Some(last) if code == next && next < STRINGS => repeat(out, *filled, last.longer()),
            _ => return Err(Error::broken(NAME, "its pixels use an undefined code")),
        };
        *filled += length;
        if let Some(last) = last
            && next < STRINGS
        {
            strings[next] = last.longer();
            next += 1;
            if next == 1 << bits && bits < MOST_BITS {
                bits += 1;
            }
        }
        last = Some(Span {
            start: written,
            length,
        });
    }
    Ok(())
}

const MOST_BITS: u8 = 12;
const STRINGS: usize = 1 << MOST_BITS;
const PIXELS_BETWEEN_LOOKS: usize = 64 << 10;

fn too_few() -> Error {
    Error::broken(NAME, "it has too few pixels")
}

/// A run of pixels in the output.
#[derive(Clone, Copy, Default)]
struct Span {
    start: usize,
    length: usize,
}

impl Span {
    /// Returns the run extended by the pixel after it.
    fn longer(self) -> Self {
        Self {
            length: self.length + 1,
            ..self
        }
    }
}

/// Copies an earlier run to position `at`, up to the end of `out`, and returns the number of pixels written. The run
/// may overlap the pixels that are being written.
fn repeat(out: &mut [u8], at: usize, span: Span) -> usize {
    let length = span.length.min(out.len() - at);
    if span.start + length <= at {
        out.copy_within(span.start..span.start + length, at);
    } else {
        for step in 0..length {
            out[at + step] = out[span.start + step];
        }
    }
    length
}

/// Reader of codes of varying width, low bits first, across sub-blocks.
struct Codes<'a> {
    block: &'a [u8],
    rest: &'a [u8],
    bit_buffer: u64,
    bit_count: u8,
}

impl<'a> Codes<'a> {
    fn new(data: &'a [u8]) -> Self {
        Self {
            block: &[],
            rest: data,
            bit_buffer: 0,
            bit_count: 0,
        }
    }

    fn next(&mut self, bits: u8) -> Option<usize> {
        while self.bit_count < bits {
            self.bit_buffer |= u64::from(self.byte()?) << self.bit_count;
            self.bit_count += 8;
        }
        let code = self.bit_buffer & ((1 << bits) - 1);
        self.bit_buffer >>= bits;
        self.bit_count -= bits;
        Some(code as usize)
    }

    fn byte(&mut self) -> Option<u8> {
        if self.block.is_empty() {
            let (&length, rest) = self.rest.split_first()?;
            (self.block, self.rest) = rest.split_at_checked(usize::from(length))?;
        }
        let (&byte, block) = self.block.split_first()?;
        self.block = block;
        Some(byte)
    }
}

#[cfg(test)]
mod tests {
    use andon_pixels::Never;

    use super::*;

    /// Packs codes of one width into one sub-block.
    fn stream(codes: &[u32], bits: u32) -> Vec<u8> {
        let mut bit_buffer = 0u64;
        for (at, &code) in codes.iter().enumerate() {
            bit_buffer |= u64::from(code) << (at as u32 * bits);
        }
        let bytes = (codes.len() as u32 * bits).div_ceil(8) as usize;
        let mut out = vec![bytes as u8];
        out.extend(&bit_buffer.to_le_bytes()[..bytes]);
        out.push(0);
        out
    }

    #[test]
    fn a_code_may_name_the_string_it_defines() {
        // Codes: clear, 1, the string that this code defines (1 1), end.
        let data = stream(&[4, 1, 6, 5], 3);
        assert_eq!(unpack(&data, 2, 3, &Never), Ok(vec![1, 1, 1]));
    }

    #[test]
    fn clear_codes_may_repeat_and_the_first_may_be_missing() {
        let data = stream(&[4, 4, 1, 4, 4, 4, 2], 3);
        assert_eq!(unpack(&data, 2, 2, &Never), Ok(vec![1, 2]));
        assert_eq!(unpack(&stream(&[1, 2], 3), 2, 2, &Never), Ok(vec![1, 2]));
    }

    #[test]
    fn an_early_end_is_told() {
        assert_eq!(unpack(&stream(&[4, 1, 5], 3), 2, 2, &Never), Err(too_few()));
        assert_eq!(unpack(&stream(&[4, 1], 3), 2, 2, &Never), Err(too_few()));
    }

    #[test]
    fn an_undefined_code_is_told() {
        for codes in [[4, 6], [4, 7]] {
            let result = unpack(&stream(&codes, 3), 2, 2, &Never);
            assert!(matches!(result, Err(Error::Broken { .. })), "{result:?}");
        }
    }

    #[test]
    fn what_the_weezl_encoder_packs_comes_back() {
        for index_bits in 2..=8u8 {
            for length in [1usize, 5, 300, 20_000] {
                let mut state = 1u32;
                let pixels: Vec<u8> = (0..length)
                    .map(|at| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        // Long runs at first, then noise, so that there are long strings and the dictionary fills up.
                        let noisy = at > length / 2;
                        let value = if noisy { state >> 24 } else { (at / 50) as u32 };
                        (value & ((1 << index_bits) - 1)) as u8
                    })
                    .collect();
                let mut frame = gif::Frame {
                    width: length as u16,
                    height: 1,
                    buffer: pixels.clone().into(),
                    ..gif::Frame::default()
                };
                frame.make_lzw_pre_encoded();
                // The first byte is the index size; the encoder chooses it by the largest index.
                let (&bits, packed) = frame.buffer.split_first().expect("not empty");
                let mut data = Vec::new();
                for block in packed.chunks(255) {
                    data.push(block.len() as u8);
                    data.extend_from_slice(block);
                }
                data.push(0);
                assert_eq!(unpack(&data, bits, length, &Never), Ok(pixels));
            }
        }
    }
}
