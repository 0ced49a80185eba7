//! What becomes of a result whose source is deleted or cannot be read.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::origin::Origin;
use crate::common::{House, Reply, sample};

const FAR: &str = "/small_light(dw=30)/far/a.jpg";
const STALE: &str = "Cache-Control: max-age=0, stale-while-revalidate=600, stale-if-error=600\r\n";

fn image_file() -> Vec<u8> {
    std::fs::read(sample("jpeg/420.jpg")).expect("a sample")
}

fn is_stale(reply: &Reply) -> bool {
    let status = reply.header("cache-status").unwrap_or_default();
    reply.status == 200 && status.contains("STALE")
}

/// Asks until the old result is no longer sent.
fn ask_until_it_is_gone(house: &House) -> Reply {
    let began = Instant::now();
    loop {
        let reply = house.get(FAR);
        if reply.status != 200 {
            return reply;
        }
        assert!(began.elapsed().as_secs() < 60, "it is still sent");
    }
}

#[test]
fn a_result_whose_source_is_deleted_is_sent_until_that_is_known_and_never_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let on_disk = format!(
        "memory = \"0\"\ndisk = {{ path = {:?}, size = \"10MiB\" }}\n",
        folder.path()
    );
    for (answer, headers, tier) in [
        (404, "", ""),
        (410, "", ""),
        (403, "", ""),
        (404, "Cache-Control: no-store\r\n", ""),
        (404, "", on_disk.as_str()),
    ] {
        let origin = Origin::start(image_file(), STALE);
        // Errors are forgotten at once, so that each further answer says what is left of the result.
        let cache = format!("[cache]\nnegative = \"1ms\"\n{tier}");
        let house = House::with(&format!("{}{cache}", origin.keys()));
        assert_eq!(house.get(FAR).status, 200);
        origin.answers(answer, headers, Vec::new());
        assert!(is_stale(&house.get(FAR)), "{answer}");

        let expected = if answer == 403 { 403 } else { 404 };
        assert_eq!(ask_until_it_is_gone(&house).status, expected, "{answer}");
        for _ in 0..5 {
            sleep(Duration::from_millis(5));
            let reply = house.get(FAR);
            assert_eq!(reply.status, expected, "{answer} {headers}{tier}");
        }
        origin.answers(500, "", Vec::new());
        sleep(Duration::from_millis(5));
        assert_eq!(house.get(FAR).status, 502, "an error brings nothing back");
        origin.answers(200, STALE, image_file());
        assert_eq!(house.get(FAR).status, 200, "the source itself does");
    }
}

#[test]
fn a_result_whose_source_fails_to_be_fetched_is_still_sent() {
    let origin = Origin::start(image_file(), STALE);
    let house = House::with(&format!("{}[cache]\nnegative = \"1ms\"\n", origin.keys()));
    assert_eq!(house.get(FAR).status, 200);
    origin.answers(500, "", Vec::new());
    while origin.asked() < 3 {
        assert!(is_stale(&house.get(FAR)));
    }
}

#[test]
fn a_file_that_cannot_be_read_is_stood_in_for_by_its_old_result_for_a_while() {
    // A regular file that can be opened, and that the kernel refuses to read.
    let unreadable = Path::new("/sys/class/net/lo/speed");
    if !unreadable.exists() || std::fs::read(unreadable).is_ok() {
        eprintln!("skipped: there is no file that cannot be read");
        return;
    }
    let photos = tempfile::tempdir().expect("a folder");
    let file = photos.path().join("a.jpg");
    let target = "/small_light(dw=30)/files/a.jpg";
    for (span, expected) in [("1h", 200), ("1ms", 502), ("0s", 502)] {
        let house = House::with(&format!(
            "[[origin]]\nprefix = \"/files\"\nfs = {{ root = {:?}, outside_links = true }}\n\
             [cache]\nfs_fresh = \"0s\"\nstale_if_error = \"{span}\"\n",
            photos.path()
        ));
        std::fs::copy(sample("jpeg/420.jpg"), &file).expect("a sample");
        let made = house.get(target);
        assert_eq!(made.status, 200, "{}", made.text());
        std::fs::remove_file(&file).expect("the file");
        std::os::unix::fs::symlink(unreadable, &file).expect("a link");
        sleep(Duration::from_millis(5));
        let reply = house.get(target);
        assert_eq!(reply.status, expected, "{span}: {}", reply.text());
        assert_eq!(is_stale(&reply) && reply.body == made.body, expected == 200);
        std::fs::remove_file(&file).expect("the link");
    }
}
