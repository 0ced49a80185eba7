//! Large files that are served unchanged, in pieces.

use std::fs::OpenOptions;

use crate::common::House;

/// Length of the served file in bytes, which is more than all buffers between server and client can hold.
const LENGTH: usize = 24 << 20;

/// Returns the content of the served file. No four bytes of it occur twice at multiples of four, so that a piece in the
/// wrong place is noticed.
fn content() -> Vec<u8> {
    let words = (0..LENGTH as u32 / 4).map(|word| word.wrapping_mul(2_654_435_761).to_le_bytes());
    words.flatten().collect()
}

#[test]
fn a_large_file_is_itself_whole_and_in_part() {
    let house = House::new();
    let content = content();
    house.put("large.bin", &content);
    let mut client = house.client();
    for _ in 0..2 {
        let reply = client.get("/large.bin");
        assert_eq!(reply.status, 200);
        assert!(reply.body == content);
    }
    let head = client.request("HEAD", "/large.bin", &[]);
    assert_eq!(head.header("content-length"), Some("25165824"));
    for (first, last) in [(0, 0), (65_535, 65_536), (1 << 20, 9 << 20)] {
        let range = format!("bytes={first}-{last}");
        let part = client.request("GET", "/large.bin", &[("Range", &range)]);
        assert_eq!(part.status, 206);
        assert!(part.body == content[first..=last], "{range}");
    }
    let tail = client.request("GET", "/large.bin", &[("Range", "bytes=-100000")]);
    assert!(tail.body == content[LENGTH - 100_000..]);
}

#[test]
fn a_large_image_is_known_by_its_first_piece() {
    let house = House::new();
    let image = std::fs::read(house.file("a.jpg")).expect("the image");
    let mut longer = image.clone();
    longer.resize(1 << 20, 0);
    house.put("b.txt", &longer);
    let reply = house.get("/b.txt");
    assert_eq!(reply.header("content-type"), Some("image/jpeg"));
    assert!(reply.body == image);
}

#[test]
fn a_file_that_is_cut_while_it_is_sent_ends_its_reply_early_and_is_never_padded() {
    let house = House::new();
    let content = content();
    let path = house.put("large.bin", &content);
    let mut client = house.client();
    client.ask("GET", "/large.bin", &[]);
    let mut taken = client.some(1 << 16);
    let file = OpenOptions::new().write(true).open(path).expect("the file");
    file.set_len(1 << 20).expect("a shorter file");
    taken.extend(client.rest());
    let head = taken.windows(4).position(|four| four == b"\r\n\r\n");
    let body = &taken[head.expect("a head") + 4..];
    assert!(body.len() < LENGTH, "a cut reply says so by being short");
    assert!(
        content.starts_with(body),
        "and has no byte that was not there"
    );
    let reply = house.get("/large.bin");
    assert!(reply.body == content[..1 << 20]);
}

#[test]
fn a_file_that_is_replaced_while_it_is_sent_is_sent_as_it_was() {
    let house = House::new();
    let content = content();
    house.put("large.bin", &content);
    let mut client = house.client();
    client.ask("GET", "/large.bin", &[]);
    let new = house.put("new.bin", "new");
    std::fs::rename(new, house.file("large.bin")).expect("a replacement");
    let was = client.reply("GET").body;
    assert!(was == content || was == b"new");
    assert_eq!(house.get("/large.bin").body, b"new");
}
