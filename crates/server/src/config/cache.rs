//! `[cache]`: how much is kept, and for how long.

use std::path::{Path, PathBuf};
use std::time::Duration;

use andon_settings::check;
use serde::Deserialize;

use super::prefix::{check_prefix, longest_prefix};
use super::{Bytes, ConfigError, Span};

/// `[cache]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CacheConfig {
    /// Bytes of results in memory; 0 switches this tier off. At most an eighth of the memory there is,
    /// unless `memory_budget` is set.
    pub memory: Bytes,
    /// Results on disk; none by default.
    pub disk: Option<DiskConfig>,
    /// Bytes of decoded overlay images, out of what all work may plan with; 0 decodes them each time.
    pub overlays: Bytes,
    /// Bytes of decoded frames, out of what all work may plan with, from which further sizes of an image are made; 0 keeps
    /// none.
    pub frames: Bytes,
    /// Bytes of sources that were fetched over a network, out of what all work may plan with, from which further sizes of an
    /// image are made; 0 keeps none.
    pub sources: Bytes,
    /// How long what an origin over a network holds is used without asking, where it does not say.
    pub ttl: Span,
    /// How long a folder's file is taken for unchanged; then one look at the file's date and size.
    pub fs_fresh: Span,
    /// After `ttl`: served while a newer one is made behind the reply.
    pub stale_while_revalidate: Span,
    /// After `ttl`: served if the origin is in trouble.
    pub stale_if_error: Span,
    /// How long a missing or broken source of an origin is remembered.
    pub negative: Span,
    /// Headers that tell a CDN what a result is made of, so that it can purge by that.
    pub tag_headers: Vec<TagHeader>,
    /// Other rules below some paths; the longest prefix wins.
    pub rule: Vec<CacheRule>,
}

/// A header with tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum TagHeader {
    /// As Cloudflare, Akamai and others read it: tags with commas between them.
    #[serde(rename = "Cache-Tag")]
    CacheTag,
    /// As Fastly and Varnish read it: tags with spaces between them.
    #[serde(rename = "Surrogate-Key")]
    SurrogateKey,
}

/// `cache.disk`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskConfig {
    /// A folder; the cache uses one of its own inside it.
    pub path: PathBuf,
    /// Bytes of results on disk, in whole blocks; 0 keeps none there.
    pub size: Bytes,
    /// Bytes of sources that were fetched over a network, beside those; 0 keeps none there.
    #[serde(default = "none")]
    pub sources: Bytes,
}

fn none() -> Bytes {
    Bytes(0)
}

/// One `[[cache.rule]]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheRule {
    /// Sources whose path begins with this (whole segments).
    pub prefix: String,
    /// Used without asking for so long, whatever the origin says.
    pub ttl: Option<Span>,
    /// The `Cache-Control` that clients get, whatever the origin says.
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
    /// The tiers.
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

    /// The rule for a source's path.
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
            check_prefix(&rule.prefix, format!("cache.rule.{index}.prefix"))?;
            let text = rule.cache_control.as_deref().unwrap_or_default();
            check(
                hyper::header::HeaderValue::from_str(text).is_ok(),
                format!("cache.rule.{index}.cache_control"),
                || format!("\"{}\" cannot be a header's value", text.escape_default()),
            )?;
        }
        Ok(())
    }

    /// Looks for what no disk cache can be in.
    ///
    /// # Errors
    /// A path that is no folder, or below something that is none.
    pub(crate) fn check_disk(&self) -> Result<(), ConfigError> {
        let Some(disk) = (self.disk.as_ref()).filter(|disk| disk.size.0 > 0 || disk.sources.0 > 0)
        else {
            return Ok(());
        };
        let there = disk.path.ancestors().find(|path| path.exists());
        check(there.is_none_or(Path::is_dir), "cache.disk.path", || {
            let there = there.unwrap_or(&disk.path).display();
            format!("{there} is not a folder; name a folder, which is made if it is missing")
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
