//! The `[store]` table: a store of results that several nodes share.

use std::path::{Path, PathBuf};
use std::time::Duration;

use andon_settings::check;
use serde::Deserialize;

use super::{BucketConfig, Bytes, ConfigError, Span, Store};
use crate::net::Cidr;

/// The `[store]` table: a store of results that several nodes share.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct StoreConfig {
    /// Where the results are stored.
    pub place: StorePlace,
    /// Addresses that the store may have in addition to those of the public internet.
    pub allow: Vec<Cidr>,
    /// The environment variable that holds the secret that all nodes share. Results in the store are authenticated with
    /// keys derived from it.
    pub secret_env: String,
    /// How long a look-up may take before the result is made in parallel.
    pub wait: Span,
    /// Timeout of a look-up.
    pub timeout: Span,
    /// How often purges by other nodes are read.
    pub poll: Span,
    /// Maximum bytes of results that wait to be written to the store.
    pub queue: Bytes,
    /// Results are stored only if their plan predicts at least this much processor time.
    pub min_cost: Span,
    /// Results are stored only if they may be used for at least this long.
    pub min_life: Span,
}

/// Where the results that nodes share are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorePlace {
    /// A folder that all nodes mount.
    Folder(PathBuf),
    /// A bucket of an object store.
    Bucket(Store, Box<BucketConfig>),
}

/// The `[store]` table as it is written in the configuration file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    fs: Option<Folder>,
    s3: Option<BucketConfig>,
    gcs: Option<BucketConfig>,
    azure: Option<BucketConfig>,
    allow: Option<Vec<Cidr>>,
    secret_env: Option<String>,
    wait: Option<Span>,
    timeout: Option<Span>,
    poll: Option<Span>,
    queue: Option<Bytes>,
    min_cost: Option<Span>,
    min_life: Option<Span>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Folder {
    root: PathBuf,
}

impl TryFrom<Written> for StoreConfig {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let bucket = |store, config: Option<BucketConfig>| {
            config.map(|config| StorePlace::Bucket(store, Box::new(config)))
        };
        let mut places = [
            written.fs.map(|folder| StorePlace::Folder(folder.root)),
            bucket(Store::S3, written.s3),
            bucket(Store::Gcs, written.gcs),
            bucket(Store::Azure, written.azure),
        ]
        .into_iter()
        .flatten();
        let (Some(place), None) = (places.next(), places.next()) else {
            return Err(
                "[store] needs exactly one of `fs.root`, `s3.bucket`, `gcs.bucket` and `azure.container`"
                    .to_owned(),
            );
        };
        let millis =
            |value: Option<Span>, default| value.unwrap_or(Span(Duration::from_millis(default)));
        Ok(Self {
            place,
            allow: written.allow.unwrap_or_default(),
            secret_env: written
                .secret_env
                .unwrap_or_else(|| "ANDON_STORE_SECRET".to_owned()),
            wait: millis(written.wait, 40),
            timeout: millis(written.timeout, 500),
            poll: millis(written.poll, 5000),
            queue: written.queue.unwrap_or(Bytes(32 << 20)),
            min_cost: millis(written.min_cost, 5),
            min_life: millis(written.min_life, 60_000),
        })
    }
}

impl StoreConfig {
    pub(super) fn resolve(&mut self, folder: &Path) {
        match &mut self.place {
            StorePlace::Folder(root) => *root = folder.join(&root),
            StorePlace::Bucket(_, bucket) => bucket.resolve(folder),
        }
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if let StorePlace::Bucket(store, bucket) = &self.place {
            bucket.validate(*store, "store")?;
            let is_single = bucket.buckets.is_empty();
            check(is_single, format!("store.{store}.buckets"), || {
                "means nothing for a shared store, which is one `bucket`".to_owned()
            })?;
        }
        check(self.wait <= self.timeout, "store.wait", || {
            format!(
                "{:?} is over `store.timeout` ({:?}), after which nothing comes any more",
                self.wait.0, self.timeout.0
            )
        })?;
        for (key, span, min, max, good) in [
            ("store.timeout", self.timeout, 1, 10_000, "500ms"),
            ("store.poll", self.poll, 10, 600_000, "5s"),
        ] {
            let (min, max) = (Duration::from_millis(min), Duration::from_millis(max));
            check((min..=max).contains(&span.0), key, || {
                format!("must be at least {min:?} and at most {max:?}: \"{good}\" is a good value")
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::parse(text, Path::new("/etc/andon"))
    }

    #[test]
    fn a_store_is_a_folder_or_a_bucket_and_none_by_default() {
        assert_eq!(parse("").unwrap().store, None);
        let folder = parse("[store]\nfs.root = \"shared\"")
            .unwrap()
            .store
            .unwrap();
        assert_eq!(folder.place, StorePlace::Folder("/etc/andon/shared".into()));
        let bucket = parse("[store]\ns3 = { bucket = \"b\", folder = \"results\" }").unwrap();
        let place = bucket.store.unwrap().place;
        assert!(matches!(place, StorePlace::Bucket(Store::S3, _)));
    }

    #[test]
    fn the_reference_file_shows_the_defaults() {
        let shown: String = crate::config::REFERENCE
            .lines()
            .skip_while(|line| !line.starts_with("# [store]"))
            .take_while(|line| line.starts_with('#'))
            .filter(|line| !line.contains("_key_env") && !line.contains("allow"))
            .map(|line| format!("{}\n", line.trim_start_matches("# ")))
            .collect();
        let shown = parse(&shown).unwrap().store.unwrap();
        let plain = parse("[store]\ns3 = { bucket = \"results\", folder = \"andon\" }").unwrap();
        assert_eq!(shown, plain.store.unwrap());
    }

    #[test]
    fn what_cannot_work_is_refused_with_its_key() {
        for (text, said) in [
            ("[store]", "exactly one"),
            (
                "[store]\nfs.root = \"a\"\ngcs.bucket = \"b\"",
                "exactly one",
            ),
            ("[store]\nfs.root = \"a\"\nwait = \"1s\"", "store.wait"),
            ("[store]\nfs.root = \"a\"\npoll = \"0s\"", "store.poll"),
            (
                "[store]\nfs.root = \"a\"\ntimeout = \"1m\"",
                "store.timeout",
            ),
            ("[store]\ns3.bucket = \"a/b\"", "store.s3.bucket"),
            (
                "[store]\nfs.root = \"a\"\nmin_costs = \"1ms\"",
                "`min_cost`",
            ),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
