//! Decoding of run-length encoded indices, which begin with the bottom row.

use andon_pixels::{Interrupt, Result};

use crate::guard;

/// Returns the indices of all pixels, in the order of the file's rows, and the number of bytes that were read. Skipped
/// pixels have index 0. Returns `None` if the data end before an end marker and before the last pixel.
pub(super) fn unpack(
    data: &[u8],
    bits: u16,
    width: usize,
    height: usize,
    interrupt: &dyn Interrupt,
) -> Result<Option<(Vec<u8>, usize)>> {
    let mut out = Indices {
        indices: vec![0; width * height],
        width,
        height,
        x: 0,
        y: 0,
    };
    let mut has_end_marker = false;
    let mut rest = data;
    let mut codes = 0_usize;
    while let [first, second, after @ ..] = rest {
        rest = after;
        codes += 1;
        if codes.is_multiple_of(CODES) {
            guard::check_interrupt(interrupt)?;
        }
        match (*first, *second) {
            (0, 0) => (out.x, out.y) = (0, out.y + 1),
            (0, 1) => {
                has_end_marker = true;
                break;
            }
            (0, 2) => {
                let [right, up, after @ ..] = rest else { break };
                rest = after;
                out.x += usize::from(*right);
                out.y += usize::from(*up);
            }
            (0, count) => {
                let count = usize::from(count);
                for place in 0..count {
                    let Some(index) = index(rest, bits, place) else {
                        return Ok(None);
                    };
                    out.put(index);
                }
                let bytes = (count * usize::from(bits)).div_ceil(8);
                rest = rest.get(bytes.next_multiple_of(2)..).unwrap_or_default();
            }
            (count, value) => out.run(count.into(), value, bits),
        }
        if out.y >= height {
            // An end marker after the last pixel is part of the image.
            rest = rest.strip_prefix(&[0, 1]).unwrap_or(rest);
            break;
        }
    }
    // Codes have two bytes. One remaining byte is the first half of a code, so the file is cut off.
    let full = (out.y >= height || (out.y + 1 == height && out.x >= width)) && rest.len() != 1;
    let complete = has_end_marker || full;
    Ok(complete.then(|| (out.indices, data.len() - rest.len())))
}

/// The indices of a bitmap, and the position of the next one, which may be outside the bitmap.
struct Indices {
    indices: Vec<u8>,
    width: usize,
    height: usize,
    x: usize,
    y: usize,
}

impl Indices {
    #[inline]
    fn put(&mut self, index: u8) {
        if self.x < self.width && self.y < self.height {
            self.indices[self.y * self.width + self.x] = index;
        }
        self.x += 1;
    }

    /// Writes `count` pixels from the two 4-bit indices in `value` alternately, or with the index `value` if indices
    /// have 8 bits.
    #[inline]
    fn run(&mut self, count: usize, value: u8, bits: u16) {
        // Pixels beyond the edge are skipped in one step, so that a long run costs no time.
        let visible_count = count.min(self.width.saturating_sub(self.x));
        for place in 0..visible_count {
            self.put(match bits {
                8 => value,
                _ if place % 2 == 0 => value >> 4,
                _ => value & 15,
            });
        }
        self.x += count - visible_count;
    }
}

/// Number of codes decoded between two checks of the interrupt.
const CODES: usize = 1 << 16;

fn index(bytes: &[u8], bits: u16, place: usize) -> Option<u8> {
    match bits {
        8 => bytes.get(place).copied(),
        _ if place.is_multiple_of(2) => bytes.get(place / 2).map(|byte| byte >> 4),
        _ => bytes.get(place / 2).map(|byte| byte & 15),
    }
}
