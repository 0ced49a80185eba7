//! The images of a job: files, objects of buckets, or sources as a server's URLs name them.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use andon_server::origins::Objects;
use anyhow::{Context, bail};

use super::buckets::{Buckets, SCHEME};
use super::folder;
use crate::read;

/// One image.
pub(super) struct Input {
    /// As it was given, or as a bucket lists it.
    pub(super) name: String,
    /// What tells it from another image of that name, where that is known.
    pub(super) version: String,
    /// Its path below the folder that was given, or its file's name.
    pub(super) below: PathBuf,
    place: Place,
}

enum Place {
    File(PathBuf),
    Object(Arc<Objects>, String),
    /// The server's.
    Source,
}

impl Input {
    /// The whole of it.
    pub(super) fn read(&self) -> anyhow::Result<Vec<u8>> {
        match &self.place {
            Place::File(path) => std::fs::read(path).context("cannot be read"),
            Place::Object(objects, key) => Ok(objects.get(key)?),
            Place::Source => bail!("it is a source of a server"),
        }
    }

    /// Its file, if it is one.
    pub(super) fn file(&self) -> Option<&Path> {
        match &self.place {
            Place::File(path) => Some(path),
            Place::Object(..) | Place::Source => None,
        }
    }

    /// A file, and its path below the folder that was given.
    pub(super) fn of_file(path: &Path, below: &Path) -> Self {
        Self {
            name: path.to_string_lossy().into_owned(),
            // One that is not there fails when it is read.
            version: path.metadata().map(|it| version(&it)).unwrap_or_default(),
            below: below.to_owned(),
            place: Place::File(path.to_owned()),
        }
    }

    fn of_source(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            version: String::new(),
            below: PathBuf::new(),
            place: Place::Source,
        }
    }
}

/// Length and date.
fn version(metadata: &Metadata) -> String {
    let modified = metadata.modified().ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!(
        "{}-{}",
        metadata.len(),
        since.unwrap_or_default().as_nanos()
    )
}

/// All images that these names mean. Where results go into no folder, what is no file is named as in URLs.
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
            _ if path.is_dir() => folder::add(path, results, &mut inputs)?,
            _ => inputs.push(Input::of_file(path, name_of(path))),
        }
    }
    if inputs.is_empty() {
        bail!("there is nothing to convert");
    }
    Ok(inputs)
}

fn name_of(path: &Path) -> &Path {
    Path::new(path.file_name().unwrap_or_default())
}

/// An object, or all below a folder.
fn objects(url: &str, buckets: &Buckets, inputs: &mut Vec<Input>) -> anyhow::Result<()> {
    let (objects, key) = buckets.open(url)?;
    let is_folder = key.is_empty() || key.ends_with('/');
    let found = match is_folder {
        true => objects.list(key)?,
        false => vec![objects.info(key)?],
    };
    let bucket = &url[..url.len() - key.len()];
    let bucket = bucket.trim_end_matches('/');
    let before = inputs.len();
    for it in found {
        if is_folder && it.bytes == 0 && is_marker(&objects, &it.key)? {
            continue;
        }
        let below = match is_folder {
            true => it.key.strip_prefix(key).unwrap_or(&it.key),
            false => it.key.rsplit('/').next().unwrap_or(&it.key),
        };
        inputs.push(Input {
            name: format!("{bucket}/{}", it.key),
            version: it.version,
            below: below.into(),
            place: Place::Object(objects.clone(), it.key),
        });
    }
    match inputs.len() == before {
        true => bail!("there is no object below {url}"),
        false => Ok(()),
    }
}

/// Is an empty object what a console makes for a folder? It is listed without the slash at the end of its name, and under
/// that name there is nothing.
fn is_marker(objects: &Objects, key: &str) -> anyhow::Result<bool> {
    match objects.info(key) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// The names in a file, one a line.
pub(super) fn listed(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let text = read::text(path).with_context(|| path.display().to_string())?;
    let lines = text.lines().filter(|line| !line.is_empty());
    Ok(lines.map(PathBuf::from).collect())
}
