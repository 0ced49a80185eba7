//! The memory budget, in bytes, that all running jobs share.

use super::cgroup;
use andon_isolation::{AT_REST, BARE};

use crate::config::{Config, OriginConfig, Processes};

/// A memory budget: the bytes that may be reserved, and those that are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    total: u64,
    used: u64,
}

/// How a server's memory is shared out, in bytes: sources, overlays, frames, replies and pixels never add up to more than
/// the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// For cached results.
    pub(crate) cache: u64,
    /// For source files in memory, both waiting and in use.
    pub(crate) sources: u64,
    /// For decoded overlay images that are cached; 0 where no folder of overlays is configured.
    pub(crate) overlays: u64,
    /// For decoded frames that are kept for further sizes of an image.
    pub(crate) frames: u64,
    /// For sources fetched over a network that are kept for further sizes of an image.
    pub(crate) kept_sources: u64,
    /// For replies that HTTP/2 clients have not read yet; 0 where HTTP/2 is off.
    pub(crate) replies: u64,
    /// For idle worker processes, which keep some memory between their jobs.
    pub(crate) processes: u64,
    /// For the planned peaks of all running jobs, without their source files.
    pub(crate) pixels: u64,
}

impl Budget {
    pub(super) fn new(total: u64) -> Self {
        Self { total, used: 0 }
    }

    pub(super) fn total(self) -> u64 {
        self.total
    }

    pub(super) fn used(self) -> u64 {
        self.used
    }

    /// Whether `bytes` would fit into the budget if nothing else ran.
    pub(super) fn could_ever_hold(self, bytes: u64) -> bool {
        bytes <= self.total
    }

    pub(super) fn free(self) -> u64 {
        self.total.saturating_sub(self.used)
    }

    pub(super) fn fits(self, bytes: u64) -> bool {
        bytes <= self.free()
    }

    /// Reserves `bytes`. The caller has checked that they fit.
    pub(super) fn take(&mut self, bytes: u64) {
        self.used = self.used.saturating_add(bytes);
    }

    /// Changes the total. What is reserved stays reserved, even if it is more than the new total.
    pub(super) fn resize(&mut self, total: u64) {
        self.total = total;
    }

    pub(super) fn give_back(&mut self, bytes: u64) {
        self.used = self.used.saturating_sub(bytes);
    }
}

impl Shares {
    /// Derives the shares from the configuration. A configured budget of 0 stands for one derived from the memory of
    /// this machine or of its control group.
    pub(crate) fn of(config: &Config) -> Self {
        let (sources, cache) = (config.limits.held_bytes.0, config.cache.memory.0);
        let shares = match config.memory_budget.0 {
            0 => {
                let memory = cgroup::memory().map_or(UNKNOWN_MACHINE, |memory| memory.bytes);
                Self::of_memory(memory, sources, cache)
            }
            budget => Self::of_budget(budget, sources, cache),
        };
        let shares = match config.dialects.small_light.material_dir {
            Some(_) => shares.with_overlays(config.cache.overlays.0),
            None => shares,
        };
        let shares = match config.tls.http2 && !config.tls.listen.is_empty() {
            true => shares.with_replies(),
            false => shares,
        };
        let shares = shares.with_frames(config.cache.frames.0);
        let keeps = config.cache.memory.0 > 0 || config.cache.disk.is_some();
        let shares = match keeps && config.origin.iter().any(OriginConfig::is_remote) {
            true => shares.with_kept_sources(config.cache.sources.0),
            false => shares,
        };
        match config.sandbox.processes {
            Processes::None => shares,
            Processes::ThirdParty | Processes::All => shares.with_processes(config.workers()),
        }
    }

    /// Derives the shares from the available `memory`: three fifths are the budget to plan with, at most an eighth is
    /// for the cache. The rest is for what no plan counts: code, connections, what the allocator holds back, and the
    /// page cache of the files that are read.
    fn of_memory(memory: u64, most_sources: u64, most_cache: u64) -> Self {
        Self::of_budget(memory / 5 * 3, most_sources, most_cache.min(memory / 8))
    }

    fn of_budget(budget: u64, most_sources: u64, cache: u64) -> Self {
        let sources = most_sources.min(budget / 4);
        Self {
            cache,
            sources,
            overlays: 0,
            frames: 0,
            kept_sources: 0,
            replies: 0,
            processes: 0,
            pixels: budget - sources,
        }
    }

    /// Bytes for all work on images: everything but the cached results.
    pub(super) fn work(self) -> u64 {
        self.sources
            + self.overlays
            + self.frames
            + self.kept_sources
            + self.replies
            + self.processes
            + self.pixels
    }

    /// Moves up to `most` bytes from the share for pixels, but at most an eighth of it, to the share for overlays.
    fn with_overlays(self, most: u64) -> Self {
        let overlays = most.min(self.pixels / 8);
        Self {
            overlays,
            pixels: self.pixels - overlays,
            ..self
        }
    }

    /// Moves what the worker processes hold between their jobs from the share for pixels, but at most an eighth of it,
    /// to a share of its own.
    fn with_processes(self, threads: usize) -> Self {
        let all = AT_REST.saturating_mul(threads as u64 + 1);
        let processes = all.min(self.pixels / 8);
        Self {
            processes,
            pixels: self.pixels - processes,
            ..self
        }
    }

