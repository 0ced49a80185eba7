//! A job: the images that are left to convert, what becomes of each, and what is said of all in the end.

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

/// The images that are left to convert, with what earlier runs have done.
pub(super) struct Job {
    pub(super) inputs: Vec<Input>,
    /// Images that earlier runs have converted.
    pub(super) done: Vec<Input>,
    pub(super) manifest: Option<Manifest>,
    pub(super) failures: Option<Failures>,
}

impl Job {
    /// Runs `work` for each image, and prints one line on all of them, for which `written` says what was written; it may
    /// be empty. The list of failures has what another run can make: the images that failed or were not begun, except those
    /// whose results, as `is_taken` tells of each, would replace others. After a first SIGINT or SIGTERM, or when there is
    /// no space left for results, no more images are begun.
    ///
    /// # Errors
    /// If `work` failed for at least one image, or not all were begun.
    pub(super) fn run(
        &self,
        threads: usize,
        work: impl Fn(&Input) -> anyhow::Result<()> + Sync,
        is_taken: impl Fn(&Input) -> bool,
        written: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        let cancel = interrupt::flag().context("cannot listen for signals")?;
        let progress = progress_bar(self.inputs.len());
        let made: Vec<AtomicBool> = self.inputs.iter().map(|_| AtomicBool::new(false)).collect();
        let [failed, begun] = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let no_space = AtomicBool::new(false);
        let held = Mutex::new(BTreeSet::new());
        let convert = |index: usize, is_last: bool| {
            if cancel.load(Ordering::Relaxed) || no_space.load(Ordering::Relaxed) {
                return;
            }
            let input = &self.inputs[index];
            match work(input) {
                Ok(()) => made[index].store(true, Ordering::Relaxed),
                // The image that has its result may still fail.
                Err(error) if error.is::<Held>() && !is_last => {
                    held.lock()
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
        let held = std::mem::take(&mut *held.lock().unwrap_or_else(PoisonError::into_inner));
        held.into_iter().for_each(|index| convert(index, true));
        progress.finish_and_clear();
        let (failed, begun) = (failed.into_inner(), begun.into_inner());
        self.say(begun - failed, failed, written())?;
        if let Some(manifest) = &self.manifest {
            manifest.warn_of_outdated(self.missing(&made));
        }
        if let Some(failures) = &self.failures {
            self.list(failures, &made, is_taken)?;
        }
        let left = self.inputs.len() - begun;
        let all = self.inputs.len() + self.done.len();
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

    /// Writes the list of images that are not `made`, and that another run can make without a loss.
    fn list(
        &self,
        failures: &Failures,
        made: &[AtomicBool],
        is_taken: impl Fn(&Input) -> bool,
    ) -> anyhow::Result<()> {
        let missing = self.missing(made);
        let (taken, missing): (Vec<&Input>, Vec<&Input>) = missing.partition(|it| is_taken(it));
        failures.write(&missing, taken.len())
    }

    /// Returns the images that are not `made`.
    fn missing<'a>(&'a self, made: &'a [AtomicBool]) -> impl Iterator<Item = &'a Input> {
        let all = self.inputs.iter().zip(made);
        let missing = all.filter(|(_, made)| !made.load(Ordering::Relaxed));
        missing.map(|(input, _)| input)
    }

    /// Prints what was done, for a job with a manifest, and what was `written`.
    fn say(&self, done: usize, failed: usize, written: String) -> anyhow::Result<()> {
        let mut said = Some(written).filter(|said| !said.is_empty());
        if self.manifest.is_some() {
            let before = self.done.len();
            let done = format!("{done} done, {failed} failed, {before} done by an earlier run");
            said = Some(match said {
                Some(written) => format!("{done}; {written}"),
                None => done,
            });
        }
        if let Some(said) = said {
            print(format!("{said}\n").as_bytes())?;
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

/// Whether the cause of an error is a full disk.
fn says_no_space(error: &anyhow::Error) -> bool {
    let mut causes = error
        .chain()
        .filter_map(|it| it.downcast_ref::<io::Error>());
    causes.any(|it| matches!(it.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
}
