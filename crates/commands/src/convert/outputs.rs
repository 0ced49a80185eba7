//! Chooses the names of results, and ensures that no input is overwritten and no two results have the same name.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use andon_server::origins::Objects;
use anyhow::{Context, bail};

use super::Job;
use super::buckets::{Buckets, SCHEME};
use super::inputs::Input;
use super::manifest::{Image, Manifest};
use super::names;
use super::naming::Naming;
use super::target::{self, Target};
use super::whole::write_file;

/// The destination of results, and the names that must not be written to.
pub(super) struct Outputs<'a> {
    place: Place,
    /// The only result, if the user named its file.
    file: Option<target::File>,
    naming: Naming,
    /// The format of all results, if it is known beforehand.
    format: Option<&'static str>,
    /// All images of the job, also those that earlier runs have converted: they must not be overwritten.
    inputs: HashSet<Existing>,
    /// Results by the identities of their paths, each with the first image that it is the result of.
    taken: Mutex<HashMap<String, Image>>,
    /// Results that are written, each with the image that it is of: two names that differ are one file where upper and lower
    /// case are the same.
    written: Mutex<HashMap<Existing, Image>>,
    /// Results of earlier jobs, with the images that they are of.
    earlier: Option<&'a Manifest>,
}

/// A file or object that is there, however its name is spelled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Existing {
    /// Device and number of a file.
    File(u64, u64),
    Object(String),
}

impl Existing {
    pub(super) fn file(path: &Path) -> Option<Self> {
        let metadata = path.metadata().ok()?;
        Some(Self::File(metadata.dev(), metadata.ino()))
    }
}

enum Place {
    Folder(PathBuf),
    /// A bucket, its URL, and the folder in it, which is empty or ends with a slash.
    Bucket(Arc<Objects>, String, String),
}

/// The error of an image whose result another image has.
#[derive(Debug)]
pub(super) struct Held(String);

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Held {}

/// A claimed place that one result may be written to.
pub(super) struct Output<'a> {
    outputs: &'a Outputs<'a>,
    /// The image that the result is of.
    image: Image,
    /// Path of the result below the folder or the bucket's folder.
    below: OsString,
    /// Full path or URL of the result.
    name: String,
    media_type: &'static str,
}

impl<'a> Outputs<'a> {
    /// Prepares the destination: creates the folder, or opens the bucket. `format` is that of all results if it is known
    /// already: of inputs that share a result the first one has it then, however long each takes.
    pub(super) fn new(
        target: Target,
        naming: &Naming,
        buckets: &Buckets,
        job: &'a Job,
        format: Option<&'static str>,
    ) -> anyhow::Result<Self> {
        let Target {
            folder: output,
            file,
        } = target;
        let place = match output.starts_with(SCHEME) {
            false => {
                std::fs::create_dir_all(&output)
                    .with_context(|| format!("cannot make the folder {output}"))?;
                Place::Folder(PathBuf::from(output))
            }
            true => {
                let (objects, folder) = buckets.open(&output)?;
                let bucket = output[..output.len() - folder.len()].trim_end_matches('/');
                let folder = match folder.trim_end_matches('/') {
                    "" => String::new(),
                    folder => format!("{folder}/"),
                };
                Place::Bucket(objects, bucket.to_owned(), folder)
            }
        };
        let outputs = Self {
            place,
            file,
            naming: naming.clone(),
            format,
            // What cannot be resolved cannot be read either, and fails there.
            inputs: (job.inputs.iter())
                .chain(&job.done)
                .filter_map(|input| match input.file() {
                    Some(path) => Existing::file(path),
                    None => Some(Existing::Object(input.name.clone())),
                })
                .collect(),
            taken: Mutex::default(),
            written: Mutex::default(),
            earlier: job.manifest.as_ref(),
        };
        let may_replace = format.is_none() && naming.keeps_names();
        if outputs.file.is_none() && (may_replace || job.manifest.is_none()) {
            outputs.check_beside(&job.inputs, may_replace)?;
        }
        if let (Some(format), None) = (format, &outputs.file) {
            for input in &job.inputs {
                // One that cannot have a result fails when it is claimed.
                let below = outputs.below(input, format).unwrap_or_default();
                let (name, _) = outputs.name(&below);
                outputs.hold(&name, input);
            }
        }
        Ok(outputs)
    }

