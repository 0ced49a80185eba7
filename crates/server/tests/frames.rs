//! Cached decoded frames: further sizes of a photo need no decode, and their bytes are those of a decode.

use crate::common;
use crate::common::{House, figure};

const PHOTO: &str = "large/canyon-wren.jpg";

/// Sizes of an image in the order in which they are requested. Some of them are made from the same decoded frame.
const SIZES: [&str; 6] = [
    "dw=150",
    "dw=140,of=webp",
    "dw=400",
    "dw=390,dh=200,q=60",
    "dw=380,angle=90",
    "dw=145,sharpen=1x1",
];

fn target(size: &str) -> String {
    format!("/small_light({size})/p.jpg")
}

fn bytes(house: &House, size: &str) -> Vec<u8> {
    let reply = house.get(&target(size));
    assert_eq!(reply.status, 200, "{size}: {}", reply.text());
    reply.body
}

fn house(keys: &str) -> House {
    let house = House::with(keys);
    house.put_sample("p.jpg", PHOTO);
    house
}

#[test]
fn further_sizes_begin_with_a_kept_frame_and_have_the_bytes_of_a_server_that_keeps_none() {
    let (keeping, plain) = (house(""), house("[cache]\nframes = \"0\""));
    for size in SIZES {
        assert!(bytes(&keeping, size) == bytes(&plain, size), "{size}");
    }
    let (decodes, hits) = ("andon_decodes_total", "andon_frame_cache_hits_total");
    assert_eq!(figure(&plain, decodes), SIZES.len() as f64);
    assert_eq!(figure(&plain, hits), 0.0);
    assert_eq!(figure(&plain, "andon_frame_cache_bytes"), 0.0);
    let (decoded, begun) = (figure(&keeping, decodes), figure(&keeping, hits));
    assert!(decoded <= 3.0, "{decoded} decodes");
    assert_eq!(decoded + begun, SIZES.len() as f64);
    assert!(figure(&keeping, "andon_frame_cache_bytes") > 0.0);
    assert_eq!(figure(&keeping, "andon_memory_planned_bytes"), 0.0);
}

#[test]
fn a_changed_file_is_decoded_again() {
    let house = house("[cache]\nfs_fresh = \"0s\"");
    bytes(&house, "dw=150");
    house.put_sample("p.jpg", "large/ocean-waves.jpg");
    let other = self::house("[cache]\nframes = \"0\"");
    other.put_sample("p.jpg", "large/ocean-waves.jpg");
    assert!(bytes(&house, "dw=140") == bytes(&other, "dw=140"));
    assert_eq!(figure(&house, "andon_frame_cache_hits_total"), 0.0);
}

#[test]
fn a_purge_forgets_the_frames() {
    let house = house("[admin]\ntoken = \"a token for the test\"");
    bytes(&house, "dw=150");
    assert!(figure(&house, "andon_frame_cache_bytes") > 0.0);
    let order = "{\"source\":\"/p.jpg\"}";
    let mut client = house.client();
    client.send(format!(
        "POST /_andon/purge HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer a token for the test\r\nContent-Length: {}\r\n\r\n{order}",
        order.len()
    ));
    assert_eq!(client.reply("POST").status, 200);
    assert_eq!(figure(&house, "andon_frame_cache_bytes"), 0.0);
    bytes(&house, "dw=140");
    assert_eq!(figure(&house, "andon_decodes_total"), 2.0);
}

#[test]
fn a_cut_photo_is_refused_as_ever() {
    let house = House::new();
    let whole = std::fs::read(common::sample(PHOTO)).expect("a sample");
    house.put("p.jpg", &whole[..whole.len() / 2]);
    for size in SIZES {
        assert_eq!(house.get(&target(size)).status, 415, "{size}");
    }
    assert_eq!(figure(&house, "andon_frame_cache_bytes"), 0.0);
    assert_eq!(figure(&house, "andon_memory_planned_bytes"), 0.0);
}
