//! Which coefficients of a block are needed at each size.

use andon_kernels::symbols::ZIGZAG;

/// Which coefficients are needed to turn a block into N×N samples.
pub(super) struct Kept {
    /// Samples per block side.
    pub(super) side: usize,
    /// The highest zigzag position that is kept.
    pub(super) last: u32,
    /// Zigzag position → place in the N×N block, or `NOWHERE` if not kept. 128 entries, because an end of block can
    /// carry a position that far.
    place: [u32; 128],
}

/// The place of coefficients that are not kept: beyond any row of blocks.
const NOWHERE: u32 = 1 << 31;

impl Kept {
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
        // Runs of corrupt files that leave their block: libjpeg takes what they end on for the last one.
        while side == 8 && k < 128 {
            place[k] = 63;
            k += 1;
        }
        Self { side, last, place }
    }

    /// Returns the coefficients kept for 1, 2, 4 or 8 samples per block side.
    pub(super) const fn of(side: u8) -> &'static Self {
        const KEPT: &[Kept; 4] = &[Kept::new(1), Kept::new(2), Kept::new(4), Kept::new(8)];
        match side {
            1 => &KEPT[0],
            2 => &KEPT[1],
            4 => &KEPT[2],
            _ => &KEPT[3],
        }
    }

    /// Returns the place in its block of the coefficient at zigzag position `k`, which lies beyond any row of blocks if
    /// it is not kept.
    #[inline(always)]
    pub(super) fn place(&self, k: u32) -> usize {
        self.place[k as usize & 127] as usize
    }

    /// Whether the coefficient at zigzag position `k` is kept.
    pub(super) fn keeps(&self, k: u32) -> bool {
        self.place(k) < self.count()
    }

    /// Returns the number of coefficients kept per block.
    pub(super) fn count(&self) -> usize {
        self.side * self.side
    }

    /// Copies the coefficients of this smaller size out of blocks with those of `more`, which always include them.
    pub(super) fn pick(&self, more: &Self, blocks: &[i16], own: &mut Vec<i16>) {
        own.resize(blocks.len() / more.count() * self.count(), 0);
        match self.side {
            1 => pick::<1>(more, blocks, own),
            2 => pick::<2>(more, blocks, own),
            4 => pick::<4>(more, blocks, own),
            _ => own.copy_from_slice(blocks),
        }
    }

    /// Returns the quantisation factors in the order of the kept coefficients.
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

/// Implements [`Kept::pick`] for `N` samples per block side.
fn pick<const N: usize>(more: &Kept, blocks: &[i16], own: &mut [i16]) {
    let own = own.chunks_exact_mut(N * N);
    for (own, block) in own.zip(blocks.chunks_exact(more.count())) {
        let rows = block.chunks_exact(more.side);
        for (own, row) in own.as_chunks_mut::<N>().0.iter_mut().zip(rows) {
            own.copy_from_slice(&row[..N]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_coefficients_are_the_lowest_square() {
        assert_eq!(
            (Kept::of(1).last, Kept::of(2).last, Kept::of(4).last),
            (0, 4, 24)
        );
        assert_eq!(&Kept::of(2).place[..6], &[0, 1, 2, NOWHERE, 3, NOWHERE]);
        for side in [1, 2, 4, 8] {
            let kept = Kept::of(side);
            let mut places: Vec<_> = (0..64)
                .filter(|&k| kept.keeps(k))
                .map(|k| kept.place(k))
                .collect();
            places.sort_unstable();
            assert_eq!(places.len(), kept.count());
            assert!(places.iter().enumerate().all(|(i, &place)| i == place));
        }
    }
}
