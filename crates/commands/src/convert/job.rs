//! Runs a job: converts the remaining images, records each result, and prints a summary.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use andon_terminal::{interrupt, print};
use anyhow::{Context, bail};

use super::failures::Failures;
use super::inputs::Input;
use super::manifest::Manifest;
use super::outputs::Held;
use super::progress_bar;

/// The images of a job, both those that are left to convert and those that earlier runs have converted.
pub(super) struct Job {
    pub(super) inputs: Vec<Input>,
    /// Images that earlier runs have converted.
    pub(super) done: Vec<Input>,
    pub(super) manifest: Option<Manifest>,
    pub(super) failures: Option<Failures>,
}

impl Job {
    /// Runs `work` for each image, and then prints a summary. `description` is called at the end and returns the part
    /// of the summary about what was written, or an empty text. The list of failures contains the images that failed or
    /// were not started, without those whose results would replace others according to `is_taken`. No further images
    /// are started after SIGINT or SIGTERM, or when the disk of the results is full.
    ///
    /// # Errors
    /// If `work` failed for at least one image, or not all images were started.
    pub(super) fn run(
        &self,
        threads: usize,
        work: impl Fn(&Input) -> anyhow::Result<()> + Sync,
        is_taken: impl Fn(&Input) -> bool,
        description: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        let cancel = interrupt::flag().context("cannot listen for signals")?;
        let progress = progress_bar(self.inputs.len());
        let flags: Vec<AtomicBool> = self.inputs.iter().map(|_| AtomicBool::new(false)).collect();
        let [failed, begun] = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let no_space = AtomicBool::new(false);
        let conflicts = Mutex::new(BTreeSet::new());
        let convert = |index: usize, is_last: bool| {
            if cancel.load(Ordering::Relaxed) || no_space.load(Ordering::Relaxed) {
                return;
            }
            let input = &self.inputs[index];
            match work(input) {
                Ok(()) => flags[index].store(true, Ordering::Relaxed),
                // Another image has claimed the same result, but may still fail: try again after all others.
                Err(error) if error.is::<Held>() && !is_last => {
                    conflicts
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert(index);
                    return;
                }
                Err(error) => {
                    progress.suspend(|| eprintln!("{}: {error:#}", input.name));
                    failed.fetch_add(1, Ordering::Relaxed);
                    no_space.fetch_or(says_no_space(&error), Ordering::Relaxed);
                }
            }
            begun.fetch_add(1, Ordering::Relaxed);
            progress.inc(1);
        };
        andon_batch::each(threads, self.inputs.len(), |index| convert(index, false));
        let conflicts =
            std::mem::take(&mut *conflicts.lock().unwrap_or_else(PoisonError::into_inner));
        conflicts.into_iter().for_each(|index| convert(index, true));
        progress.finish_and_clear();
        let (failed, begun) = (failed.into_inner(), begun.into_inner());
        self.say(begun - failed, failed, description())?;
        if let Some(manifest) = &self.manifest {
            manifest.warn_of_outdated(self.missing(&flags));
        }
        if let Some(failures) = &self.failures {
            self.list(failures, &flags, is_taken)?;
        }
        let rest_count = self.inputs.len() - begun;
        let all = self.inputs.len() + self.done.len();
        match failed {
            _ if rest_count > 0 && no_space.into_inner() => {
                bail!(
                    "stopped, as there is no space left for results: {rest_count} of {all} images left"
                )
            }
            _ if rest_count > 0 => bail!("interrupted: {rest_count} of {all} images left"),
            0 => Ok(()),
            // The error is already printed, and "1 of 1" would add nothing.
            1 if all == 1 => bail!("the image failed"),
            _ => bail!("{failed} of {all} images failed"),
        }
    }

    /// Writes the list of images whose element of `flags` is false, without those whose results would replace others.
    fn list(
        &self,
        failures: &Failures,
        flags: &[AtomicBool],
        is_taken: impl Fn(&Input) -> bool,
    ) -> anyhow::Result<()> {
        let missing = self.missing(flags);
        let (conflicts, missing): (Vec<&Input>, Vec<&Input>) = missing.partition(|it| is_taken(it));
        failures.write(&missing, conflicts.len())
    }

    /// Returns the images whose element of `flags` is false. `flags` has one element per image.
    fn missing<'a>(&'a self, flags: &'a [AtomicBool]) -> impl Iterator<Item = &'a Input> {
        let all = self.inputs.iter().zip(flags);
        let missing = all.filter(|(_, flag)| !flag.load(Ordering::Relaxed));
        missing.map(|(input, _)| input)
    }

    /// Prints the summary: the counts if the job has a manifest, and the text `description`.
    fn say(&self, done: usize, failed: usize, description: String) -> anyhow::Result<()> {
        let mut summary = Some(description).filter(|summary| !summary.is_empty());
        if self.manifest.is_some() {
            let before = self.done.len();
            let done = format!("{done} done, {failed} failed, {before} done by an earlier run");
            summary = Some(match summary {
                Some(description) => format!("{done}; {description}"),
                None => done,
            });
        }
        if let Some(summary) = summary {
            print(format!("{summary}\n").as_bytes())?;
        }
        if let Some(manifest) = &self.manifest {
            manifest.warn_of_missing(&self.done);
        }
        Ok(())
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
}

/// Whether an error was caused by a full disk or an exceeded quota.
fn says_no_space(error: &anyhow::Error) -> bool {
    let mut causes = error
        .chain()
        .filter_map(|it| it.downcast_ref::<io::Error>());
    causes.any(|it| matches!(it.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
}
