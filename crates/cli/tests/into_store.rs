//! `andon convert --into-store`: a store is filled without a server, and a node with nothing but that store makes no
//! image.

use std::fs;
use std::process::Command;

use crate::common::{Reply, Served, sample};
use crate::s3::S3;
use tempfile::TempDir;

const SECRET: &str = "a secret of sixteen bytes and more";

/// A bucket with images that is served at `/far`, a folder of images that is served at `/shop`, and a configuration
/// with a store.
struct House {
    s3: S3,
    folder: TempDir,
    config: String,
}

/// Where the shared store is: in a folder or in a bucket.
enum Store {
    Folder,
    Bucket,
}

impl House {
    fn new(store: Store, keys: &str) -> Self {
        let (s3, folder) = (S3::start(), tempfile::tempdir().unwrap());
        for photos in [s3.folder.path(), folder.path()] {
            let trip = photos.join("photos/trip");
            fs::create_dir_all(&trip).unwrap();
            for (name, from) in [
                ("a.jpg", "jpeg/420.jpg"),
                ("b c.jpg", "photos/otter.jpg"),
                ("100%.jpg", "jpeg/420.jpg"),
                ("note.txt", "README.md"),
            ] {
                fs::copy(sample(from), trip.join(name)).unwrap();
            }
        }
        let store = match store {
            Store::Folder => "[store]\nfs.root = \"shared\"\n".to_owned(),
            Store::Bucket => s3.keys(),
        };
        let config = format!(
            "metrics.allow = \"all\"\n[negotiation]\nformats = [\"webp\"]\n[[origin]]\nprefix = \"/shop\"\nfs.root = \"photos\"\n\
             [[origin]]\nprefix = \"/far\"\nallow = [\"127.0.0.1\"]\n\
             s3 = {{ bucket = \"photos\", endpoint = \"{}\", access_key_env = \"CARGO_PKG_NAME\", secret_key_env = \"CARGO_PKG_VERSION\" }}\n\
             [log]\nformat = \"off\"\n[cache]\nmemory = \"16MiB\"\ndisk = {{ path = \"kept\", size = \"16MiB\" }}\n\
             {store}{keys}\nsecret_env = \"ANDON_STORE_SECRET\"\npoll = \"20ms\"\nwait = \"10s\"\ntimeout = \"10s\"\n",
            s3.endpoint()
        );
        fs::write(folder.path().join("fill.toml"), &config).unwrap();
        Self { s3, folder, config }
    }

    /// Runs `andon convert --into-store` with these further arguments in the folder of this `House`, and returns its
    /// exit code and output.
    fn fill(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_andon"))
            .arg("convert")
            .args(args)
            .args(["--into-store", "--config", "fill.toml"])
            .env("ANDON_STORE_SECRET", SECRET)
            .env("AWS_ENDPOINT_URL", self.s3.endpoint())
            .env("AWS_ACCESS_KEY_ID", env!("CARGO_PKG_NAME"))
            .env("AWS_SECRET_ACCESS_KEY", env!("CARGO_PKG_VERSION"))
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    }

    /// Starts a server with the configuration of this `House`, and waits until it may use the store.
    fn node(&self) -> Served {
        let served = Served::start_with(self.folder.path(), &self.config, |command| {
            command.env("ANDON_STORE_SECRET", SECRET);
        });
        let figures = || String::from_utf8(served.get("/metrics").body).unwrap();
        while !figures().contains("\nandon_store_ready 1") {
            std::thread::yield_now();
        }
        served
    }
}

fn is_from_store(reply: &Reply) -> bool {
    assert_eq!(
        reply.status,
        200,
        "{}",
        String::from_utf8_lossy(&reply.body)
    );
    let made = reply.headers["server-timing"].contains("decode;");
    reply.headers["cache-status"].ends_with("detail=STORE") && !made
}

const FREE: &str = "min_cost = \"0s\"";

#[test]
fn a_node_with_a_filled_store_makes_nothing() {
    for store in [Store::Folder, Store::Bucket] {
        let house = House::new(store, FREE);
        let recipe = [
            "fit:160x90,as:webp,q:70",
            "/far/trip/a.jpg",
            "s3://photos/trip/b c.jpg",
        ];
        let (code, said) = house.fill(&recipe);
        let stored = "2 made and stored, 0 already there, 0 not stored\n";
        assert_eq!((code, said.as_str()), (Some(0), stored));
        // None of the server's own state has changed.
        assert!(!house.folder.path().join("kept").exists());
        let (code, said) = house.fill(&recipe);
        let there = "0 made and stored, 2 already there, 0 not stored\n";
        assert_eq!((code, said.as_str()), (Some(0), there));

        let url = "/small_light(dw=50){source}";
        let (code, said) = house.fill(&[url, "/far/trip/b%20c.jpg"]);
        assert_eq!((code, said.contains("1 made")), (Some(0), true), "{said}");
        let url = "/r/fit:30x30,as:auto{source}";
        let both = ["--accept", "image/webp", "--accept", ""];
        let (code, said) = house.fill(&[&[url, "/far/trip/a.jpg"], &both[..]].concat());
        assert_eq!((code, said.contains("2 made")), (Some(0), true), "{said}");

        let node = house.node();
        for target in [
            "/r/fit:160x90,as:webp,q:70/far/trip/a.jpg",
            "/small_light(dw=160,dh=90,of=webp,q=70)/far/trip/b%20c.jpg",
            "/small_light(dw=50)/far/trip/b%20c.jpg",
            "/r/fit:30x30,as:auto/far/trip/a.jpg",
        ] {
            let reply = node.get(target);
            assert!(is_from_store(&reply), "{target}: {:?}", reply.headers);
        }
        let other = node.get("/r/fit:61x61,as:webp,q:70/far/trip/a.jpg");
        assert!(!is_from_store(&other));
    }
}

