//! Idle cores that one piece of work may borrow.
//!
//! Under load every core has a picture of its own and nothing is lent; when nobody waits, a large picture
//! is worked on by several. Work that can be split offers a part of itself and does that part alone if
//! nobody takes it, so that results never depend on who did what.

use std::sync::mpsc;

use crate::error::{Error, Result};

/// A part of some work.
pub type Task = Box<dyn FnOnce() + Send>;

/// Whoever knows which cores are idle.
pub trait Cores: Sync {
    /// Has an idle core begin `task` right now, or gives it back.
    fn lend(&self, task: Task) -> Option<Task>;
}

/// No core but one's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Cores for Alone {
    fn lend(&self, task: Task) -> Option<Task> {
        Some(task)
    }
}

/// A part of some work that was offered to an idle core.
pub struct Offered<T> {
    result: mpsc::Receiver<T>,
    /// The part itself, if no core took it.
    refused: Option<Task>,
}

impl<T: Send + 'static> Offered<T> {
    /// Offers `work` to an idle core, which begins it at once.
    pub fn to(cores: &dyn Cores, work: impl FnOnce() -> T + Send + 'static) -> Self {
        let (done, result) = mpsc::channel();
        let refused = cores.lend(Box::new(move || {
            // Fails when nobody waits for it any more.
            let _ = done.send(work());
        }));
        Self { result, refused }
    }

    /// Did a core take it?
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.refused.is_none()
    }

    /// The result; work that nobody took is done here and now.
    ///
    /// # Errors
    /// `Internal` when the work panicked on another core.
    pub fn wait(self) -> Result<T> {
        if let Some(work) = self.refused {
            work();
        }
        let panicked = |_| Error::Internal("work on a lent core panicked".to_owned());
        self.result.recv().map_err(panicked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Always has a core: a thread of its own for each task.
    struct Plenty;

    impl Cores for Plenty {
        fn lend(&self, task: Task) -> Option<Task> {
            std::thread::spawn(task);
            None
        }
    }

    #[test]
    fn work_is_done_whether_a_core_takes_it_or_not() {
        for (cores, taken) in [(&Alone as &dyn Cores, false), (&Plenty, true)] {
            let offered = Offered::to(cores, || 7);
            assert_eq!(offered.is_taken(), taken);
            assert_eq!(offered.wait(), Ok(7));
        }
    }

    #[test]
    fn a_panic_on_a_lent_core_is_an_error_here() {
        let offered = Offered::<()>::to(&Plenty, || std::panic::resume_unwind(Box::new(())));
        assert!(matches!(offered.wait(), Err(Error::Internal(_))));
    }
}
