//! Single flight: callers that need the same result share one computation.
//!
//! The computation runs as a task of its own, so the caller that started it may leave without affecting the others. It
//! is stopped when the last one has left.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::locks::Lock;

/// The computations under way, by key.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let flights = andon_cache::Flights::new();
/// let (a, b) = tokio::join!(
///     flights.run("sum", |_| async { 1 + 2 }),
///     flights.run("sum", |_| async { unreachable!("the first one is still on its way") }),
/// );
/// assert_eq!((a.unwrap().value, b.unwrap().value), (3, 3));
/// # });
/// ```
#[derive(Debug)]
pub struct Flights<K, V> {
    table: Arc<Mutex<Table<K, V>>>,
}

impl<K, V> Clone for Flights<K, V> {
    fn clone(&self) -> Self {
        Self {
            table: Arc::clone(&self.table),
        }
    }
}

impl<K, V> Default for Flights<K, V> {
    fn default() -> Self {
        let table = Table {
            flights: HashMap::new(),
            departed: 0,
        };
        Self {
            table: Arc::new(Mutex::new(table)),
        }
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

    /// Waits for the computation of this key, and starts it if it is not under way.
    ///
    /// `work` is called inside a new task of the current tokio runtime. When the last waiter leaves (drops this
    /// future), its [`Cancellation`] is set, for parts of the work that run elsewhere, and the task is dropped at its
    /// next await. A later call starts a new computation.
    ///
    /// # Errors
    /// [`FlightError`] if the work panicked or its runtime is shutting down. Failures of the work itself belong in `V`.
    pub async fn run<F, W>(&self, key: K, work: F) -> Result<FlightResult<V>, FlightError>
    where
        F: FnOnce(Cancellation) -> W + Send + 'static,
        W: Future<Output = V> + Send + 'static,
    {
        let mut waiter = self.join(key, work);
        let outcome = match waiter.outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Err(FlightError::Stopped)),
            Err(_) => Err(FlightError::Stopped),
        };
        outcome.map(|value| FlightResult {
            value,
            role: waiter.role,
        })
    }

    /// Returns the number of computations under way.
    pub fn len(&self) -> usize {
        self.table.locked().flights.len()
    }

    /// Returns whether no computation is under way.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many callers are waiting for a computation that another caller started.
    pub fn followers(&self) -> usize {
        let table = self.table.locked();
        table.flights.values().map(|it| it.waiters - 1).sum()
    }

    fn join<F, W>(&self, key: K, work: F) -> Waiter<K, V>
    where
        F: FnOnce(Cancellation) -> W + Send + 'static,
        W: Future<Output = V> + Send + 'static,
    {
        let mut table = self.table.locked();
        if let Some(flight) = table.flights.get_mut(&key) {
            flight.waiters += 1;
            return Waiter {
                table: Arc::clone(&self.table),
                key,
                number: flight.number,
                outcome: flight.outcome.clone(),
                role: Role::Follower,
            };
        }
        table.departed += 1;
        let number = table.departed;
        let (sender, outcome) = watch::channel(None);
        let cancellation = Cancellation::default();
        let landing = CompletionGuard {
            table: Arc::clone(&self.table),
            key: key.clone(),
            number,
            sender,
            outcome: Err(FlightError::Stopped),
        };
        let token = cancellation.clone();
        // The table is locked until the flight is in it, so the task cannot land before.
        let task = tokio::spawn(async move {
            let mut landing = landing;
            landing.outcome = Ok(work(token).await);
        });
        let flight = Flight {
            number,
            waiters: 1,
            outcome: outcome.clone(),
            cancellation,
            task: task.abort_handle(),
        };
        table.flights.insert(key.clone(), flight);
        Waiter {
            table: Arc::clone(&self.table),
            key,
            number,
            outcome,
            role: Role::Leader,
        }
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

/// Tells the work that nobody is waiting for it any more.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Returns whether the work should stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

struct Table<K, V> {
    flights: HashMap<K, Flight<V>>,
    departed: u64,
}

impl<K, V> fmt::Debug for Table<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} under way, {} departed",
            self.flights.len(),
            self.departed
        )
    }
}

struct Flight<V> {
    /// Distinguishes this computation from later ones of the same key.
    number: u64,
    waiters: usize,
    outcome: watch::Receiver<Outcome<V>>,
    cancellation: Cancellation,
    task: AbortHandle,
}

type Outcome<V> = Option<Result<V, FlightError>>;

/// A caller waiting for a computation. Dropping it withdraws the caller.
struct Waiter<K: Eq + Hash, V> {
    table: Arc<Mutex<Table<K, V>>>,
    key: K,
    number: u64,
    outcome: watch::Receiver<Outcome<V>>,
    role: Role,
}

impl<K: Eq + Hash, V> Drop for Waiter<K, V> {
    fn drop(&mut self) {
        let mut table = self.table.locked();
        let Some(flight) = table
            .flights
            .get_mut(&self.key)
            .filter(|f| f.number == self.number)
        else {
            return; // landed
        };
        flight.waiters -= 1;
        if flight.waiters > 0 {
            return;
        }
        // Removed in the same breath, so that nobody joins a flight that is being stopped.
        let flight = table.flights.remove(&self.key);
        drop(table);
        if let Some(flight) = flight {
            flight.cancellation.0.store(true, Ordering::Relaxed);
            flight.task.abort();
        }
    }
}

/// Notifies the waiters however the work ends: with a value, by a panic, or by being dropped.
struct CompletionGuard<K: Eq + Hash, V> {
    table: Arc<Mutex<Table<K, V>>>,
    key: K,
    number: u64,
    sender: watch::Sender<Outcome<V>>,
    outcome: Result<V, FlightError>,
}

impl<K: Eq + Hash, V> Drop for CompletionGuard<K, V> {
    fn drop(&mut self) {
        let mut table = self.table.locked();
        if table
            .flights
            .get(&self.key)
            .is_some_and(|f| f.number == self.number)
        {
            table.flights.remove(&self.key);
        }
        drop(table);
        let stopped = if std::thread::panicking() {
            FlightError::Panicked
        } else {
            FlightError::Stopped
        };
        let outcome = std::mem::replace(&mut self.outcome, Err(stopped.clone()));
        // An untouched outcome is an error already; which one is only known now.
        self.sender.send_replace(Some(outcome.map_err(|_| stopped)));
    }
}
