//! The CPU probe for calibration: the same fixed work on every CPU at once, so that turbo, heat and noisy neighbours
//! show in one number.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use crate::scenario::cpus;

/// Does the CPU probe's fixed work once on each CPU that this process may use, all at the same time, and returns the
/// mean time in seconds (about 20 ms on a quiet present-day machine).
#[must_use]
pub fn spin() -> f64 {
    let usable = cpus::allowed();
    let barrier = Barrier::new(usable.len().max(1));
    let seconds: Vec<f64> = thread::scope(|scope| {
        let threads: Vec<_> = (usable.iter())
            .map(|cpu| {
                let barrier = &barrier;
                scope.spawn(move || {
                    // If pinning is not permitted, the work runs on whatever CPU the kernel chooses.
                    let _ = cpus::stay_on(&[*cpu]);
                    barrier.wait();
                    let start = Instant::now();
                    black_box(work(black_box(ROUNDS)));
                    start.elapsed().as_secs_f64()
                })
            })
            .collect();
        threads
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .collect()
    });
    seconds.iter().sum::<f64>() / seconds.len().max(1) as f64
}

/// Computes a chain of steps, each of which depends on the one before, so that only the clock rate limits it. The shift
/// keeps the compiler from folding several steps into one, as it does with multiplications and additions alone.
fn work(rounds: u32) -> u64 {
    (0..rounds).fold(1, |state: u64, _| {
        (state ^ (state >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

/// Number of steps of the probe's work. At five cycles each they take 20 ms at 3 GHz.
const ROUNDS: u32 = 12_000_000;

#[cfg(test)]
mod tests {
    use rustix::thread::sched_getaffinity;

    use super::*;

    #[test]
    fn the_probe_takes_its_time_and_leaves_the_caller_unpinned() {
        let before = sched_getaffinity(None).expect("affinity");
        assert!(spin() > 0.001);
        assert_eq!(sched_getaffinity(None).expect("affinity"), before);
    }
}
