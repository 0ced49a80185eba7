//! The symbols of JPEG blocks with AVX-512, sixteen per register. The levels (quantised coefficients) other than 0 are
//! gathered by compressing their indices (VBMI2).

use std::arch::x86_64::*;

use super::{PLACES, Piece, Row, Symbol};

/// Whether this processor supports what this module needs beyond AVX-512's [level](crate::cpu::Level).
pub(crate) fn is_there() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx512cd")
        && has!("avx512vbmi")
        && has!("avx512vbmi2")
        && has!("popcnt")
        && has!("bmi1")
        && has!("bmi2")
        && has!("lzcnt")
}

/// The numbers 0 to 63.
const NUMBERS: [u8; 64] = {
    let mut numbers = [0; 64];
    let mut n = 0;
    while n < 64 {
        numbers[n] = n as u8;
        n += 1;
    }
    numbers
};

/// Loads 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the array is as long as the register.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

impl Row<'_> {
    /// Converts the levels of block number `block`, which are in two registers, to symbols, and writes them from index
    /// `at` on. Returns their number.
    #[inline]
    #[target_feature(
        enable = "avx2,avx512f,avx512bw,avx512vl,avx512cd,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(crate) fn take_registers(
        &mut self,
        block: usize,
        at: usize,
        levels: [__m512i; 2],
    ) -> usize {
        let [low, high] = levels;
        let mask = u64::from(_mm512_test_epi16_mask(low, low))
            | u64::from(_mm512_test_epi16_mask(high, high)) << 32;
        let places = load(&PLACES);
        // The bits become bytes, are brought into zigzag order, and become bits again.
        let ordered = _mm512_permutexvar_epi8(places, _mm512_movm_epi8(mask));
        let ordered = _mm512_movepi8_mask(ordered) & !1;
        let count = ordered.count_ones();
        let ends = u32::from(ordered >> 63 == 0);
        let flat = _mm_cvtsi128_si32(_mm512_castsi512_si128(low)) as i16;
        self.flat[block] = flat;

        // The positions of the non-zero levels side by side: in zigzag order, and among the levels.
        let mut indices = _mm512_maskz_compress_epi8(ordered, load(&NUMBERS));
        let mut places = _mm512_maskz_compress_epi8(ordered, places);
        let one_on = _mm512_maskz_sub_epi8(!1, load(&NUMBERS), _mm512_set1_epi8(1));
        let mut previous_indices = _mm512_maskz_permutexvar_epi8(!1, one_on, indices);
        let (symbols, values) = self.block(at);
        let mut position = 0;
        while position < count + ends {
            let symbol_mask =
                _bzhi_u32(0xffff, (count.saturating_sub(position)).min(16)) as __mmask16;
            let levels = _mm512_permutex2var_epi16(
                low,
                _mm512_cvtepu8_epi16(_mm512_castsi512_si256(places)),
                high,
            );
            let levels = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(levels));
            let number = |bytes| _mm512_cvtepu8_epi32(_mm512_castsi512_si128(bytes));
            let run = _mm512_sub_epi32(number(indices), number(previous_indices));
            let run = _mm512_maskz_sub_epi32(symbol_mask, run, _mm512_set1_epi32(1));
            if _mm512_cmpgt_epu32_mask(run, _mm512_set1_epi32(15)) != 0 {
                return self.take_long_runs(block, at, levels_of([low, high]), mask);
            }
            let leading_zeros = _mm512_lzcnt_epi32(_mm512_abs_epi32(levels));
            let size = _mm512_sub_epi32(_mm512_set1_epi32(32), leading_zeros);
            let value = _mm512_or_si512(_mm512_slli_epi32::<4>(run), size);
            let level = _mm512_and_si512(levels, _mm512_set1_epi32(0xfff));
            let symbol = _mm512_or_si512(_mm512_slli_epi32::<12>(run), level);
            let symbol = _mm512_maskz_cvtepi32_epi16(symbol_mask, symbol);
            let value = _mm512_maskz_cvtepi32_epi8(symbol_mask, value);
            let to = position as usize..position as usize + 16;
            let (symbols, values) = (&mut symbols[to.clone()], &mut values[to]);
            // SAFETY: both slices have sixteen elements, of 2 and of 1 byte each.
            unsafe {
                _mm256_storeu_si256(symbols.as_mut_ptr().cast(), symbol);
                _mm_storeu_si128(values.as_mut_ptr().cast(), value);
            }
            let zero = _mm512_setzero_si512();
            indices = _mm512_alignr_epi32::<4>(zero, indices);
            previous_indices = _mm512_alignr_epi32::<4>(zero, previous_indices);
            places = _mm512_alignr_epi32::<4>(zero, places);
            position += 16;
        }
        self.lengths[block] = (count + ends) as u8;
        (count + ends) as usize
    }

    /// Like `take_registers`, for a block with sixteen or more zeros in a row before a level: converts the levels of
    /// block number `block` to symbols, and writes them from index `at` on. Bit `k` of `mask` is set if level `k` is
    /// not 0. Returns the number of symbols.
    #[cold]
    fn take_long_runs(&mut self, block: usize, at: usize, levels: [i16; 64], mask: u64) -> usize {
        self.take(block, at, &levels, &[mask])
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn levels_of(registers: [__m512i; 2]) -> [i16; 64] {
    let mut levels = [0; 64];
    for (to, register) in levels.chunks_exact_mut(32).zip(registers) {
        // SAFETY: 32 i16 are 64 bytes.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), register) };
    }
    levels
}

/// Vector version of [`super::join`].
///
/// # Safety
/// The processor must support `Level::Avx512`, and [`is_there`] must be true. There must be as many differences as
/// lengths. No block may have more than 63 symbols, nor all blocks together more than `symbols` has. `pieces` must have
/// room for [`BESIDE`](super::BESIDE) more than the blocks need.
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512vl,avx512cd,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
)]
pub(super) unsafe fn join(
    differences: &[i16],
    lengths: &[u8],
    symbols: &[Symbol],
    codes: &[[u32; 256]; 2],
    pieces: &mut [Piece],
) -> usize {
    let codes = codes.as_ptr().cast::<i32>();
    let (mut from, mut at) = (symbols.as_ptr().cast::<i16>(), 0);
    for (&difference, &length) in differences.iter().zip(lengths) {
        let length = u32::from(length);
        // Frequency 0 comes first, with codes of its own.
        let mut first = _mm256_zextsi128_si256(_mm_cvtsi32_si128(i32::from(difference) & 0xfff));
        let mut table_offsets = _mm512_maskz_set1_epi32(!1, 256);
        let mut symbol_mask = _bzhi_u32(0xfffe, length + 1) as __mmask16;
        let mut position = 0;
        loop {
            // SAFETY: the mask lets through the symbols that the caller guarantees; values have 8 bits, and there are
            // twice 256 codes; and eight pieces extend at most seven beyond the block's last one.
            unsafe {
                let symbol = from.wrapping_add(position as usize).wrapping_sub(1);
                let symbol = _mm256_mask_loadu_epi16(first, symbol_mask, symbol);
                let run = _mm512_cvtepu16_epi32(_mm256_srli_epi16::<12>(symbol));
                let level = _mm512_cvtepi16_epi32(_mm256_slli_epi16::<4>(symbol));
                let level = _mm512_srai_epi32::<4>(level);
                let leading_zeros = _mm512_lzcnt_epi32(_mm512_abs_epi32(level));
                let size = _mm512_sub_epi32(_mm512_set1_epi32(32), leading_zeros);
                let value = _mm512_or_si512(_mm512_slli_epi32::<4>(run), size);
                let value = _mm512_or_si512(value, table_offsets);
                let zero = _mm512_setzero_si512();
                let mask = symbol_mask | u16::from(position == 0);
                let code = _mm512_mask_i32gather_epi32::<4>(zero, mask, value, codes);
                let number = _mm512_add_epi32(level, _mm512_srai_epi32::<31>(level));
                let above = _mm512_sllv_epi32(_mm512_set1_epi32(-1), size);
                let number = _mm512_andnot_si512(above, number);
                let bits = _mm512_sllv_epi32(_mm512_srli_epi32::<8>(code), size);
                let bits = _mm512_or_si512(bits, number);
                let count = _mm512_and_si512(code, _mm512_set1_epi32(255));
                let count = _mm512_add_epi32(count, size);
                // Two codes are combined, the first one above the second one.
                let lower = _mm512_set1_epi64(0xffff_ffff);
                let upper = _mm512_and_si512(bits, lower);
                let further = _mm512_srli_epi64::<32>(count);
                let piece_bits = _mm512_sllv_epi64(upper, further);
                let piece_bits = _mm512_or_si512(piece_bits, _mm512_srli_epi64::<32>(bits));
                let count = _mm512_add_epi64(_mm512_and_si512(count, lower), further);
                let piece = _mm512_or_si512(_mm512_slli_epi64::<58>(count), piece_bits);
                let to = pieces.as_mut_ptr().add(at + position as usize / 2);
                _mm512_storeu_si512(to.cast(), piece);
            }
            position += 16;
            if position > length {
                break;
            }
            symbol_mask = _bzhi_u32(0xffff, length + 1 - position) as __mmask16;
            first = _mm256_setzero_si256();
            table_offsets = _mm512_set1_epi32(256);
        }
        // SAFETY: there are as many symbols.
        from = unsafe { from.add(length as usize) };
        at += length as usize / 2 + 1;
    }
    at
}
