//! Names of results, and the promise that no input is overwritten and no two results meet.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail};

/// The folder of results, and what may not be written there.
pub(super) struct Outputs {
    folder: PathBuf,
    /// Every input, links resolved.
    inputs: HashSet<PathBuf>,
    taken: Mutex<HashSet<PathBuf>>,
}

/// The right to write one result.
#[derive(Debug)]
pub(super) struct Output(PathBuf);

impl Outputs {
    pub(super) fn new(folder: &Path, inputs: &[PathBuf]) -> Self {
        Self {
            folder: folder.to_owned(),
            // What cannot be resolved cannot be read either, and fails there.
            inputs: inputs
                .iter()
                .filter_map(|input| input.canonicalize().ok())
                .collect(),
            taken: Mutex::default(),
        }
    }

    /// The place of `input`'s result in `format`.
    pub(super) fn claim(&self, input: &Path, format: &str) -> anyhow::Result<Output> {
        let stem = input
            .file_stem()
            .context("has no name to call its result by")?;
        let mut name = stem.to_owned();
        name.push(".");
        name.push(extension(format));
        let path = self.folder.join(name);
        let overwrites = path
            .canonicalize()
            .is_ok_and(|path| self.inputs.contains(&path));
        if overwrites {
            bail!(
                "its result would overwrite the input {}; choose another folder",
                path.display()
            );
        }
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if !taken.insert(path.clone()) {
            bail!("another input has its result in {} already", path.display());
        }
        Ok(Output(path))
    }
}

impl Output {
    /// Writes the whole result or leaves nothing behind.
    pub(super) fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        let mut unfinished = self.0.clone().into_os_string();
        unfinished.push(".part");
        let written =
            std::fs::write(&unfinished, bytes).and_then(|()| std::fs::rename(&unfinished, &self.0));
        if written.is_err() {
            // It may not even exist; the error that counts is the first.
            let _ = std::fs::remove_file(&unfinished);
        }
        written.with_context(|| format!("cannot write {}", self.0.display()))
    }
}

/// The extension that most files of a format have.
fn extension(format: &str) -> &str {
    match format {
        "jpeg" => "jpg",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_keeps_its_stem_and_takes_the_formats_extension() {
        let outputs = Outputs::new(Path::new("/no/such/out"), &[]);
        let claim = |input: &str, format| outputs.claim(Path::new(input), format).unwrap().0;
        assert_eq!(
            claim("in/a.b.png", "jpeg"),
            Path::new("/no/such/out/a.b.jpg")
        );
        assert_eq!(claim("in/c", "webp"), Path::new("/no/such/out/c.webp"));
    }

    #[test]
    fn two_inputs_never_share_a_result() {
        let outputs = Outputs::new(Path::new("/no/such/out"), &[]);
        outputs.claim(Path::new("x/a.jpg"), "webp").unwrap();
        let error = outputs.claim(Path::new("y/a.png"), "webp").unwrap_err();
        assert!(error.to_string().contains("another input"), "{error}");
    }

    #[test]
    fn no_input_is_overwritten_not_even_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("a.jpg");
        std::fs::write(&input, "a").unwrap();
        let link = folder.path().join("linked");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        let outputs = Outputs::new(&link, std::slice::from_ref(&input));
        assert!(outputs.claim(&input, "jpeg").is_err());
    }
}
