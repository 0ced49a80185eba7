//! Photos of a few sizes, each under many names, so that no two requests are for the same file.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::engines::{engine, render};
use crate::photos::Folder;

/// Photos of the same size in megapixels, each under many names.
pub(super) struct Set {
    /// Paths of the files below the folder of all sets. The list goes through all photos again and again, with a new
    /// name for each photo every time.
    pub(super) names: Vec<String>,
    /// Number of distinct photos.
    pub(super) distinct: usize,
}

/// Returns the folder in which the sets of photos are stored. It is next to this program.
pub(super) fn folder() -> Result<PathBuf> {
    Ok(env::current_exe()?.with_file_name("bench-peers-photos"))
}

/// Returns a set of photos of this many megapixels, which are the given photos enlarged or reduced. Reuses files of an
/// earlier run.
pub(super) fn set(photos: &Folder, megapixels: u32) -> Result<Set> {
    let folder = folder()?;
    fs::create_dir_all(folder.join(megapixels.to_string()))?;
    let mut firsts = Vec::new();
    for photo in &photos.names {
        let name = format!("{megapixels}/{photo}");
        let file = folder.join(&name);
        if !file.is_file() {
            make(&photos.read(photo)?, megapixels, &file).with_context(|| name.clone())?;
        }
        firsts.push(file);
    }
    let mut names = Vec::new();
    for copy in 0..NAMES.div_ceil(firsts.len()) {
        for (photo, first) in photos.names.iter().zip(&firsts) {
            let name = format!("{megapixels}/{copy:04}-{photo}");
            if !folder.join(&name).exists() {
                fs::hard_link(first, folder.join(&name))?;
            }
            names.push(name);
        }
    }
    Ok(Set {
        names,
        distinct: firsts.len(),
    })
}

/// Minimum number of names in a set. It exceeds the number of files that one measurement requests.
const NAMES: usize = 8192;

fn make(original: &[u8], megapixels: u32, file: &Path) -> Result<()> {
    let info = engine().probe(original)?;
    let pixels = f64::from(info.width) * f64::from(info.height);
    let scale = (f64::from(megapixels) * 1e6 / pixels).sqrt();
    let side = |length: u32| (f64::from(length) * scale).ceil();
    let (width, height) = (side(info.width), side(info.height));
    let recipe = format!("fit:{width}x{height}:enlarge,as:jpeg,q:90,chroma:420");
    // The file is renamed when it is complete, so that an interrupted run leaves no partial file under its name.
    let unfinished = file.with_extension("unfinished");
    fs::write(&unfinished, render(&recipe, original)?)?;
    fs::rename(&unfinished, file)?;
    Ok(())
}
