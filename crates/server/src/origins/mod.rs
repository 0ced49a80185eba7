//! Where pictures come from. The longest matching prefix wins; prefixes match whole path segments.

mod beneath;

use std::io;

pub use beneath::{Entry, Identity, OpenFile, Root};

use crate::config::{ConfigError, OriginConfig};
use crate::error::Error;

/// All origins, longest prefix first.
#[derive(Debug)]
pub struct Origins(Vec<Origin>);

#[derive(Debug)]
struct Origin {
    /// Without slashes at either end.
    prefix: String,
    root: Root,
}

impl Origins {
    /// Opens every origin.
    ///
    /// # Errors
    /// Naming the origin that cannot be opened.
    pub fn open(configs: &[OriginConfig]) -> Result<Self, ConfigError> {
        let mut origins = configs
            .iter()
            .map(Origin::open)
            .collect::<Result<Vec<_>, _>>()?;
        origins.sort_by_key(|origin| std::cmp::Reverse(origin.prefix.len()));
        Ok(Self(origins))
    }

    /// Opens what `source` names: a path below `/`, percent-decoded already.
    ///
    /// # Errors
    /// `Missing`, `Forbidden`, `Io`.
    pub fn entry(&self, source: &str) -> Result<Entry, Error> {
        let source = source.trim_start_matches('/');
        self.0
            .iter()
            .find_map(|origin| Some((origin, below(&origin.prefix, source)?)))
            .ok_or_else(|| Error::Missing {
                path: source.to_owned(),
            })
            .and_then(|(origin, path)| origin.root.entry(path))
    }
}

impl Origin {
    fn open(config: &OriginConfig) -> Result<Self, ConfigError> {
        let path = &config.fs.root;
        let root = Root::open(path).map_err(|error| {
            let error = match error.kind() {
                io::ErrorKind::NotFound => "there is no such folder".to_owned(),
                io::ErrorKind::NotADirectory => "it is not a folder".to_owned(),
                _ => error.to_string(),
            };
            ConfigError::new(format!("cannot serve {}: {error}", path.display()))
        })?;
        Ok(Self {
            prefix: config.prefix.trim_matches('/').to_owned(),
            root,
        })
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
        let origins = Origins::open(&[origin("/", "all"), origin("/i/", "icons")]).unwrap();
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
        let error = Origins::open(&[OriginConfig::folder("/no/such/folder")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot serve /no/such/folder: there is no such folder"
        );
    }
}
