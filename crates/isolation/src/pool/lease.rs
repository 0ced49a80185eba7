//! Lease of a worker by one caller: sends it questions, watches it and finds out how it ended.

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

/// A worker for one caller. It goes back to the pool when the lease is dropped.
#[derive(Debug)]
pub(crate) struct Lease<'a> {
    pool: &'a Pool,
    worker: Option<Worker>,
}

/// One question to a worker, and the file and interrupt of the caller.
pub(crate) struct Question<'a> {
    pub(crate) kind: Kind,
    pub(crate) message: Output<'a>,
    /// Most bytes that the large parts of the answer may have.
    pub(crate) most: u64,
    /// Name of the format, for error messages.
    pub(crate) format: &'static str,
    /// The file that becomes suspect if the worker dies of it; empty if there is none.
    pub(crate) file: &'a [u8],
    pub(crate) interrupt: &'a dyn Interrupt,
}

impl<'a> Lease<'a> {
    /// Waits for a worker. If `header`, this is the one reserved for headers, unless that is busy.
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

    /// Asks a question and waits for the answer.
    ///
    /// # Errors
    /// Those of the job; `Interrupted`; `Crashed` if the worker died of it.
    pub(crate) fn ask<T: Wire>(&mut self, question: &Question<'_>) -> Result<T> {
        let Some(worker) = &self.worker else {
            let format = question.format;
            return Err(crashed(format, "it ended before".to_owned()));
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
                    return Err(self.died(Death::Crash, format!("it panicked ({why})"), question));
                }
                if let Some(worker) = &mut self.worker {
                    worker.resident = resident;
                    worker.jobs += 1;
                }
                result
            }
            Err(error) => Err(self.failed(&error, question)),
        }
    }

    /// Sends a message that is not answered.
    pub(crate) fn tell(&mut self, kind: Kind) {
        if let Some(worker) = &self.worker {
            // If the worker is gone, the next question finds out.
            let _ = say(&worker.socket, kind);
        }
    }

    /// Ends a worker that did not answer a question, and returns the error for it.
    fn failed(&mut self, error: &io::Error, question: &Question<'_>) -> Error {
        match error.kind() {
            io::ErrorKind::TimedOut => {
                self.end(End::Kill);
                self.pool.counters.died(Death::Overstayed);
                Error::Interrupted
            }
            io::ErrorKind::InvalidData => self.died(Death::Garbled, error.to_string(), question),
            _ => match self.end(End::Wait) {
                Some(status) => {
                    let death = Death::of(status);
                    let how = match death {
                        Death::Cpu => "it computed for too long".to_owned(),
                        Death::Killed => "the system ended it".to_owned(),
                        _ => status.to_string(),
                    };
                    self.died(death, how, question)
                }
                None => Error::Internal("the process that starts workers is gone".to_owned()),
            },
        }
    }

    /// Ends the worker, counts its death, marks the file as suspect if the death speaks against it, and returns the
    /// error.
    fn died(&mut self, death: Death, how: String, question: &Question<'_>) -> Error {
        self.end(End::Kill);
        self.pool.counters.died(death);
        let format = question.format;
        if death.accuses() && !question.file.is_empty() {
            let file = self.pool.suspects.accuse(question.file).to_hex();
            let cause = death.name();
            tracing::error!(%format, %cause, %file, "a worker process ended: {how}");
        } else {
            tracing::error!(%format, cause = %death.name(), "a worker process ended: {how}");
        }
        crashed(format, how)
    }

    /// Ends the worker, if that has not been done, and returns how it ended.
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

fn crashed(format: &'static str, how: String) -> Error {
    Error::Crashed { format, how }
}

fn exchange<T: Wire>(socket: &OwnedFd, question: &Question<'_>) -> io::Result<Answer<T>> {
    let watch = |asking| Watch {
        socket,
        interrupt: question.interrupt,
        asking,
        since: None,
    };
    Channel::new(socket, watch(true)).send(question.kind, &question.message)?;
    let mut channel = Channel::new(socket, watch(false));
    match channel.next()? {
        (Kind::Answer, lengths) => channel.value(lengths, question.most),
        _ => Err(crate::wire::garbled("it is no answer")),
    }
}

fn say(socket: &OwnedFd, kind: Kind) -> io::Result<()> {
    let mut message = [0; START];
    message[0] = kind as u8;
    write(socket.as_fd(), &message)?;
    Ok(())
}

/// Watches a worker while a caller waits for it. Once the result is no longer wanted, the worker is told so, and the
/// wait times out if it does not stop soon, so that it is killed.
struct Watch<'a> {
    socket: &'a OwnedFd,
    interrupt: &'a dyn Interrupt,
    /// Whether the question is still being sent, in which case no message can be sent between its parts.
    asking: bool,
    /// Time from which the worker has been expected to stop, because its result is no longer wanted.
    since: Option<Instant>,
}

/// How long a worker may take to stop once its result is no longer wanted.
const GRACE: Duration = Duration::from_millis(100);

impl Waiting for Watch<'_> {
    fn waiting(&mut self) -> io::Result<()> {
        match self.since {
            Some(since) if since.elapsed() > GRACE => Err(io::ErrorKind::TimedOut.into()),
            Some(_) => Ok(()),
            None if self.interrupt.interrupted() => {
                self.since = Some(Instant::now());
                match self.asking {
                    true => Ok(()),
                    false => say(self.socket, Kind::Cancel),
                }
            }
            None => Ok(()),
        }
    }
}
