//! Four blocks at a time: differences are added up in pairs of columns (`vpmaddubsw`).

use std::arch::x86_64::*;

/// As many blocks as there are whole registers of, which it returns.
///
/// # Safety
/// The level must be there. All rows must be as long as the first one and reach over all blocks but the last one.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn quieter_halves(rows: &[&[u8]], quiet: &mut [u16]) -> usize {
    let width = rows[0].len();
    let ones = _mm256_set1_epi8(1);
    let difference = |a, b| _mm256_or_si256(_mm256_subs_epu8(a, b), _mm256_subs_epu8(b, a));
    let mut done = 0;
    for four in quiet.as_chunks_mut::<4>().0 {
        let at = 8 * done;
        // The last sample has a neighbour, too.
        if at + 33 > width {
            break;
        }
        let mut sums = _mm256_setzero_si256();
        // SAFETY: 33 samples of each row are there from `at` on.
        let load = |row: &[u8], at| unsafe { _mm256_loadu_si256(row.as_ptr().add(at).cast()) };
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
        // Halves of blocks, and the lesser one of each two.
        let halves = _mm256_madd_epi16(sums, _mm256_set1_epi16(1));
        let lesser = _mm256_min_epu32(halves, _mm256_shuffle_epi32::<0b10_11_00_01>(halves));
        let order = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
        let lesser = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(lesser, order));
        let lesser = _mm_packus_epi32(lesser, lesser);
        // SAFETY: four u16 are 8 bytes.
        unsafe {
            let before = _mm_loadl_epi64(four.as_ptr().cast());
            _mm_storel_epi64(four.as_mut_ptr().cast(), _mm_min_epu16(before, lesser));
        }
        done += 4;
    }
    done
}
