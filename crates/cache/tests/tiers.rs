//! Memory and disk tiers together: look-ups, lifetimes, purges, limits and restarts.

mod common;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use andon_cache::{Cache, Config, Entry, Freshness, Life, Selector, Tier};
use common::{HOUR, YEAR, body, clocked, close, entry, key, open, ready, with_clock};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

#[tokio::test]
async fn every_field_of_an_entry_survives_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let whole = Entry {
        body: "body".into(),
        media_type: "image/webp".into(),
        etag: "\"e\"".into(),
        last_modified: Some(UNIX_EPOCH + Duration::from_secs(1_700_000_000)),
        source: "s".into(),
        tags: vec!["a".into(), String::new()],
        life: Life {
            fresh_for: HOUR,
            stale_while_revalidate: 2 * HOUR,
            stale_if_error: 3 * HOUR,
        },
        notes: vec![0, 255].into(),
    };
    let cache = open(folder.path(), 0, MIB).await;
    cache.put(key(1), whole.clone(), cache.ticket());
    close(cache).await;
    let cache = open(folder.path(), 0, MIB).await;
    let hit = cache.get(&key(1)).await.unwrap();
    assert_eq!(
        (&*hit.entry, hit.tier, hit.freshness),
        (&whole, Tier::Disk, Freshness::Fresh)
    );
}

#[tokio::test]
async fn a_result_is_found_at_once_and_again_from_memory_after_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path(), 0, MIB).await;
    cache.put(key(1), entry(1, 100), cache.ticket());
    assert!(
        cache.get(&key(1)).await.is_some(),
        "not while it waits to be written"
    );
    close(cache).await;
    let cache = open(folder.path(), MIB, MIB).await;
    assert_eq!(cache.get(&key(1)).await.unwrap().tier, Tier::Disk);
    assert_eq!(cache.get(&key(1)).await.unwrap().tier, Tier::Memory);
    let stats = cache.stats();
    assert_eq!((stats.memory.hits, stats.memory.misses), (1, 1));
    assert_eq!(
        stats.disk.map(|disk| (disk.hits, disk.misses)),
        Some((1, 0))
    );
}

#[tokio::test]
async fn who_looks_again_finds_what_came_meanwhile_and_counts_no_second_miss() {
    for (memory, tier) in [(MIB, Tier::Memory), (0, Tier::Disk)] {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path(), memory, MIB).await;
        let count = |cache: &Cache| {
            let stats = cache.stats();
            let disk = stats.disk.map(|disk| (disk.hits, disk.misses));
            (stats.memory.hits, stats.memory.misses, disk)
        };
        assert!(cache.get(&key(1)).await.is_none());
        let missed = count(&cache);
        assert!(cache.get_again(&key(1), |_| true).await.is_none());
        cache.put(key(1), entry(1, 100), cache.ticket());
        assert!(cache.get_again(&key(1), |_| false).await.is_none());
        assert_eq!(count(&cache), missed);
        let hit = cache.get_again(&key(1), |_| true).await.unwrap();
        assert_eq!(hit.tier, tier);
        let (memory_hits, memory_misses, disk) = count(&cache);
        let hits = memory_hits + disk.map_or(0, |(hits, _)| hits);
        assert_eq!((hits, memory_misses), (1, missed.1));
        assert_eq!(
            disk.map(|(_, misses)| misses),
            missed.2.map(|(_, misses)| misses)
        );
    }
}

#[tokio::test]
async fn tiers_change_their_sizes_while_they_are_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path(), MIB, MIB).await;
    for n in 0..20 {
        cache.put(key(n), entry(n, 10_000), cache.ticket());
    }
    cache.flush().await;
    let sizes = |memory, disk| common::config(folder.path(), memory, disk);
    assert!(cache.has_tiers_of(&sizes(2 * MIB, 3 * MIB)));
    assert!(!cache.has_tiers_of(&sizes(0, MIB)));
    assert!(!cache.has_tiers_of(&sizes(MIB, 0)));
    assert!(!cache.has_tiers_of(&common::config(&folder.path().join("x"), MIB, MIB)));

    cache.resize(&sizes(30_000, 40_000));
    let limits = |cache: &Cache| {
        let stats = cache.stats();
        let disk = stats.disk.unwrap();
        assert!(stats.memory.bytes <= stats.memory.limit);
        (stats.memory.limit, disk.limit, disk.bytes)
    };
    let mut disk = u64::MAX;
    for _ in 0..2000 {
        disk = limits(&cache).2;
        if disk <= 40_000 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!((limits(&cache).0, limits(&cache).1), (30_000, 40_000));
    assert!(disk <= 40_000 && common::disk_usage(folder.path()) <= 40_000);
    assert!(disk > 0, "what fits stays");

    cache.resize(&sizes(MIB, MIB));
    for n in 0..20 {
        cache.put(key(n), entry(n, 10_000), cache.ticket());
    }
    cache.flush().await;
    assert_eq!(cache.stats().memory.entries, 20);
}

