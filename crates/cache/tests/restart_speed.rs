//! How soon a restarted cache serves. A measurement, run by hand:
//! `cargo test --release -p andon-cache --test restart_speed -- --ignored --nocapture`

mod common;

use std::time::Instant;

use andon_cache::Cache;
use common::{close, config, entry, key, open, ready};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn a_restarted_cache_serves_at_once() {
    for entries in [20_000, 100_000] {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path(), 0, 8 << 30).await;
        for n in 0..entries {
            cache.put(key(n), entry(n, 4000), cache.ticket());
            if n % 1000 == 0 {
                cache.flush().await;
            }
        }
        close(cache).await;
        // The lock is given back when the last background task has ended.
        ready(&Cache::open(config(folder.path(), 0, 8 << 30))).await;
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;

        let start = Instant::now();
        let cache = Cache::open(config(folder.path(), 0, 8 << 30));
        while cache.get(&key(entries / 2)).await.is_none() {
            tokio::task::yield_now().await;
        }
        let first = start.elapsed();
        cache.ready().await;
        println!(
            "{entries} entries: first hit after {first:?}, all counted after {:?}",
            start.elapsed()
        );
        assert_eq!(cache.stats().disk.unwrap().entries, entries);
    }
}
