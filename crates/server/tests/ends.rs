//! Files without their end: they count as whole if no pixel is missing, and as truncated otherwise, whatever is requested.

use andon_pixels::Encode;

use crate::common::House;
use crate::common::images::{animation, codec, decoded, jpeg, probe, samples, still, written};

/// Recipes that copy the image's bytes, decode it at a reduced scale, decode it in full, or encode it again.
const RECIPES: [&str; 5] = [
    "fit:999x999",
    "fit:30x30",
    "as:png",
    "fit:200x200,as:webp",
    "q:70,as:jpeg",
];

fn png() -> Vec<u8> {
    written("png", &still(320, 240, 0), &Encode::default())
}

/// Returns the offset in `file` at which the bytes `of` occur last.
fn last(file: &[u8], of: &[u8]) -> usize {
    let mut found = file.windows(of.len()).rev();
    let from_end = found.position(|bytes| bytes == of).expect("they are there");
    file.len() - of.len() - from_end
}

#[test]
fn a_file_that_lacks_only_its_end_is_served_and_gets_it_back() {
    let house = House::new();
    for (name, file) in [
        ("a.png", png()),
        ("moving.png", animation("apng", (320, 240), 3, 10)),
        ("moving.gif", animation("gif", (320, 240), 3, 10)),
        ("sequential.jpg", jpeg(320, 240, false)),
        ("progressive.jpg", jpeg(320, 240, true)),
    ] {
        let marker = codec(probe(&file).format).end_marker();
        assert!(file.ends_with(marker) && !marker.is_empty(), "{name}");
        for left in 0..marker.len() {
            let cut = &file[..file.len() - marker.len() + left];
            let name = format!("{left}-{name}");
            house.put(&name, cut);
            for recipe in RECIPES {
                let target = format!("/r/{recipe}/{name}");
                let reply = house.get(&target);
                assert_eq!(reply.status, 200, "{target}: {}", reply.text());
                decoded(&reply.body);
            }
            let copy = house.get(&format!("/r/original/{name}"));
            assert!(copy.body == file, "{name}: not what it was");
            for _ in 0..2 {
                let plain = house.get(&format!("/{name}"));
                assert_eq!(plain.status, 200, "{name}: {}", plain.text());
                assert!(plain.body == file, "{name}");
            }
        }
    }
}

#[test]
fn a_file_that_lacks_pixels_is_refused_whatever_is_asked_for() {
    let house = House::new();
    let (sequential, progressive) = (jpeg(320, 240, false), jpeg(320, 240, true));
    let (png, moving) = (png(), animation("apng", (320, 240), 3, 10));
    let gif = animation("gif", (320, 240), 3, 10);
    let cases = [
        ("tail.jpg", &sequential[..sequential.len() - 12]),
        ("half.jpg", &sequential[..sequential.len() / 2]),
        // Between two scans, and inside the last one.
        (
            "scans.jpg",
            &progressive[..last(&progressive, &[0xff, 0xda])],
        ),
        ("scan.jpg", &progressive[..progressive.len() - 12]),
        ("half.png", &png[..png.len() / 2]),
        ("frame.png", &moving[..last(&moving, b"fcTL") - 4]),
        ("half.gif", &gif[..gif.len() / 2]),
    ];
    for (name, cut) in cases {
        house.put(name, cut);
        for recipe in RECIPES {
            let target = format!("/r/{recipe}/{name}");
            let reply = house.get(&target);
            assert_eq!(reply.status, 415, "{target}");
        }
    }
}

