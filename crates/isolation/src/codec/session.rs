//! Animations that a worker process reads or writes frame by frame.

use andon_pixels::{FrameReader, FrameWriter, Interrupt, Metadata, Result, Timed};

use super::workers::Workers;
use crate::job::{Job, Kind};
use crate::pool::{Lease, Question};
use crate::wire::{Output, Wire};

/// An animation that one worker process reads or writes frame by frame.
pub(super) struct Session<'a> {
    lease: Lease<'static>,
    format: &'static str,
    /// The file that is read; empty if an animation is written.
    file: &'a [u8],
    interrupt: &'a dyn Interrupt,
    most: u64,
    /// Whether the worker expects further messages about the animation.
    open: bool,
}

impl<'a> Session<'a> {
    /// Begins a session with a job. Returns the session and the worker's answer to the job.
    pub(super) fn begin<T: Wire>(
        workers: Workers,
        job: &Job<'a>,
        file: &'a [u8],
        most: u64,
        interrupt: &'a dyn Interrupt,
    ) -> Result<(Self, T)> {
        let mut session = Self {
            lease: Lease::new(workers.pool, false, interrupt)?,
            format: workers.codec.name(),
            file,
            interrupt,
            most,
            open: false,
        };
        let answer = session.ask(Kind::Job, Output::of(job))?;
        session.open = true;
        Ok((session, answer))
    }

    fn ask<T: Wire>(&mut self, kind: Kind, message: Output<'_>) -> Result<T> {
        self.lease.ask(&Question {
            kind,
            message,
            most: self.most,
            format: self.format,
            file: self.file,
            interrupt: self.interrupt,
        })
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if self.open {
            self.lease.tell(Kind::Close);
        }
    }
}

/// An animation that a worker process reads.
pub(super) struct RemoteReader<'a> {
    pub(super) session: Session<'a>,
    pub(super) metadata: Metadata,
}

impl FrameReader for RemoteReader<'_> {
    fn metadata(&self) -> Metadata {
        self.metadata.clone()
    }

    fn next(&mut self) -> Result<Option<Timed>> {
        self.session.ask(Kind::Next, Output::default())
    }
}

/// An animation that a worker process writes.
pub(super) struct RemoteWriter<'a> {
    pub(super) session: Session<'a>,
    /// Bytes written so far.
    pub(super) bytes: u64,
}

impl FrameWriter for RemoteWriter<'_> {
    fn push(&mut self, timed: Timed) -> Result<()> {
        self.bytes = self.session.ask(Kind::Push, Output::of(&timed))?;
        Ok(())
    }

    fn written(&self) -> u64 {
        self.bytes
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<u8>> {
        self.session.open = false;
        self.session.ask(Kind::Finish, Output::default())
    }
}
