//! Idle cores that a job may borrow.
//!
//! Under load every core has an image of its own, and no core is lent. When no request waits, several cores work on one
//! large image. Work that can be split offers parts of itself to idle cores, and the calling thread does the parts that
//! no core takes. Results therefore never depend on which core did what.

use std::hint;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvError, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Why the result of shared work is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// The caller no longer wants the result.
    Interrupted,
    /// The work panicked on another core.
    Panicked,
}

/// A part of a job that another core can run.
pub type Task = Box<dyn FnOnce() + Send>;

/// A source of idle cores.
pub trait Cores: Sync {
    /// Makes an idle core start `task` at once. Returns the task if there is no idle core.
    fn lend(&self, task: Task) -> Option<Task>;

    /// Whether a core is idle, or is working on a part of another job and may soon be idle.
    fn lends_soon(&self) -> bool;
}

/// No cores to borrow: all work is done by the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Cores for Alone {
    fn lend(&self, task: Task) -> Option<Task> {
        Some(task)
    }

    fn lends_soon(&self) -> bool {
        false
    }
}

/// A part of a job that was offered to an idle core.
pub struct Offered<T> {
    result: Receiver<T>,
    /// The work itself, if no core took it.
    task: Option<Task>,
}

impl<T: Send + 'static> Offered<T> {
    /// Offers `work` to an idle core, which starts it at once.
    pub fn to(cores: &dyn Cores, work: impl FnOnce() -> T + Send + 'static) -> Self {
        let (sender, result) = mpsc::channel();
        let task = cores.lend(Box::new(move || {
            // Sending fails when the receiver no longer waits for the result.
            let _ = sender.send(work());
        }));
        Self { result, task }
    }

    /// Whether another core took the work.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.task.is_none()
    }

    /// Returns the result. If no core took the work, the calling thread does it now.
    ///
    /// # Errors
    /// `Panicked`.
    pub fn wait(self) -> Result<T, Unfinished> {
        self.wait_unless(&|| false)
    }

    /// Waits for the result, unless `interrupted` returns that it is no longer wanted. Another core that has taken the
    /// work then finishes it, and its result is discarded.
    ///
    /// # Errors
    /// `Panicked` as for `wait`, and `Interrupted`.
    pub fn wait_unless(self, interrupted: &dyn Fn() -> bool) -> Result<T, Unfinished> {
        if let Some(work) = self.task {
            work();
        }
        let polling = Polling::begin();
        while !interrupted() {
            let at_most = match polling.go_on() {
                true => Duration::ZERO,
                false => A_MOMENT,
            };
            match self.result.recv_timeout(at_most) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Unfinished::Panicked);
                }
            }
        }
        Err(Unfinished::Interrupted)
    }
}

/// Runs the `pieces` pieces of a job, numbered from 0, on this and every idle core. Each core that is free takes the
/// next piece, so that a core that wakes late or becomes idle meanwhile does less. The results are in the order of the
/// pieces. Returns `None`, with nothing done, if no core is idle or about to be, or if there are fewer than two pieces.
///
/// # Errors
/// `Interrupted`, checked before each piece that this core takes, and `Panicked`.
pub fn shared<T: Send + 'static>(
    cores: &dyn Cores,
    interrupted: &dyn Fn() -> bool,
    pieces: usize,
    work: impl Fn(usize) -> T + Send + Sync + 'static,
) -> Option<Result<Vec<T>, Unfinished>> {
    if pieces < 2 || !cores.lends_soon() {
        return None;
    }
    let (sender, results) = mpsc::channel();
    let next = Arc::new(AtomicUsize::new(0));
    let work = Arc::new(work);
    let take = move |next: &AtomicUsize| {
        let piece = next.fetch_add(1, Ordering::Relaxed);
        (piece < pieces).then_some(piece)
    };
    let helper = || {
        let (next, work, sender) = (next.clone(), work.clone(), sender.clone());
        Box::new(move || {
            while let Some(piece) = take(&next) {
                // Sending fails when the receiver no longer waits for the result.
                let _ = sender.send((piece, work(piece)));
            }
        })
    };
    let mut results_in_order: Vec<Option<T>> = (0..pieces).map(|_| None).collect();
    let (mut helpers, mut pending) = (0, pieces);
    loop {
        if interrupted() {
            next.store(pieces, Ordering::Relaxed);
            return Some(Err(Unfinished::Interrupted));
        }
        let Some(piece) = take(&next) else { break };
        // Offers the remaining pieces to further cores.
        while helpers + piece + 1 < pieces && cores.lend(helper()).is_none() {
            helpers += 1;
        }
        results_in_order[piece] = Some(work(piece));
        pending -= 1;
    }
    drop(sender);
    for _ in 0..pending {
        let Ok((piece, result)) = receive_soon(&results) else {
            break;
        };
        results_in_order[piece] = Some(result);
    }
    let results: Option<Vec<T>> = results_in_order.into_iter().collect();
    Some(results.ok_or(Unfinished::Panicked))
}

