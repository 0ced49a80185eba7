//! Origins that are folders of this machine.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use url::Url;

use super::beneath::Root;
use super::blocking::Blocking;
use super::budget::Budget;
use super::file::{Entry, OpenFile};
use super::freshness::Freshness;
use super::names::{missing, path_below};
use super::source::{Fetched, Source, SourceValidators};
use crate::config::{BaseUrl, Files, FsConfig};
use crate::error::{Error, Withheld};

/// Returns a message that names the folder on the way to `path` that this process may not enter or read, and the
/// command that would permit it.
fn permission_advice(path: &Path) -> String {
    let user = rustix::process::geteuid().as_raw();
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
    above.reverse();
    // Reading the status of an entry needs the permission to enter the folder.
    let is_closed = |folder: &&Path| {
        let next = path
            .strip_prefix(folder)
            .ok()
            .and_then(|it| it.iter().next());
        let status = next.map(|next| folder.join(next).symlink_metadata());
        status.is_some_and(|it| it.is_err_and(|why| why.kind() == io::ErrorKind::PermissionDenied))
    };
    match above.into_iter().find(is_closed) {
        Some(folder) => format!(
            "the user that the server runs as (number {user}) may not enter {}: `chmod o+x {}` lets it, or put the images elsewhere, such as \
             in /srv/pictures",
            folder.display(),
            folder.display()
        ),
        None => format!(
            "the user that the server runs as (number {user}) may not read it: `chmod -R o+rX {}` lets it",
            path.display()
        ),
    }
}

/// A folder whose files are sources.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub(super) root: Arc<Root>,
    /// The folder's path, for the log.
    pub(super) path: PathBuf,
    /// Which files are served unchanged.
    pub(super) files: Files,
    /// URLs below which the folder's files are available as well.
    urls: Vec<BaseUrl>,
    most_bytes: u64,
}

impl Folder {
    /// Opens the folder of a configuration. Files of more than `most_bytes` are refused.
    ///
    /// # Errors
    /// A sentence that names the folder.
    pub(super) fn open(config: &FsConfig, most_bytes: u64) -> Result<Self, String> {
        let path = &config.root;
        let root = Root::open(path).map_err(|error| {
            let error = match error.kind() {
                // Shells expand `~`, but the file system does not.
                io::ErrorKind::NotFound
                    if path.components().any(|part| part.as_os_str() == "~") =>
                {
                    "there is no such folder; write your home folder out, `~` is not expanded here"
                        .to_owned()
                }
                io::ErrorKind::NotFound => "there is no such folder".to_owned(),
                io::ErrorKind::NotADirectory => "it is not a folder".to_owned(),
                io::ErrorKind::PermissionDenied => permission_advice(path),
                _ => error.to_string(),
            };
            format!("cannot serve {}: {error}", path.display())
        })?;
        Ok(Self {
            root: Arc::new(root.following_outside_links(config.outside_links)),
            path: path.clone(),
            files: config.files,
            urls: config.urls.clone(),
            most_bytes,
        })
    }

    /// Returns the percent-decoded path of the file that an absolute URL names, whatever its query, and the length of
    /// the base URL above it. The longest of several matching bases counts.
    pub(super) fn path_of(&self, url: &Url) -> Option<(usize, String)> {
        let below = |base: &BaseUrl| {
            let length = base.0.path().trim_end_matches('/').len();
            Some((length, path_below(&base.0, url)?))
        };
        self.urls.iter().filter_map(below).max()
    }

    /// Opens the file or folder at `path`, unless a name in the path begins with a dot.
    ///
    /// # Errors
    /// The errors of [`Root::entry`]; `Withheld` for hidden names.
    pub(super) fn entry(&self, path: &str, blocking: Blocking) -> Result<Entry, Error> {
        let hidden = |name: &str| name.starts_with('.') && !matches!(name, "." | "..");
        match path.split('/').any(hidden) {
            true => Err(Error::Withheld {
                path: path.to_owned(),
                why: Withheld::Hidden,
            }),
            false => self.root.entry(path, blocking),
        }
    }

    /// Reads the file at `path`, unless it still has these `validators`.
    ///
    /// # Errors
    /// The errors of [`Folder::entry`]; `Missing` also for a folder; `Pixels(Limit)` if the file is too large;
    /// `Changing` if it is written to meanwhile.
    pub(super) async fn fetch(
        &self,
        path: &str,
        validators: Option<&SourceValidators>,
        budget: &Budget,
    ) -> Result<Fetched, Error> {
        let (folder, path) = (self.clone(), path.to_owned());
        let file = run_blocking(move || match folder.entry(&path, Blocking::Allowed)? {
            Entry::File(file) => Ok(file),
            Entry::Folder => Err(missing(&path)),
        })
        .await?;
        let current = SourceValidators::of_file(&file.identity);
        if validators.is_some_and(|validators| validators.identity == current.identity) {
            return Ok(Fetched::NotModified(Freshness::default()));
        }
        let most_bytes = self.most_bytes;
        let hold = budget.held.take(file.identity.size.min(most_bytes)).await;
        let bytes = run_blocking(move || file.read(most_bytes, Blocking::Allowed)).await?;
        Ok(Fetched::Body(Source {
            bytes: Bytes::from_owner(bytes),
            validators: current,
            freshness: Freshness::default(),
            bounded: true,
            media_type: None,
            hold: Arc::new(hold),
        }))
    }

    /// Returns the paths of the first images that a short search finds, up to `most`.
    pub(super) fn images(&self, most: usize, is_image: impl Fn(&OpenFile) -> bool) -> Vec<String> {
        let mut images = Vec::new();
        let mut attempts = 0..ATTEMPTS_EACH * most;
        let mut folders = vec![String::new()];
        while let Some(inside) = folders.pop() {
            let mut names = self.root.names(&inside, MOST_NAMES).unwrap_or_default();
            names.sort_unstable_by(|one, other| other.cmp(one));
            let mut below = Vec::new();
            while let Some(name) = names.pop() {
                let path = format!("{inside}{name}");
                if name.starts_with('.') {
                    continue;
                }
                if attempts.next().is_none() || images.len() == most {
                    return images;
                }
                match self.entry(&path, Blocking::Allowed) {
                    Ok(Entry::File(file)) if is_image(&file) => images.push(path),
                    Ok(Entry::Folder) => below.push(format!("{path}/")),
                    _ => {}
                }
            }
            below.reverse();
            folders.extend(below);
        }
        images
    }
}

/// Number of file names that a search examines for each image it may return.
const ATTEMPTS_EACH: usize = 25;

/// Maximum number of file names that a search examines in one folder.
const MOST_NAMES: usize = 1000;

/// Runs `work`, which may wait for a disk, on a thread for blocking calls.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let task = tokio::task::spawn_blocking(work);
    task.await.unwrap_or(Err(Error::Panicked))
}