#[test]
fn what_there_is_of_a_cut_file_is_shown_where_the_operator_says_so_with_a_note_and_for_a_short_time()
 {
    let house = House::with("[limits]\nbroken = \"show\"\n[cache]\nnegative = \"7s\"\n");
    let (sequential, progressive) = (jpeg(320, 240, false), jpeg(320, 240, true));
    let (png, gif) = (png(), animation("gif", (320, 240), 3, 10));
    let still = written("gif", &still(320, 240, 0), &Encode::default());
    for (name, cut) in [
        ("half.jpg", &sequential[..sequential.len() / 2]),
        ("tail.jpg", &sequential[..sequential.len() - 12]),
        (
            "scans.jpg",
            &progressive[..last(&progressive, &[0xff, 0xda])],
        ),
        ("half.png", &png[..png.len() / 2]),
        ("still.gif", &still[..still.len() / 2]),
        ("half.gif", &gif[..gif.len() / 2]),
    ] {
        house.put(name, cut);
        for recipe in RECIPES {
            let target = format!("/r/{recipe}/{name}");
            let reply = house.get(&target);
            assert_eq!(reply.status, 200, "{target}: {}", reply.text());
            let note = reply.header("andon-note").unwrap_or_default();
            assert!(note.contains("cut or damaged"), "{target}: {note}");
            let life = reply.header("cache-control").unwrap_or_default();
            let seconds = life
                .strip_prefix("max-age=")
                .and_then(|text| text.parse().ok());
            assert!(
                seconds.is_some_and(|seconds: u32| seconds <= 7),
                "{target}: {life}"
            );
        }
        // The upper left is what it was, near enough.
        let whole = if name.ends_with("jpg") {
            decoded(&sequential)
        } else {
            self::still(320, 240, 0)
        };
        let shown = decoded(&house.get(&format!("/r/turn:180,as:png/{name}")).body);
        assert_eq!((shown.width, shown.height), (320, 240), "{name}");
        if ["half.jpg", "half.png"].contains(&name) {
            assert_eq!(
                samples(&shown.planes[0]).first(),
                Some(&255),
                "{name}: what is missing is white"
            );
        }
        if name.ends_with("png") {
            let (shown, whole) = (samples(&shown.planes[0]), samples(&whole.planes[0]));
            // With white it has one colour more than a palette holds.
            let (last, first) = (shown[shown.len() - 1], whole[0]);
            assert!(last.abs_diff(first) <= 2, "{name}: {last} for {first}");
        }
    }
    house.put("none.jpg", &sequential[..20]);
    assert_eq!(house.get("/r/fit:20x20/none.jpg").status, 415);
    let whole = house.get("/r/fit:20x20/a.jpg");
    assert_eq!((whole.status, whole.header("andon-note")), (200, None));
}

#[test]
fn a_damaged_chunk_that_no_pixel_needs_is_passed_over_whatever_is_asked_for() {
    let house = House::new();
    let mut file = png();
    // A power that would change every colour, with a checksum that is wrong.
    let at = 33;
    let chunk = [&[0, 0, 0, 4][..], b"gAMA", &[0, 1, 0x86, 0xa0], &[0; 4]].concat();
    file.splice(at..at, chunk);
    house.put("gama.png", &file);
    for recipe in RECIPES {
        let reply = house.get(&format!("/r/{recipe}/gama.png"));
        assert_eq!(reply.status, 200, "{recipe}: {}", reply.text());
    }
    let shown = decoded(&house.get("/r/turn:180,as:png/gama.png").body);
    let plain = still(320, 240, 0);
    for (shown, plain) in shown.planes.iter().zip(&plain.planes) {
        assert!(samples(shown).iter().rev().eq(samples(plain)));
    }
}

#[test]
fn a_file_that_is_no_image_is_415_in_every_dialect_and_one_that_is_not_there_404() {
    let keys = "fs.files = \"images\"\n";
    let dialects = "[imgix]\nprefix = \"/imgix\"\n[imagor]\nprefix = \"/imagor\"\nallow_unsafe = true\n[cloudflare]\nprefix = \"/cdn-cgi/image\"\n";
    let origin = "[[origin]]\nprefix = \"/in\"\nfs.root = \"root\"\n";
    let house = House::with(&format!("{dialects}{origin}{keys}"));
    house.put("page.jpg", "<html>not found</html>");
    for name in ["page.jpg", "none.jpg"] {
        for target in [
            format!("/r/fit:20x20/in/{name}"),
            format!("/small_light(dw=20,dh=20)/in/{name}"),
            format!("/cdn-cgi/image/width=20/in/{name}"),
            format!("/imgix/in/{name}?w=20"),
            format!("/imagor/unsafe/20x20/in/{name}"),
        ] {
            let status = match name {
                // As imagor itself has it.
                "page.jpg" if target.starts_with("/imagor") => 406,
                "page.jpg" => 415,
                _ => 404,
            };
            assert_eq!(house.get(&target).status, status, "{target}");
        }
    }
}
