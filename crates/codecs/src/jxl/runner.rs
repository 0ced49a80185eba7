//! Runs the decoder's tasks one after the other on the calling thread, and stops after an interrupt or the maximum
//! number of tasks. A file can contain hidden frames (layers, and sources of patches) before a visible one. The decoder
//! does not report their number, and decodes them even if only headers are requested, so the number of tasks is
//! limited.

use andon_pixels::{Error, Interrupt, Result};
use jxl::api::{JxlParallelRunner, JxlParallelRunnerFun};

use super::{NAME, broken};
use crate::guard;

/// Runs a limited number of tasks, each of which decodes a group of pixels or does other work for a group.
pub(super) struct Runner<'a> {
    interrupt: &'a dyn Interrupt,
    left: u64,
}

impl<'a> Runner<'a> {
    /// Creates a runner for one frame of an image of `size`, in px, and for the hidden frames before it: up to a
    /// hundred in a small image, fewer in a large one.
    pub(super) fn of_frame(size: (u32, u32), interrupt: &'a dyn Interrupt) -> Self {
        let groups = u64::from(size.0.div_ceil(GROUP)) * u64::from(size.1.div_ceil(GROUP));
        let hidden_groups = (HIDDEN_FRAMES * groups).min(HIDDEN_GROUPS);
        Self {
            interrupt,
            left: TASKS + TASKS_PER_GROUP * (groups + hidden_groups),
        }
    }

    /// Creates a runner for reading headers.
    pub(super) fn of_headers(interrupt: &'a dyn Interrupt) -> Self {
        Self {
            interrupt,
            left: TASKS,
        }
    }

    /// Converts the result of a decoder call that used this runner to the errors of this crate.
    ///
    /// # Errors
    /// `Interrupted`; `Unsupported` if the call failed because it needed too many tasks; `Broken` for any other error.
    pub(super) fn check_result<T>(&self, result: jxl::error::Result<T>) -> Result<T> {
        guard::check_interrupt(self.interrupt)?;
        match result {
            Err(_) if self.left == 0 => Err(Error::unsupported(
                NAME,
                "more or larger hidden frames than are decoded here",
            )),
            result => result.map_err(broken),
        }
    }
}

impl JxlParallelRunner for Runner<'_> {
    fn run(&mut self, tasks: usize, task: &JxlParallelRunnerFun<'_>) -> jxl::error::Result<()> {
        for index in 0..tasks {
            if self.left == 0 || self.interrupt.interrupted() {
                return Err(jxl::error::Error::ApiUsageError("interrupted"));
            }
            self.left -= 1;
            task(index)?;
        }
        Ok(())
    }

    fn num_threads(&self) -> usize {
        1
    }

    fn run_ordered(
        &mut self,
        tasks: usize,
        _threads: Option<usize>,
        task: &JxlParallelRunnerFun<'_>,
    ) -> jxl::error::Result<()> {
        self.run(tasks, task)
    }
}

/// The side of a group of pixels, which JPEG XL decodes together, in px.
const GROUP: u32 = 256;

/// Number of tasks that are allowed for an image of any size, in addition to those per group of pixels.
const TASKS: u64 = 256;

/// Decoding tasks per group of pixels: reading, smoothing and writing it. Actual groups may have a quarter of the
/// assumed size.
const TASKS_PER_GROUP: u64 = 12;

/// Maximum number of hidden frames before a visible frame, unless [`HIDDEN_GROUPS`] allows fewer.
const HIDDEN_FRAMES: u64 = 100;

/// Maximum number of groups in all hidden frames before a visible frame: 67 megapixels.
const HIDDEN_GROUPS: u64 = 1024;

#[cfg(test)]
mod tests {
    use andon_pixels::Never;

    use super::*;

    struct Gone;

    impl Interrupt for Gone {
        fn interrupted(&self) -> bool {
            true
        }
    }

    #[test]
    fn work_ends_with_the_budget_and_with_the_interrupt() {
        let mut runner = Runner::of_frame((256, 256), &Never);
        let frame = |runner: &mut Runner<'_>| runner.run_ordered(3, None, &|_| Ok(()));
        let few = (0..20).try_for_each(|_| frame(&mut runner));
        assert!(runner.check_result(few).is_ok());
        let endless = (0..1_000_000).try_for_each(|_| frame(&mut runner));
        let refused = runner.check_result(endless);
        assert!(
            matches!(refused, Err(Error::Unsupported { .. })),
            "{refused:?}"
        );

        let mut runner = Runner::of_frame((256, 256), &Gone);
        let stopped = frame(&mut runner);
        assert_eq!(runner.check_result(stopped), Err(Error::Interrupted));
    }

    #[test]
    fn a_large_image_hides_fewer_frames_than_a_small_one() {
        let tasks = |side| Runner::of_frame((side, side), &Never).left;
        assert!(tasks(256) >= 100 * TASKS_PER_GROUP);
        assert!(tasks(8192) < 3 * TASKS_PER_GROUP * 32 * 32);
    }
}
