//! Finds the images below a folder.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use andon_server::media_type;
use anyhow::{Context, bail};

use super::inputs::Input;
use super::names;

/// Adds all images below `folder` to `inputs`, sorted by name. Skips the folder `results`, names that begin with a dot,
/// and symbolic links to folders. Prints a note on skipped links and on files that are not images.
pub(super) fn add(
    folder: &Path,
    results: Option<&Path>,
    inputs: &mut Vec<Input>,
) -> anyhow::Result<()> {
    let mut walk = Walk {
        results: results.and_then(|path| path.canonicalize().ok()),
        images: Vec::new(),
        others: Vec::new(),
        links: Vec::new(),
    };
    walk.folder(folder)?;
    let Walk {
        images,
        others,
        links,
        ..
    } = walk;
    if !others.is_empty() {
        let is_none = if others.len() == 1 {
            "is no image"
        } else {
            "are no images"
        };
        eprintln!("note: {} {is_none} and left out", some_of(&others));
    }
    if !links.is_empty() {
        let are = match links.len() {
            1 => "is a link to a folder".to_owned(),
            all => format!("are {all} links to folders"),
        };
        eprintln!(
            "note: {} {are} and left out; name a folder itself to convert what is in it",
            some_of(&links)
        );
    }
    if images.is_empty() {
        bail!("there is no image below {}", folder.display());
    }
    for path in images {
        let mut image = Input::of_file(&path, path.strip_prefix(folder)?);
        image.is_found = true;
        inputs.push(image);
    }
    Ok(())
}

struct Walk {
    results: Option<PathBuf>,
    images: Vec<PathBuf>,
    others: Vec<PathBuf>,
    /// Symbolic links to folders, which are not followed.
    links: Vec<PathBuf>,
}

impl Walk {
    fn folder(&mut self, folder: &Path) -> anyhow::Result<()> {
        let named = |path: &Path| format!("{} cannot be read", path.display());
        let entries = fs::read_dir(folder).with_context(|| named(folder))?;
        let mut entries = entries
            .collect::<Result<Vec<_>, _>>()
            .with_context(|| named(folder))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            // A link to a folder may lead to a parent of it.
            if entry.file_type().with_context(|| named(&path))?.is_dir() {
                if !self.is_of_results(&path) {
                    self.folder(&path)?;
                }
            } else if path.is_file() {
                match is_image(&path).with_context(|| named(&path))? {
                    true => self.images.push(path),
                    false => self.others.push(path),
                }
            } else if path.is_dir() {
                if !self.is_of_results(&path) {
                    self.links.push(path);
                }
            } else if !path.exists() {
                // A broken link, for example to a disk that is not mounted: an image that cannot be read, if its name
                // is that of an image.
                match promises_image(&path) {
                    true => self.images.push(path),
                    false => self.others.push(path),
                }
            }
        }
        Ok(())
    }

    fn is_of_results(&self, path: &Path) -> bool {
        self.results.is_some() && path.canonicalize().ok() == self.results
    }
}

/// Returns the first paths as text, and the number of further ones.
fn some_of(paths: &[PathBuf]) -> String {
    let named: Vec<String> = paths.iter().take(NAMED).map(|it| names::text(it)).collect();
    match &paths[named.len()..] {
        [] => named.join(", "),
        more => format!(
            "{} and {} more ({})",
            named.join(", "),
            more.len(),
            extensions(more)
        ),
    }
}

/// Returns the number of paths for each extension, the most frequent first.
fn extensions(paths: &[PathBuf]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for path in paths {
        let extension = path
            .extension()
            .map(|it| format!(".{}", it.to_string_lossy()));
        *counts
            .entry(extension.unwrap_or_else(|| "without extension".to_owned()))
            .or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    let texts: Vec<String> = counts
        .iter()
        .map(|(extension, count)| format!("{count} {extension}"))
        .collect();
    texts.join(", ")
}

/// Whether a file is an image, according to its name or, if that is inconclusive, its first bytes.
pub(super) fn is_image(path: &Path) -> io::Result<bool> {
    if promises_image(path) {
        return Ok(true);
    }
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    Ok(media_type::is_image(andon_codecs::ALL, &head))
}

/// Whether a file has an image's extension.
fn promises_image(path: &Path) -> bool {
    media_type::promises_image(andon_codecs::ALL, &path.to_string_lossy())
}

/// Number of leading bytes of a file that suffice to recognise nearly every image format.
const HEAD: u64 = 1024;

/// Maximum number of skipped files or folders that are named.
const NAMED: usize = 10;
