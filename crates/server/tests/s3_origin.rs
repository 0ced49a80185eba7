//! Images in a bucket of a real S3 server, which checks signatures and runs in this process.

use std::path::Path;

use crate::common::{House, sample};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// A server with the bucket `photos`; its keys are what cargo puts into the environment of tests.
struct Store {
    folder: TempDir,
    endpoint: String,
    // The server stops with it.
    _runtime: tokio::runtime::Runtime,
}

impl Store {
    fn start(secret: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let mut builder = S3ServiceBuilder::new(FileSystem::new(folder.path()).expect("a store"));
        builder.set_auth(SimpleAuth::from_single(env!("CARGO_PKG_NAME"), secret));
        let service = builder.build().into_shared();
        let listener = runtime
            .block_on(TcpListener::bind("127.0.0.1:0"))
            .expect("a free port");
        let endpoint = format!("http://{}", listener.local_addr().expect("its address"));
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let service = service.clone();
                tokio::spawn(async move {
                    let _ = http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        let store = Self {
            folder,
            endpoint,
            _runtime: runtime,
        };
        store.put("originals/a.jpg", "jpeg/420.jpg");
        store.put("originals/with space & ü+%.jpg", "jpeg/420.jpg");
        store
    }

    /// Copies the sample `from` to where the server keeps the object `key`.
    fn put(&self, key: &str, from: &str) {
        let path = self.folder.path().join("photos").join(key);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("its folder");
        std::fs::copy(sample(from), path).expect("an object");
    }

    fn house(&self, keys: &str) -> House {
        House::with(&format!(
            "[[origin]]\nprefix = \"/s3\"\ns3.bucket = \"photos\"\ns3.endpoint = \"{}\"\nallow = [\"127.0.0.1\"]\n{keys}\n",
            self.endpoint
        ))
    }
}

const SIGNED: &str =
    "s3.access_key_env = \"CARGO_PKG_NAME\"\ns3.secret_key_env = \"CARGO_PKG_VERSION\"";

#[test]
fn objects_are_fetched_with_a_signature_and_transformed() {
    let store = Store::start(env!("CARGO_PKG_VERSION"));
    let house = store.house(SIGNED);
    for key in ["a.jpg", "with%20space%20&%20%C3%BC+%25.jpg"] {
        let reply = house.get(&format!("/small_light(dw=20)/s3/originals/{key}"));
        assert_eq!(reply.status, 200, "{key}: {}", reply.text());
        assert_eq!(reply.size().0, 20);
        let reply = house.get(&format!("/s3/originals/{key}"));
        assert_eq!(
            reply.body,
            std::fs::read(sample("jpeg/420.jpg")).unwrap(),
            "{key}"
        );
    }
    let house = store.house(&format!("{SIGNED}\ns3.folder = \"/originals/\""));
    assert_eq!(house.get("/s3/a.jpg").status, 200);
}

#[test]
fn signatures_are_of_the_key_as_it_is_written() {
    let store = Store::start(env!("CARGO_PKG_VERSION"));
    let house = store.house(SIGNED);
    for (name, escaped) in [
        ("a.jpg", "a.jpg"),
        ("a+b.jpg", "a%2Bb.jpg"),
        ("a&c=d.jpg", "a%26c=d.jpg"),
        ("ü%.jpg", "%c3%bc%25.jpg"),
        ("(b)*!'.jpg", "(b)*%21'.jpg"),
    ] {
        store.put(&format!("dir/{name}"), "jpeg/420.jpg");
        // This store's keys are files, in whose paths slashes are merged; the signature is of what was asked for.
        for folder in ["dir/", "dir//", "dir///"] {
            let target = format!("/small_light(dw=20)/s3/{folder}{escaped}");
            let reply = house.get(&target);
            assert_eq!(reply.status, 200, "{target}: {}", reply.text());
        }
    }
}

#[test]
fn a_missing_object_is_404_and_so_is_what_can_be_no_key() {
    let store = Store::start(env!("CARGO_PKG_VERSION"));
    let house = store.house(&format!("{SIGNED}\ns3.folder = \"originals\""));
    for path in [
        "missing.jpg",
        "",
        "..%2foriginals/a.jpg",
        "./a.jpg",
        "x//a.jpg",
        "%00",
    ] {
        let reply = house.get(&format!("/small_light(dw=20)/s3/{path}"));
        assert!(
            matches!(reply.status, 400 | 404),
            "{path}: {} {}",
            reply.status,
            reply.text()
        );
    }
    assert!(
        house
            .get("/s3/missing.jpg")
            .text()
            .contains("/s3/missing.jpg")
    );
}

#[test]
fn whoever_has_the_wrong_key_or_none_is_refused_in_one_sentence() {
    let store = Store::start("another secret");
    for keys in [SIGNED, ""] {
        let reply = store.house(keys).get("/s3/originals/a.jpg");
        assert_eq!(reply.status, 403, "{}", reply.text());
        assert_eq!(
            reply.text(),
            "the file /s3/originals/a.jpg may not be read\n"
        );
    }
}

#[test]
fn a_tag_lasts_as_long_as_the_object() {
    let store = Store::start(env!("CARGO_PKG_VERSION"));
    let house = store.house(&format!("{SIGNED}\n[cache]\nmemory = \"0\""));
    let target = "/small_light(dw=20)/s3/originals/a.jpg";
    let etag = house.get(target).header("etag").expect("a tag").to_owned();
    let same = house.request("GET", target, &[("If-None-Match", &etag)]);
    assert_eq!(same.status, 304);
    store.put("originals/a.jpg", "jpeg/444.jpg");
    let other = house.request("GET", target, &[("If-None-Match", &etag)]);
    assert_eq!(other.status, 200);
    assert_ne!(other.header("etag"), Some(etag.as_str()));
}

#[test]
fn a_server_that_does_not_start_without_its_keys_says_which() {
    let text = "[[origin]]\ns3.bucket = \"b\"\ns3.access_key_env = \"NO_SUCH_KEY\"\ns3.secret_key_env = \"NOR_THIS\"\n";
    let config = andon_server::Config::parse(text, Path::new("/")).expect("a configuration");
    let error = andon_server::Resolver::new(&config, andon_codecs::ALL)
        .expect_err("no keys")
        .to_string();
    assert!(
        error.contains("s3.access_key_env") && error.contains("NO_SUCH_KEY"),
        "{error}"
    );
}

/// Requests in three dialects for a source, with a result of 31 × 17 px.
fn targets(source: &str) -> [String; 3] {
    [
        format!("/ip/insecure/rs:force:31:17/plain/{source}"),
        format!("/r/exact:31x17/{source}"),
        format!("/cloudflare/width=31,height=17,fit=squeeze/{source}"),
    ]
}

#[test]
fn a_bucket_that_urls_name_has_fallbacks_and_watermarks() {
    let store = Store::start(env!("CARGO_PKG_VERSION"));
    let house = |image: &str, prefix: &str| {
        let keys = "[imgproxy]\nprefix = \"/ip\"\nwatermark = { file = \"s3://photos/originals/a.jpg\" }\n[cloudflare]\nprefix = \"/cloudflare\"";
        House::with(&format!(
            "[[origin]]\ns3.buckets = [\"photos\", \"other\"]\ns3.endpoint = \"{}\"\nallow = [\"127.0.0.1\"]\n{SIGNED}\n{keys}\n\
             [[fallback]]\n{prefix}\nimage = \"{image}\"\nstatus = 0\n",
            store.endpoint
        ))
    };
    for (image, prefix) in [
        ("s3://photos/originals/a.jpg", ""),
        ("s3://photos/originals/a.jpg", "prefix = \"/\""),
        ("s3://photos/originals/a.jpg", "prefix = \"s3://\""),
        (
            "s3://photos/originals/a.jpg",
            "prefix = \"s3://photos/missing\"",
        ),
        ("/a.jpg", "prefix = \"s3://photos/\""),
    ] {
        let house = house(image, prefix);
        for target in targets("s3://photos/missing/a.jpg") {
            let reply = house.get(&target);
            let told = (reply.status, reply.header("andon-fallback"));
            assert_eq!(
                told,
                (404, Some("not_found")),
                "{target} {image} {prefix}: {}",
                reply.text()
            );
            assert_eq!(reply.size(), (31, 17), "{target}");
        }
    }
    let elsewhere = house("/a.jpg", "prefix = \"s3://other\"");
    for target in targets("s3://photos/missing/a.jpg") {
        let reply = elsewhere.get(&target);
        assert_eq!(
            (reply.status, reply.header("andon-fallback")),
            (404, None),
            "{target}"
        );
    }
    let marked = elsewhere.get("/ip/insecure/w:50/wm:1/plain/local:///a.jpg@png");
    assert_eq!(marked.status, 200, "{}", marked.text());
    let plain = elsewhere.get("/ip/insecure/w:50/plain/local:///a.jpg@png");
    assert_ne!(marked.body, plain.body);
}
