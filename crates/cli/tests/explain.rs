//! `andon explain` beside the server that it speaks of.

mod common;

use common::{Served, andon, printed, sample};

#[test]
fn explain_names_the_entity_tag_that_the_server_sends() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(sample("jpeg/420.jpg"), folder.path().join("a.jpg")).expect("copies");
    let config = "[[origin]]\nfs.root = \".\"\n[log]\nformat = \"off\"\n";
    let served = Served::start(folder.path(), config);
    for target in [
        "/a.jpg",
        "/r/fit:90x90,as:webp/a.jpg",
        "/r/focus:smart,cover:60x60,as:webp/a.jpg",
        "/r/trim,fit:90x90,as:webp/a.jpg",
    ] {
        let reply = served.get(target);
        assert_eq!(reply.status, 200, "{target}");
        let root = folder.path().to_str().expect("a path");
        let told = printed(andon(&["explain", target, "--root", root], &[]));
        let line = format!("etag    {}\n", reply.headers["etag"]);
        assert!(told.contains(&line), "{target}: {line}{told}");
    }
}
