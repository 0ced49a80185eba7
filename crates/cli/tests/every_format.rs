//! Files of every format as the server serves them: decoded in its own threads, or in worker processes.

use std::fs;
use std::path::Path;

use andon_codecs::ALL;

use crate::common::{Reply, Served, sample};

#[test]
fn every_sample_is_served_in_the_same_bytes_with_worker_processes_and_without() {
    let samples = sample("");
    let served = ["third-party", "all", "none"].map(|processes| {
        let folder = tempfile::tempdir().expect("a folder");
        let config = format!(
            "[[origin]]\nprefix = \"/\"\nfs.root = \"{}\"\n[sandbox]\nprocesses = \"{processes}\"\n",
            samples.display()
        );
        Served::start(folder.path(), &config)
    });
    for target in targets(&samples) {
        let [usual, all, none] = served.each_ref().map(|it| it.get(&target));
        assert_eq!(usual.status, 200, "{target}: {}", said(&usual));
        assert!(usual.body.starts_with(b"\x89PNG"), "{target}");
        assert!(usual.body == all.body, "{target}: {}", said(&all));
        // hpvcd starts threads, which the server's sandboxed worker threads may not do.
        if !target.contains("/heic/") {
            assert!(usual.body == none.body, "{target}: {}", said(&none));
        }
    }
}

fn said(reply: &Reply) -> String {
    let body = String::from_utf8_lossy(&reply.body);
    format!(
        "{} {}",
        reply.status,
        body.chars().take(300).collect::<String>()
    )
}

/// Returns a target that makes a small PNG, for each readable sample below its format's folder.
fn targets(samples: &Path) -> Vec<String> {
    let mut targets = Vec::new();
    for codec in ALL {
        let Ok(folder) = fs::read_dir(samples.join(codec.name())) else {
            continue;
        };
        for entry in folder {
            let file = entry.expect("an entry").file_name();
            let path = format!("{}/{}", codec.name(), file.to_str().expect("a name"));
            let bytes = fs::read(samples.join(&path)).expect("the file");
            if codec.sniff(&bytes) && codec.probe(&bytes).is_ok() {
                targets.push(format!("/r/fit:90x90,frame:1,as:png/{path}"));
            }
        }
    }
    assert!(targets.len() > 20, "{targets:?}");
    targets
}
