//! Pixels of results in the dialects of other servers, over HTTP. The expected values are those of the results that
//! these servers make.

use andon_codecs::ALL;
use andon_pixels::{Depth, Encode, Frame, Grid, Image, Model, Never, Plane};

use crate::common::{House, Reply};

const KEYS: &str = "[native]\nopen = true\n[weserv]\nprefix = \"/w\"\nopen = true\n[thumbor]\nprefix = \"/t\"\nallow_unsafe = true\n\
                    keys = [\"a key of twenty byte\"]\nopen = true\n\
                    [imagor]\nprefix = \"/i\"\nallow_unsafe = true\nkeys = [\"a key of twenty byte\"]\nopen = true\n\
                    [imgproxy]\nprefix = \"/p\"\nopen = true\n[imgix]\nprefix = \"/x\"\nopen = true\n";

/// Returns a PNG of 40 × 20 px of one colour, whose right half is fully transparent.
fn half(colour: [u8; 3]) -> Vec<u8> {
    let plane = |level: u8| Grid::from_samples(40, 20, vec![level; 800]).map(Plane::U8);
    let colours = colour.map(|level| plane(level).expect("samples")).into();
    let alpha = (0..800)
        .map(|at| if at % 40 < 20 { 255 } else { 0 })
        .collect();
    let alpha = Grid::from_samples(40, 20, alpha)
        .map(Plane::U8)
        .expect("samples");
    let frame = Frame::new(Model::Rgb, 40, 20, colours, Some(alpha)).expect("a frame");
    assert_eq!(frame.depth(), Depth::U8);
    let png = ALL.iter().find(|codec| codec.name() == "png").expect("PNG");
    png.encoder()
        .expect("an encoder")
        .encode(&Image::still(frame), &Encode::default(), &Never)
        .expect("a file")
}

fn house() -> House {
    let house = House::with(KEYS);
    house.put("half.png", half([255, 0, 0]));
    house.put("dim.png", half([120, 60, 30]));
    house
}

fn made(house: &House, target: &str) -> Reply {
    let reply = house.get(target);
    assert_eq!(reply.status, 200, "{target}: {}", reply.text());
    reply
}

/// Returns the pixel at these coordinates of the image at `target`, as red, green, blue and opacity.
fn seen(house: &House, target: &str, (x, y): (u32, u32)) -> [u8; 4] {
    let (width, pixels) = made(house, target).pixels();
    pixels[(y * width + x) as usize]
}

const CLEAR: u8 = 0;

#[test]
fn weserv_fills_around_an_image_and_not_through_it() {
    let house = house();
    let contained = "/w/?url=half.png&w=40&h=40&fit=contain&cbg=white";
    assert_eq!(seen(&house, contained, (5, 2)), [255; 4]);
    assert_eq!(seen(&house, contained, (5, 20)), [255, 0, 0, 255]);
    assert_eq!(seen(&house, contained, (35, 20))[3], CLEAR);
    let masked = "/w/?url=half.png&mask=circle&mbg=0000ff";
    assert_eq!(seen(&house, masked, (2, 2)), [0, 0, 255, 255]);
    assert_eq!(seen(&house, masked, (15, 10)), [255, 0, 0, 255]);
    assert_eq!(seen(&house, masked, (25, 10))[3], CLEAR);
}

#[test]
fn gray_is_as_light_as_the_colour_where_libvips_makes_it() {
    let house = house();
    for target in [
        "/w/?url=half.png&filt=greyscale",
        "/i/unsafe/filters:grayscale()/half.png",
    ] {
        let [r, g, b, _] = seen(&house, target, (5, 5));
        assert_eq!((r, g), (g, b), "{target}");
        assert!((126..=128).contains(&r), "{target}: {r}");
    }
    // The ground of a gray image is gray as well, by the numbers.
    let ground = "/w/?url=half.png&filt=greyscale&bg=ff0000";
    assert_eq!(seen(&house, ground, (35, 5)), [54, 54, 54, 255]);
}

#[test]
fn thumbor_s_contrast_and_saturation_are_its_own() {
    let house = house();
    let near = |target: &str, right: [u8; 3]| {
        let have = seen(&house, target, (5, 5));
        let apart = have
            .iter()
            .zip(right)
            .map(|(have, right)| have.abs_diff(right));
        assert!(apart.max() <= Some(1), "{target}: {have:?}, not {right:?}");
    };
    // 1.96 times as far from 128.
    near("/t/unsafe/filters:contrast(40)/dim.png", [112, 0, 0]);
    near("/t/unsafe/filters:contrast(-40)/dim.png", [125, 104, 93]);
    // The gray of 120, 60, 30 is 80.7.
    near("/t/unsafe/filters:saturation(0.3)/dim.png", [92, 74, 65]);
    near("/t/unsafe/filters:saturation(0)/dim.png", [80, 80, 80]);
    let sharpened = made(&house, "/t/unsafe/filters:sharpen(2,1,true)/dim.png");
    let note = sharpened.header("andon-note").unwrap_or_default();
    assert!(note.contains("wavelets"), "{note}");
}

