//! Nodes that share results: what one has made, the others serve without making it; what somebody else put into the
//! store is never served; and a store that is slow, hangs or is away delays nobody and breaks nothing.

use std::path::{Path, PathBuf};

use crate::common::origin::Origin;
use crate::common::s3::{S3, State};
use crate::common::{Gate, House, Reply, figure, sample, trick_target, wait_for_figure};
use tempfile::TempDir;

const TAGGED: &str = "ETag: \"1\"\r\nCache-Control: max-age=3600\r\n";
const TOKEN: &str = "a token of some length";
/// Keys with which every result is stored, and look-ups are short.
const SHARING: &str =
    "secret_env = \"CARGO_PKG_DESCRIPTION\"\nmin_cost = \"0s\"\npoll = \"20ms\"\n";
/// A look-up may take as long as the test.
const PATIENT: &str = "wait = \"10s\"\ntimeout = \"10s\"\n";
const WRITTEN: &str = "andon_store_written_total";
const READY: &str = "andon_store_ready";

fn image_file() -> Vec<u8> {
    std::fs::read(sample("jpeg/420.jpg")).expect("a sample")
}

/// A node that shares results, and knows what others have purged.
fn node(keys: &str) -> House {
    let node = House::with(&format!("{keys}\n[admin]\ntoken = \"{TOKEN}\"\n"));
    wait_for_figure(&node, READY, 1.0);
    node
}

fn sharing(store: &str) -> String {
    format!("{store}{SHARING}{PATIENT}")
}

fn folder_keys(folder: &Path) -> String {
    format!("[store]\nfs.root = \"{}\"\n", folder.display())
}

fn far(width: usize) -> String {
    format!("/small_light(dw={width})/far/a.jpg")
}

fn status(reply: &Reply) -> &str {
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.header("cache-status").unwrap_or_default()
}

fn is_shared(reply: &Reply) -> bool {
    let timing = reply.header("server-timing").unwrap_or_default();
    status(reply).ends_with("detail=STORE") && timing.contains("store;") && !is_made(reply)
}

fn is_made(reply: &Reply) -> bool {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let timing = reply.header("server-timing").unwrap_or_default();
    timing.contains("decode;")
}

fn purge(node: &House, order: &str) -> Reply {
    let mut client = node.client();
    client.send(format!(
        "POST /_andon/purge HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {}\r\n\r\n{order}",
        order.len()
    ));
    client.reply("POST")
}

/// Returns the paths of all results in the store in this folder, sorted.
fn objects(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for below in std::fs::read_dir(folder.join("results"))
        .into_iter()
        .flatten()
    {
        let files = std::fs::read_dir(below.expect("a name").path()).expect("a folder");
        found.extend(files.map(|file| file.expect("a name").path()));
    }
    found.retain(|path| path.extension().is_none());
    found.sort();
    found
}

#[test]
fn a_cold_node_serves_what_another_has_made_and_asks_no_origin() {
    let folder = tempfile::tempdir().expect("a folder");
    let s3 = S3::start();
    for store in [folder_keys(folder.path()), s3.keys()] {
        let origin = Origin::start(image_file(), TAGGED);
        let keys = format!("{}{}", origin.keys(), sharing(&store));
        let warm = node(&keys);
        let made: Vec<Reply> = (1..=20).map(|width| warm.get(&far(width))).collect();
        assert!(made.iter().all(is_made));
        // The results, and the facts of their source.
        wait_for_figure(&warm, WRITTEN, 21.0);

        let cold = node(&keys);
        let before = origin.asked();
        for (width, made) in (1..=20).zip(&made) {
            let shared = cold.get(&far(width));
            assert!(is_shared(&shared), "{width}: {}", status(&shared));
            assert_eq!(shared.body, made.body, "{width}");
            for header in ["etag", "content-type", "last-modified"] {
                assert_eq!(shared.header(header), made.header(header), "{header}");
            }
        }
        assert_eq!(origin.asked(), before);
        assert_eq!(
            figure(&cold, "andon_store_lookups_total{outcome=\"hit\"}"),
            20.0
        );
        // From its own memory the next time.
        let again = cold.get(&far(1));
        assert!(status(&again).starts_with("andon; hit") && !is_shared(&again));
    }
}

