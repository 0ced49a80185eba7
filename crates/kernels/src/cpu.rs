//! Instruction sets: detecting those of this processor, and compiling one function body for several of them.

use std::cell::Cell;
use std::sync::LazyLock;

/// An instruction set for which kernels have hand-written versions. All versions give the same results, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plain Rust for the instructions that every processor of the architecture supports. This is the reference version
    /// that all others are tested against.
    Baseline,
    /// NEON, which every 64-bit ARM processor supports.
    Neon,
    /// AVX2 and FMA: x86-64 since 2013.
    Avx2,
    /// AVX-512 with BW, VL and VNNI: server processors since 2019. Earlier processors with AVX-512 lower their clock
    /// speed for it.
    Avx512,
}

impl Level {
    /// All levels, those of each processor family from the simplest to the most advanced.
    pub const ALL: [Self; 4] = [Self::Baseline, Self::Neon, Self::Avx2, Self::Avx512];

    /// Returns the best level that this processor supports and that [`limited_to`] allows.
    #[must_use]
    pub fn best() -> Self {
        static BEST: LazyLock<Level> = LazyLock::new(|| {
            let there = Level::ALL.into_iter().rev().find(|level| level.is_there());
            there.unwrap_or(Level::Baseline)
        });
        (*BEST).min(LIMIT.get())
    }

    /// Returns whether this processor supports the level.
    #[must_use]
    pub fn is_there(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            match self {
                Self::Baseline => true,
                Self::Neon => false,
                Self::Avx2 => has!("avx2") && has!("fma"),
                Self::Avx512 => {
                    Self::Avx2.is_there()
                        && has!("avx512f")
                        && has!("avx512bw")
                        && has!("avx512vl")
                        && has!("avx512vnni")
                }
            }
        }
        #[cfg(target_arch = "aarch64")]
        {
            use std::arch::is_aarch64_feature_detected as has;
            match self {
                Self::Baseline => true,
                Self::Neon => has!("neon"),
                Self::Avx2 | Self::Avx512 => false,
            }
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            self == Self::Baseline
        }
    }
}

thread_local! {
    /// The highest level this thread may use. It is read once per row or plane, which costs nothing measurable.
    static LIMIT: Cell<Level> = const { Cell::new(Level::Avx512) };
}

/// Runs `work` as if the processor supported no level above `level`. The limit applies to the current thread only. It
/// is meant for tests that compare the instruction sets with each other.
///
/// # Panics
/// If this processor does not support `level`.
pub fn limited_to<R>(level: Level, work: impl FnOnce() -> R) -> R {
    struct Restore(Level);
    impl Drop for Restore {
        fn drop(&mut self) {
            LIMIT.set(self.0);
        }
    }
    assert!(level.is_there(), "{level:?} on a processor without");
    let _restore = Restore(LIMIT.replace(level));
    work()
}

/// Runs `work`, which is compiled twice: for the baseline and for x86-64-v3 (AVX2, BMI1, BMI2, LZCNT, POPCNT). The
/// second version runs if the processor supports it and [`limited_to`] allows it.
///
/// Only code that the compiler inlines into `work` benefits: mark the closure and the loops it calls
/// `#[inline(always)]`. Bit readers gain as much as loops over planes, from shifts that leave the flags alone and a
/// one-cycle population count.
#[inline(always)]
pub fn with_modern_instructions<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if has_v3() {
        // SAFETY: the processor supports every feature that `on_v3` enables, as was just checked.
        return unsafe { on_v3(work) };
    }
    work()
}

#[cfg(target_arch = "x86_64")]
fn has_v3() -> bool {
    use std::arch::is_x86_feature_detected as has;
    LIMIT.get() >= Level::Avx2
        && has!("avx2")
        && has!("bmi1")
        && has!("bmi2")
        && has!("lzcnt")
        && has!("popcnt")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn on_v3<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Prefetches `values` into the L1 cache, without waiting for them. It is meant for memory that is read in pieces too
/// short, or too far apart, for the hardware prefetcher. It does nothing on processors other than x86-64.
#[inline(always)]
pub fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks((CACHE_LINE / size_of::<T>().max(1)).max(1)) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: it has no effect on values, and the address is one of `values`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}

/// Size of a cache line in bytes.
#[cfg(target_arch = "x86_64")]
const CACHE_LINE: usize = 64;

