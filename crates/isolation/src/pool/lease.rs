//! Lease of a worker by one caller, which sends it requests, watches it and determines how it ended.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use andon_pixels::{Error, Interrupt, Result};
use rustix::io::write;

use super::{Death, End, Pool, Worker};
use crate::channel::{Channel, START, Waiting};
use crate::job::{Answer, Kind};
use crate::wire::{Output, Wire};

/// A worker that is reserved for one caller. It is returned to the pool when the lease is dropped.
#[derive(Debug)]
pub(crate) struct Lease<'a> {
    pool: &'a Pool,
    worker: Option<Worker>,
}

/// A request to a worker, and the file and interrupt of the caller.
pub(crate) struct Question<'a> {
    pub(crate) kind: Kind,
    pub(crate) message: Output<'a>,
    /// Maximum total size in bytes of the samples and other large values in the answer.
    pub(crate) most: u64,
    /// Name of the format, for error messages.
    pub(crate) format: &'static str,
    /// The file that becomes suspect if the worker dies while processing it; empty if the request has none.
    pub(crate) file: &'a [u8],
    pub(crate) interrupt: &'a dyn Interrupt,
}

impl<'a> Lease<'a> {
    /// Waits for a worker. With `header`, this is the one reserved for headers, unless that is busy.
    ///
    /// # Errors
    /// `Internal` if no worker can be started; `Interrupted` if `interrupt` ends the wait.
    pub(crate) fn new(pool: &'a Pool, header: bool, interrupt: &dyn Interrupt) -> Result<Self> {
        let worker = match header {
            true => pool.take_prober(interrupt)?,
            false => pool.take(interrupt)?,
        };
        Ok(Self {
            pool,
            worker: Some(worker),
        })
    }

    /// Sends a request to the worker and waits for the answer.
    ///
    /// # Errors
    /// Those of the job; `Interrupted`; `Crashed` if the worker died.
    pub(crate) fn ask<T: Wire>(&mut self, question: &Question<'_>) -> Result<T> {
        let Some(worker) = &self.worker else {
            let format = question.format;
            return Err(crash_error(format, "it ended before".to_owned()));
        };
        match exchange(&worker.socket, question) {
            Ok(Answer {
                resident,
                panicked,
                result,
            }) => {
                self.pool.counters.jobs.fetch_add(1, Ordering::Relaxed);
                if panicked {
                    let why = result.err().map_or_else(String::new, |it| it.to_string());
                    return Err(self.record_death(
                        Death::Crash,
                        format!("it panicked ({why})"),
                        question,
                    ));
                }
                if let Some(worker) = &mut self.worker {
                    worker.resident = resident;
                    worker.jobs += 1;
                }
                result
            }
            Err(error) => Err(self.fail(&error, question)),
        }
    }

    /// Sends a message that has no answer.
    pub(crate) fn tell(&mut self, kind: Kind) {
        if let Some(worker) = &self.worker {
            // If the worker is gone, the next request reports it.
            let _ = say(&worker.socket, kind);
        }
    }

    /// Ends a worker that did not answer a request correctly and in time, and returns the error for the caller.
    fn fail(&mut self, error: &io::Error, question: &Question<'_>) -> Error {
        match error.kind() {
            io::ErrorKind::TimedOut => {
                self.end(End::Kill);
                self.pool.counters.count_death(Death::Overstayed);
                Error::Interrupted
            }
            io::ErrorKind::InvalidData => {
                self.record_death(Death::Garbled, error.to_string(), question)
            }
            _ => match self.end(End::Wait) {
                Some(status) => {
                    let death = Death::of(status);
                    let how = match death {
                        Death::Cpu => "it computed for too long".to_owned(),
                        Death::Killed => "the system ended it".to_owned(),
                        _ => status.to_string(),
                    };
                    self.record_death(death, how, question)
                }
                None => Error::Internal("the process that starts workers is gone".to_owned()),
            },
        }
    }

    /// Ends the worker, counts its death, marks the file as suspect if the file may have caused the death, and returns
    /// the error for the caller.
    fn record_death(&mut self, death: Death, how: String, question: &Question<'_>) -> Error {
        self.end(End::Kill);
        self.pool.counters.count_death(death);
        let format = question.format;
        if death.accuses() && !question.file.is_empty() {
            let file = self.pool.suspects.accuse(question.file).to_hex();
            let cause = death.name();
            tracing::error!(%format, %cause, %file, "a worker process ended: {how}");
        } else {
            tracing::error!(%format, cause = %death.name(), "a worker process ended: {how}");
        }
        crash_error(format, how)
    }

    /// Ends the worker, unless it has ended already, and returns its exit status.
    fn end(&mut self, how: End) -> Option<ExitStatus> {
        let worker = self.worker.take()?;
        self.pool.end_now(worker, how).ok()
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.pool.give_back(worker);
        }
    }
}

fn crash_error(format: &'static str, how: String) -> Error {
    Error::Crashed { format, how }
}

fn exchange<T: Wire>(socket: &OwnedFd, question: &Question<'_>) -> io::Result<Answer<T>> {
    let watch = |is_sending| Watch {
        socket,
        interrupt: question.interrupt,
        is_sending,
        since: None,
    };
    Channel::new(socket, watch(true)).send(question.kind, &question.message)?;
    let mut channel = Channel::new(socket, watch(false));
    match channel.next()? {
        (Kind::Answer, lengths) => channel.value(lengths, question.most),
        _ => Err(crate::wire::garbled_message("it is no answer")),
    }
}

fn say(socket: &OwnedFd, kind: Kind) -> io::Result<()> {
    let mut message = [0; START];
    message[0] = kind as u8;
    write(socket.as_fd(), &message)?;
    Ok(())
}

/// Watches a worker while a caller waits for it. When the result is no longer needed, sends the worker a cancellation.
/// If the worker does not stop soon after, the wait times out, so that the caller kills the worker.
struct Watch<'a> {
    socket: &'a OwnedFd,
    interrupt: &'a dyn Interrupt,
    /// Whether the request to the worker is still being sent. No cancellation can be sent before it is complete.
    is_sending: bool,
    /// When the result was found to be no longer needed, from which time on the worker should stop.
    since: Option<Instant>,
}

/// Time that a worker has to stop after its result is no longer needed.
const GRACE: Duration = Duration::from_millis(100);

impl Waiting for Watch<'_> {
    fn waiting(&mut self) -> io::Result<()> {
        match self.since {
            Some(since) if since.elapsed() > GRACE => Err(io::ErrorKind::TimedOut.into()),
            Some(_) => Ok(()),
            None if self.interrupt.interrupted() => {
                self.since = Some(Instant::now());
                match self.is_sending {
                    true => Ok(()),
                    false => say(self.socket, Kind::Cancel),
                }
            }
            None => Ok(()),
        }
    }
}
