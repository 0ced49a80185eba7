//! A job: the images that are left to convert, what becomes of each, and what is said of all in the end.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use andon_terminal::{interrupt, print};
use anyhow::{Context, bail};

use super::inputs::Input;
use super::manifest::Manifest;
use super::progress_bar;

/// The images that are left to convert, with what earlier runs have done.
pub(super) struct Job {
    pub(super) inputs: Vec<Input>,
    /// Number of images that earlier runs have converted.
    pub(super) done: usize,
    pub(super) manifest: Option<Manifest>,
    pub(super) failures: Option<Failures>,
}

impl Job {
    /// Runs `work` for each image, and prints one line on all of them, for which `written` says what was written; it may
    /// be empty. After a first SIGINT or SIGTERM, or when there is no space left for results, no more images are begun.
    ///
    /// # Errors
    /// If `work` failed for at least one image, or not all were begun.
    pub(super) fn run(
        &self,
        threads: usize,
        work: impl Fn(&Input) -> anyhow::Result<()> + Sync,
        written: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        let cancel = interrupt::flag().context("cannot listen for signals")?;
        let progress = progress_bar(self.inputs.len());
        let [failed, begun] = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let no_space = AtomicBool::new(false);
        andon_batch::each(threads, self.inputs.len(), |index| {
            if cancel.load(Ordering::Relaxed) || no_space.load(Ordering::Relaxed) {
                return;
            }
            begun.fetch_add(1, Ordering::Relaxed);
            let input = &self.inputs[index];
            if let Err(error) = work(input) {
                progress.suspend(|| eprintln!("{}: {error:#}", input.name));
                failed.fetch_add(1, Ordering::Relaxed);
                no_space.fetch_or(says_no_space(&error), Ordering::Relaxed);
                self.note_failure(input);
            }
            progress.inc(1);
        });
        progress.finish_and_clear();
        let (failed, begun) = (failed.into_inner(), begun.into_inner());
        self.say(begun - failed, failed, written())?;
        let left = self.inputs.len() - begun;
        let all = self.inputs.len() + self.done;
        match failed {
            _ if left > 0 && no_space.into_inner() => {
                bail!("stopped, as there is no space left for results: {left} of {all} images left")
            }
            _ if left > 0 => bail!("interrupted: {left} of {all} images left"),
            0 => Ok(()),
            // It is reported already, and "1 of 1" would tell nothing.
            1 if all == 1 => bail!("the image failed"),
            _ => bail!("{failed} of {all} images failed"),
        }
    }

    /// Prints what was done, for a job with a manifest, and what was `written`.
    fn say(&self, done: usize, failed: usize, written: String) -> anyhow::Result<()> {
        let mut said = Some(written).filter(|said| !said.is_empty());
        if self.manifest.is_some() {
            let before = self.done;
            let done = format!("{done} done, {failed} failed, {before} done by an earlier run");
            said = Some(match said {
                Some(written) => format!("{done}; {written}"),
                None => done,
            });
        }
        match said {
            Some(said) => Ok(print(format!("{said}\n").as_bytes())?),
            None => Ok(()),
        }
    }

    /// Records a result in the manifest, if there is one.
    pub(super) fn note(
        &self,
        input: &Input,
        result: &[(&str, serde_json::Value)],
    ) -> anyhow::Result<()> {
        match &self.manifest {
            Some(manifest) => manifest.note(input, result),
            None => Ok(()),
        }
    }

    fn note_failure(&self, input: &Input) {
        let noted = (self.failures.as_ref()).map_or(Ok(()), |failures| failures.add(input));
        if let Err(error) = noted {
            eprintln!("{error:#}");
        }
    }
}

/// Whether the cause of an error is a full disk.
fn says_no_space(error: &anyhow::Error) -> bool {
    let mut causes = error
        .chain()
        .filter_map(|it| it.downcast_ref::<io::Error>());
    causes.any(|it| matches!(it.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
}

/// The file that lists the images that failed.
pub(super) struct Failures {
    path: PathBuf,
    file: Mutex<File>,
    /// What is behind each name: NUL if some names have line breaks.
    end: u8,
}

impl Failures {
    /// Creates an empty file for a job with these images.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(super) fn create(path: &Path, inputs: &[Input]) -> anyhow::Result<Self> {
        let file = File::create(path);
        let file = file.with_context(|| format!("--failures {}", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file),
            end: match inputs.iter().any(|input| input.bytes().contains(&b'\n')) {
                true => 0,
                false => b'\n',
            },
        })
    }

    fn add(&self, input: &Input) -> anyhow::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let line = [input.bytes(), &[self.end]].concat();
        let written = file.write_all(&line);
        written.with_context(|| format!("cannot write to {}", self.path.display()))
    }
}
