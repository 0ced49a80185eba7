//! Compiling one body for several instruction sets.

/// Runs `work`, compiled once for the baseline and once for x86-64-v3 (AVX2, BMI1, BMI2, LZCNT, POPCNT),
/// whichever the processor has.
///
/// Only what the compiler inlines into `work` gains: mark the closure and the loops under it
/// `#[inline(always)]`. Bit readers gain as much as plane loops do: flag-free shifts and a one-cycle population count.
#[inline(always)]
pub fn with_modern_instructions<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if has_v3() {
        // SAFETY: the processor was just asked for every feature that `on_v3` enables.
        return unsafe { on_v3(work) };
    }
    work()
}

#[cfg(target_arch = "x86_64")]
fn has_v3() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn on_v3<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_work_is_done_once_and_its_result_handed_back() {
        let mut times = 0;
        let ones = super::with_modern_instructions(|| {
            times += 1;
            0xf0f0_u64.count_ones()
        });
        assert_eq!((times, ones), (1, 8));
    }
}
