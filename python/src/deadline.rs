//! Limits the time for work on an image.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use andon_pixels::Interrupt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The time that one image may take; `None` for no limit.
#[derive(Clone, Copy)]
pub(crate) struct Timeout(Option<Duration>);

impl Timeout {
    /// Creates a timeout from a number of seconds. `None` means no limit.
    pub(crate) fn new(seconds: Option<f64>) -> PyResult<Self> {
        let duration = seconds.map(Duration::try_from_secs_f64).transpose();
        let invalid = |_| PyValueError::new_err("timeout is a number of seconds, 0 or more");
        duration.map(Self).map_err(invalid)
    }

    /// Starts the timeout for an image. Setting `stop` ends the work earlier.
    pub(crate) fn begin(self, stop: &AtomicBool) -> Deadline<'_> {
        let end = self.0.and_then(|time| Instant::now().checked_add(time));
        Deadline { end, stop }
    }
}

/// The point in time at which work on an image has to end, and a flag that ends it earlier.
pub(crate) struct Deadline<'a> {
    end: Option<Instant>,
    stop: &'a AtomicBool,
}

impl Interrupt for Deadline<'_> {
    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
