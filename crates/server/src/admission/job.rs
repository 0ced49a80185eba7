//! A job: its costs, whether it is wanted, what it begins with, and what it does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use andon_pixels::{Cores, Decoded};
use tokio::sync::oneshot::Sender;

use super::cancel::CancelToken;
use super::seats::AtWork;
use super::shared_decode::{DecodeInput, Member};
use super::work::Work;
use crate::error::Error;

/// A job of a request, which a worker thread is to run.
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) wanted: Arc<CancelToken>,
    /// What it decodes first; `None` if it works on anything else than an image.
    pub(super) opening: Option<DecodeInput>,
    pub(super) run: Run,
}

/// A job that was taken from the queue, and its id there.
pub(super) type Taken = (u64, Job);

/// Runs a job to its end on the cores that it may borrow, whatever the outcome, starting from its decoded frame if there
/// is one.
pub(super) type Run =
    Box<dyn FnOnce(&dyn Cores, Option<Result<Decoded, Error>>) -> Finished + Send>;

/// How a job ended, before its request knows of it.
pub(super) struct Finished {
    pub(super) outcome: Outcome,
    /// Sends the result. It is called after the job has left the queue, so that the receiver finds its slot free.
    pub(super) tell: Box<dyn FnOnce()>,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All of its work was done.
    Done,
    /// An error ended it, maybe long before its work was done.
    Failed,
    /// A panic ended it.
    Panicked,
}

impl Job {
    /// Creates a job whose result is sent to `reply`. A panic in `run` is its result, too.
    pub(super) fn new<T: Send + 'static>(
        work: Work,
        wanted: Arc<CancelToken>,
        opening: Option<DecodeInput>,
        reply: Sender<Result<T, Error>>,
        run: impl FnOnce(&dyn Cores, Option<Decoded>) -> Result<T, Error> + Send + 'static,
    ) -> Self {
        let run: Run = Box::new(move |cores, decoded| {
            let result = catch_unwind(AssertUnwindSafe(|| run(cores, decoded.transpose()?)));
            let result = result.unwrap_or(Err(Error::Panicked));
            let outcome = match &result {
                Ok(_) => Outcome::Done,
                Err(Error::Panicked) => Outcome::Panicked,
                Err(_) => Outcome::Failed,
            };
            Finished {
                outcome,
                // Fails when the client left meanwhile: then nobody is there to tell.
                tell: Box::new(move || drop(reply.send(result))),
            }
        });
        Self {
            work,
            wanted,
            opening,
            run,
        }
    }

    /// Whether one decode can serve both jobs.
    pub(super) fn joins(&self, other: &Self) -> bool {
        let both = self.opening.as_ref().zip(other.opening.as_ref());
        both.is_some_and(|(one, other)| one.joins(other))
    }

    /// Describes this job, which starts now with `along` others that share its decode.
    pub(super) fn at_work(&self, along: usize) -> AtWork {
        AtWork {
            kind: self.work.kind,
            plan: self.opening.as_ref().map(|opening| opening.plan.clone()),
            along,
            since: Instant::now(),
        }
    }

    /// Returns this job's part in a shared decode; `None` if it does not begin with a decode.
    pub(super) fn member(&self) -> Option<Member<'_>> {
        Some(Member {
            opening: self.opening.as_ref()?,
            wanted: self.wanted.clone(),
        })
    }
}