/// Finds the n-th set bit of a word, in one instruction (PDEP) on processors where that is fast.
#[derive(Clone, Copy, Debug)]
pub struct BitFinder {
    /// Whether to use PDEP, which the processor then supports. Private, because the soundness of executing the
    /// instruction depends on it.
    #[cfg(target_arch = "x86_64")]
    by_pdep: bool,
}

impl BitFinder {
    /// Returns the fastest variant for this processor.
    #[must_use]
    pub fn best() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            by_pdep: has_v3() && !is_slow_at_pdep(),
        }
    }

    /// Returns the position of the set bit number `n` of `mask`, counted from 0 at the lowest set bit, or 64 if there
    /// are fewer set bits. `n` is at most 63.
    #[inline(always)]
    #[must_use]
    pub fn find(self, mask: u64, n: u32) -> u32 {
        #[cfg(target_arch = "x86_64")]
        if self.by_pdep {
            // SAFETY: `best` has checked that the processor supports BMI2.
            return unsafe { find_by_pdep(mask, n) };
        }
        let mut mask = mask;
        for _ in 0..n {
            mask &= mask.wrapping_sub(1);
        }
        mask.trailing_zeros()
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "bmi1,bmi2")]
fn find_by_pdep(mask: u64, n: u32) -> u32 {
    std::arch::x86_64::_pdep_u64(1 << (n & 63), mask).trailing_zeros()
}

/// Whether PDEP is slow on this processor: AMD's before Zen 3, and Hygon's, take one step per bit of the mask.
#[cfg(target_arch = "x86_64")]
fn is_slow_at_pdep() -> bool {
    use std::arch::x86_64::__cpuid;
    let vendor = __cpuid(0);
    let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
    let family = (__cpuid(1).eax >> 8 & 15) + (__cpuid(1).eax >> 20 & 255);
    matches!(name.as_flattened(), b"AuthenticAMD" | b"HygonGenuine") && family < 0x19
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_bits_are_found_alike_with_and_without_the_instruction() {
        let mut mask = 0x9e37_79b9_7f4a_7c15u64;
        for round in 0..500 {
            mask = mask.rotate_left(7).wrapping_mul(0x2545_f491_4f6c_dd1d);
            let sparse = if round % 2 == 0 {
                mask
            } else {
                mask & mask >> 3 & mask << 9
            };
            for n in 0..64 {
                let places = (0..64).filter(|&place| sparse >> place & 1 == 1);
                let expected = places.clone().nth(n as usize).unwrap_or(64);
                #[cfg(target_arch = "x86_64")]
                assert_eq!(BitFinder { by_pdep: false }.find(sparse, n), expected);
                assert_eq!(BitFinder::best().find(sparse, n), expected);
            }
        }
    }

    #[test]
    fn the_work_is_done_once_and_its_result_handed_back() {
        let mut times = 0;
        let ones = with_modern_instructions(|| {
            times += 1;
            0xf0f0_u64.count_ones()
        });
        assert_eq!((times, ones), (1, 8));
    }

    #[test]
    fn a_limit_holds_for_its_thread_and_its_time() {
        let modern = || {
            #[cfg(target_arch = "x86_64")]
            return (Level::best(), has_v3());
            #[cfg(not(target_arch = "x86_64"))]
            return (Level::best(), false);
        };
        let before = modern();
        limited_to(Level::Baseline, || {
            assert_eq!(modern(), (Level::Baseline, false));
            limited_to(before.0, || assert_eq!(modern(), before));
            assert_eq!(modern(), (Level::Baseline, false));
            let elsewhere = std::thread::spawn(modern).join();
            assert!(elsewhere.is_ok_and(|elsewhere| elsewhere == before));
        });
        assert_eq!(modern(), before);
        let panicked = std::panic::catch_unwind(|| {
            limited_to(Level::Baseline, || panic!("in the middle"));
        });
        assert!(panicked.is_err() && modern() == before);
    }

    #[test]
    fn a_level_includes_those_below_of_its_family() {
        assert!(Level::best().is_there() && Level::Baseline.is_there());
        assert!(Level::Avx2.is_there() || !Level::Avx512.is_there());
        assert!(!(Level::Neon.is_there() && Level::Avx2.is_there()));
    }
}
