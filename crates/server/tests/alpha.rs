//! Images that are not opaque, in formats without opacity: results are compared with Pillow's `alpha_composite`.

use std::process::Command;

use crate::common::{House, Reply};

const CLEAR: [&str; 4] = [
    "png/alpha.png",
    "png/gray-alpha.png",
    "png/palette-alpha.png",
    "webp/alpha-lossless.webp",
];

/// Returns the largest difference of a sample, in levels of 255, between the opaque image `flat` and the image `clear`
/// composited over `colour` (hexadecimal RGB).
fn difference(house: &House, clear: &Reply, flat: &Reply, colour: &str) -> u32 {
    let clear = house.put("clear", &clear.body);
    let flat = house.put("flat", &flat.body);
    let script = "import sys; from PIL import Image, ImageChops, ImageColor\n\
        clear = Image.open(sys.argv[1]).convert('RGBA'); flat = Image.open(sys.argv[2])\n\
        assert flat.mode in ('RGB', 'L', 'P'), flat.mode\n\
        ground = Image.new('RGBA', clear.size, ImageColor.getrgb('#' + sys.argv[3]))\n\
        right = Image.alpha_composite(ground, clear).convert('RGB')\n\
        print(max(most for _, most in ImageChops.difference(right, flat.convert('RGB')).getextrema()))";
    let output = Command::new("/usr/bin/python3")
        .args(["-c", script])
        .args([&clear, &flat])
        .arg(colour)
        .output()
        .expect("python3 with Pillow");
    let told = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    told.parse()
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn upload(house: &House, recipe: &str, name: &str) -> Reply {
    let body = std::fs::read(house.file(name)).expect("an image");
    let mut client = house.client();
    let length = body.len().to_string();
    let headers = [("Andon-Recipe", recipe), ("Content-Length", &*length)];
    client.ask("POST", "/_andon/render", &headers);
    client.send(&body);
    let reply = client.reply("POST");
    assert_eq!(reply.status, 200, "{recipe}: {}", reply.text());
    reply
}

#[test]
fn half_transparent_pixels_blend_with_the_ground_resized_or_not() {
    let house = House::with("[upload]\nallow = \"local\"\n");
    for sample in CLEAR {
        house.put_sample("image", sample);
        for size in ["", "exact:61x47,", "exact:500x380,"] {
            let clear = upload(&house, &format!("{size}as:png"), "image");
            let flat = upload(&house, &format!("{size}flatten:3080c0,as:png"), "image");
            let most = difference(&house, &clear, &flat, "3080c0");
            // Few colours stay few in a PNG: those between them are the nearest of a palette.
            let few = sample.contains("palette") && !size.is_empty();
            let allowed = if few { 24 } else { 2 };
            assert!(most <= allowed, "{sample} {size}: {most} levels");
        }
    }
}

#[test]
fn a_jpeg_shows_white_or_cc_or_what_is_configured() {
    let white = House::new();
    let blue = House::with("background = \"3080c0\"\n");
    for sample in CLEAR {
        for size in ["dw=5000", "dw=61"] {
            for (house, cc, ground) in [
                (&white, "", "ffffff"),
                (&white, ",cc=c04020", "c04020"),
                (&blue, "", "3080c0"),
                (&blue, ",cc=ffffffff", "ffffff"),
            ] {
                // A name of its own: what is at an old one is looked at once a second.
                let name = sample.replace('/', "-");
                house.put_sample(&name, sample);
                let clear = house.get(&format!("/small_light({size},of=png)/{name}"));
                let flat = house.get(&format!("/small_light({size},of=jpeg,q=100{cc})/{name}"));
                assert_eq!(
                    (flat.status, flat.format()),
                    (200, "jpeg"),
                    "{}",
                    flat.text()
                );
                // What JPEG rounds by itself: before that it is what the lossless formats have.
                let most = difference(house, &clear, &flat, ground);
                assert!(most <= 6, "{sample} {size} {cc}: {most} levels");
            }
        }
    }
}

#[test]
fn strict_mode_shows_hidden_colours_as_the_module_does() {
    let house = House::with("[small_light]\ncompat = \"strict\"\n");
    house.put_sample("image", "png/alpha.png");
    let clear = house.get("/small_light(of=png)/image");
    let flat = house.get("/small_light(of=jpeg,q=100)/image");
    assert!(difference(&house, &clear, &flat, "ffffff") > 20);
}

#[test]
fn two_spellings_of_one_ground_are_one_result() {
    let tag = |house: &House, cc: &str| {
        let reply = house.get(&format!("/small_light(dw=50,of=jpeg{cc})/a.jpg"));
        reply.header("etag").expect("a tag").to_owned()
    };
    let (white, blue) = (House::new(), House::with("background = \"3080c0\"\n"));
    assert_eq!(tag(&blue, ""), tag(&blue, ",cc=3080c0"));
    assert_eq!(tag(&white, ""), tag(&white, ",cc=ffffffff"));
    assert_ne!(tag(&white, ""), tag(&white, ",cc=000000"));
}
