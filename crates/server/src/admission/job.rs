//! A job of a request: its predicted costs, its cancellation, its input, and the work itself.

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

/// A job of a request, which a worker thread runs.
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) cancel: Arc<CancelToken>,
    /// The image to decode first; `None` if the job does not work on an image.
    pub(super) input: Option<DecodeInput>,
    pub(super) run: Run,
}

/// A job that was taken from the queue, with the id that it had in the queue.
pub(super) type NumberedJob = (u64, Job);

/// Runs a job to its end, starting from its decoded frame if there is one; an error of decoding ends the job. `Cores`
/// lends parts of the job to idle threads.
pub(super) type Run = Box<dyn FnOnce(&dyn Cores, Option<Result<Decoded, Error>>) -> JobEnd + Send>;

/// The end of a job, of which its request has not been notified yet.
pub(super) struct JobEnd {
    pub(super) outcome: Outcome,
    /// Sends the result. To be called after the job has left the queue, so that the receiver of the result finds the
    /// job's place free.
    pub(super) send: Box<dyn FnOnce()>,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The job has completed its work.
    Done,
    /// An error ended the job, maybe long before its work was complete.
    Failed,
    /// A panic ended the job.
    Panicked,
}

impl Job {
    /// Creates a job whose result is sent to `reply`. A panic in `run` is sent as an error.
    pub(super) fn new<T: Send + 'static>(
        work: Work,
        cancel: Arc<CancelToken>,
        input: Option<DecodeInput>,
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
            JobEnd {
                outcome,
                // Sending fails if the client has disconnected, which is no error here.
                send: Box::new(move || drop(reply.send(result))),
            }
        });
        Self {
            work,
            cancel,
            input,
            run,
        }
    }

    /// Whether one decode can serve both jobs.
    pub(super) fn joins(&self, other: &Self) -> bool {
        let both = self.input.as_ref().zip(other.input.as_ref());
        both.is_some_and(|(one, other)| one.joins(other))
    }

    /// Describes this job for monitoring, as one that starts now. `along` is the number of other jobs that share its
    /// decode.
    pub(super) fn at_work(&self, along: usize) -> AtWork {
        AtWork {
            kind: self.work.kind,
            plan: self.input.as_ref().map(|input| input.plan.clone()),
            along,
            since: Instant::now(),
        }
    }

    /// Returns this job's part in a shared decode; `None` if it does not begin with a decode.
    pub(super) fn member(&self) -> Option<Member<'_>> {
        Some(Member {
            input: self.input.as_ref()?,
            cancel: self.cancel.clone(),
        })
    }
}