    /// Refuses results beside their images: if these may have the same format, and so the same name, or if the images were
    /// found in a folder, where the next run would find the results as well. A manifest tells them from images.
    fn check_beside(&self, inputs: &[Input], may_replace: bool) -> anyhow::Result<()> {
        let Place::Folder(folder) = &self.place else {
            return Ok(());
        };
        let parent = |path: &Path| Existing::file(names::folder_of(path));
        let is_beside = |input: &&Input| {
            let own = input.file().and_then(parent);
            own.is_some() && own == parent(&folder.join(&input.below))
        };
        let is_meant = |input: &&Input| may_replace || input.is_found;
        let mut inputs = inputs.iter().filter(is_meant).take(LOOKED_AT);
        match inputs.find(is_beside) {
            Some(input) if !may_replace => bail!(
                "{}: its result would be in the same folder, and an image of the next run: add --manifest FILE, which tells results \
                 from images, or name another folder with -o",
                input.name
            ),
            Some(input) => bail!(
                "{}: results in the same folder could overwrite images: name another folder with -o, a format with \
                 as:, or results with --name",
                input.name
            ),
            None => Ok(()),
        }
    }

    /// Returns the full path or URL of a result, and what is there already; in a bucket something may be.
    fn name(&self, below: &OsStr) -> (String, Option<Existing>) {
        match &self.place {
            Place::Folder(folder) => {
                let path = folder.join(below);
                (names::text(&path), Existing::file(&path))
            }
            Place::Bucket(_, bucket, folder) => {
                let name = format!("{bucket}/{folder}{}", below.to_string_lossy());
                (name.clone(), Some(Existing::Object(name)))
            }
        }
    }

    /// Returns the image that a file, which is there already, was written for in this job.
    fn writer(&self, existing: &Existing) -> Option<Image> {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.get(existing).cloned()
    }

    /// Returns the image that has the result called `name`: this one, unless an earlier one has it.
    fn hold(&self, name: &str, input: &Input) -> Image {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let key = names::identity(&names::path(name));
        let holder = taken.entry(key).or_insert_with_key(|key| {
            self.earlier(key).cloned().unwrap_or_else(|| Image {
                id: input.id.clone(),
                name: input.name.clone(),
            })
        });
        holder.clone()
    }

    /// Returns the image that an earlier job has made a result of, given the identity of the result's path, if the image is
    /// still there.
    fn earlier(&self, result: &str) -> Option<&Image> {
        let image = self.earlier.and_then(|manifest| manifest.image_of(result));
        image.filter(|image| image.id.starts_with(SCHEME) || names::path(&image.id).exists())
    }

    /// Whether the result of an input in a format would replace an image of the job, or a result that was made of another
    /// one.
    pub(super) fn is_taken(&self, input: &Input, format: &str) -> bool {
        let below = match &self.file {
            Some(file) => Ok(OsString::from(&file.name)),
            None => self.below(input, format),
        };
        // One without a name cannot have a result.
        let Ok(below) = below else {
            return false;
        };
        let (name, existing) = self.name(&below);
        let is_image = existing.as_ref().is_some_and(|it| self.inputs.contains(it));
        let owner = existing.and_then(|it| self.writer(&it));
        let earlier = || self.earlier(&names::identity(&names::path(&name))).cloned();
        is_image || owner.or_else(earlier).is_some_and(|it| it.id != input.id)
    }

    /// Returns the path of an input's result in a format, below the folder of results.
    fn below(&self, input: &Input, format: &str) -> anyhow::Result<OsString> {
        let name = self.naming.of(&input.below, extension(format));
        let name = name.context("has no name to call its result by")?;
        Ok(input.below.with_file_name(name).into_os_string())
    }

