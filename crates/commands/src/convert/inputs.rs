//! The images of a job: files, objects in buckets, or sources named as in a server's URLs.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use andon_server::origins::Objects;
use anyhow::{Context, bail};

use super::buckets::{Buckets, SCHEME};
use super::folder;
use super::names::{identity, text};

/// One image to convert.
pub(super) struct Input {
    /// Path or source as the user gave it or as it was found below a given folder, or the URL of an object.
    pub(super) name: String,
    /// Absolute path or URL of the image, the same for all spellings of its path; see [`identity`].
    pub(super) id: String,
    /// Identifies the version of the image: length and modification time of a file, or the version that a bucket lists.
    /// Empty if unknown.
    pub(super) version: String,
    /// Path below the folder that the user gave, or only the file name if the user gave the image itself.
    pub(super) below: PathBuf,
    /// Whether the image was found in a folder, rather than named by the user.
    pub(super) is_found: bool,
    place: Place,
}

enum Place {
    File(PathBuf),
    Object(Arc<Objects>, String),
    /// A source of the server, of which only the path in URLs is known.
    Source,
}

impl Input {
    /// Reads the whole file or object. Fails if it is empty, or if the image is a source of a server.
    pub(super) fn read(&self) -> anyhow::Result<Vec<u8>> {
        let bytes = match &self.place {
            Place::File(path) => match scheme(path).filter(|_| !path.exists()) {
                Some(scheme) => bail!(
                    "URLs that begin with {scheme}:// are not read here, only by a server; download the image first"
                ),
                None => read_file(path).context("cannot be read")?,
            },
            Place::Object(objects, key) => objects.get(key)?,
            Place::Source => bail!("it is a source of a server"),
        };
        match bytes.is_empty() {
            true => bail!("it is empty"),
            false => Ok(bytes),
        }
    }

    /// Returns the path if the image is a file.
    pub(super) fn file(&self) -> Option<&Path> {
        match &self.place {
            Place::File(path) => Some(path),
            Place::Object(..) | Place::Source => None,
        }
    }

    /// Returns the bytes of the path or, if the image is not a file, of the name.
    pub(super) fn bytes(&self) -> &[u8] {
        let path = self.file().map(|path| path.as_os_str().as_encoded_bytes());
        path.unwrap_or(self.name.as_bytes())
    }

    /// Creates an input from a file. `below` is its path below the folder that was given, or its file name.
    pub(super) fn of_file(path: &Path, below: &Path) -> Self {
        Self {
            name: text(path),
            id: identity(path),
            // A missing file is reported when it is read.
            version: path.metadata().map(|it| version(&it)).unwrap_or_default(),
            below: below.to_owned(),
            is_found: false,
            place: Place::File(path.to_owned()),
        }
    }

    /// Sets `below` to the path below `folder`, so that the result keeps the image's folders.
    ///
    /// # Errors
    /// If the image is not below `folder`.
    pub(super) fn keep_folders_below(&mut self, folder: &Path) -> anyhow::Result<()> {
        let plain = |path: &Path| -> PathBuf {
            let parts = path.components();
            parts.filter(|part| *part != Component::CurDir).collect()
        };
        let path = plain(self.file().unwrap_or(Path::new(&self.name)));
        let below = path.strip_prefix(plain(folder)).ok();
        let is_plain = |part| matches!(part, Component::Normal(_));
        let below = below.filter(|below| below.components().all(is_plain));
        let below = below.with_context(|| {
            let folder = folder.display();
            format!(
                "{}: it is not below {folder}; name both in the same way",
                self.name
            )
        })?;
        self.below = below.to_owned();
        Ok(())
    }

    fn of_source(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            id: identity(Path::new(name)),
            version: String::new(),
            below: PathBuf::new(),
            is_found: false,
            place: Place::Source,
        }
    }
}

/// Reads a file. Of pipes, only those that a shell has created (`/dev/stdin`, `/dev/fd/63`) are read: a named pipe may
/// have no writer, and would block for ever.
fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    let is_of_shell = ["/dev/", "/proc/"]
        .iter()
        .any(|folder| path.starts_with(folder));
    if !is_of_shell && !path.metadata()?.is_file() {
        return Err(std::io::Error::other("it is no file"));
    }
    std::fs::read(path)
}

/// Returns the scheme of a URL, or `None` for a path.
fn scheme(path: &Path) -> Option<&str> {
    let (scheme, _) = path.to_str()?.split_once("://")?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
    (!scheme.is_empty() && scheme.chars().all(is_plain)).then_some(scheme)
}

/// Returns the version of a file: its length in bytes, and its modification time in ns since 1970.
fn version(metadata: &Metadata) -> String {
    let modified = metadata.modified().ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!(
        "{}-{}",
        metadata.len(),
        since.unwrap_or_default().as_nanos()
    )
}

/// Returns all images that `names` stand for. `results` is the folder of results. If it is `None`, the results do not
/// go into a folder, and a name that is no existing file is a source, as in the server's URLs.
pub(super) fn all(
    names: &[PathBuf],
    buckets: &Buckets,
    results: Option<&Path>,
) -> anyhow::Result<Vec<Input>> {
    let mut inputs = Vec::new();
    for path in names {
        match path.to_str() {
            Some(name) if name.starts_with(SCHEME) => objects(name, buckets, &mut inputs)?,
            Some(name) if results.is_none() && !path.exists() => {
                inputs.push(Input::of_source(name));
            }
            Some("-") => bail!(
                "- is no image: `--from -` reads names from standard input, and /dev/stdin is an image that comes there"
            ),
            _ if path.is_dir() => folder::add(path, results, &mut inputs)?,
            _ => inputs.push(Input::of_file(path, name_of(path))),
        }
    }
    Ok(inputs)
}

fn name_of(path: &Path) -> &Path {
    Path::new(path.file_name().unwrap_or_default())
}

/// Adds the object at `url`, or all objects below it if `url` ends with a slash.
fn objects(url: &str, buckets: &Buckets, inputs: &mut Vec<Input>) -> anyhow::Result<()> {
    let (objects, key) = buckets.open(url)?;
    let is_folder = key.is_empty() || key.ends_with('/');
    let entries = match is_folder {
        true => objects.list(key)?,
        false => vec![objects.info(key)?],
    };
    let bucket = &url[..url.len() - key.len()];
    let bucket = bucket.trim_end_matches('/');
    let count_before = inputs.len();
    for it in entries {
        if is_folder && it.bytes == 0 && is_marker(&objects, &it.key)? {
            continue;
        }
        let below = match is_folder {
            true => it.key.strip_prefix(key).unwrap_or(&it.key),
            false => it.key.rsplit('/').next().unwrap_or(&it.key),
        };
        let name = format!("{bucket}/{}", it.key);
        inputs.push(Input {
            id: name.clone(),
            name,
            version: it.version,
            below: below.into(),
            is_found: is_folder,
            place: Place::Object(objects.clone(), it.key),
        });
    }
    match inputs.len() == count_before {
        true => bail!("there is no object below {url}"),
        false => Ok(()),
    }
}

/// Whether an empty object in a listing is a marker that a storage console creates for a folder. The key of a marker
/// ends with a slash, which listings omit, so no object exists under the listed key.
fn is_marker(objects: &Objects, key: &str) -> anyhow::Result<bool> {
    match objects.info(key) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error.into()),
    }
}
