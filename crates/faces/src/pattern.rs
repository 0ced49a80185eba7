//! Locally assembled binary patterns. A pattern compares a block of 3 × 3 px with the eight blocks around it: each of
//! its eight bits tells whether one of them is no brighter than the middle block. A pattern covers 9 × 9 px.

/// Side of a block in px. A pattern compares a block with the eight around it.
const BLOCK: usize = 3;

/// Side in px of the square that a locally assembled binary pattern covers.
pub(crate) const SIDE: usize = 3 * BLOCK;

/// Column and row in px where each block around the middle one begins, from the highest bit of the pattern to the
/// lowest.
const AROUND: [(usize, usize); 8] = [
    (0, 0),
    (3, 0),
    (6, 0),
    (0, 3),
    (6, 3),
    (0, 6),
    (3, 6),
    (6, 6),
];

/// Returns for each pixel of an image the locally assembled binary pattern of the square whose top left corner it is,
/// or 0 if there is no room for one.
pub(crate) fn patterns(samples: &[u8], width: usize, height: usize) -> Vec<u8> {
    let mut patterns = vec![0; samples.len()];
    if width < SIDE || height < SIDE {
        return patterns;
    }
    let sums = blocks(samples, width, height);
    for y in 0..=height - SIDE {
        let rows = [0, BLOCK, 2 * BLOCK].map(|down| &sums[(y + down) * width..][..width]);
        let out = &mut patterns[y * width..][..=width - SIDE];
        for (x, out) in out.iter_mut().enumerate() {
            let middle = rows[1][x + BLOCK];
            for (right, down) in AROUND {
                let darker = middle >= rows[down / BLOCK][x + right];
                *out = *out << 1 | u8::from(darker);
            }
        }
    }
    patterns
}

/// Returns for each pixel the sum of the samples in the block of 3 × 3 px whose top left corner it is.
fn blocks(samples: &[u8], width: usize, height: usize) -> Vec<u16> {
    let mut sums = vec![0_u16; samples.len()];
    for y in 0..=height - BLOCK {
        let rows = [0, 1, 2].map(|down| &samples[(y + down) * width..][..width]);
        let out = &mut sums[y * width..][..=width - BLOCK];
        for (x, out) in out.iter_mut().enumerate() {
            for row in rows {
                *out += row[x..x + BLOCK]
                    .iter()
                    .copied()
                    .map(u16::from)
                    .sum::<u16>();
            }
        }
    }
    sums
}
