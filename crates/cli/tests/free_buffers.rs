//! The buffers of a decoded photo are reused for the next one, but an idle server frees them.

use std::time::Duration;

use crate::common::{Served, sample};

/// Returns the current value of `andon_free_buffers_bytes`.
fn free_bytes(served: &Served) -> u64 {
    let figures = String::from_utf8(served.get("/metrics").body).unwrap();
    let line = figures
        .lines()
        .find_map(|line| line.strip_prefix("andon_free_buffers_bytes "));
    line.expect("the figure").parse().expect("a number")
}

#[test]
fn buffers_are_kept_for_the_next_image_and_freed_once_all_workers_rest() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(sample("photos/otter.jpg"), folder.path().join("otter.jpg")).unwrap();
    let served = Served::start(
        folder.path(),
        "workers = 2\nmetrics.allow = \"all\"\n[[origin]]\nfs.root = \".\"\n[cache]\nmemory = \"0\"\nframes = \"0\"\n",
    );
    // On a busy machine, the server may have become idle before the metric is read, so this is retried. Every width is
    // new, so that the photo is decoded in full each time.
    let kept = (1001..1501).any(|width| {
        let reply = served.get(&format!("/r/fit:{width}x{width},as:jpeg/otter.jpg"));
        assert_eq!(reply.status, 200);
        free_bytes(&served) > 0
    });
    assert!(kept, "no buffer was kept in any of 500 tries");
    for _ in 0..3000 {
        if free_bytes(&served) == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{} bytes after 30 s of rest", free_bytes(&served));
}
