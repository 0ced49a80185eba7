//! Where pictures come from. The longest matching prefix wins; prefixes match whole path segments.

mod beneath;
mod budget;
mod figures;
mod freshness;
mod http;
mod private_net;
mod s3;
mod source;
mod trouble;

use std::io;
use std::sync::Arc;
use std::time::Instant;

pub use beneath::{Entry, Identity, OpenFile, Root};
pub use budget::{Budget, Held, Hold};
pub(crate) use figures::{Figures, Line, RESULTS};
pub use freshness::Freshness;
pub use private_net::{Cidr, Guard};
pub use source::{Fetched, Source, SourceValidators};
pub use trouble::{Detour, Late, Trouble};

use self::http::HttpOrigin;
use self::http::client::{Client, Rules};
use self::s3::S3Origin;
use crate::config::{ConfigError, FsConfig, Keeper, OriginConfig, RemoteConfig};
use crate::error::Error;
use crate::permits::Permits;

/// All origins, longest prefix first.
#[derive(Debug)]
pub struct Origins(Vec<Origin>);

#[derive(Debug)]
struct Origin {
    /// Without slashes at either end.
    prefix: String,
    kept: Kept,
    figures: Arc<Figures>,
}

/// What is known about one origin at this moment.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    /// Its prefix, from a slash on.
    pub(crate) name: String,
    pub(crate) figures: &'a Figures,
    /// For those over a network.
    pub(crate) line: Option<Line>,
}

/// Who keeps an origin's pictures.
#[derive(Debug)]
enum Kept {
    Folder(Folder),
    Http(HttpOrigin),
    S3(S3Origin),
}

#[derive(Debug)]
struct Folder {
    root: Arc<Root>,
    most_bytes: u64,
}

impl Origins {
    /// Opens every origin; no source is larger than `most_bytes`. Slots for requests are those of the same
    /// prefix `before` a reload, as many as there are until [`Origins::resize`].
    ///
    /// # Errors
    /// Naming the origin that cannot be opened.
    pub fn open(
        configs: &[OriginConfig],
        most_bytes: u64,
        before: Option<&Self>,
    ) -> Result<Self, ConfigError> {
        let mut origins = configs
            .iter()
            .map(|config| Origin::open(config, most_bytes, before))
            .collect::<Result<Vec<_>, _>>()?;
        origins.sort_by_key(|origin| std::cmp::Reverse(origin.prefix.len()));
        Ok(Self(origins))
    }

    /// Gives the slots of every origin the number of this configuration.
    pub(crate) fn resize(&self) {
        self.0
            .iter()
            .filter_map(Origin::client)
            .for_each(Client::resize);
    }

    /// Is what `source` names asked for over a network, by [`Origins::fetch`] alone?
    #[must_use]
    pub fn is_remote(&self, source: &str) -> bool {
        matches!(self.find(source), Ok((origin, _)) if !matches!(origin.kept, Kept::Folder(_)))
    }

    /// Opens what `source` names in a folder: a path below `/`, percent-decoded already.
    ///
    /// # Errors
    /// `Missing`, also for what is no folder's; `Forbidden`, `Io`.
    pub fn entry(&self, source: &str) -> Result<Entry, Error> {
        let (origin, path) = self.find(source)?;
        let Kept::Folder(folder) = &origin.kept else {
            return Err(missing(source));
        };
        let began = Instant::now();
        let entry = folder.root.entry(path);
        // What is found is counted when it is read.
        if let Err(error) = &entry {
            origin.figures.count(Err(error), began.elapsed());
        }
        entry
    }

    /// Where the reading of an open file counts.
    pub(crate) fn figures_of(&self, source: &str) -> Result<Arc<Figures>, Error> {
        Ok(self.find(source)?.0.figures.clone())
    }

    /// What is known about each origin.
    pub(crate) fn readings(&self) -> impl Iterator<Item = Reading<'_>> {
        self.0.iter().map(|origin| Reading {
            name: format!("/{}", origin.prefix),
            figures: &origin.figures,
            line: origin.client().map(Client::line),
        })
    }

    /// Fetches what `source` names, whole, from whatever keeps it; unless it still is what `known`
    /// says.
    ///
    /// # Errors
    /// `Missing`, `Forbidden`, `Origin`, `Io`, `Changing`, `Pixels(Limit)`.
    pub async fn fetch(
        &self,
        source: &str,
        known: Option<&SourceValidators>,
        budget: &Budget,
    ) -> Result<Fetched, Error> {
        let (origin, path) = self.find(source)?;
        let began = Instant::now();
        let fetched = match &origin.kept {
            Kept::Folder(folder) => folder.fetch(path, known, budget).await,
            Kept::Http(origin) => origin.fetch(path, known, budget).await,
            Kept::S3(origin) => origin.fetch(path, known, budget).await,
        };
        let outcome = fetched.as_ref().map(|fetched| match fetched {
            Fetched::Body(source) => Some(source.bytes.len() as u64),
            Fetched::NotModified(_) => None,
        });
        origin.figures.count(outcome, began.elapsed());
        // Clients know the path with its prefix, and no other.
        fetched.map_err(|error| match error {
            Error::Missing { .. } => missing(source),
            Error::Forbidden { .. } => Error::Forbidden {
                path: source.trim_start_matches('/').to_owned(),
            },
            error => error,
        })
    }

    /// Who keeps `source`, and what is left of its path there.
    fn find<'a>(&self, source: &'a str) -> Result<(&Origin, &'a str), Error> {
        let path = source.trim_start_matches('/');
        self.0
            .iter()
            .find_map(|origin| Some((origin, below(&origin.prefix, path)?)))
            .ok_or_else(|| missing(source))
    }
}

