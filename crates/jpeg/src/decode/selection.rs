//! Which coefficients of a block are needed at each scale.

use andon_kernels::symbols::ZIGZAG;

/// The coefficients of a block that are needed to turn it into N×N samples: those of its lowest N×N frequencies.
pub(super) struct Selection {
    /// Samples per block side.
    pub(super) side: usize,
    /// The highest zigzag position of a needed coefficient.
    pub(super) last: u32,
    /// Maps a zigzag position to the index in the N×N block of needed coefficients, or to `NOWHERE` if the coefficient
    /// is not needed. It has 128 entries, because an end of block can advance the position that far.
    place: [u32; 128],
}

/// Index of coefficients that are not needed: it is beyond any row of blocks.
const NOWHERE: u32 = 1 << 31;

impl Selection {
    const fn new(side: usize) -> Self {
        let mut place = [NOWHERE; 128];
        let mut last = 0;
        let mut k = 0;
        while k < 64 {
            let (u, v) = (ZIGZAG[k] as usize % 8, ZIGZAG[k] as usize / 8);
            if u < side && v < side {
                place[k] = (v * side + u) as u32;
                last = k as u32;
            }
            k += 1;
        }
        // In corrupt files a run may lead beyond its block. libjpeg stores the value that follows as the last
        // coefficient.
        while side == 8 && k < 128 {
            place[k] = 63;
            k += 1;
        }
        Self { side, last, place }
    }

    /// Returns the coefficients that are needed for 1, 2, 4 or 8 samples per block side.
    pub(super) const fn of(side: u8) -> &'static Self {
        const ALL: &[Selection; 4] = &[
            Selection::new(1),
            Selection::new(2),
            Selection::new(4),
            Selection::new(8),
        ];
        match side {
            1 => &ALL[0],
            2 => &ALL[1],
            4 => &ALL[2],
            _ => &ALL[3],
        }
    }

    /// Returns the index of the coefficient at zigzag position `k` in the N×N block of needed coefficients. If the
    /// coefficient is not needed, the index lies beyond any row of blocks.
    #[inline(always)]
    pub(super) fn place(&self, k: u32) -> usize {
        self.place[k as usize & 127] as usize
    }

    /// Whether the coefficient at zigzag position `k` is among those that are needed.
    pub(super) fn keeps(&self, k: u32) -> bool {
        self.place(k) < self.count()
    }

    /// Returns the number of needed coefficients per block.
    pub(super) fn count(&self) -> usize {
        self.side * self.side
    }

    /// Writes the coefficients of this selection to `output`. They are taken from `blocks`, which contain those of
    /// `more`: a selection for the same or a larger size, which always includes the coefficients of this one.
    pub(super) fn pick(&self, more: &Self, blocks: &[i16], output: &mut Vec<i16>) {
        output.resize(blocks.len() / more.count() * self.count(), 0);
        match self.side {
            1 => pick::<1>(more, blocks, output),
            2 => pick::<2>(more, blocks, output),
            4 => pick::<4>(more, blocks, output),
            _ => output.copy_from_slice(blocks),
        }
    }

    /// Returns the quantisation factors in the order of the needed coefficients. `quant` is in zigzag order.
    pub(super) fn factors(&self, quant: &[u16; 64]) -> [i32; 64] {
        let mut factors = [0; 64];
        for (k, &factor) in (0..).zip(quant) {
            if self.keeps(k) {
                factors[self.place(k)] = factor.into();
            }
        }
        factors
    }
}

/// Implements [`Selection::pick`] for `N` samples per block side.
fn pick<const N: usize>(more: &Selection, blocks: &[i16], output: &mut [i16]) {
    let output = output.chunks_exact_mut(N * N);
    for (output, block) in output.zip(blocks.chunks_exact(more.count())) {
        let rows = block.chunks_exact(more.side);
        for (output, row) in output.as_chunks_mut::<N>().0.iter_mut().zip(rows) {
            output.copy_from_slice(&row[..N]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_coefficients_are_the_lowest_square() {
        assert_eq!(
            (
                Selection::of(1).last,
                Selection::of(2).last,
                Selection::of(4).last
            ),
            (0, 4, 24)
        );
        assert_eq!(
            &Selection::of(2).place[..6],
            &[0, 1, 2, NOWHERE, 3, NOWHERE]
        );
        for side in [1, 2, 4, 8] {
            let selection = Selection::of(side);
            let mut places: Vec<_> = (0..64)
                .filter(|&k| selection.keeps(k))
                .map(|k| selection.place(k))
                .collect();
            places.sort_unstable();
            assert_eq!(places.len(), selection.count());
            assert!(places.iter().enumerate().all(|(i, &place)| i == place));
        }
    }
}
