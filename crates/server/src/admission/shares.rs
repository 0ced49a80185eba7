//! The division of this machine's memory among a server's caches and its work.

use andon_isolation::{AT_REST, BARE};

use super::cgroup;
use crate::config::{Config, OriginConfig, Processes};

/// The division of a server's memory, in bytes. Sources, overlays, frames, responses and pixels never add up to more
/// than the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Memory for cached results.
    pub(crate) cache: u64,
    /// Memory for source files of requests, whether these wait or run.
    pub(crate) sources: u64,
    /// Memory for cached decoded overlay images; 0 if no folder of overlays is configured.
    pub(crate) overlays: u64,
    /// Memory for decoded frames that are cached for further sizes of an image.
    pub(crate) frames: u64,
    /// Memory for sources fetched over a network that are cached for further sizes of an image.
    pub(crate) kept_sources: u64,
    /// Memory for responses that HTTP/2 clients have not read yet; 0 if HTTP/2 is off.
    pub(crate) replies: u64,
    /// Memory for idle worker processes, which keep some memory between their jobs.
    pub(crate) processes: u64,
    /// Memory for the planned peaks of all running jobs, without their source files.
    pub(crate) pixels: u64,
}

impl Shares {
    /// Computes the shares of memory from the configuration. A configured budget of 0 stands for one that is computed
    /// from the memory of this machine or of its control group.
    pub(crate) fn of(config: &Config) -> Self {
        let (sources, cache) = (config.limits.held_bytes.0, config.cache.memory.0);
        let mut shares = match config.memory_budget.0 {
            0 => {
                let memory = cgroup::memory().map_or(UNKNOWN_MACHINE, |memory| memory.bytes);
                Self::of_memory(memory, sources, cache)
            }
            budget => Self::of_budget(budget, sources, cache),
        };
        if config.dialects.small_light.material_dir.is_some() {
            shares.overlays = shares.take(config.cache.overlays.0);
        }
        if config.tls.http2 && !config.tls.listen.is_empty() {
            // This is enough for a page of large images for each of a few clients.
            shares.replies = shares.take(u64::MAX);
        }
        shares.frames = shares.take(config.cache.frames.0);
        let keeps = config.cache.memory.0 > 0 || config.cache.disk.is_some();
        if keeps && config.origin.iter().any(OriginConfig::is_remote) {
            shares.kept_sources = shares.take(config.cache.sources.0);
        }
        if config.sandbox.processes != Processes::None {
            let all = AT_REST.saturating_mul(config.workers() as u64 + 1);
            shares.processes = shares.take(all);
        }
        shares
    }

    /// Computes the shares from the available `memory`: three fifths are the budget for planning, and at most an eighth
    /// is for the cache. The rest is for memory that no plan counts: code, connections, memory that the allocator
    /// retains, and the page cache of files.
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

    /// Returns the bytes for all work on images: everything but the cached results.
    pub(super) fn work(self) -> u64 {
        self.sources
            + self.overlays
            + self.frames
            + self.kept_sources
            + self.replies
            + self.processes
            + self.pixels
    }

    /// Takes up to `most` bytes out of the memory share for pixels, but at most an eighth of it, and returns how many.
    fn take(&mut self, most: u64) -> u64 {
        let bytes = most.min(self.pixels / 8);
        self.pixels -= bytes;
        bytes
    }
}

/// Returns how many bytes of free buffers each worker process of a server with this configuration may keep between
/// its jobs.
#[must_use]
pub fn kept_by_process(config: &Config) -> u64 {
    (Shares::of(config).processes / (config.workers() as u64 + 1)).saturating_sub(BARE)
}

/// Bytes of memory that are assumed if the system does not report any: no machine that serves images has less.
const UNKNOWN_MACHINE: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Listen;

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
