//! Caches that share a store: purges of several nodes, and a store that hangs or misbehaves.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use andon_cache::{
    Answer, Bucket, Cache, Config, Entry, FolderBucket, Key, Life, Object, Selector, StoreConfig,
    StoreStats, Version,
};
use bytes::Bytes;
use tempfile::TempDir;
use tokio::sync::Barrier;

/// A bucket in a folder that hangs when the test sets `hangs`.
#[derive(Debug)]
struct Moody {
    folder: FolderBucket,
    hangs: AtomicBool,
    /// If set, the next read waits at this barrier for the test twice: when it begins, and before it goes on.
    held: Mutex<Option<Arc<Barrier>>>,
}

impl Bucket for Moody {
    fn get<'a>(&'a self, name: &'a str, known: Option<&'a Version>) -> Answer<'a, Object> {
        match self.hangs.load(Ordering::SeqCst) {
            true => Box::pin(std::future::pending()),
            false => Box::pin(async move {
                let held = self.held.lock().expect("a barrier").take();
                if let Some(held) = held {
                    held.wait().await;
                    held.wait().await;
                }
                self.folder.get(name, known).await
            }),
        }
    }

    fn put<'a>(&'a self, name: &'a str, body: Bytes, over: Option<&'a Version>) -> Answer<'a, ()> {
        match self.hangs.load(Ordering::SeqCst) {
            true => Box::pin(std::future::pending()),
            false => self.folder.put(name, body, over),
        }
    }
}

struct Node {
    cache: Cache,
    bucket: Arc<Moody>,
}

impl Node {
    /// Creates a node, and waits until it has read the purges of other nodes.
    async fn at(folder: &TempDir) -> Self {
        let bucket = Arc::new(Moody {
            folder: FolderBucket::new(folder.path().to_owned()),
            hangs: AtomicBool::new(false),
            held: Mutex::default(),
        });
        let store = StoreConfig {
            bucket: bucket.clone(),
            place: "a folder".into(),
            secret: "a secret of some length".into(),
            revision: "1".into(),
            wait: Duration::ZERO,
            timeout: Duration::from_secs(3600),
            poll: Duration::from_millis(5),
            queue: 4 << 20,
        };
        let cache = Cache::open_sharing(Config::default(), Some(store));
        let node = Self { cache, bucket };
        node.until(|stats| stats.ready).await;
        node
    }

    fn stats(&self) -> StoreStats {
        self.cache.stats().store.expect("a store")
    }

    async fn until(&self, holds: impl Fn(&StoreStats) -> bool) {
        while !holds(&self.stats()) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Purges a source for all nodes.
    async fn purge(&self, name: &str) {
        let purged = self.cache.purge(source(name)).await;
        assert_eq!(purged.reaches_nodes, Some(true));
    }

    fn share(&self, name: &str, bytes: usize) {
        let ticket = self.cache.ticket();
        self.cache
            .put_in_store(key(name), entry(name, bytes), ticket);
    }

    async fn has(&self, name: &str) -> bool {
        let ticket = self.cache.ticket();
        let found = self.cache.get_from_store(&key(name), ticket).await;
        found.is_some()
    }
}

fn key(name: &str) -> Key {
    Key::of(&[name])
}

fn entry(name: &str, bytes: usize) -> Entry {
    Entry {
        body: vec![7; bytes].into(),
        source: format!("/{name}"),
        life: Life::fresh_for(Duration::from_secs(3600)),
        ..Entry::default()
    }
}

fn source(name: &str) -> Selector {
    Selector::Source(format!("/{name}"))
}

#[tokio::test]
async fn purges_of_two_nodes_at_the_same_moment_are_both_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let nodes = [Node::at(&folder).await, Node::at(&folder).await];
    let mut purges = tokio::task::JoinSet::new();
    for number in 0..10 {
        for (index, node) in nodes.iter().enumerate() {
            let cache = node.cache.clone();
            let selector = source(&format!("{index}-{number}"));
            purges.spawn(async move { cache.purge(selector).await.reaches_nodes });
        }
    }
    let shared = purges.join_all().await;
    assert_eq!(shared, [Some(true); 20]);
    for node in &nodes {
        node.until(|stats| stats.purge_rules == 20).await;
    }
}