#[tokio::test]
async fn both_tiers_can_be_off() {
    let cache = Cache::open(Config {
        memory: 0,
        disk: None,
    });
    cache.put(key(1), entry(1, 100), cache.ticket());
    assert!(cache.get(&key(1)).await.is_none());
}

#[tokio::test]
async fn lives_run_out_in_order_in_both_tiers() {
    for memory in [0, MIB] {
        let folder = tempfile::tempdir().unwrap();
        let (cache, clock) = clocked(folder.path(), memory);
        ready(&cache).await;
        let life = Life {
            fresh_for: HOUR,
            stale_while_revalidate: HOUR,
            stale_if_error: 2 * HOUR,
        };
        cache.put(
            key(1),
            Entry {
                life,
                ..entry(1, 100)
            },
            cache.ticket(),
        );
        cache.flush().await;
        let stale = |may_serve_while_revalidating, may_serve_if_error| Freshness::Stale {
            may_serve_while_revalidating,
            may_serve_if_error,
        };
        let at = [
            Freshness::Fresh,
            stale(true, true),
            stale(false, true),
            stale(false, false),
        ];
        for (hours, freshness) in (0..).zip(at) {
            let hit = cache.get(&key(1)).await.unwrap();
            assert_eq!((hit.age, hit.freshness), (hours * HOUR, freshness));
            clock.pass(HOUR);
        }
    }
}

/// A wall clock that is set a year off neither expires all entries nor makes any entry last for ever: while the cache
/// is running, across a restart within one boot, and across a reboot.
#[tokio::test]
async fn the_clock_may_be_set_a_year_off() {
    for years in [-1i32, 1] {
        let folder = tempfile::tempdir().unwrap();
        let (cache, clock) = clocked(folder.path(), 0);
        ready(&cache).await;
        cache.put(key(1), entry(1, 100), cache.ticket());
        cache.flush().await;
        clock.set(|now| {
            now.wall = if years < 0 {
                now.wall - YEAR
            } else {
                now.wall + YEAR
            }
        });
        assert_eq!(
            cache.get(&key(1)).await.unwrap().freshness,
            Freshness::Fresh
        );
        close(cache).await;

        let cache = with_clock(folder.path(), 0, &clock);
        ready(&cache).await;
        clock.pass(HOUR / 2);
        assert_eq!(cache.get(&key(1)).await.unwrap().age, HOUR / 2);
        clock.pass(HOUR / 2);
        assert_ne!(
            cache.get(&key(1)).await.unwrap().freshness,
            Freshness::Fresh
        );

        cache.put(key(2), entry(2, 100), cache.ticket());
        close(cache).await;
        let cache = with_clock(folder.path(), 0, &clock);
        ready(&cache).await;
        clock.set(|now| {
            now.wall -= YEAR;
            (now.since_boot, now.boot) = (Duration::ZERO, 2);
        });
        let age = cache.get(&key(2)).await.unwrap().age;
        assert_eq!(age, HOUR, "an entry from the future is stale from now on");
    }
}