    /// Leaves the result of an image that failed, in a format that was known beforehand, to another image of the same name.
    pub(super) fn release(&self, input: &Input) {
        let name = self
            .format
            .and_then(|format| self.below(input, format).ok());
        if let Some(below) = name {
            self.free(&self.name(&below).0, input);
        }
    }

    /// Leaves a result to other images if it is still that of `input`.
    fn free(&self, name: &str, input: &Input) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let key = names::identity(&names::path(name));
        if taken.get(&key).is_some_and(|holder| holder.id == input.id) {
            taken.remove(&key);
        }
    }

    /// Claims the place of `input`'s result in `format`. Fails if the result would overwrite an input or another
    /// input's result.
    pub(super) fn claim(&self, input: &Input, format: &str) -> anyhow::Result<Output<'_>> {
        let codec = andon_codecs::ALL.iter().find(|it| it.name() == format);
        let below = match &self.file {
            Some(file) if file.format == format => OsString::from(&file.name),
            Some(file) => bail!(
                "its result is a {format}, and {} is the name of a {}; name another file",
                file.name,
                file.format
            ),
            None => self.below(input, format)?,
        };
        let (name, existing) = self.name(&below);
        if existing.as_ref().is_some_and(|it| self.inputs.contains(it)) {
            bail!("its result would overwrite the input {name}; choose another folder");
        }
        let holder = self.hold(&name, input);
        let holder = existing.and_then(|it| self.writer(&it)).unwrap_or(holder);
        // A new version of an image takes the place of the old one.
        if holder.id != input.id {
            let folder = |id: &str| Path::new(id).parent().map(Path::to_owned);
            let way = match folder(&holder.id) == folder(&input.id) {
                true => {
                    "convert one of them with another -o, or name results with --name {name}.{ext}"
                }
                false => "convert one of them with another -o, or keep folders with --relative-to",
            };
            return Err(Held(format!(
                "{name} is the result of {} already; {way}",
                holder.name
            ))
            .into());
        }
        Ok(Output {
            outputs: self,
            image: holder,
            below,
            name,
            media_type: codec.map_or(UNKNOWN, |codec| codec.format().media_type),
        })
    }
}

impl Output<'_> {
    /// Leaves the result of an image that failed to another image of the same name.
    pub(super) fn release(&self, input: &Input) {
        self.outputs.free(&self.name, input);
    }

    /// Returns the full path or URL of the result.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Writes the whole result, or leaves nothing behind if it fails.
    pub(super) fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        let written = match &self.outputs.place {
            Place::Folder(folder) => {
                let path = folder.join(&self.below);
                write_file(&path, bytes)?;
                Existing::file(&path)
            }
            Place::Bucket(objects, _, folder) => {
                let key = format!("{folder}{}", self.below.to_string_lossy());
                objects.put(&key, bytes.to_vec(), self.media_type)?;
                Some(Existing::Object(self.name.clone()))
            }
        };
        if let Some(written) = written {
            let all = self.outputs.written.lock();
            let mut all = all.unwrap_or_else(PoisonError::into_inner);
            all.insert(written, self.image.clone());
        }
        Ok(())
    }
}

/// Number of images that are looked at to see whether results would be beside them.
const LOOKED_AT: usize = 1000;

/// Returns the extension that most files of a format have.
fn extension(format: &str) -> &str {
    match format {
        "jpeg" => "jpg",
        other => other,
    }
}