impl Origin {
    fn open(
        config: &OriginConfig,
        most_bytes: u64,
        before: Option<&Origins>,
    ) -> Result<Self, ConfigError> {
        let wrong =
            |what: String| ConfigError::new(format!("the origin \"{}\": {what}", config.prefix));
        let prefix = config.prefix.trim_matches('/');
        let former = before.and_then(|before| before.0.iter().find(|it| it.prefix == prefix));
        let rules = |remote| rules(remote, most_bytes, former.and_then(Self::client));
        let kept = match &config.keeper {
            Keeper::Fs(fs) => Kept::Folder(Folder::open(fs, most_bytes)?),
            Keeper::Http(http, remote) => HttpOrigin::new(http, &remote.allow, rules(remote))
                .map(Kept::Http)
                .map_err(wrong)?,
            Keeper::S3(s3, remote) => S3Origin::new(s3, &remote.allow, rules(remote))
                .map(Kept::S3)
                .map_err(wrong)?,
        };
        Ok(Self {
            prefix: prefix.to_owned(),
            kept,
            figures: Arc::default(),
        })
    }

    /// What asks for it over a network, if it is kept there.
    fn client(&self) -> Option<&Client> {
        match &self.kept {
            Kept::Folder(_) => None,
            Kept::Http(http) => Some(http.client()),
            Kept::S3(s3) => Some(s3.client()),
        }
    }
}

impl Folder {
    fn open(config: &FsConfig, most_bytes: u64) -> Result<Self, ConfigError> {
        let path = &config.root;
        let root = Root::open(path).map_err(|error| {
            let error = match error.kind() {
                io::ErrorKind::NotFound => "there is no such folder".to_owned(),
                io::ErrorKind::NotADirectory => "it is not a folder".to_owned(),
                _ => error.to_string(),
            };
            ConfigError::new(format!("cannot serve {}: {error}", path.display()))
        })?;
        Ok(Self {
            root: Arc::new(root),
            most_bytes,
        })
    }

    async fn fetch(
        &self,
        path: &str,
        known: Option<&SourceValidators>,
        budget: &Budget,
    ) -> Result<Fetched, Error> {
        let (root, path) = (self.root.clone(), path.to_owned());
        let file = waiting(move || match root.entry(&path)? {
            Entry::File(file) => Ok(file),
            Entry::Folder => Err(missing(&path)),
        })
        .await?;
        let validators = SourceValidators::of_file(&file.identity);
        if known.is_some_and(|known| known.identity == validators.identity) {
            return Ok(Fetched::NotModified(Freshness::default()));
        }
        let most_bytes = self.most_bytes;
        let hold = budget.held.take(file.identity.size.min(most_bytes)).await;
        let bytes = waiting(move || file.read(most_bytes)).await?;
        Ok(Fetched::Body(Source {
            bytes: bytes.into(),
            validators,
            freshness: Freshness::default(),
            bounded: true,
            media_type: None,
            hold: Arc::new(hold),
        }))
    }
}

fn rules(config: &RemoteConfig, most_bytes: u64, former: Option<&Client>) -> Rules {
    let fetches = config.fetches();
    Rules {
        timeouts: config.timeouts,
        fetches,
        slots: former.map_or_else(|| Permits::of(fetches), |former| former.slots().clone()),
        most_bytes: config
            .max_bytes
            .map_or(most_bytes, |own| own.0.min(most_bytes)),
        redirects: 0,
        retries: 0,
    }
}

/// Runs what may wait for a disk.
async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work);
    done.await.unwrap_or(Err(Error::Panicked))
}

fn missing(source: &str) -> Error {
    Error::Missing {
        path: source.trim_start_matches('/').to_owned(),
    }
}

/// What remains of `source` below `prefix`.
fn below<'a>(prefix: &str, source: &'a str) -> Option<&'a str> {
    let rest = source.strip_prefix(prefix)?;
    (prefix.is_empty() || rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_matches_whole_segments_only() {
        assert_eq!(below("", "a.jpg"), Some("a.jpg"));
        assert_eq!(below("photos", "photos/a.jpg"), Some("/a.jpg"));
        assert_eq!(below("photos", "photos"), Some(""));
        assert_eq!(below("photos", "photos2/a.jpg"), None);
    }

    #[test]
    fn the_longest_prefix_wins_and_cannot_be_climbed_out_of() {
        let house = tempfile::tempdir().unwrap();
        for name in ["all", "icons"] {
            std::fs::create_dir(house.path().join(name)).unwrap();
            std::fs::write(house.path().join(name).join("a"), name).unwrap();
        }
        let origin = |prefix: &str, folder: &str| OriginConfig {
            prefix: prefix.to_owned(),
            ..OriginConfig::folder(house.path().join(folder))
        };
        let origins =
            Origins::open(&[origin("/", "all"), origin("/i/", "icons")], 100, None).unwrap();
        let text = |source: &str| match origins.entry(source) {
            Ok(Entry::File(file)) => String::from_utf8(file.read(100).unwrap()).unwrap(),
            other => format!("{other:?}"),
        };
        assert_eq!(text("a"), "all");
        assert_eq!(text("i/a"), "icons");
        assert!(text("i/../a").contains("Missing"));
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error =
            Origins::open(&[OriginConfig::folder("/no/such/folder")], 100, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot serve /no/such/folder: there is no such folder"
        );
    }
}
