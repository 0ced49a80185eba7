//! Chooses the file names of results, and ensures that no input is overwritten and no two results share a file.

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

/// The destination of results, and the files that must not be overwritten.
pub(super) struct Outputs<'a> {
    place: Place,
    /// The result file, if the user named a single file instead of a folder.
    file: Option<target::File>,
    naming: Naming,
    /// The format of all results, if the recipe determines it.
    format: Option<&'static str>,
    /// All images of the job, including those that earlier runs have converted: none may be overwritten.
    inputs: HashSet<Existing>,
    /// Claimed results by their absolute paths or URLs, each with the image that owns it: the first that claimed it, or
    /// the source image of an earlier job's result.
    claims: Mutex<HashMap<String, Image>>,
    /// Results written so far, each with its image. On a case-insensitive file system, two different names can be the
    /// same file.
    writers: Mutex<HashMap<Existing, Image>>,
    /// The manifest, with the results of earlier jobs and their source images.
    earlier: Option<&'a Manifest>,
}

/// An existing file or object, independent of how its name is spelled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Existing {
    /// Device and inode number of a file.
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

/// The error for an image whose result file another image has claimed.
#[derive(Debug)]
pub(super) struct Held(String);

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Held {}

/// A result file or object that one image has claimed, so that no other image writes to it.
pub(super) struct Output<'a> {
    outputs: &'a Outputs<'a>,
    /// The image that the result was made from.
    image: Image,
    /// Path of the result, relative to the destination folder or bucket folder.
    below: OsString,
    /// Full path or URL of the result.
    name: String,
    media_type: &'static str,
}

impl<'a> Outputs<'a> {
    /// Prepares the destination: creates the folder, or opens the bucket. If `format`, the format of all results, is
    /// known and the destination is not a single file, every result file is claimed here. So of several inputs with the
    /// same result, the first one gets it, however long each takes to convert.
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
            // An input that cannot be resolved cannot be read either, and is reported then.
            inputs: (job.inputs.iter())
                .chain(&job.done)
                .filter_map(|input| match input.file() {
                    Some(path) => Existing::file(path),
                    None => Some(Existing::Object(input.name.clone())),
                })
                .collect(),
            claims: Mutex::default(),
            writers: Mutex::default(),
            earlier: job.manifest.as_ref(),
        };
        let may_replace = format.is_none() && naming.keeps_names();
        if outputs.file.is_none() && (may_replace || job.manifest.is_none()) {
            outputs.check_beside(&job.inputs, may_replace)?;
        }
        if let (Some(format), None) = (format, &outputs.file) {
            for input in &job.inputs {
                // An input without a possible result is reported when its result is claimed.
                let below = outputs.below(input, format).unwrap_or_default();
                let (name, _) = outputs.name(&below);
                outputs.hold(&name, input);
            }
        }
        Ok(outputs)
    }

    /// Refuses a destination in the same folder as the images in two cases: results may have the same names as images,
    /// or the images were found in a folder and the next run would find the results as well. A manifest prevents the
    /// latter, because it distinguishes results from images.
    fn check_beside(&self, inputs: &[Input], may_replace: bool) -> anyhow::Result<()> {
        let Place::Folder(folder) = &self.place else {
            return Ok(());
        };
        let parent = |path: &Path| Existing::file(names::folder_of(path));
        let is_beside = |input: &&Input| {
            let image_folder = input.file().and_then(parent);
            image_folder.is_some() && image_folder == parent(&folder.join(&input.below))
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

    /// Returns the full path or URL of a result, and the existing file at that path. An object in a bucket is assumed
    /// to exist.
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

    /// Returns the image whose result this job has written to an existing file.
    fn writer(&self, existing: &Existing) -> Option<Image> {
        let writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        writers.get(existing).cloned()
    }

    /// Claims the result called `name` for `input`, and returns the image that owns the result: `input`, an image that
    /// claimed it earlier, or the source image of an earlier job's result.
    fn hold(&self, name: &str, input: &Input) -> Image {
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        let key = names::identity(&names::path(name));
        let holder = claims.entry(key).or_insert_with_key(|key| {
            self.earlier(key).cloned().unwrap_or_else(|| Image {
                id: input.id.clone(),
                name: input.name.clone(),
            })
        });
        holder.clone()
    }

    /// Returns the source image of an earlier job's result, given the absolute path or URL of the result, if that image
    /// still exists.
    fn earlier(&self, result: &str) -> Option<&Image> {
        let image = self.earlier.and_then(|manifest| manifest.image_of(result));
        image.filter(|image| image.id.starts_with(SCHEME) || names::path(&image.id).exists())
    }

    /// Whether the result of an input in a format would replace an input of the job, or the result of another image.
    pub(super) fn is_taken(&self, input: &Input, format: &str) -> bool {
        let below = match &self.file {
            Some(file) => Ok(OsString::from(&file.name)),
            None => self.below(input, format),
        };
        // An input without a file name cannot have a result.
        let Ok(below) = below else {
            return false;
        };
        let (name, existing) = self.name(&below);
        let is_image = existing.as_ref().is_some_and(|it| self.inputs.contains(it));
        let owner = existing.and_then(|it| self.writer(&it));
        let earlier = || self.earlier(&names::identity(&names::path(&name))).cloned();
        is_image || owner.or_else(earlier).is_some_and(|it| it.id != input.id)
    }

    /// Returns the path of an input's result in a format, relative to the folder of results.
    fn below(&self, input: &Input, format: &str) -> anyhow::Result<OsString> {
        let name = self.naming.of(&input.below, extension(format));
        let name = name.context("has no name to call its result by")?;
        Ok(input.below.with_file_name(name).into_os_string())
    }

    /// Releases the claim of an image that failed before its format was determined, so that another image may have the
    /// result file.
    pub(super) fn release(&self, input: &Input) {
        let name = self
            .format
            .and_then(|format| self.below(input, format).ok());
        if let Some(below) = name {
            self.free(&self.name(&below).0, input);
        }
    }

    /// Releases the result called `name` if `input` has claimed it.
    fn free(&self, name: &str, input: &Input) {
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        let key = names::identity(&names::path(name));
        if claims.get(&key).is_some_and(|holder| holder.id == input.id) {
            claims.remove(&key);
        }
    }

    /// Claims the result file of `input` in `format`. Fails if the result would overwrite an input or another input's
    /// result.
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
        // The holder may be an earlier version of the same image, whose result is replaced.
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
    /// Releases the claim of an image that failed, so that another image may have the result file.
    pub(super) fn release(&self, input: &Input) {
        self.outputs.free(&self.name, input);
    }

    /// Returns the full path or URL of the result.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Writes the whole result, or nothing if it fails.
    pub(super) fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        let file = match &self.outputs.place {
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
        if let Some(file) = file {
            let all = self.outputs.writers.lock();
            let mut all = all.unwrap_or_else(PoisonError::into_inner);
            all.insert(file, self.image.clone());
        }
        Ok(())
    }
}

/// Maximum number of images that are checked for being in the same folder as their results.
const LOOKED_AT: usize = 1000;

/// Returns the usual file extension of a format.
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

    /// Returns a job that converts these files into a folder.
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
        // A hard link stands for the same name in other case, as on a case-insensitive file system.
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
        // A hard link stands for the input's name in other case, as in the test before.
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