#[test]
fn files_of_a_folder_that_nodes_mount_are_shared_until_they_change() {
    let (folder, photos) = (tempfile::tempdir().expect("a folder"), photos());
    let keys = format!(
        "{}{}",
        mounted(&photos),
        sharing(&folder_keys(folder.path()))
    );
    let target = trick_target("far/w.jpg");
    // The second version takes the place of the first one.
    for name in ["gate", "another gate"] {
        let (gate, text) = Gate::new(&photos.path().join(name));
        std::fs::write(photos.path().join("w.jpg"), text).expect("an image that waits");
        gate.release();
        let warm = node(&keys);
        let made = warm.get(&target);
        assert!(is_made(&made));
        wait_for_figure(&warm, WRITTEN, 1.0);
        // Nothing that a cold node makes now is ever done.
        gate.close();
        let shared = node(&keys).get(&target);
        assert!(is_shared(&shared), "{}", status(&shared));
        assert_eq!(shared.body, made.body);
        gate.release();
    }
}

/// A folder that all nodes mount, at `/far`.
fn photos() -> TempDir {
    let photos = tempfile::tempdir().expect("a folder");
    std::fs::copy(sample("jpeg/420.jpg"), photos.path().join("a.jpg")).expect("a photo");
    photos
}

fn mounted(photos: &TempDir) -> String {
    format!(
        "[[origin]]\nprefix = \"/far\"\nfs.root = \"{}\"\n",
        photos.path().display()
    )
}

#[test]
fn a_result_that_is_no_longer_fresh_is_renewed_by_a_question_and_not_made_again() {
    let s3 = S3::start();
    let origin = Origin::start(image_file(), "ETag: \"1\"\r\nCache-Control: max-age=0\r\n");
    let keys = format!(
        "{}{}min_life = \"0s\"\n",
        origin.keys(),
        sharing(&s3.keys())
    );
    let warm = node(&keys);
    let made = warm.get(&far(9));
    wait_for_figure(&warm, WRITTEN, 2.0);
    origin.answers(
        304,
        "ETag: \"1\"\r\nCache-Control: max-age=3600\r\n",
        Vec::new(),
    );
    let cold = node(&keys);
    let renewed = cold.get(&far(9));
    assert_eq!(renewed.body, made.body);
    assert!(!is_made(&renewed));
}

#[test]
fn planted_torn_swapped_and_changed_objects_are_never_served_and_are_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let origin = Origin::start(image_file(), TAGGED);
    let keys = format!("{}{}", origin.keys(), sharing(&folder_keys(folder.path())));
    let warm = node(&keys);
    let made: Vec<Reply> = (1..=24).map(|width| warm.get(&far(width))).collect();
    wait_for_figure(&warm, WRITTEN, 25.0);
    drop(warm);

    let stranger = tempfile::tempdir().expect("a folder");
    let other = format!(
        "{}{}",
        origin.keys(),
        sharing(&folder_keys(stranger.path()))
    );
    let other = node(&other.replace("CARGO_PKG_DESCRIPTION", "CARGO_MANIFEST_DIR"));
    (1..=24).for_each(|width| drop(other.get(&far(width))));
    wait_for_figure(&other, WRITTEN, 25.0);

    let paths = objects(folder.path());
    assert_eq!(paths.len(), 25);
    let whole: Vec<Vec<u8>> = paths
        .iter()
        .map(|path| std::fs::read(path).expect("an object"))
        .collect();
    for (index, path) in paths.iter().enumerate() {
        let mut object = whole[index].clone();
        let middle = object.len() / 2;
        match index % 6 {
            0 => object[middle] ^= 1,
            1 => object.truncate(middle),
            2 => object = whole[(index + 1) % whole.len()].clone(),
            // What somebody without the secret has sealed, under its right name.
            3 => {
                object = std::fs::read(
                    stranger
                        .path()
                        .join(path.strip_prefix(folder.path()).expect("below")),
                )
                .expect("an object")
            }
            4 => object.clear(),
            _ => object = image_file(),
        }
        std::fs::write(path, object).expect("an object");
    }
    let cold = node(&keys);
    for (width, made) in (1..=24).zip(&made) {
        let reply = cold.get(&far(width));
        assert!(is_made(&reply), "{width}: {}", status(&reply));
        assert_eq!(reply.body, made.body, "{width}");
    }
    assert!(figure(&cold, "andon_store_rejected_total") >= 24.0);
    // What has no valid seal is replaced.
    wait_for_figure(&cold, WRITTEN, 25.0);
    let healed = node(&keys);
    assert!((1..=24).all(|width| is_shared(&healed.get(&far(width)))));
}