const UNKNOWN: &str = "application/octet-stream";

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::super::inputs;
    use super::*;

    /// Returns a job with these files, for results in a folder.
    fn job<P: AsRef<Path>>(names: &[P]) -> Job {
        let names: Vec<PathBuf> = names.iter().map(|it| it.as_ref().into()).collect();
        Job {
            inputs: inputs::all(&names, &Buckets::default(), Some(Path::new("out"))).unwrap(),
            done: Vec::new(),
            manifest: None,
            failures: None,
        }
    }

    fn outputs<'a>(folder: &Path, job: &'a Job) -> Outputs<'a> {
        let target = Target::of(folder.to_str().unwrap()).unwrap();
        Outputs::new(
            target,
            &Naming::parse("{name}").unwrap(),
            &Buckets::default(),
            job,
            Some("jpeg"),
        )
        .unwrap()
    }

    #[test]
    fn a_result_keeps_its_stem_and_takes_the_formats_extension() {
        let folder = tempfile::tempdir().unwrap();
        let job = job(&["in/a.b.png", "in/c"]);
        let outputs = outputs(folder.path(), &job);
        let claim = |at: usize, format| outputs.claim(&job.inputs[at], format).unwrap();
        assert_eq!(claim(0, "jpeg").below, "a.b.jpg");
        assert_eq!(claim(0, "jpeg").media_type, "image/jpeg");
        assert_eq!(claim(1, "webp").below, "c.webp");
    }

    #[test]
    fn a_name_that_is_no_text_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let name = PathBuf::from(OsStr::from_bytes(b"in/\xff.png"));
        let job = job(&[name]);
        let outputs = outputs(folder.path(), &job);
        let claimed = outputs.claim(&job.inputs[0], "webp").unwrap();
        assert_eq!(claimed.below.as_bytes(), b"\xff.webp");
    }

    #[test]
    fn two_inputs_never_share_a_result() {
        let folder = tempfile::tempdir().unwrap();
        let job = job(&["x/a.jpg", "y/a.png"]);
        let outputs = outputs(folder.path(), &job);
        outputs.claim(&job.inputs[0], "webp").unwrap();
        for _ in 0..2 {
            let error = outputs.claim(&job.inputs[1], "webp").map(drop).unwrap_err();
            let error = error.to_string();
            assert!(error.contains("is the result of x/a.jpg"), "{error}");
        }
        outputs.claim(&job.inputs[0], "webp").unwrap();
    }

    #[test]
    fn names_that_are_one_file_are_one_result() {
        let folder = tempfile::tempdir().unwrap();
        // A second name of the file stands for its name in other letters, on a disk that takes them for the same.
        let job = job(&["x/a.jpg", "y/A.jpg"]);
        let outputs = outputs(folder.path(), &job);
        outputs
            .claim(&job.inputs[0], "webp")
            .unwrap()
            .write(b"1")
            .unwrap();
        let [first, second] = ["a.webp", "A.webp"].map(|name| folder.path().join(name));
        std::fs::hard_link(first, &second).unwrap();
        let error = outputs.claim(&job.inputs[1], "webp").map(drop).unwrap_err();
        assert!(
            error.to_string().contains("is the result of x/a.jpg"),
            "{error}"
        );
        std::fs::remove_file(second).unwrap();
        outputs
            .claim(&job.inputs[1], "webp")
            .unwrap()
            .write(b"2")
            .unwrap();
        outputs
            .claim(&job.inputs[0], "webp")
            .unwrap()
            .write(b"3")
            .unwrap();
    }

    #[test]
    fn no_input_is_overwritten_not_even_through_a_link_or_another_name() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("a.jpg");
        std::fs::write(&input, "a").unwrap();
        let link = folder.path().join("linked");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        let job = job(&[input.to_str().unwrap()]);
        assert!(outputs(&link, &job).claim(&job.inputs[0], "jpeg").is_err());
        // A second name of the input stands for its name in other letters, as in the test before.
        let upper = folder.path().join("IMG.JPG");
        std::fs::write(&upper, "b").unwrap();
        std::fs::hard_link(&upper, folder.path().join("IMG.jpg")).unwrap();
        let job = self::job(&[upper.to_str().unwrap()]);
        assert!(
            outputs(folder.path(), &job)
                .claim(&job.inputs[0], "jpeg")
                .is_err()
        );
    }
}
