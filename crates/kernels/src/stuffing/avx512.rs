//! Removes JPEG's byte stuffing with AVX-512, 64 bytes at once. The bytes that remain are brought together by
//! compressing (VBMI2), without a branch that depends on where a 0xFF is.

use std::arch::x86_64::*;

/// Whether this processor supports what this module needs beyond AVX-512's [level](crate::cpu::Level).
pub(super) fn is_there() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx512vbmi2") && has!("popcnt")
}

/// Appends bytes of `coded` to `bytes` without their stuffing, in blocks of 64, stopping at a block with a 0xFF that is
/// not followed by a zero, or when no whole block is left. Returns how many bytes of `coded` were processed.
///
/// # Safety
/// The processor must support AVX-512 F, BW and VBMI2, and POPCNT, and `bytes` must have room for as many more bytes as
/// `coded` has.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
pub(super) unsafe fn remove(coded: &[u8], bytes: &mut Vec<u8>) -> usize {
    const WIDTH: usize = 64;
    let room = bytes.spare_capacity_mut();
    assert!(room.len() >= coded.len(), "no room for the bytes");
    let (mut from, mut to) = (0, 0);
    // Whether the first byte of the block is the zero after a 0xFF.
    let mut is_stuffing = 0;
    while let Some(block) = coded.get(from..=from + WIDTH) {
        // SAFETY: the block has one byte more than a register.
        let (here, next) = unsafe {
            (
                _mm512_loadu_si512(block.as_ptr().cast()),
                _mm512_loadu_si512(block.as_ptr().add(1).cast()),
            )
        };
        let full = _mm512_cmpeq_epi8_mask(here, _mm512_set1_epi8(-1));
        if full & _mm512_test_epi8_mask(next, next) != 0 {
            break;
        }
        let data_mask = !(full << 1 | is_stuffing);
        let data = _mm512_maskz_compress_epi8(data_mask, here);
        // SAFETY: `to` is not ahead of `from`, and from there on `coded` has a whole block, so the room has one, too.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().add(to).cast(), data) };
        to += data_mask.count_ones() as usize;
        from += WIDTH;
        is_stuffing = full >> (WIDTH - 1);
    }
    // SAFETY: the first `to` bytes of the room were written.
    unsafe { bytes.set_len(bytes.len() + to) };
    from + is_stuffing as usize
}
