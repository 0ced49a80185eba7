//! Decoding of run-length encoded indices, which start with the bottom row.

use andon_pixels::{Interrupt, Result};

use crate::guard;

/// Returns the indices of all pixels, in the order of the file's rows, and the number of bytes that they took. Skipped
/// pixels have index 0. Returns `None` if the data end before an end marker or the last pixel.
pub(super) fn unpack(
    data: &[u8],
    bits: u16,
    width: usize,
    height: usize,
    interrupt: &dyn Interrupt,
) -> Result<Option<(Vec<u8>, usize)>> {
    let mut indices = vec![0; width * height];
    let (mut x, mut y) = (0, 0);
    let mut ended = false;
    let mut put = |x: &mut usize, y: usize, index: u8| {
        if *x < width && y < height {
            indices[y * width + *x] = index;
        }
        *x += 1;
    };
    let mut rest = data;
    let mut codes = 0_usize;
    while let [first, second, after @ ..] = rest {
        rest = after;
        codes += 1;
        if codes.is_multiple_of(CODES) {
            guard::wanted(interrupt)?;
        }
        match (*first, *second) {
            (0, 0) => (x, y) = (0, y + 1),
            (0, 1) => {
                ended = true;
                break;
            }
            (0, 2) => {
                let [right, up, after @ ..] = rest else { break };
                rest = after;
                x += usize::from(*right);
                y += usize::from(*up);
            }
            (0, count) => {
                let count = usize::from(count);
                let bytes = (count * usize::from(bits)).div_ceil(8);
                for place in 0..count {
                    let Some(index) = index(rest, bits, place) else {
                        return Ok(None);
                    };
                    put(&mut x, y, index);
                }
                rest = rest.get(bytes.next_multiple_of(2)..).unwrap_or_default();
            }
            (count, value) => {
                // What reaches over the edge is passed over at once, however far it goes.
                let seen = usize::from(count).min(width.saturating_sub(x));
                for place in 0..seen {
                    let index = match bits {
                        8 => value,
                        _ if place % 2 == 0 => value >> 4,
                        _ => value & 15,
                    };
                    put(&mut x, y, index);
                }
                x += usize::from(count) - seen;
            }
        }
        if y >= height {
            // The end marker still belongs to the image.
            rest = rest.strip_prefix(&[0, 1]).unwrap_or(rest);
            break;
        }
    }
    // Codes have two bytes: half of one is what a cut leaves.
    let full = (y >= height || (y + 1 == height && x >= width)) && rest.len() != 1;
    let complete = ended || full;
    Ok(complete.then(|| (indices, data.len() - rest.len())))
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