#[test]
fn what_is_transparent_is_black_in_a_jpeg_of_thumbor_and_imagor() {
    let house = house();
    for dialect in ["t", "i"] {
        let target = format!("/{dialect}/unsafe/filters:format(jpeg):quality(95)/half.png");
        let [r, g, b, _] = seen(&house, &target, (36, 10));
        assert!(r.max(g).max(b) <= 2, "{dialect}: {r} {g} {b}");
    }
}

#[test]
fn where_no_file_is_short_enough_the_shortest_is_sent() {
    let house = house();
    for target in [
        "/t/unsafe/filters:max_bytes(10)/a.jpg",
        "/i/unsafe/filters:max_bytes(10)/a.jpg",
        "/p/x/mb:10/plain/local:///a.jpg",
        "/r/max:10:shortest,as:jpeg/a.jpg",
    ] {
        let small = made(&house, target);
        assert_eq!(small.format(), "jpeg", "{target}");
    }
    assert_eq!(house.get("/r/max:10,as:jpeg/a.jpg").status, 400);
}

#[test]
fn whoever_asks_whether_they_are_alive_hears_it() {
    let house = house();
    assert_eq!(made(&house, "/t/healthcheck").text(), "WORKING");
    assert_eq!(made(&house, "/i/healthcheck").text(), "");
    assert_eq!(made(&house, "/i/favicon.ico").text(), "");
    assert_eq!(house.get("/t/favicon.ico").status, 404);
}

#[test]
fn options_of_imgproxy_act_as_far_as_they_can_and_say_what_they_cannot() {
    let house = house();
    let body = |options: &str| made(&house, &format!("/p/x/{options}/plain/local:///a.jpg")).body;
    for (option, plain) in [
        ("w:99/ush:auto", "w:99"),
        ("ush:always:1:24", "w:0"),
        ("f:avif/avifo:off", "f:avif"),
        ("f:webp/webpo:near_lossless", "f:webp"),
        ("f:png/pngo::1:16", "f:png"),
    ] {
        assert!(body(option) != body(plain), "{option}");
    }
    for option in [
        "pbl:3",
        "crop_objects:face",
        "co:face:dog",
        "bc:1",
        "ct:a:b",
        "jpgo:0:0:1",
        "webpo:lossy:1",
        "aq:dssim:0.02",
        "cp:cmyk",
        "gifo:1",
        "jxlo:1",
    ] {
        let reply = made(&house, &format!("/p/x/{option}/plain/local:///a.jpg"));
        let note = reply.header("andon-note").unwrap_or_default();
        let (name, _) = option.split_once(':').expect("an option");
        assert!(note.contains(name), "{option}: {note}");
    }
    assert_eq!(
        house.get("/p/x/nonsense:1/plain/local:///a.jpg").status,
        404
    );
}

#[test]
fn imgproxy_never_makes_a_file_larger_that_it_only_encodes() {
    let house = house();
    let poor = made(&house, "/r/as:jpeg,q:30,metadata:none/a.jpg").body;
    house.put("poor.jpg", &poor);
    assert!(made(&house, "/p/x/q:90/plain/local:///poor.jpg").body == poor);
    assert!(made(&house, "/p/x/q:90/w:50/plain/local:///poor.jpg").body != poor);
    assert!(made(&house, "/p/x/q:90/f:png/plain/local:///poor.jpg").body != poor);
}

#[test]
fn imgix_shows_the_last_page_and_notes_what_it_leaves_out() {
    let house = house();
    made(&house, "/x/a.jpg?page=3&w=50");
    made(&house, "/x/a.jpg?frame=3&w=50");
    let mixed = made(&house, "/x/a.jpg?duotone=000000,ffffff&duotone-alpha=50");
    let note = mixed.header("andon-note").unwrap_or_default();
    assert!(note.contains("duotone-alpha"), "{note}");
}

#[test]
fn a_text_that_no_font_can_write_says_so() {
    let house = house();
    let wordless = made(&house, "/r/text:%E6%97%A5%E6%9C%AC:20,as:png/a.jpg");
    let note = wordless.header("andon-note").unwrap_or_default();
    assert!(note.contains("U+65E5, U+672C"), "{note}");
    let written = made(&house, "/r/text:Otter:20,as:png/a.jpg");
    assert_eq!(written.header("andon-note"), None);
}
