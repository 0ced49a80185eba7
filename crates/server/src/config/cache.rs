//! The `[cache]` table of the configuration: how much is cached, and for how long.

use std::path::{Path, PathBuf};
use std::time::Duration;

use andon_settings::check;
use serde::Deserialize;

use super::prefix::{check_source_prefix, longest_prefix};
use super::{Bytes, ConfigError, Span};

/// The `[cache]` table: how much is cached, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CacheConfig {
    /// Maximum bytes of results cached in memory; 0 turns this tier off. At most an eighth of the machine's memory is used,
    /// unless `memory_budget` is set.
    pub memory: Bytes,
    /// Results on disk; none by default.
    pub disk: Option<DiskConfig>,
    /// Maximum bytes of cached decoded overlay images, as part of the memory budget; with 0, they are decoded each time.
    pub overlays: Bytes,
    /// Maximum bytes of decoded frames that are cached to make further sizes of an image, as part of the memory budget; 0
    /// means none.
    pub frames: Bytes,
    /// Maximum bytes of sources fetched over a network that are cached to make further sizes of an image, as part of the
    /// memory budget; 0 means none.
    pub sources: Bytes,
    /// How long a source of a remote origin is used without revalidation, if the origin itself does not say how long.
    pub ttl: Span,
    /// How long a local file is assumed to be unchanged. After that, its date and size are checked again.
    pub fs_fresh: Span,
    /// How long after `ttl` a result is still served while a newer one is made in the background.
    pub stale_while_revalidate: Span,
    /// How long after `ttl` a result is still served if its origin fails.
    pub stale_if_error: Span,
    /// How long the error for a missing or broken source is cached.
    pub negative: Span,
    /// Headers that tell a CDN what a result is made of, so that it can purge by these tags.
    pub tag_headers: Vec<TagHeader>,
    /// Different rules for sources below certain paths; the longest prefix wins.
    pub rule: Vec<CacheRule>,
}

/// A response header with cache tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum TagHeader {
    /// `Cache-Tag`, read by Cloudflare, Akamai and others: tags separated by commas.
    #[serde(rename = "Cache-Tag")]
    CacheTag,
    /// `Surrogate-Key`, read by Fastly and Varnish: tags separated by spaces.
    #[serde(rename = "Surrogate-Key")]
    SurrogateKey,
}

/// The `cache.disk` table: a cache of results and sources on disk.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskConfig {
    /// A folder, inside which the cache creates one of its own.
    pub path: PathBuf,
    /// Maximum bytes of results on disk, counted in whole file system blocks of 4 KiB; 0 means none.
    pub size: Bytes,
    /// Maximum bytes of sources fetched over a network, in addition to `size`; 0 means none.
    #[serde(default = "none")]
    pub sources: Bytes,
}

fn none() -> Bytes {
    Bytes(0)
}

/// One `[[cache.rule]]` table, which overrides what origins say about caching of sources below a path.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheRule {
    /// The rule applies to sources whose path begins with this prefix (whole segments).
    pub prefix: String,
    /// How long a source is used without revalidation, whatever its origin says.
    pub ttl: Option<Span>,
    /// The `Cache-Control` header that clients get, whatever the origin says.
    pub cache_control: Option<String>,
}

impl Default for CacheConfig {
    fn default() -> Self {
        let span = |seconds| Span(Duration::from_secs(seconds));
        Self {
            memory: Bytes(256 << 20),
            disk: None,
            overlays: Bytes(32 << 20),
            frames: Bytes(32 << 20),
            sources: Bytes(64 << 20),
            ttl: span(600),
            fs_fresh: span(1),
            stale_while_revalidate: span(30),
            stale_if_error: span(3600),
            negative: span(5),
            tag_headers: Vec::new(),
            rule: Vec::new(),
        }
    }
}

impl CacheConfig {
    /// Returns the configuration of the cache's tiers for results, in memory and on disk.
    #[must_use]
    pub fn tiers(&self) -> andon_cache::Config {
        andon_cache::Config {
            memory: self.memory.0,
            disk: self.disk.as_ref().map(|disk| andon_cache::DiskConfig {
                path: disk.path.clone(),
                size: disk.size.0,
            }),
        }
    }

    /// Returns the rule that applies to the path `source`, if any.
    #[must_use]
    pub fn rule(&self, source: &str) -> Option<&CacheRule> {
        longest_prefix(&self.rule, source, |rule| &rule.prefix)
    }

    pub(super) fn resolve(&mut self, folder: &Path) {
        if let Some(disk) = &mut self.disk {
            disk.path = folder.join(&disk.path);
        }
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        check(
            self.negative.0 <= LONGEST_NEGATIVE,
            "cache.negative",
            || {
                "is over a minute (\"1m\"): a source that was missing may come at any moment"
                    .to_owned()
            },
        )?;
        for (index, rule) in self.rule.iter().enumerate() {
            check_source_prefix(&rule.prefix, format!("cache.rule.{index}.prefix"))?;
            let text = rule.cache_control.as_deref().unwrap_or_default();
            check(
                hyper::header::HeaderValue::from_str(text).is_ok(),
                format!("cache.rule.{index}.cache_control"),
                || format!("\"{}\" cannot be a header's value", text.escape_default()),
            )?;
        }
        Ok(())
    }

    /// Checks that the folder of the disk cache exists or could be created.
    ///
    /// # Errors
    /// If the path, or the part of it that exists, is not a folder.
    pub(crate) fn check_disk(&self) -> Result<(), ConfigError> {
        let Some(disk) = (self.disk.as_ref()).filter(|disk| disk.size.0 > 0 || disk.sources.0 > 0)
        else {
            return Ok(());
        };
        let existing = disk.path.ancestors().find(|path| path.exists());
        check(existing.is_none_or(Path::is_dir), "cache.disk.path", || {
            let existing = existing.unwrap_or(&disk.path).display();
            format!("{existing} is not a folder; name a folder, which is made if it is missing")
        })
    }
}

const LONGEST_NEGATIVE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_of_whole_segments_rules() {
        let rule = |prefix: &str| CacheRule {
            prefix: prefix.to_owned(),
            ttl: None,
            cache_control: None,
        };
        let config = CacheConfig {
            rule: vec![rule("/"), rule("/shop/"), rule("/shop/new")],
            ..CacheConfig::default()
        };
        let prefix = |source| config.rule(source).map(|rule| rule.prefix.as_str());
        assert_eq!(prefix("a.jpg"), Some("/"));
        assert_eq!(prefix("shop/a.jpg"), Some("/shop/"));
        assert_eq!(prefix("shop/new/a.jpg"), Some("/shop/new"));
        assert_eq!(prefix("shop/newer/a.jpg"), Some("/shop/"));
    }
}