#[test]
fn what_is_private_short_lived_cheap_or_an_error_is_not_stored() {
    for (headers, status, keys) in [
        ("Cache-Control: private, max-age=3600\r\n", 200, ""),
        ("Cache-Control: no-store\r\n", 200, ""),
        (
            "Cache-Control: max-age=20, stale-while-revalidate=20\r\n",
            200,
            "",
        ),
        (TAGGED, 404, ""),
        (TAGGED, 200, "min_cost = \"1h\"\n"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let origin = Origin::start(image_file(), headers);
        origin.answers(status, headers, image_file());
        let sharing = sharing(&folder_keys(folder.path()));
        let sharing = match keys {
            "" => sharing,
            keys => sharing.replace("min_cost = \"0s\"\n", keys),
        };
        let node = node(&format!("{}{sharing}", origin.keys()));
        assert_eq!(node.get(&far(9)).status, status);
        // Whatever waits is written before a server ends.
        drop(node);
        let stored = objects(folder.path()).len();
        let facts = usize::from(
            status == 200 && !headers.contains("private") && !headers.contains("no-store"),
        );
        assert!(stored <= facts, "{headers} {status} {keys}: {stored}");
    }
}

#[test]
fn a_store_that_never_answers_keeps_nobody_waiting_and_is_left_alone() {
    let s3 = S3::start();
    let origin = Origin::start(image_file(), TAGGED);
    let store = format!("{}{SHARING}wait = \"1ms\"\ntimeout = \"10s\"\n", s3.keys());
    let node = node(&format!("{}{store}", origin.keys()));
    s3.becomes(State::Hanging);
    // Everything is made while the store is silent: had anybody waited for it, nothing would come.
    for width in 1..=5 {
        assert!(is_made(&node.get(&far(width))));
    }
    assert!(s3.hanging() > 0);
    s3.becomes(State::Well);
}

#[test]
fn a_failing_store_costs_no_request_and_is_used_again_once_it_is_well() {
    let s3 = S3::start();
    let origin = Origin::start(image_file(), TAGGED);
    let keys = format!("{}{}", origin.keys(), sharing(&s3.keys()));
    let node = node(&keys);
    s3.becomes(State::Failing);
    for width in 1..=20 {
        assert!(is_made(&node.get(&far(width))));
    }
    wait_for_figure(&node, "andon_store_errors_total", 1.0);
    // One that starts meanwhile serves as well.
    let other = House::with(&keys);
    assert!(is_made(&other.get(&far(9))));
    assert_eq!(figure(&other, READY), 0.0);
    s3.becomes(State::Well);
    wait_for_figure(&node, READY, 1.0);
    wait_for_figure(&other, READY, 1.0);
    assert!(is_made(&node.get(&far(21))));
    wait_for_figure(&node, WRITTEN, 1.0);
}

#[test]
fn the_store_and_the_making_race_and_the_first_whole_result_is_taken() {
    let (s3, photos) = (S3::start(), photos());
    let (gate, text) = Gate::new(&photos.path().join("gate"));
    std::fs::write(photos.path().join("w.jpg"), text).expect("an image that waits");
    let target = trick_target("far/w.jpg");
    let store = format!("{}{SHARING}wait = \"1ms\"\ntimeout = \"10s\"\n", s3.keys());
    let keys = format!("{}{store}", mounted(&photos));
    gate.release();
    let warm = node(&keys);
    let made = warm.get(&target);
    assert_eq!(made.status, 200, "{}", made.text());
    wait_for_figure(&warm, WRITTEN, 1.0);

    gate.close();
    let cold = node(&keys);
    s3.becomes(State::Hanging);
    let asking = std::thread::scope(|scope| {
        let asking = scope.spawn(|| cold.get(&target));
        gate.wait_until_begun();
        // It is being made, and will not be done; now the store answers.
        s3.becomes(State::Well);
        asking.join().expect("a reply")
    });
    assert!(is_shared(&asking), "{}", status(&asking));
    assert_eq!(asking.body, made.body);
    gate.wait_until_stopped();
    gate.release();
}

#[test]
fn of_two_nodes_that_make_one_result_at_once_one_writes_it() {
    let (s3, photos) = (S3::start(), photos());
    let (gate, text) = Gate::new(&photos.path().join("gate"));
    std::fs::write(photos.path().join("w.jpg"), text).expect("an image that waits");
    let target = trick_target("far/w.jpg");
    let keys = format!("{}{}", mounted(&photos), sharing(&s3.keys()));
    let nodes = [node(&keys), node(&keys)];
    std::thread::scope(|scope| {
        let asking = nodes
            .each_ref()
            .map(|node| scope.spawn(|| node.get(&target)));
        while gate.times_begun() < 2 {
            std::thread::yield_now();
        }
        gate.release();
        let replies = asking.map(|asking| asking.join().expect("a reply"));
        assert_eq!(replies[0].body, replies[1].body);
    });
    let sum = |name: &str| nodes.iter().map(|node| figure(node, name)).sum::<f64>();
    while sum(WRITTEN) + sum("andon_store_present_total") < 2.0 {
        std::thread::yield_now();
    }
    assert_eq!((sum(WRITTEN), sum("andon_store_present_total")), (1.0, 1.0));
}

#[test]
fn a_purge_on_one_node_reaches_the_others_and_the_store() {
    let s3 = S3::start();
    let origin = Origin::start(image_file(), TAGGED);
    let keys = format!("{}{}", origin.keys(), sharing(&s3.keys()));
    let (here, there) = (node(&keys), node(&keys));
    here.get(&far(9));
    wait_for_figure(&here, WRITTEN, 2.0);
    assert!(is_shared(&there.get(&far(9))));
    assert!(is_shared(&node(&keys).get(&far(9))));

    let said = purge(&here, r#"{"source": "/far/a.jpg"}"#).text();
    assert!(said.contains("\"reaches_nodes\":true"), "{said}");
    wait_for_figure(&there, "andon_store_purge_rules_active", 1.0);
    let reply = there.get(&far(9));
    assert!(is_made(&reply), "{}", status(&reply));
    // What was made since takes the old one's place. A node that has never seen the source notes its facts anew.
    wait_for_figure(&there, WRITTEN, 1.0);
    let third = node(&keys);
    assert!(is_made(&third.get(&far(9))));
    wait_for_figure(&third, WRITTEN, 1.0);
    assert!(is_shared(&node(&keys).get(&far(9))));
}

#[test]
fn a_purge_reaches_what_a_node_kept_on_disk_while_it_was_stopped() {
    let (s3, disk) = (S3::start(), tempfile::tempdir().expect("a folder"));
    let origin = Origin::start(image_file(), TAGGED);
    let keys = format!("{}{}", origin.keys(), sharing(&s3.keys()));
    let with_disk = format!(
        "[cache]\ndisk = {{ path = \"{}\", size = \"10MiB\" }}\n{keys}",
        disk.path().display()
    );
    let stopped = node(&with_disk);
    stopped.get(&far(9));
    stopped.get("/small_light(dw=9)/a.jpg");
    drop(stopped);

    let here = node(&keys);
    purge(&here, r#"{"prefix": "/far/"}"#);
    let started = node(&with_disk);
    wait_for_figure(&started, "andon_cache_disk_ready", 1.0);
    let reply = started.get(&far(9));
    assert!(is_made(&reply), "{}", status(&reply));
}

#[test]
fn a_purge_that_cannot_be_shared_says_so() {
    let s3 = S3::start();
    let origin = Origin::start(image_file(), TAGGED);
    let node = node(&format!("{}{}", origin.keys(), sharing(&s3.keys())));
    s3.becomes(State::Failing);
    let said = purge(&node, r#"{"source": "/far/a.jpg"}"#).text();
    assert!(said.contains("\"reaches_nodes\":false"), "{said}");
}

#[test]
fn a_store_that_ignores_conditions_is_found_by_one_request_and_purges_claim_nothing() {
    for (s3, ignores) in [(S3::that_ignores_conditions(), 1.0), (S3::start(), 0.0)] {
        let origin = Origin::start(image_file(), TAGGED);
        let keys = format!("{}{}", origin.keys(), sharing(&s3.keys()));
        let (here, there) = (node(&keys), node(&keys));
        for node in [&here, &there] {
            wait_for_figure(node, "andon_store_ignores_conditions", ignores);
        }
        here.get(&far(9));
        wait_for_figure(&here, WRITTEN, 2.0);
        assert!(is_shared(&there.get(&far(9))), "results are shared");
        let asked = s3.conditional_writes();
        assert!(asked <= 2, "{asked} for two nodes");
        let said = purge(&here, r#"{"source": "/far/a.jpg"}"#).text();
        let reaches = ignores < 1.0;
        assert!(
            said.contains(&format!("\"reaches_nodes\":{reaches}")),
            "{said}"
        );
    }
}

#[test]
fn a_server_without_its_secret_does_not_start_and_says_what_to_do() {
    let parse = |env: &str| {
        let text = format!("[store]\nfs.root = \"shared\"\nsecret_env = \"{env}\"\n");
        let config =
            andon_server::Config::parse(&text, Path::new("/tmp")).expect("a configuration");
        let error = andon_server::check(&config, andon_codecs::ALL).expect_err("no secret");
        error.to_string()
    };
    let missing = parse("NO_SUCH_SECRET");
    assert!(missing.contains("NO_SUCH_SECRET"), "{missing}");
    let short = parse("CARGO_PKG_NAME");
    assert!(short.contains("openssl rand -hex 32"), "{short}");
}