    /// Bytes of free buffers that each worker process may keep between its jobs.
    pub(crate) fn kept_by_process(self, threads: usize) -> u64 {
        (self.processes / (threads as u64 + 1)).saturating_sub(BARE)
    }

    /// Moves an eighth of the share for pixels to the share for replies: enough for a page of large images for each of
    /// a few clients.
    fn with_replies(self) -> Self {
        let replies = self.pixels / 8;
        Self {
            replies,
            pixels: self.pixels - replies,
            ..self
        }
    }

    /// Moves up to `most` bytes from the share for pixels, but at most an eighth of it, to the share for fetched
    /// sources that are kept.
    fn with_kept_sources(self, most: u64) -> Self {
        let kept_sources = most.min(self.pixels / 8);
        Self {
            kept_sources,
            pixels: self.pixels - kept_sources,
            ..self
        }
    }

    /// Moves up to `most` bytes from the share for pixels, but at most an eighth of it, to the share for decoded frames
    /// that are kept.
    fn with_frames(self, most: u64) -> Self {
        let frames = most.min(self.pixels / 8);
        Self {
            frames,
            pixels: self.pixels - frames,
            ..self
        }
    }
}

/// Bytes of memory that are assumed where the system does not report any: no machine that serves images has less.
const UNKNOWN_MACHINE: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Listen;

    #[test]
    fn what_is_taken_is_free_again_when_it_is_given_back() {
        let mut budget = Budget::new(10);
        budget.take(6);
        assert!(budget.fits(4) && !budget.fits(5));
        assert_eq!((budget.used(), budget.free()), (6, 4));
        budget.give_back(6);
        assert!(budget.fits(10));
        assert!(budget.could_ever_hold(10) && !budget.could_ever_hold(11));
    }

    #[test]
    fn a_smaller_total_takes_nothing_away_and_lets_nothing_in_until_it_fits() {
        let mut budget = Budget::new(10);
        budget.take(6);
        budget.resize(5);
        assert_eq!((budget.used(), budget.free()), (6, 0));
        assert!(!budget.fits(1));
        budget.give_back(6);
        assert!(budget.fits(5) && !budget.fits(6));
    }

    #[test]
    fn sources_and_pixels_together_are_the_budget() {
        let shares = Shares::of_budget(400 << 20, 256 << 20, 0);
        assert_eq!((shares.sources, shares.pixels), (100 << 20, 300 << 20));
        let shares = Shares::of_budget(8 << 30, 256 << 20, 0);
        assert_eq!(shares.sources, 256 << 20);
        assert_eq!(shares.sources + shares.pixels, 8 << 30);
    }

    #[test]
    fn decoded_overlays_are_part_of_the_budget() {
        let mut config = Config::default();
        config.memory_budget.0 = 400 << 20;
        assert_eq!(Shares::of(&config).overlays, 0);
        config.dialects.small_light.material_dir = Some("icons".into());
        let shares = Shares::of(&config);
        assert_eq!(shares.overlays, 32 << 20);
        assert_eq!(shares.work(), 400 << 20);
        config.memory_budget.0 = 16 << 20;
        assert_eq!(Shares::of(&config).overlays, (12 << 20) / 8);
    }

    #[test]
    fn replies_of_http2_are_part_of_the_budget_where_there_is_http2() {
        let mut config = Config::default();
        config.memory_budget.0 = 400 << 20;
        assert_eq!(Shares::of(&config).replies, 0);
        config.tls.listen = vec![Listen::Tcp("127.0.0.1:0".to_owned())];
        let shares = Shares::of(&config);
        assert_eq!(shares.replies, (300 << 20) / 8);
        assert_eq!(shares.work(), 400 << 20);
        config.tls.http2 = false;
        assert_eq!(Shares::of(&config).replies, 0);
    }

    #[test]
    fn decoded_frames_are_part_of_the_budget_too() {
        let mut config = Config::default();
        config.memory_budget.0 = 4 << 30;
        let shares = Shares::of(&config);
        assert_eq!(shares.frames, config.cache.frames.0);
        assert_eq!(shares.work(), 4 << 30);
        config.memory_budget.0 = 16 << 20;
        assert_eq!(Shares::of(&config).frames, (12 << 20) / 8);
        config.cache.frames.0 = 0;
        assert_eq!(Shares::of(&config).frames, 0);
    }

    #[test]
    fn a_small_machine_keeps_less_than_the_default_and_has_a_quarter_to_spare() {
        let memory = 512 << 20;
        let shares = Shares::of_memory(memory, 256 << 20, 256 << 20);
        assert_eq!(shares.cache, 64 << 20);
        assert!(shares.cache + shares.sources + shares.pixels < memory / 4 * 3);
        assert_eq!(Shares::of_memory(8 << 30, 0, 256 << 20).cache, 256 << 20);
    }

    #[test]
    fn a_cache_is_as_large_as_it_is_configured_where_the_budget_is_too() {
        let mut config = Config::default();
        config.memory_budget.0 = 1 << 20;
        config.cache.memory.0 = 9 << 30;
        let shares = Shares::of(&config);
        assert_eq!(shares.cache, 9 << 30);
    }

    #[test]
    fn a_budget_is_found_where_none_is_configured() {
        let shares = Shares::of(&Config::default());
        assert!(shares.pixels > shares.sources && shares.sources > 0);
    }
}
