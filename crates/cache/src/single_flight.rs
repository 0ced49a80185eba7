//! Single flight: callers that need the same result share one computation.
//!
//! The computation runs as a task of its own, so the caller that started it may leave without affecting the others. Its
//! deadline is the latest of the callers' deadlines. When the last caller has left, the task is aborted.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::deadline::Deadline;
use crate::locks::Lock;

/// The computations under way, by key.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use std::time::{Duration, Instant};
///
/// let flights = andon_cache::Flights::new();
/// let deadline = (Instant::now() + Duration::from_secs(30)).into();
/// let (a, b) = tokio::join!(
///     flights.run("sum", &deadline, |_| async { 1 + 2 }),
///     flights.run("sum", &deadline, |_| async { unreachable!("the first one is on its way") }),
/// );
/// assert_eq!((a.unwrap().value, b.unwrap().value), (3, 3));
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Flights<K, V>(Arc<All<K, V>>);

/// The computations under way, by key. One that no caller waits for any more may remain for a moment.
type All<K, V> = Mutex<HashMap<K, Weak<Flight<V>>>>;

impl<K, V> Default for Flights<K, V> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K, V> Flights<K, V>
where
    K: Clone + Eq + Hash + Send + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Creates an empty table, without any computation under way.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits for the computation of this key, and starts it if it is not under way. `deadline` is that of this caller.
    /// `work` receives the latest deadline of all callers and has to end by then by itself. The caller has to stop
    /// waiting at its own deadline.
    ///
    /// `work` is called inside a new task of the current tokio runtime. When the last waiter leaves (drops this
    /// future), the task is dropped at its next await. A later call starts a new computation.
    ///
    /// # Errors
    /// [`FlightError`] if the work panicked or its runtime is shutting down. Failures of the work itself belong in `V`.
    pub async fn run<F, W>(
        &self,
        key: K,
        deadline: &Deadline,
        work: F,
    ) -> Result<FlightResult<V>, FlightError>
    where
        F: FnOnce(Deadline) -> W + Send + 'static,
        W: Future<Output = V> + Send + 'static,
    {
        let (flight, role) = self.join(key, deadline, work);
        let mut outcome = flight.outcome.clone();
        let outcome = match outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Err(FlightError::Stopped)),
            Err(_) => Err(FlightError::Stopped),
        };
        outcome.map(|value| FlightResult { value, role })
    }

    /// Returns the number of computations under way.
    pub fn len(&self) -> usize {
        let all = self.0.locked();
        all.values().filter(|it| it.strong_count() > 0).count()
    }

    /// Returns whether no computation is under way.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many callers are waiting for a computation that another caller started.
    pub fn followers(&self) -> usize {
        let all = self.0.locked();
        all.values()
            .map(|it| it.strong_count().saturating_sub(1))
            .sum()
    }

    fn join<F, W>(&self, key: K, deadline: &Deadline, work: F) -> (Arc<Flight<V>>, Role)
    where
        F: FnOnce(Deadline) -> W + Send + 'static,
        W: Future<Output = V> + Send + 'static,
    {
        let mut all = self.0.locked();
        if let Some(flight) = all.get(&key).and_then(Weak::upgrade) {
            flight.deadline.join(deadline);
            return (flight, Role::Follower);
        }
        let (sender, outcome) = watch::channel(None);
        let flight = Arc::new(Flight {
            outcome,
            deadline: Deadline::shared(deadline),
            task: OnceLock::new(),
        });
        let guard = CompletionGuard {
            all: Arc::clone(&self.0),
            key: key.clone(),
            flight: Arc::downgrade(&flight),
            sender,
            outcome: Err(FlightError::Stopped),
        };
        all.insert(key, Arc::downgrade(&flight));
        // If the runtime is shutting down, `spawn` drops the guard, which locks the table.
        drop(all);
        let deadline = flight.deadline.clone();
        let task = tokio::spawn(async move {
            let mut guard = guard;
            guard.outcome = Ok(work(deadline).await);
        });
        let _ = flight.task.set(task.abort_handle());
        (flight, Role::Leader)
    }
}

/// The result of a computation, and the caller's role in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlightResult<V> {
    /// The result, the same for all callers.
    pub value: V,
    /// Whether this call started the computation or joined it.
    pub role: Role,
}

/// The role of a caller in a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// This caller started the computation.
    Leader,
    /// The computation was already under way.
    Follower,
}

/// Why a computation gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlightError {
    /// The work panicked, which is a bug. Every waiter gets this error.
    #[error("the work panicked")]
    Panicked,
    /// The work was stopped before it ended, because its runtime is shutting down.
    #[error("the work was stopped")]
    Stopped,
}

type Outcome<V> = Option<Result<V, FlightError>>;

/// A computation. Every caller that waits for it has a reference to it.
struct Flight<V> {
    outcome: watch::Receiver<Outcome<V>>,
    deadline: Deadline,
    task: OnceLock<AbortHandle>,
}

impl<V> Drop for Flight<V> {
    fn drop(&mut self) {
        // The last caller has left before the computation ended.
        if self.outcome.borrow().is_none() {
            self.task.get().inspect(|task| task.abort());
        }
    }
}

/// Notifies the waiting callers however the work ends: with a value, by a panic, or by being dropped.
struct CompletionGuard<K: Eq + Hash, V> {
    all: Arc<All<K, V>>,
    key: K,
    flight: Weak<Flight<V>>,
    sender: watch::Sender<Outcome<V>>,
    outcome: Result<V, FlightError>,
}

impl<K: Eq + Hash, V> Drop for CompletionGuard<K, V> {
    fn drop(&mut self) {
        let mut all = self.all.locked();
        // The key may have another flight by now, if no caller waited for this one.
        if (all.get(&self.key)).is_some_and(|it| it.ptr_eq(&self.flight)) {
            all.remove(&self.key);
        }
        drop(all);
        let failure = if std::thread::panicking() {
            FlightError::Panicked
        } else {
            FlightError::Stopped
        };
        let outcome = std::mem::replace(&mut self.outcome, Err(failure.clone()));
        // If the work has not ended, the outcome is still an error, and only here it is known which one.
        self.sender.send_replace(Some(outcome.map_err(|_| failure)));
    }
}
