//! Measures local activity with AVX2, four blocks at a time: differences are added up in pairs of columns
//! (`vpmaddubsw`).

use std::arch::x86_64::*;

/// AVX2 version of [`super::quieter_halves`] for as many of the first blocks as whole registers cover. Returns the
/// number of these blocks.
///
/// # Safety
/// The processor must support AVX2. All rows must be as long as the first one, and `quiet` must have a value for each
/// of their blocks.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn quieter_halves(rows: &[&[u8]], quiet: &mut [u16]) -> usize {
    // Every register needs one more sample, the neighbour of its last one.
    let Some(last) = rows[0].len().checked_sub(33).map(|at| at / 8) else {
        return 0;
    };
    // The last four blocks may overlap with those before. Computing a block twice gives the same result.
    let all = (0..last).step_by(4).chain([last]);
    for block in all {
        // SAFETY: there are 33 samples from the block's first one on.
        let lesser = unsafe { four_blocks(rows, 8 * block) };
        let four = &mut quiet[block..block + 4];
        // SAFETY: four u16 are 8 bytes.
        unsafe {
            let before = _mm_loadl_epi64(four.as_ptr().cast());
            _mm_storel_epi64(four.as_mut_ptr().cast(), _mm_min_epu16(before, lesser));
        }
    }
    last + 4
}

/// Returns the activities of the quieter halves of the four blocks from column `at` on, as 16-bit words.
///
/// # Safety
/// Each row must have 33 samples from column `at` on.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn four_blocks(rows: &[&[u8]], at: usize) -> __m128i {
    let ones = _mm256_set1_epi8(1);
    let difference = |a, b| _mm256_or_si256(_mm256_subs_epu8(a, b), _mm256_subs_epu8(b, a));
    // SAFETY: the caller guarantees the samples.
    let load = |row: &[u8], at| unsafe { _mm256_loadu_si256(row.as_ptr().add(at).cast()) };
    let mut sums = _mm256_setzero_si256();
    let mut here = load(rows[0], at);
    for pair in rows.windows(2) {
        let below = load(pair[1], at);
        let across = difference(here, load(pair[0], at + 1));
        let down = difference(here, below);
        let both = _mm256_add_epi16(
            _mm256_maddubs_epi16(across, ones),
            _mm256_maddubs_epi16(down, ones),
        );
        sums = _mm256_add_epi16(sums, both);
        here = below;
    }
    let halves = _mm256_madd_epi16(sums, _mm256_set1_epi16(1));
    let lesser = _mm256_min_epu32(halves, _mm256_shuffle_epi32::<0b10_11_00_01>(halves));
    let order = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    let lesser = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(lesser, order));
    _mm_packus_epi32(lesser, lesser)
}
