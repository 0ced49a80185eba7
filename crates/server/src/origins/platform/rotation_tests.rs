use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Mutex as Lock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

use super::*;

thread_local! {
    /// Milliseconds that the clock of a test shows. Each test has a thread, and its tasks run on that.
    static TIME: Cell<u64> = const { Cell::new(0) };
}

fn clock() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(TIME.get())
}

fn wait_seconds(seconds: f64) {
    TIME.set(TIME.get() + (seconds * 1000.0) as u64);
}

/// Issues consecutive numbers as keys, with lives and errors that the test sets, and counts the requests.
#[derive(Clone, Default)]
struct Script(Arc<Told>);

#[derive(Default)]
struct Told {
    /// The life of each of the next keys in seconds, or why there are none.
    answers: Lock<VecDeque<Result<u64, &'static str>>>,
    asked: AtomicUsize,
    /// Whether requests for keys hang until this is reset.
    hangs: Lock<bool>,
    go: Notify,
}

impl Script {
    fn says(&self, answer: Result<u64, &'static str>) {
        self.0.answers.lock().unwrap().push_back(answer);
    }

    fn asked(&self) -> usize {
        self.0.asked.load(Ordering::SeqCst)
    }

    fn hangs(&self, hangs: bool) {
        *self.0.hangs.lock().unwrap() = hangs;
        self.0.go.notify_waiters();
    }

    fn rotation(&self) -> Arc<Rotation<usize>> {
        Arc::new(Rotation::with_clock(Store::S3, self.clone(), clock))
    }
}

impl Issuer<usize> for Script {
    fn issue(&self) -> IssueFuture<'_, usize> {
        Box::pin(async {
            let number = self.0.asked.fetch_add(1, Ordering::SeqCst) + 1;
            loop {
                let go = self.0.go.notified();
                if !*self.0.hangs.lock().unwrap() {
                    break;
                }
                go.await;
            }
            let answer = self.0.answers.lock().unwrap().pop_front();
            match answer.unwrap_or(Err("the script is over")) {
                Ok(0) => Ok((number, None)),
                Ok(life) => Ok((number, Some(clock() + Duration::from_secs(life)))),
                Err(why) => Err(why.to_owned()),
            }
            .map(|(keys, expires_at)| Issued {
                keys,
                expires_at,
                provider: "script",
            })
        })
    }
}

async fn keys(rotation: &Arc<Rotation<usize>>) -> Result<usize, String> {
    rotation.keys().await.map(|keys| *keys)
}

/// Lets tasks run that wait for nothing.
async fn let_tasks_run() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn requests_without_credentials_wait_for_one_renewal() {
    let script = Script::default();
    script.says(Ok(3600));
    script.hangs(true);
    let rotation = script.rotation();
    let waiting: Vec<_> = (0..100)
        .map(|_| {
            let rotation = rotation.clone();
            tokio::spawn(async move { keys(&rotation).await })
        })
        .collect();
    let_tasks_run().await;
    assert!(waiting.iter().all(|task| !task.is_finished()));
    script.hangs(false);
    for task in waiting {
        assert_eq!(task.await.unwrap(), Ok(1));
    }
    assert_eq!(script.asked(), 1);
}

#[tokio::test]
async fn credentials_are_renewed_ahead_of_their_end_while_the_old_ones_are_used() {
    let script = Script::default();
    script.says(Ok(3600));
    script.says(Ok(3600));
    let rotation = script.rotation();
    assert_eq!(keys(&rotation).await, Ok(1));
    wait_seconds(3299.0);
    assert_eq!(keys(&rotation).await, Ok(1));
    let_tasks_run().await;
    assert_eq!(script.asked(), 1);
    wait_seconds(2.0);
    script.hangs(true);
    for _ in 0..100 {
        assert_eq!(keys(&rotation).await, Ok(1));
    }
    let_tasks_run().await;
    assert_eq!((keys(&rotation).await, script.asked()), (Ok(1), 2));
    script.hangs(false);
    let_tasks_run().await;
    assert_eq!((keys(&rotation).await, script.asked()), (Ok(2), 2));
}