#[tokio::test]
async fn purges_reach_both_tiers_at_once_and_survive_a_restart() {
    for (selector, gone) in [
        (Selector::Key(key(3)), vec![3]),
        (Selector::Source("photos/3/3.jpg".into()), vec![3]),
        (Selector::Prefix("photos/3/".into()), vec![3, 13, 23]),
        (Selector::Tag("tag4".into()), vec![4, 14, 24]),
        (Selector::Everything, (0..30).collect()),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path(), MIB, 4 * MIB).await;
        for n in 0..30 {
            cache.put(key(n), entry(n, 1000), cache.ticket());
        }
        cache.flush().await;
        assert!(cache.purge(selector.clone()).await.survives_restart);
        let left = |n| !gone.contains(&n);
        for n in 0..30 {
            assert_eq!(
                cache.get(&key(n)).await.is_some(),
                left(n),
                "{selector:?}, {n}"
            );
        }
        close(cache).await;
        let cache = open(folder.path(), 0, 4 * MIB).await;
        for n in 0..30 {
            assert_eq!(
                cache.get(&key(n)).await.is_some(),
                left(n),
                "{selector:?}, {n}, restarted"
            );
            cache.put(key(n), entry(n, 1000), cache.ticket());
        }
        cache.flush().await;
        for n in 0..30 {
            assert!(
                cache.get(&key(n)).await.is_some(),
                "{selector:?}, {n}, made anew"
            );
        }
    }
}

#[tokio::test]
async fn a_result_begun_before_a_purge_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    for cache in [
        open(folder.path(), MIB, MIB).await,
        Cache::open(Config::default()),
    ] {
        let ticket = cache.ticket();
        let _ = cache.purge(Selector::Source("photos/1/1.jpg".into())).await;
        cache.put(key(1), entry(1, 100), ticket);
        assert!(cache.get(&key(1)).await.is_none());
    }
}

#[tokio::test]
async fn a_purge_is_in_force_also_for_results_that_wait_to_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path(), 0, 64 * MIB).await;
    for n in 0..200 {
        cache.put(key(n), entry(n, 50_000), cache.ticket());
    }
    let _ = cache.purge(Selector::Everything).await;
    for n in 0..200 {
        assert!(cache.get(&key(n)).await.is_none());
    }
    cache.flush().await;
    for n in 0..200 {
        assert!(cache.get(&key(n)).await.is_none());
    }
}

#[tokio::test]
async fn thousands_of_purges_are_applied_and_forgotten_and_what_is_alive_stays() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path(), 0, 64 * MIB).await;
    for n in 0..100 {
        cache.put(key(n), entry(n, 1000), cache.ticket());
    }
    cache.flush().await;
    for n in 0..50 {
        let _ = cache.purge(Selector::Key(key(n))).await;
    }
    let cache = std::sync::Arc::new(cache);
    let mut purges = tokio::task::JoinSet::new();
    for n in 0..5000 {
        let cache = std::sync::Arc::clone(&cache);
        purges.spawn(async move {
            let _ = cache.purge(Selector::Tag(format!("nobody{n}"))).await;
        });
    }
    purges.join_all().await;
    while cache.stats().purge_rules_active > 4096 {
        let _ = cache.purge(Selector::Tag("nobody".into())).await;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let cache = std::sync::Arc::into_inner(cache).unwrap();
    close(cache).await;
    let cache = open(folder.path(), 0, 64 * MIB).await;
    for n in 0..100 {
        assert_eq!(cache.get(&key(n)).await.is_some(), n >= 50, "{n}");
    }
}

#[tokio::test]
async fn a_purge_log_that_is_damaged_or_gone_costs_the_cache_and_nothing_purged_comes_back() {
    for damage in ["flip", "cut", "remove"] {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path(), 0, MIB).await;
        for n in 0..2 {
            cache.put(key(n), entry(n, 1000), cache.ticket());
        }
        cache.flush().await;
        assert!(cache.purge(Selector::Key(key(0))).await.survives_restart);
        close(cache).await;
        let log = folder.path().join("andon-cache-1/purges");
        let mut bytes = std::fs::read(&log).unwrap();
        match damage {
            "flip" => *bytes.last_mut().unwrap() ^= 1,
            "cut" => bytes.truncate(bytes.len() - 3),
            _ => std::fs::remove_file(&log).unwrap(),
        }
        if damage != "remove" {
            std::fs::write(&log, bytes).unwrap();
        }
        let cache = open(folder.path(), 0, MIB).await;
        assert!(cache.get(&key(0)).await.is_none(), "{damage}");
        assert!(common::files(folder.path()).is_empty(), "{damage}");
        cache.put(key(1), entry(1, 1000), cache.ticket());
        close(cache).await;
        assert!(
            open(folder.path(), 0, MIB)
                .await
                .get(&key(1))
                .await
                .is_some(),
            "{damage}"
        );
    }
}

