//! The full 8×8 inverse DCT, bit-identical to libjpeg's accurate integer one (`islow`).
//!
//! Both passes use the 8-point transform of Loeffler, Ligtenberg and Moschytz with constants of 13 fractional bits:
//! first the columns, whose results keep 2 fractional bits in 16-bit words, then the rows. Sums of two frequencies wrap
//! at 16 bits, as in libjpeg-turbo's vector code, which happens only in corrupt files.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(super) mod neon;

/// Fractional bits of the DCT constants.
pub(crate) const BITS: u32 = 13;
/// Number of bits that the pass over the columns shifts out.
const COLUMNS: u32 = BITS - 2;
/// Number of bits that the pass over the rows shifts out.
const ROWS: u32 = BITS + 2 + 3;

/// libjpeg's DCT constants, √2 · cos(…) and sums of such, with 13 fractional bits. The name gives the value.
const F_0_298: i32 = 2446;
const F_0_390: i32 = 3196;
const F_0_541: i32 = 4433;
const F_0_765: i32 = 6270;
const F_0_899: i32 = 7373;
const F_1_175: i32 = 9633;
const F_1_501: i32 = 12299;
const F_1_847: i32 = 15137;
const F_1_961: i32 = 16069;
const F_2_053: i32 = 16819;
const F_2_562: i32 = 20995;
const F_3_072: i32 = 25172;

/// Weights of frequencies 2 and 6 in the sums of even frequencies that outputs 0, 3, 4 and 7 are computed from.
pub(crate) const OUTER: [i32; 2] = [F_0_541 + F_0_765, F_0_541];
/// Weights of frequencies 2 and 6 in the sums of even frequencies that outputs 1, 2, 5 and 6 are computed from.
pub(crate) const INNER: [i32; 2] = [F_0_541, F_0_541 - F_1_847];
/// Weights of two sums, of frequencies 3 and 7 and of frequencies 1 and 5. Outputs 1, 3, 4 and 6 are computed from the
/// weighted sums.
pub(crate) const SUMS_02: [i32; 2] = [F_1_175 - F_1_961, F_1_175];
/// Weights of two sums, of frequencies 3 and 7 and of frequencies 1 and 5. Outputs 0, 2, 5 and 7 are computed from the
/// weighted sums.
pub(crate) const SUMS_13: [i32; 2] = [F_1_175, F_1_175 - F_0_390];
/// Weights of frequencies 7 and 1 in the sums of odd frequencies that outputs 3 and 4 are computed from.
pub(crate) const PART_0: [i32; 2] = [F_0_298 - F_0_899, -F_0_899];
/// Weights of frequencies 7 and 1 in the sums of odd frequencies that outputs 0 and 7 are computed from.
pub(crate) const PART_3: [i32; 2] = [-F_0_899, F_1_501 - F_0_899];
/// Weights of frequencies 5 and 3 in the sums of odd frequencies that outputs 2 and 5 are computed from.
pub(crate) const PART_1: [i32; 2] = [F_2_053 - F_2_562, -F_2_562];
/// Weights of frequencies 5 and 3 in the sums of odd frequencies that outputs 1 and 6 are computed from.
pub(crate) const PART_2: [i32; 2] = [-F_2_562, F_3_072 - F_2_562];

pub(super) fn to_8x8(coefficients: &[i16], factors: &[i32; 64], rows: &mut [u8], line: usize) {
    for (b, block) in coefficients.chunks_exact(64).enumerate() {
        let row = |v: usize| -> [i32; 8] {
            std::array::from_fn(|u| {
                i32::from(super::dequantise(block[8 * v + u], factors[8 * v + u]))
            })
        };
        let columns = idct8(std::array::from_fn(row), COLUMNS);
        let samples = transpose(idct8(transpose(columns), ROWS));
        for (y, samples) in samples.iter().enumerate() {
            let at = y * line + 8 * b;
            let levels = samples.map(|x| (x + 128).clamp(0, 255) as u8);
            rows[at..at + 8].copy_from_slice(&levels);
        }
    }
}

/// Eight 8-point inverse DCTs side by side, shifted right by `shift` bits with rounding and saturated to 16 bits.
fn idct8(rows: [[i32; 8]; 8], shift: u32) -> [[i32; 8]; 8] {
    let mut out = [[0; 8]; 8];
    let word = |x: i32| i32::from(x as i16);
    let sum = |factors: [i32; 2], a: i32, b: i32| {
        factors[0]
            .wrapping_mul(a)
            .wrapping_add(factors[1].wrapping_mul(b))
    };
    for lane in 0..8 {
        let x: [i32; 8] = std::array::from_fn(|frequency| rows[frequency][lane]);
        let round = 1 << (shift - 1);
        let flat0 = (word(x[0] + x[4]) << BITS) + round;
        let flat1 = (word(x[0] - x[4]) << BITS) + round;
        let (outer, inner) = (sum(OUTER, x[2], x[6]), sum(INNER, x[2], x[6]));
        let (a, b) = (word(x[3] + x[7]), word(x[1] + x[5]));
        let (for_02, for_13) = (sum(SUMS_02, a, b), sum(SUMS_13, a, b));
        let even = [
            flat0.wrapping_add(outer),
            flat1.wrapping_add(inner),
            flat1.wrapping_sub(inner),
            flat0.wrapping_sub(outer),
        ];
        let odd = [
            sum(PART_3, x[7], x[1]).wrapping_add(for_13),
            sum(PART_2, x[5], x[3]).wrapping_add(for_02),
            sum(PART_1, x[5], x[3]).wrapping_add(for_13),
            sum(PART_0, x[7], x[1]).wrapping_add(for_02),
        ];
        let cut = |x: i32| i32::from(super::saturate(x >> shift));
        for (n, (even, odd)) in even.into_iter().zip(odd).enumerate() {
            out[n][lane] = cut(even.wrapping_add(odd));
            out[7 - n][lane] = cut(even.wrapping_sub(odd));
        }
    }
    out
}

pub(crate) fn transpose(m: [[i32; 8]; 8]) -> [[i32; 8]; 8] {
    std::array::from_fn(|i| std::array::from_fn(|j| m[j][i]))
}
