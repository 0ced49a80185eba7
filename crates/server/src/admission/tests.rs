//! Tests of admission as a whole, with real threads.

use std::sync::mpsc;
use std::thread;

use andon_pixels::cores::Offered;
use andon_pixels::{Cores, Interrupt};

use super::*;
use crate::config::SandboxMode;
use crate::error::Cause;

impl Admission {
    /// Runs a job that does not begin with a decode.
    async fn run<T: Send + 'static>(
        &self,
        admitted: Admitted,
        work: Work,
        wanted: Arc<CancelToken>,
        job: impl FnOnce(&dyn Cores) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.run_with(admitted, work, wanted, None, |cores, _| job(cores))
            .await
    }
}

fn admission(threads: usize, queue: usize) -> Admission {
    start(&Config {
        workers: threads,
        queue,
        ..Config::default()
    })
}

fn start(config: &Config) -> Admission {
    let shares = Shares {
        cache: 0,
        overlays: 0,
        frames: 0,
        kept_sources: 0,
        replies: 0,
        processes: 0,
        sources: 100,
        pixels: 1000,
    };
    Admission::start(config, shares).unwrap()
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn wanted() -> Arc<CancelToken> {
    Arc::new(CancelToken::until(later()))
}

fn work(peak_bytes: u64) -> Work {
    Work {
        kind: ("jpeg", "jpeg"),
        nanos: 1000,
        decode_nanos: 0,
        peak_bytes,
        source_bytes: 10,
    }
}

fn enter(admission: &Admission) -> Admitted {
    admission.enter(10, None, later()).unwrap()
}

#[tokio::test]
async fn a_job_runs_and_its_place_is_free_again() {
    let admission = admission(1, 0);
    for round in 0..10 {
        let admitted = enter(&admission);
        let result = admission.run(admitted, work(1), wanted(), move |_| Ok(round));
        assert_eq!(result.await.unwrap(), round);
    }
    let gauges = admission.gauges();
    assert_eq!((gauges.counters.admitted, gauges.counters.done), (10, 10));
    assert_eq!(
        (gauges.running, gauges.waiting, gauges.budget_used),
        (0, 0, 0)
    );
    assert_eq!(gauges.counters.dropped, 0);
}

#[test]
fn pixel_threads_give_way_to_those_that_answer() {
    let mut config = Config {
        workers: 1,
        ..Config::default()
    };
    // A worker thread may not ask for its priority.
    config.sandbox.mode = SandboxMode::Off;
    let admission = start(&config);
    let own = rustix::process::getpriority_process(None).unwrap();
    let (send, receive) = mpsc::channel();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let job = move |_: &dyn Cores| {
        send.send(rustix::process::getpriority_process(None).unwrap())
            .unwrap();
        Ok(())
    };
    let run = admission.run(enter(&admission), work(1), wanted(), job);
    runtime.block_on(run).unwrap();
    assert!(receive.recv().unwrap() > own || own == 19);
}

#[tokio::test]
async fn one_more_than_threads_and_queue_is_refused() {
    let admission = admission(2, 3);
    let tickets: Vec<_> = (0..5).map(|_| enter(&admission)).collect();
    let refused = admission.enter(10, None, later()).unwrap_err();
    assert!(
        matches!(refused, Error::Refused(rejection) if rejection.cause == Cause::Count),
        "{refused:?}"
    );
    assert_eq!(admission.gauges().counters.refused_count, 1);
    drop(tickets);
    let _again = enter(&admission);
    assert_eq!(admission.gauges().counters.dropped, 5);
}

#[tokio::test]
async fn a_panic_costs_the_job_and_not_the_thread() {
    let admission = admission(1, 0);
    let admitted = enter(&admission);
    let result: Result<(), _> = admission
        .run(admitted, work(1), wanted(), |_| {
            std::panic::resume_unwind(Box::new(()))
        })
        .await;
    assert!(matches!(result, Err(Error::Panicked)));
    let admitted = enter(&admission);
    let result = admission.run(admitted, work(1), wanted(), |_| Ok(7)).await;
    assert_eq!(result.unwrap(), 7);
    let counters = admission.gauges().counters;
    assert_eq!((counters.panicked, counters.done), (1, 2));
}

#[tokio::test]
async fn what_is_larger_than_all_the_memory_is_refused_with_the_limits_name() {
    let admission = admission(1, 0);
    for refused in [
        admission.enter(101, None, later()).map(drop),
        admission
            .run(enter(&admission), work(1001), wanted(), |_| Ok(()))
            .await,
    ] {
        let refused = refused.unwrap_err();
        assert_eq!(refused.status(), 422);
        assert!(refused.to_string().contains("memory_budget"), "{refused}");
    }
    assert_eq!(admission.gauges().counters.refused_memory, 2);
    let _place_is_free = enter(&admission);
}

#[tokio::test]
async fn a_withdrawn_job_leaves_the_queue_and_a_running_one_is_told() {
    let admission = admission(1, 1);
    let (begun, has_begun) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let running_wanted = wanted();
    let admitted = enter(&admission);
    let mut running =
        Box::pin(
            admission.run(admitted, work(1), running_wanted.clone(), move |_| {
                begun.send(()).unwrap();
                released.recv().unwrap();
                Ok(())
            }),
        );
    let admitted = enter(&admission);
    let mut waiting = Box::pin(
        admission.run(admitted, work(1), wanted(), |_| -> Result<(), _> {
            unreachable!("it was withdrawn")
        }),
    );
    // Polled once each, the first job is on its thread and the second in the queue.
    let soon = tokio::time::timeout(Duration::ZERO, &mut running).await;
    assert!(soon.is_err());
    has_begun.recv().unwrap();
    let soon = tokio::time::timeout(Duration::ZERO, &mut waiting).await;
    assert!(soon.is_err());
    assert!(admission.enter(10, None, later()).is_err());

    drop(waiting);
    let _its_place_is_free = enter(&admission);
    drop(running);
    assert!(running_wanted.interrupted());
    assert_eq!(admission.gauges().counters.dropped, 2);
    release.send(()).unwrap();
}

#[tokio::test]
async fn jobs_that_do_not_fit_together_run_one_after_the_other() {
    let admission = Arc::new(admission(4, 64));
    let inside = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for peak in [600, 300, 500, 900, 100, 1000, 200, 400].repeat(4) {
        let (admission, inside) = (admission.clone(), inside.clone());
        tasks.spawn(async move {
            let admitted = enter(&admission);
            let job = move |_: &dyn Cores| {
                use std::sync::atomic::Ordering::SeqCst;
                let held = inside.fetch_add(peak, SeqCst) + peak;
                thread::sleep(Duration::from_millis(1));
                inside.fetch_sub(peak, SeqCst);
                Ok(held)
            };
            admission.run(admitted, work(peak), wanted(), job).await
        });
    }
    while let Some(held) = tasks.join_next().await {
        let held = held.unwrap().unwrap();
        assert!(held <= 1000, "{held} bytes of 1000");
    }
}

#[tokio::test]
async fn the_time_to_come_back_is_that_of_the_predicted_wait() {
    let admission = admission(1, 64);
    let (release, released) = mpsc::channel::<()>();
    // Twenty seconds of work, as far as anybody knows.
    let heavy = Work {
        nanos: 20_000_000_000,
        ..work(1)
    };
    let (begun, has_begun) = mpsc::channel();
    let admitted = enter(&admission);
    let mut running = Box::pin(admission.run(admitted, heavy, wanted(), move |_| {
        begun.send(()).unwrap();
        released.recv().unwrap();
        Ok(())
    }));
    let soon = tokio::time::timeout(Duration::ZERO, &mut running).await;
    assert!(soon.is_err());
    has_begun.recv().unwrap();
    let refused = admission.enter(10, None, later()).unwrap_err();
    let Error::Refused(rejection) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(rejection.cause, Cause::Wait);
    assert_eq!(rejection.limit, Config::default().max_wait.0);
    assert!((11..=20).contains(&rejection.retry_after), "{rejection}");
    assert_eq!(refused.retry_after(), Some(rejection.retry_after));
    let sentence = format!(
        "overloaded: the predicted queueing delay is {:.1} s, the limit is 10.0 s; retry in {} s",
        rejection.wait.as_secs_f64(),
        rejection.retry_after
    );
    assert_eq!(refused.public(), sentence);
    release.send(()).unwrap();
}

/// Waits until exactly `threads` worker threads exist. Surplus threads end when they are free.
async fn until_threads(admission: &Admission, threads: usize) {
    let timeout = later();
    while admission.gauges().threads != threads {
        assert!(Instant::now() < timeout, "{:?}", admission.gauges());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn threads_come_and_go_with_the_configuration_and_no_job_is_lost() {
    let admission = Arc::new(admission(1, 1024));
    let mut tasks = tokio::task::JoinSet::new();
    for round in 0..60 {
        for _ in 0..4 {
            let admission = admission.clone();
            tasks.spawn(async move {
                let admitted = enter(&admission);
                let job = move |_: &dyn Cores| {
                    thread::sleep(Duration::from_micros(300));
                    Ok(round)
                };
                admission.run(admitted, work(1), wanted(), job).await
            });
        }
        tokio::task::yield_now().await;
        let config = Config {
            workers: [4, 1, 3, 2][round % 4],
            ..Config::default()
        };
        let shares = Shares {
            cache: 0,
            overlays: 0,
            frames: 0,
            kept_sources: 0,
            replies: 0,
            processes: 0,
            sources: 100,
            pixels: 1000 + round as u64,
        };
        admission.resize(&config, shares).unwrap();
        let gauges = admission.gauges();
        assert!(gauges.threads >= config.workers, "{gauges:?}");
        assert_eq!(gauges.budget_total, 1000 + round as u64);
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap().unwrap();
    }
    until_threads(&admission, 2).await;
    let gauges = admission.gauges();
    assert_eq!((gauges.counters.done, gauges.budget_used), (240, 0));
}

#[tokio::test]
async fn what_was_learnt_outlives_a_resize() {
    let admission = admission(1, 8);
    let slow = Work {
        nanos: 1_000_000,
        ..work(1)
    };
    for _ in 0..3 {
        let job = |_: &dyn Cores| {
            thread::sleep(Duration::from_millis(20));
            Ok(())
        };
        let admitted = enter(&admission);
        admission.run(admitted, slow, wanted(), job).await.unwrap();
    }
    let learnt = admission.pool.lock().calibration.price(&slow).time;
    assert!(learnt > Duration::from_millis(19), "{learnt:?}");
    let shares = Shares {
        cache: 0,
        overlays: 0,
        frames: 0,
        kept_sources: 0,
        replies: 0,
        processes: 0,
        sources: 50,
        pixels: 500,
    };
    admission.resize(&Config::default(), shares).unwrap();
    let kept = admission.pool.lock().calibration.price(&slow).time;
    assert_eq!(kept, learnt);
    assert!(
        admission.enter(51, None, later()).is_err(),
        "a smaller share"
    );
}

#[tokio::test]
async fn an_idle_thread_is_lent_and_a_busy_one_is_not() {
    let admission = admission(2, 8);
    let stolen = |cores: &dyn Cores| Ok(Offered::to(cores, || 7).is_taken());
    // Both threads have to be waiting before one of them can be stolen.
    let mut taken = false;
    for _ in 0..1000 {
        let admitted = enter(&admission);
        taken |= admission
            .run(admitted, work(1), wanted(), stolen)
            .await
            .unwrap();
        if taken {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(taken, "nobody was ever idle");

    let (go, gone) = mpsc::channel::<()>();
    let (begun, has_begun) = mpsc::channel();
    let admitted = enter(&admission);
    let mut busy = Box::pin(admission.run(admitted, work(1), wanted(), move |_| {
        begun.send(()).unwrap();
        gone.recv().unwrap();
        Ok(())
    }));
    assert!(
        tokio::time::timeout(Duration::ZERO, &mut busy)
            .await
            .is_err()
    );
    has_begun.recv().unwrap();
    let admitted = enter(&admission);
    assert!(
        !admission
            .run(admitted, work(1), wanted(), stolen)
            .await
            .unwrap()
    );
    go.send(()).unwrap();
    busy.await.unwrap();
}

#[tokio::test]
async fn nothing_is_lent_where_the_configuration_forbids_it() {
    let admission = start(&Config {
        workers: 2,
        steal_work: false,
        ..Config::default()
    });
    for _ in 0..20 {
        let admitted = enter(&admission);
        let stolen = |cores: &dyn Cores| Ok(Offered::to(cores, || 7).is_taken());
        assert!(
            !admission
                .run(admitted, work(1), wanted(), stolen)
                .await
                .unwrap()
        );
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
