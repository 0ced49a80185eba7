//! Decompression bombs and truncated images: each is refused with a 4xx error unless its pixels are complete, takes
//! little memory, and is never cached as a good image. The only test of its program, because it measures the memory of
//! the process.

mod common;

use std::path::PathBuf;

use common::{House, sample};

/// Maximum growth of memory in bytes: more than all responses together take, and much less than one decompression bomb.
const MOST_GROWTH: usize = 96 << 20;

#[test]
fn bad_images_are_refused_and_cost_next_to_nothing() {
    let house = House::new();
    let good = house.get("/small_light(dw=30)/a.jpg");
    let before = resident();

    for name in ["bomb.gif", "bomb.jpg", "bomb.png", "bomb-scans.jpg"] {
        house.put_sample(name, &format!("broken/{name}"));
        for target in ["dw=30", "dw=30,of=webp", "dw=2000,dh=2000,da=n,of=png"] {
            let reply = house.get(&format!("/small_light({target})/{name}"));
            assert_eq!(reply.status, 422, "{name} {target}: {}", reply.text());
        }
    }
    house.put("flicker.gif", flicker(100_000));
    let reply = house.get("/small_light(dw=30,of=png)/flicker.gif");
    assert!(
        reply.status == 422 || (reply.status == 200 && reply.size() == (30, 30)),
        "{}",
        reply.text()
    );

    let mut answered = 0;
    for path in samples() {
        let file = std::fs::read(&path).expect("a sample");
        let kind = path
            .extension()
            .and_then(|end| end.to_str())
            .expect("an end");
        let name = format!(
            "{}.{kind}",
            path.file_stem()
                .and_then(|stem| stem.to_str())
                .expect("a name")
        );
        house.put(&name, &file);
        let whole = house.get(&format!("/small_light(dw=30,of=png)/{name}"));
        if whole.status != 200 {
            continue;
        }
        let cuts = [
            file.len() / 100,
            file.len() / 4,
            file.len() / 2,
            file.len() / 100 * 99,
            file.len() - 1,
        ];
        for length in cuts {
            let cut = format!("cut-{length}-{name}");
            house.put(&cut, &file[..length]);
            for _ in 0..2 {
                let reply = house.get(&format!("/small_light(dw=30,of=png)/{cut}"));
                // Some end with bytes that no pixel needs; everything else is missing something.
                assert!(
                    (400..500).contains(&reply.status) || reply.body == whole.body,
                    "{cut}: {} {}",
                    reply.status,
                    reply.text()
                );
                answered += 1;
            }
        }
    }
    assert!(
        answered >= 400,
        "200 cuts, each asked for twice: {answered}"
    );

    let after = resident();
    assert!(
        after < before + MOST_GROWTH,
        "{before} bytes became {after}"
    );
    assert_eq!(house.get("/small_light(dw=30)/a.jpg").body, good.body);
}

fn samples() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = ["jpeg", "png", "gif", "webp"]
        .iter()
        .flat_map(|kind| std::fs::read_dir(sample(kind)).expect("samples"))
        .map(|entry| entry.expect("a sample").path())
        .collect();
    all.sort();
    all
}

/// An animation of `frames` frames of one pixel on a canvas of 2000 × 2000 px, without delays.
fn flicker(frames: usize) -> Vec<u8> {
    let mut file = b"GIF89a".to_vec();
    file.extend([0xd0, 0x07, 0xd0, 0x07, 0x80, 0, 0]);
    file.extend([0, 0, 0, 255, 255, 255]);
    for _ in 0..frames {
        file.extend([0x21, 0xf9, 4, 0, 0, 0, 0, 0]);
        file.extend([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0]);
        // Clear, colour 0, end; three bits each.
        file.extend([2, 2, 0x44, 0x01, 0]);
    }
    file.push(0x3b);
    file
}

/// Bytes of this process in memory.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes: usize = line
        .and_then(|line| line.trim().strip_suffix(" kB"))
        .and_then(|number| number.parse().ok())
        .expect("a number");
    kibibytes << 10
}