#[tokio::test]
async fn a_node_forgets_what_another_purges_in_memory_and_in_the_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let (here, there) = (Node::at(&folder).await, Node::at(&folder).await);
    let ticket = there.cache.ticket();
    for name in ["a", "b"] {
        there.cache.put(key(name), entry(name, 9), ticket);
        there.share(name, 9);
    }
    there.until(|stats| stats.stored == 2).await;
    assert!(here.has("a").await);
    let epoch = there.cache.purge_epoch();
    here.purge("a").await;
    there.until(|stats| stats.purge_rules == 1).await;
    assert!(there.cache.get(&key("a")).await.is_none());
    assert!(there.cache.get(&key("b")).await.is_some());
    assert!(!there.has("a").await && !here.has("a").await);
    assert!(there.has("b").await);
    while there.cache.purge_epoch() == epoch {
        tokio::task::yield_now().await;
    }
    // A result that was begun before the purge and is finished after it.
    there.cache.put(key("a"), entry("a", 9), ticket);
    assert!(there.cache.get(&key("a")).await.is_none());
    there.share("a", 9);
    there.until(|stats| stats.stored == 3).await;
    assert!(here.has("a").await);
}

#[tokio::test]
async fn what_waits_for_a_store_that_hangs_is_bounded_and_the_rest_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = Node::at(&folder).await;
    node.bucket.hangs.store(true, Ordering::SeqCst);
    for number in 0..100 {
        node.share(&number.to_string(), 100_000);
    }
    let stats = node.stats();
    assert!(stats.queued_bytes <= 4 << 20, "{stats:?}");
    assert!(stats.dropped >= 50 && stats.stored == 0, "{stats:?}");
}

#[tokio::test]
async fn a_log_of_purges_that_somebody_put_back_stops_the_use_of_the_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = Node::at(&folder).await;
    let log = folder.path().join("purges");
    let before = std::fs::read(&log).expect("a log");
    node.purge("a").await;
    let after = std::fs::read(&log).expect("a log");
    // In one step: the node may read it at any time.
    let replace = |bytes: &[u8]| {
        let new = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(new.path(), bytes).expect("writes");
        new.persist(&log).expect("the same file system");
    };
    replace(&before);
    node.until(|stats| !stats.ready).await;
    let error = node.stats().error.expect("an error");
    assert!(error.contains("older"), "{error}");
    replace(b"something else");
    node.until(|stats| stats.error.as_ref().is_some_and(|it| it.contains("secret")))
        .await;
    replace(&after);
    node.until(|stats| stats.ready).await;
}

#[tokio::test]
async fn a_log_of_purges_that_is_lost_is_written_again_by_a_running_node() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = Node::at(&folder).await;
    node.purge("a").await;
    std::fs::remove_file(folder.path().join("purges")).expect("a log");
    while !folder.path().join("purges").exists() {
        tokio::task::yield_now().await;
    }
    assert_eq!(Node::at(&folder).await.stats().purge_rules, 1);
}

#[tokio::test]
async fn a_purge_is_in_a_log_that_is_written_again_by_a_look_that_began_before_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = Node::at(&folder).await;
    let barrier = Arc::new(Barrier::new(2));
    *node.bucket.held.lock().expect("no barrier") = Some(barrier.clone());
    barrier.wait().await;
    node.purge("a").await;
    std::fs::remove_file(folder.path().join("purges")).expect("a log");
    barrier.wait().await;
    while !folder.path().join("purges").exists() {
        tokio::task::yield_now().await;
    }
    assert_eq!(Node::at(&folder).await.stats().purge_rules, 1);
}

#[tokio::test]
async fn an_object_from_before_the_log_began_is_not_believed() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = Node::at(&folder).await;
    node.purge("b").await;
    node.share("a", 9);
    node.until(|stats| stats.stored == 1).await;
    // Until then it would write what was lost.
    let Node { cache, bucket } = node;
    drop(cache);
    while Arc::strong_count(&bucket) > 1 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    std::fs::remove_file(folder.path().join("purges")).expect("a log");
    assert!(!Node::at(&folder).await.has("a").await);
}