/// Receives a value that another core is about to send. Polls for a while before it sleeps.
///
/// # Errors
/// All senders were dropped.
pub fn receive_soon<T>(receiver: &Receiver<T>) -> Result<T, RecvError> {
    let polling = Polling::begin();
    loop {
        match receiver.try_recv() {
            Ok(value) => return Ok(value),
            Err(TryRecvError::Disconnected) => return Err(RecvError),
            Err(TryRecvError::Empty) if polling.go_on() => {}
            Err(TryRecvError::Empty) => return receiver.recv(),
        }
    }
}

/// Polling for something that another core is about to do, before the thread sleeps.
///
/// Waking a sleeping thread takes longer than most of these waits, and the operating system may put it on the core that
/// wakes it. Between two polls the thread yields its core to others.
#[derive(Debug)]
pub struct Polling {
    until: Instant,
}

impl Polling {
    /// Starts polling, before the first poll.
    #[must_use]
    pub fn begin() -> Self {
        Self {
            until: Instant::now() + POLLING_TIME,
        }
    }

    /// Waits until the next poll is due. Returns false when it is time to sleep instead.
    #[must_use]
    pub fn go_on(&self) -> bool {
        if Instant::now() >= self.until {
            return false;
        }
        // Two threads of one core share its execution units. The pauses leave them to the other thread.
        for _ in 0..PAUSES {
            hint::spin_loop();
        }
        thread::yield_now();
        true
    }
}

/// Number of spin-loop hints between two polls: about ten microseconds.
const PAUSES: u32 = 500;

/// How long to poll before sleeping: about four times the duration of a typical part of an image.
const POLLING_TIME: Duration = Duration::from_millis(1);

/// Interval at which a sleeping waiter checks whether the result is still wanted.
const A_MOMENT: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    /// An interrupt check that always answers that the work goes on.
    const NEVER: &dyn Fn() -> bool = &|| false;

    /// A test double that always has an idle core: it starts a thread for each task.
    struct Plenty;

    impl Cores for Plenty {
        fn lend(&self, task: Task) -> Option<Task> {
            thread::spawn(task);
            None
        }

        fn lends_soon(&self) -> bool {
            true
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
    fn what_comes_late_is_received_as_well_as_what_is_there() {
        let (sender, receiver) = mpsc::channel();
        let sends = thread::spawn(move || {
            sender.send(1).expect("somebody waits");
            thread::park();
            sender.send(2).expect("somebody waits");
        });
        assert_eq!(receive_soon(&receiver), Ok(1));
        let late = thread::spawn(move || {
            let late = receive_soon(&receiver);
            (late, receive_soon(&receiver))
        });
        sends.thread().unpark();
        assert_eq!(late.join().expect("received"), (Ok(2), Err(RecvError)));
    }

    #[test]
    fn pieces_come_back_in_order_whoever_did_them() {
        assert!(shared(&Alone, NEVER, 9, |piece| piece).is_none());
        assert!(shared(&Plenty, NEVER, 1, |piece| piece).is_none());
        for pieces in [2, 9, 100] {
            let all = shared(&Plenty, NEVER, pieces, |piece| piece * piece);
            let squares = (0..pieces).map(|piece| piece * piece).collect();
            assert_eq!(all, Some(Ok(squares)));
        }
    }

    #[test]
    fn pieces_that_nobody_wants_any_more_are_left() {
        let all = shared(&Plenty, &|| true, 9, |piece| piece);
        assert_eq!(all, Some(Err(Unfinished::Interrupted)));
    }

    #[test]
    fn work_that_nobody_wants_any_more_is_not_waited_for() {
        let (end, ends) = mpsc::channel::<()>();
        let offered = Offered::to(&Plenty, move || ends.recv().is_ok());
        assert_eq!(offered.wait_unless(&|| true), Err(Unfinished::Interrupted));
        // The abandoned work continues.
        assert_eq!(end.send(()), Ok(()));
    }

    #[test]
    fn a_panic_on_a_lent_core_is_an_error_here() {
        let here = thread::current().id();
        let (sender, began) = mpsc::sync_channel::<()>(0);
        let began = std::sync::Mutex::new(began);
        // Each piece waits until the other one has started on its own core.
        let all = shared(&Plenty, NEVER, 2, move |_| {
            if thread::current().id() == here {
                let _ = began.lock().expect("one of us").recv();
            } else {
                let _ = sender.send(());
                std::panic::resume_unwind(Box::new(()));
            }
        });
        assert!(matches!(all, Some(Err(Unfinished::Panicked))));
        let offered = Offered::<()>::to(&Plenty, || std::panic::resume_unwind(Box::new(())));
        assert_eq!(offered.wait(), Err(Unfinished::Panicked));
    }
}