#[test]
fn what_was_stored_is_what_a_node_would_make_to_the_byte() {
    let [filled, alone] = [0, 1].map(|_| House::new(Store::Folder, FREE));
    let (code, said) = filled.fill(&["fit:60x60,as:webp,q:70", "/far/trip/a.jpg"]);
    assert_eq!(code, Some(0), "{said}");
    let target = "/r/fit:60x60,as:webp,q:70/far/trip/a.jpg";
    let (stored, made) = (filled.node().get(target), alone.node().get(target));
    assert!(is_from_store(&stored) && !is_from_store(&made));
    assert_eq!(made.body, stored.body);
}

#[test]
fn files_of_a_folder_that_is_served_are_sources_under_their_names_in_urls() {
    let house = House::new(Store::Folder, FREE);
    let args = ["fit:60x60", "photos/trip/100%.jpg"];
    let stored = "1 made and stored, 0 already there, 0 not stored\n";
    assert_eq!(house.fill(&args), (Some(0), stored.to_owned()));
    let there = "0 made and stored, 1 already there, 0 not stored\n";
    for args in [
        ["fit:60x60", "/shop/trip/100%25.jpg"],
        ["/r/fit:60x60{source}", "/shop/trip/100%25.jpg"],
        args,
    ] {
        assert_eq!(house.fill(&args), (Some(0), there.to_owned()), "{args:?}");
    }
}

#[test]
fn a_result_that_is_not_worth_a_place_is_left_out_with_the_reason() {
    let house = House::new(Store::Folder, "min_cost = \"1h\"");
    let (code, said) = house.fill(&["fit:60x60", "/shop/trip/a.jpg"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("0 made and stored, 0 already there, 1 not stored\n"),
        "{said}"
    );
    assert!(said.contains("/shop/trip/a.jpg: not stored: "), "{said}");
    assert!(said.contains("less than `store.min_cost`"), "{said}");
}

#[test]
fn failures_are_those_of_clients_and_a_manifest_knows_what_is_done() {
    let house = House::new(Store::Folder, FREE);
    fs::write(
        house.folder.path().join("sources.txt"),
        "/shop/trip/a.jpg\n/shop/none.jpg\n/shop/trip/note.txt\nnowhere.jpg\n",
    )
    .unwrap();
    let args = [
        "fit:60x60",
        "--from",
        "sources.txt",
        "--manifest",
        "done.jsonl",
    ];
    let (code, said) = house.fill(&args);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("/shop/none.jpg: there is no file /shop/none.jpg\n"),
        "{said}"
    );
    assert!(said.contains("nowhere.jpg: it is in no folder"), "{said}");
    assert!(
        said.contains("1 made and stored, 0 already there, 0 not stored\n"),
        "{said}"
    );
    let (_, said) = house.fill(&args);
    assert!(
        said.contains("0 done, 3 failed, 1 done by an earlier run"),
        "{said}"
    );
}

#[test]
fn without_a_store_and_with_a_wrong_secret_nothing_is_made() {
    let house = House::new(Store::Folder, FREE);
    let image = "/shop/trip/a.jpg";
    let (code, said) = house.fill(&["/r/fit:60x60", image]);
    assert_eq!(
        (code, said.contains("no {source} in it")),
        (Some(2), true),
        "{said}"
    );
    drop(house.node());
    // The node has created the list of purges, which no other user can read.
    let text = house
        .config
        .replace("ANDON_STORE_SECRET", "CARGO_PKG_DESCRIPTION");
    fs::write(house.folder.path().join("fill.toml"), text).unwrap();
    let (code, said) = house.fill(&["fit:60x60", image]);
    assert_eq!(code, Some(1));
    assert!(said.contains("not sealed with this secret"), "{said}");
    fs::write(
        house.folder.path().join("fill.toml"),
        "[[origin]]\nfs.root = \"photos\"\n",
    )
    .unwrap();
    let (code, said) = house.fill(&["fit:60x60", image]);
    assert_eq!(code, Some(1));
    assert!(said.contains("the configuration has no [store]"), "{said}");
}