#[tokio::test]
async fn a_failed_renewal_is_repeated_after_a_pause_and_costs_nothing_before_the_end() {
    let script = Script::default();
    script.says(Ok(100));
    let rotation = script.rotation();
    assert_eq!(keys(&rotation).await, Ok(1));
    wait_seconds(51.0);
    for failures in 1..4 {
        script.says(Err("no service"));
        for _ in 0..10 {
            assert_eq!(keys(&rotation).await, Ok(1));
            let_tasks_run().await;
        }
        assert_eq!(script.asked(), 1 + failures);
        // At most 1.25 times 250, 500 and 1000 ms.
        wait_seconds(1.3);
    }
    script.says(Ok(100));
    assert_eq!(keys(&rotation).await, Ok(1));
    let_tasks_run().await;
    assert_eq!((keys(&rotation).await, script.asked()), (Ok(5), 5));
}

#[tokio::test]
async fn without_valid_credentials_requests_fail_at_once_until_the_pause_is_over() {
    let script = Script::default();
    script.says(Ok(10));
    script.says(Err("no service"));
    let rotation = script.rotation();
    assert_eq!(keys(&rotation).await, Ok(1));
    // A second before their end they are not sent any more.
    wait_seconds(9.1);
    for _ in 0..10 {
        assert_eq!(keys(&rotation).await, Err("no service".to_owned()));
    }
    assert_eq!(script.asked(), 2);
    script.says(Ok(10));
    wait_seconds(0.5);
    assert_eq!((keys(&rotation).await, script.asked()), (Ok(3), 3));
}

#[tokio::test]
async fn a_request_that_is_given_up_does_not_end_the_renewal() {
    let script = Script::default();
    script.says(Ok(3600));
    script.hangs(true);
    let rotation = script.rotation();
    let first = tokio::spawn({
        let rotation = rotation.clone();
        async move { keys(&rotation).await }
    });
    let_tasks_run().await;
    first.abort();
    let_tasks_run().await;
    script.hangs(false);
    assert_eq!((keys(&rotation).await, script.asked()), (Ok(1), 1));
}

#[tokio::test]
async fn short_lives_are_renewed_at_their_half() {
    let script = Script::default();
    script.says(Ok(5));
    script.says(Ok(5));
    let rotation = script.rotation();
    assert_eq!(keys(&rotation).await, Ok(1));
    wait_seconds(2.4);
    assert_eq!((keys(&rotation).await, script.asked()), (Ok(1), 1));
    wait_seconds(0.2);
    assert_eq!(keys(&rotation).await, Ok(1));
    let_tasks_run().await;
    assert_eq!((keys(&rotation).await, script.asked()), (Ok(2), 2));
}

#[tokio::test]
async fn credentials_without_an_end_are_read_again_after_a_minute() {
    let script = Script::default();
    script.says(Ok(0));
    script.says(Err("the file is gone"));
    let rotation = script.rotation();
    assert_eq!(keys(&rotation).await, Ok(1));
    wait_seconds(59.0);
    assert_eq!((keys(&rotation).await, script.asked()), (Ok(1), 1));
    wait_seconds(1.0);
    assert_eq!(keys(&rotation).await, Ok(1));
    let_tasks_run().await;
    assert_eq!((keys(&rotation).await, script.asked()), (Ok(1), 2));
}

#[tokio::test]
async fn credentials_that_have_expired_already_point_to_the_clock() {
    struct Late;
    impl Issuer<usize> for Late {
        fn issue(&self) -> IssueFuture<'_, usize> {
            let late = Issued {
                keys: 1,
                expires_at: Some(clock() - Duration::from_secs(7)),
                provider: "late",
            };
            Box::pin(std::future::ready(Ok(late)))
        }
    }
    wait_seconds(100.0);
    let rotation = Arc::new(Rotation::with_clock(Store::Gcs, Late, clock));
    let error = keys(&rotation).await.unwrap_err();
    assert!(error.starts_with("late: "), "{error}");
    assert!(error.contains("7 s ago; check the clock"), "{error}");
}
