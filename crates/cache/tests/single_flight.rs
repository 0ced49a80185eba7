//! Callers that need the same result share one computation, whichever of them leave.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use andon_cache::{Deadline, FlightError, Flights, Role};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;

/// Returns a deadline that is this number of seconds away.
fn within(seconds: u64) -> Deadline {
    (Instant::now() + Duration::from_secs(seconds)).into()
}

/// Lets every task run until it waits for something. The runtime has one thread, so yielding to the others is enough.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_thousand_waiters_share_one_computation() {
    let flights = Flights::<&str, Arc<Vec<u8>>>::new();
    let runs = Arc::new(AtomicUsize::new(0));
    let gate = Arc::new(Notify::new());
    let mut waiters = JoinSet::new();
    for _ in 0..1000 {
        let (flights, runs, gate) = (flights.clone(), Arc::clone(&runs), Arc::clone(&gate));
        waiters.spawn(async move {
            flights
                .run("key", &within(60), move |_| async move {
                    runs.fetch_add(1, Ordering::SeqCst);
                    gate.notified().await;
                    Arc::new(vec![42; 1000])
                })
                .await
        });
    }
    settle().await;
    assert_eq!(flights.len(), 1);
    gate.notify_one();
    let landed: Vec<_> = waiters
        .join_all()
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(landed.len(), 1000);
    assert!(
        landed
            .iter()
            .all(|one| Arc::ptr_eq(&one.value, &landed[0].value))
    );
    assert_eq!(
        landed.iter().filter(|one| one.role == Role::Leader).count(),
        1
    );
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert!(flights.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn on_many_threads_every_waiter_gets_a_result_and_none_is_left_behind() {
    let flights = Flights::<u32, u32>::new();
    for round in 0..50 {
        let mut waiters = JoinSet::new();
        for n in 0..200 {
            let flights = flights.clone();
            waiters.spawn(async move {
                let deadline = within(60);
                let landed = flights.run(n % 5, &deadline, move |_| async move {
                    tokio::task::yield_now().await;
                    round
                });
                landed.await.unwrap().value
            });
        }
        assert!(
            waiters
                .join_all()
                .await
                .into_iter()
                .all(|value| value == round)
        );
        assert!(flights.is_empty());
    }
}

#[tokio::test]
async fn the_leader_may_leave_and_the_followers_get_their_result() {
    let flights = Flights::<&str, &str>::new();
    let (finish, finished) = oneshot::channel::<()>();
    let leader = tokio::spawn({
        let flights = flights.clone();
        async move {
            let work = move |_| async move {
                finished.await.unwrap();
                "done"
            };
            flights.run("key", &within(60), work).await
        }
    });
    settle().await;
    let follower = tokio::spawn({
        let flights = flights.clone();
        async move {
            flights
                .run("key", &within(60), |_| async { "started again" })
                .await
        }
    });
    settle().await;
    leader.abort();
    settle().await;
    finish.send(()).unwrap();
    let landed = follower.await.unwrap().unwrap();
    assert_eq!((landed.value, landed.role), ("done", Role::Follower));
}

#[tokio::test]
async fn when_the_last_waiter_leaves_the_work_is_dropped() {
    let flights = Flights::<&str, ()>::new();
    let (tell, told) = oneshot::channel::<()>();
    let held = Arc::new(());
    let inside = Arc::clone(&held);
    let waiter = tokio::spawn({
        let flights = flights.clone();
        async move {
            let work = move |_| async move {
                let _inside = inside;
                tell.send(()).unwrap();
                std::future::pending::<()>().await;
            };
            flights.run("key", &within(60), work).await
        }
    });
    told.await.unwrap();
    assert_eq!(Arc::strong_count(&held), 2, "the work goes on");
    waiter.abort();
    settle().await;
    assert_eq!(Arc::strong_count(&held), 1, "the work still holds on");
    assert!(flights.is_empty());
    let again = flights.run("key", &within(60), |_| async {}).await.unwrap();
    assert_eq!(again.role, Role::Leader);
}

#[tokio::test]
async fn the_work_has_the_latest_deadline_of_those_who_wait_for_it() {
    let flights = Flights::<&str, Instant>::new();
    let [early, late] = [within(60), within(90)];
    let ask = async |deadline: &Deadline| {
        let work = |deadline: Deadline| async move {
            settle().await;
            deadline.at()
        };
        flights.run("key", deadline, work).await.unwrap().value
    };
    let (first, second) = tokio::join!(ask(&early), ask(&late));
    assert_eq!((first, second), (late.at(), late.at()));
}

#[tokio::test]
async fn a_panic_reaches_every_waiter_and_the_next_caller_starts_afresh() {
    let flights = Flights::<&str, u8>::new();
    let deadline = within(60);
    let (first, second) = tokio::join!(
        flights.run("key", &deadline, |_| async {
            tokio::task::yield_now().await;
            panic!("on purpose")
        }),
        flights.run("key", &deadline, |_| async { 1 }),
    );
    assert_eq!(first, Err(FlightError::Panicked));
    assert_eq!(second, Err(FlightError::Panicked));
    let at_once = |_| -> std::future::Ready<u8> { panic!("on purpose, before the first await") };
    assert_eq!(
        flights.run("key", &within(60), at_once).await,
        Err(FlightError::Panicked)
    );
    assert_eq!(
        flights
            .run("key", &within(60), |_| async { 2 })
            .await
            .unwrap()
            .value,
        2
    );
}

#[test]
fn a_runtime_that_shuts_down_stops_the_flight() {
    let flights = Flights::<&str, ()>::new();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .unwrap();
    let other = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    other.block_on(async {
        let inside = runtime.handle().clone();
        let deadline = within(60);
        let mut landed = Box::pin(flights.run("key", &deadline, |_| std::future::pending()));
        // The first turn starts the work, on the runtime that is entered then.
        let first = {
            let _entered = inside.enter();
            std::future::poll_fn(|context| {
                std::task::Poll::Ready(landed.as_mut().poll(context).is_pending())
            })
            .await
        };
        assert!(first);
        runtime.shutdown_background();
        assert_eq!(landed.await, Err(FlightError::Stopped));
    });
}

#[test]
fn a_runtime_that_has_shut_down_starts_no_flight() {
    let flights = Flights::<&str, ()>::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let handle = runtime.handle().clone();
    runtime.shutdown_background();
    let other = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let deadline = within(60);
    let mut landed = Box::pin(flights.run("key", &deadline, |_| std::future::pending()));
    let landed = std::future::poll_fn(|context| {
        let _entered = handle.enter();
        landed.as_mut().poll(context)
    });
    assert_eq!(other.block_on(landed), Err(FlightError::Stopped));
    assert!(flights.is_empty());
}
