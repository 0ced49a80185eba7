//! Local activity: how much neighbouring samples differ, measured in quarters (4×4 samples) of 8×8 blocks.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;

use crate::cpu::Level;

/// Replaces each value of `quiet` by the least of three: the value itself, the activity of the left half of its block,
/// and that of the right half. A block has 8 columns and all rows but the last of `rows`. If there is only one row, all
/// activities are 0.
///
/// The activity of half a block, which is four columns wide, is the sum of the absolute differences between each
/// sample and its neighbours to the right and below. Samples in the last column of a row have no right neighbour.
/// Columns beyond it add nothing.
///
/// - `rows`: up to four rows of samples and the row below them, all of the same length.
/// - `quiet`: one value per block of 8 columns; the last block may extend beyond the rows.
///
/// # Panics
/// If the rows differ in length, are more than five, or do not fit the blocks, which is a bug in the caller.
pub fn quieter_halves(rows: &[&[u8]], quiet: &mut [u16]) {
    quieter_halves_on(Level::best(), rows, quiet);
}

fn quieter_halves_on(level: Level, rows: &[&[u8]], quiet: &mut [u16]) {
    let Some(width) = rows.first().map(|row| row.len()) else {
        return;
    };
    assert!(
        rows.len() <= 5 && rows.iter().all(|row| row.len() == width),
        "rows of different lengths"
    );
    assert_eq!(quiet.len(), width.div_ceil(8), "blocks of {width} columns");
    assert!(level.is_there(), "{level:?} on a processor without");
    let done = match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is there, and the slices fit.
        Level::Avx2 | Level::Avx512 => unsafe { avx2::quieter_halves(rows, quiet) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the level is there, and the slices fit.
        Level::Neon => unsafe { neon::quieter_halves(rows, quiet) },
        _ => 0,
    };
    twin(rows, quiet, done);
}

/// Scalar reference version of [`quieter_halves`], for block `first` and those after it.
fn twin(rows: &[&[u8]], quiet: &mut [u16], first: usize) {
    for (block, quiet) in quiet.iter_mut().enumerate().skip(first) {
        for left in [8 * block, 8 * block + 4] {
            let mut sum = 0;
            for pair in rows.windows(2) {
                let (row, below) = (pair[0], pair[1]);
                for x in left..row.len().min(left + 4) {
                    let right = row.get(x + 1).unwrap_or(&row[x]);
                    sum +=
                        u16::from(row[x].abs_diff(*right)) + u16::from(row[x].abs_diff(below[x]));
                }
            }
            *quiet = sum.min(*quiet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_set_equals_the_twin() {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 24
        };
        for width in [1_usize, 7, 8, 9, 31, 32, 33, 34, 64, 65, 100, 333] {
            for height in 1..=4 {
                for shift in [0, 3, 7] {
                    let rows: Vec<Vec<u8>> = (0..=height)
                        .map(|_| (0..width).map(|_| random() as u8 >> shift).collect())
                        .collect();
                    let rows: Vec<&[u8]> = rows.iter().map(|row| &row[..]).collect();
                    let before: Vec<u16> = (0..width.div_ceil(8))
                        .map(|_| (random() * 32) as u16)
                        .collect();
                    let mut expected = before.clone();
                    twin(&rows, &mut expected, 0);
                    for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
                        let mut quiet = before.clone();
                        quieter_halves_on(level, &rows, &mut quiet);
                        assert_eq!(quiet, expected, "{level:?}: {height} rows of {width}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_strongest_differences_are_held() {
        let (black, white): (Vec<u8>, Vec<u8>) = (0..64)
            .map(|x| (255 * (x % 2), 255 * ((x + 1) % 2)))
            .unzip();
        let rows = [&black[..], &white, &black, &white, &black];
        let mut quiet = [u16::MAX; 8];
        quieter_halves(&rows, &mut quiet);
        // The last column has no right neighbour.
        assert_eq!(
            quiet,
            [
                16 * 2 * 255,
                16 * 2 * 255,
                16 * 2 * 255,
                16 * 2 * 255,
                16 * 2 * 255,
                16 * 2 * 255,
                16 * 2 * 255,
                28 * 255
            ]
        );
    }
}
