//! When work on an image is given up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use andon_pixels::Interrupt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The time that one image may take.
#[derive(Clone, Copy)]
pub(crate) struct Timeout(Option<Duration>);

impl Timeout {
    /// From seconds; `None`: as long as it takes.
    pub(crate) fn new(seconds: Option<f64>) -> PyResult<Self> {
        let duration = seconds.map(Duration::try_from_secs_f64).transpose();
        let refused = |_| PyValueError::new_err("timeout is a number of seconds, 0 or more");
        duration.map(Self).map_err(refused)
    }

    /// Begins now; ends early when `stopped` is set.
    pub(crate) fn begin(self, stopped: &AtomicBool) -> Deadline<'_> {
        let end = self.0.and_then(|time| Instant::now().checked_add(time));
        Deadline { end, stopped }
    }
}

/// The end of the time for one image.
pub(crate) struct Deadline<'a> {
    end: Option<Instant>,
    stopped: &'a AtomicBool,
}

impl Interrupt for Deadline<'_> {
    fn interrupted(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
