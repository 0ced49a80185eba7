//! The two clocks of the cache: one that never jumps, and one that outlives a reboot.
//!
//! The wall clock may be set a year off at any moment. The time since boot may not, and it continues across restarts of
//! this process. So an age is measured by the time since boot as long as the machine is up, and by the wall clock only
//! across a reboot.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

/// A moment, read from the wall clock and from the time since boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Wall-clock time since 1970. May jump in either direction.
    pub wall: Duration,
    /// Time since the machine booted, including sleep. Never jumps.
    pub since_boot: Duration,
    /// Identifies the boot: `since_boot` values are comparable only within the same one.
    pub boot: u64,
}

/// Source of the time. Tests provide their own.
pub trait Clock: Send + Sync + 'static {
    /// Reads the wall clock and the time since boot.
    fn now(&self) -> Moment;
}

/// The machine's clocks.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    boot: u64,
}

impl Default for SystemClock {
    fn default() -> Self {
        // Without /proc the boot cannot be identified. A random number makes every restart look like a reboot, which is
        // the safe assumption.
        let boot = std::fs::read("/proc/sys/kernel/random/boot_id")
            .map(|id| u64_of(blake3::hash(&id).as_bytes()))
            .unwrap_or_else(|_| RandomState::new().hash_one(std::process::id()));
        Self { boot }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let boot = clock_gettime(ClockId::Boottime);
        Moment {
            wall: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default(),
            since_boot: Duration::new(
                u64::try_from(boot.tv_sec).unwrap_or(0),
                u32::try_from(boot.tv_nsec).unwrap_or(0),
            ),
            boot: self.boot,
        }
    }
}

fn u64_of(digest: &[u8; 32]) -> u64 {
    digest
        .iter()
        .take(8)
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_since_boot_only_grows_and_the_boot_stays() {
        let (a, b) = (SystemClock::default().now(), SystemClock::default().now());
        assert!(b.since_boot >= a.since_boot);
        if std::path::Path::new("/proc/sys/kernel/random/boot_id").exists() {
            assert_eq!(a.boot, b.boot);
        }
    }
}