#[tokio::test]
async fn two_processes_never_share_a_folder_and_the_second_joins_in_when_the_first_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path(), 0, MIB).await;
    first.put(key(1), entry(1, 1000), first.ticket());
    let second = Cache::open(common::config(folder.path(), MIB, MIB));
    second.ready().await;
    assert!(second.stats().disk.unwrap().error.is_some());
    second.put(key(2), entry(2, 1000), second.ticket());
    assert!(second.get(&key(2)).await.is_some());
    let purged = second.purge(Selector::Key(key(3))).await;
    assert!(!purged.survives_restart);
    close(first).await;
    ready(&second).await;
    assert!(second.get(&key(1)).await.is_some());
}

#[tokio::test]
async fn foreign_files_in_the_folder_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("andon-cache-1/3f");
    std::fs::create_dir_all(&inside).unwrap();
    for path in [folder.path().join("cat.jpg"), inside.join("cat.jpg")] {
        std::fs::write(path, "a cat").unwrap();
    }
    let cache = open(folder.path(), 0, MIB).await;
    for n in 0..100 {
        cache.put(key(n), entry(n, 50_000), cache.ticket());
    }
    close(cache).await;
    for path in [folder.path().join("cat.jpg"), inside.join("cat.jpg")] {
        assert_eq!(std::fs::read(path).unwrap(), b"a cat");
    }
}

#[tokio::test]
async fn a_smaller_limit_is_kept_from_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path(), 0, 16 * MIB).await;
    for n in 0..200 {
        cache.put(key(n), entry(n, 50_000), cache.ticket());
    }
    close(cache).await;
    assert!(common::disk_usage(folder.path()) > MIB);
    let cache = open(folder.path(), 0, MIB).await;
    assert!(common::disk_usage(folder.path()) <= MIB);
    assert!(cache.stats().disk.unwrap().entries > 0);
}

#[tokio::test]
async fn a_newer_result_too_large_for_the_disk_removes_the_older_one() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path(), 0, MIB).await;
    cache.put(key(1), entry(1, 1000), cache.ticket());
    cache.flush().await;
    let large = Entry {
        body: vec![0; 2 << 20].into(),
        ..entry(1, 1000)
    };
    cache.put(key(1), large, cache.ticket());
    cache.flush().await;
    assert!(cache.get(&key(1)).await.is_none());
}

#[tokio::test]
async fn times_before_1970_and_far_ahead_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path(), 0, MIB).await;
    let life = Life::fresh_for(Duration::MAX);
    let modified = SystemTime::UNIX_EPOCH - HOUR;
    let odd = Entry {
        last_modified: Some(modified),
        life,
        ..entry(1, 100)
    };
    cache.put(key(1), odd, cache.ticket());
    cache.flush().await;
    let hit = cache.get(&key(1)).await.unwrap();
    assert_eq!(
        (hit.freshness, hit.entry.last_modified),
        (Freshness::Fresh, None)
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever entries are stored, neither tier ever exceeds its limit, and look-ups find what was stored last.
    #[test]
    fn the_limits_are_kept_at_all_times(
        memory in 0..200_000u64,
        disk in 10_000..400_000u64,
        puts in prop::collection::vec((0..12u64, 1..60_000u64), 1..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        runtime.block_on(async {
            let cache = open(folder.path(), memory, disk).await;
            for (step, (n, longest)) in puts.into_iter().enumerate() {
                cache.put(key(n), entry(n, longest), cache.ticket());
                let found = cache.get(&key(n)).await;
                prop_assert!(found.is_none_or(|hit| hit.entry.body == body(n, longest)));
                if step % 4 == 0 {
                    cache.flush().await;
                }
                let stats = cache.stats();
                prop_assert!(stats.memory.bytes <= memory);
                prop_assert!(stats.disk.unwrap().bytes <= disk);
                prop_assert!(common::disk_usage(folder.path()) <= disk);
            }
            Ok(())
        })?;
    }
}
