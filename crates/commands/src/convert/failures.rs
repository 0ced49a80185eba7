//! The file that lists the images that a run has not converted.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::folder;
use super::inputs::Input;
use super::names::folder_of;
use super::outputs::Existing;

/// The path of a list of images that failed or were not started. The file is replaced when the run ends, so that a run
/// that is killed leaves the previous list unchanged.
#[derive(Debug)]
pub(super) struct Failures(PathBuf);

impl Failures {
    /// Checks that the list may be written to `path` without destroying another file.
    ///
    /// # Errors
    /// If the path is a folder, an image, or another file of the job: one of `inputs`, or its `manifest`.
    pub(super) fn new(
        path: &Path,
        inputs: &[Input],
        manifest: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let name = path.display();
        if let Some(existing) = Existing::file(path) {
            let is_same = |other: &Path| Existing::file(other).is_some_and(|it| it == existing);
            let is_input = || inputs.iter().filter_map(Input::file).any(is_same);
            if !path.is_file() {
                bail!("--failures {name}: this is no file");
            }
            if folder::is_image(path).with_context(|| format!("--failures {name}"))? || is_input() {
                bail!("--failures {name}: this is an image, which the list would replace");
            }
            if manifest.is_some_and(is_same) {
                bail!("--failures {name}: this is the manifest; name another file");
            }
        }
        Ok(Self(path.to_owned()))
    }

    /// Replaces the file by a list of these images: one name per line or, if a name contains a line break, each
    /// terminated by NUL. Prints how many images (`taken`) are not in the list because their results would replace
    /// others.
    pub(super) fn write(&self, images: &[&Input], taken: usize) -> anyhow::Result<()> {
        let names: Vec<&[u8]> = images.iter().map(|it| it.bytes()).collect();
        let end = u8::from(!names.iter().any(|name| name.contains(&b'\n'))) * b'\n';
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(folder_of(&self.0))?;
            for name in &names {
                file.write_all(&[name, &[end][..]].concat())?;
            }
            file.as_file()
                .set_permissions(fs::Permissions::from_mode(0o644))?;
            file.persist(&self.0).map_err(|error| error.error)
        };
        write().with_context(|| format!("cannot write {}", self.0.display()))?;
        if taken > 0 {
            let plural = if names.len() == 1 { "" } else { "s" };
            eprintln!(
                "note: {} lists {} image{plural}, without {taken} whose result would replace an image or the result of another one: \
                 --name '{{name}}.{{ext}}' or --relative-to DIR gives each its own",
                self.0.display(),
                names.len()
            );
        }
        Ok(())
    }
}
