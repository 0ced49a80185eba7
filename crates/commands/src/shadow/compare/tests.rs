use std::path::Path;

use andon_pixels::{Engine, Limits, Run};

use super::*;

fn sample(name: &str) -> Vec<u8> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    std::fs::read(samples.join(name)).unwrap()
}

fn reply(status: u16, headers: &[(&str, &str)], body: &[u8]) -> io::Result<Fetched> {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Ok(Fetched {
        status,
        headers: headers.iter().map(pair).collect(),
        body: body.to_vec(),
    })
}

fn image(name: &str) -> io::Result<Fetched> {
    reply(200, &[("content-type", "image/jpeg")], &sample(name))
}

const STRICT: Tolerance = Tolerance {
    ssim: 0.95,
    size_tolerance: 0,
};

fn kinds(old: &io::Result<Fetched>, new: &io::Result<Fetched>) -> Vec<Kind> {
    let compared = compare(old, new, STRICT, "");
    compared.differences.iter().map(|it| it.kind).collect()
}

#[test]
fn the_same_reply_does_not_differ() {
    let compared = compare(&image("jpeg/420.jpg"), &image("jpeg/420.jpg"), STRICT, "");
    assert!(compared.same_bytes && compared.differences.is_empty());
}

#[test]
fn other_sampling_is_other_bytes_but_no_difference_and_another_image_is_one() {
    let old = image("jpeg/420.jpg");
    let compared = compare(&old, &image("jpeg/444.jpg"), STRICT, "");
    assert!(!compared.same_bytes && !compared.differs(), "{compared:?}");
    assert!(compared.ssim.is_some_and(|ssim| ssim > 0.95 && ssim < 1.0));
    assert_eq!(kinds(&old, &image("photos/otter.jpg")), [Kind::Size]);
}

#[test]
fn a_row_less_is_a_difference_unless_it_is_tolerated() {
    let of = |recipe: &str| {
        let engine = Engine::new(andon_codecs::ALL, Limits::default());
        let body = sample("photos/otter.jpg");
        let plan = engine
            .plan(&recipe.parse::<andon_recipe::Recipe>().unwrap(), &body)
            .unwrap();
        let made = engine.run(&plan, Run::of(&body)).unwrap();
        reply(200, &[("content-type", "image/jpeg")], made.bytes(&body))
    };
    let [old, less, other, mirrored] = [
        "exact:300x199",
        "exact:300x200",
        "exact:300x201",
        "exact:300x200,flip:h",
    ]
    .map(of);
    assert_eq!(kinds(&old, &less), [Kind::Size]);
    let one = Tolerance {
        size_tolerance: 1,
        ..STRICT
    };
    let compared = compare(&old, &less, one, "");
    assert_eq!(compared.sizes, Some([[300, 199], [300, 200]]));
    assert_eq!(compared.worst(), Some(Kind::Rounding), "{compared:?}");
    assert!(!compared.differs() && compared.ssim.is_some_and(|ssim| ssim > 0.97));
    assert_eq!(compare(&less, &old, one, "").worst(), Some(Kind::Rounding));
    assert_eq!(compare(&old, &other, one, "").worst(), Some(Kind::Size));
    assert_eq!(
        compare(&old, &mirrored, one, "").worst(),
        Some(Kind::Pixels)
    );
}

#[test]
fn gray_in_place_of_colours_is_seen_though_luma_is_the_same() {
    let mut gray = DecodedImage::decode(&sample("jpeg/444.jpg")).unwrap();
    let colours = gray.clone();
    for (pixel, luma) in gray.rgb.chunks_mut(3).zip(colours.luma()) {
        pixel.fill(luma.round() as u8);
    }
    assert!(ssim(&gray, &colours).unwrap() > 0.99);
    assert!(levels_apart(&gray, &colours) > MOST_LEVELS);
}

#[test]
fn a_fine_pattern_that_lies_a_pixel_elsewhere_has_the_same_colours() {
    let mut stripes = DecodedImage::decode(&sample("jpeg/444.jpg")).unwrap();
    let width = stripes.width as usize;
    let mut moved = stripes.clone();
    for (image, shift) in [(&mut stripes, 0), (&mut moved, 1)] {
        for (at, pixel) in image.rgb.chunks_mut(3).enumerate() {
            pixel.fill(255 * u8::from((at % width + shift) % 4 < 2));
        }
    }
    assert!(levels_apart(&stripes, &moved) < MOST_LEVELS / 2.0);
    for pixel in moved.rgb.chunks_mut(3) {
        pixel[2] = 0;
    }
    assert!(levels_apart(&stripes, &moved) > MOST_LEVELS);
}

#[test]
fn a_reply_that_is_missing_cut_or_of_another_status_is_the_worst() {
    let whole = image("jpeg/420.jpg");
    let failed = Err(io::Error::other("reset"));
    assert_eq!(kinds(&whole, &failed), [Kind::NoReply]);
    let missing = reply(404, &[("content-type", "text/plain")], b"no");
    assert_eq!(kinds(&whole, &missing), [Kind::Status]);
    let bytes = sample("jpeg/420.jpg");
    let cut = reply(
        200,
        &[("content-type", "image/jpeg")],
        &bytes[..bytes.len() / 3],
    );
    assert_eq!(kinds(&whole, &cut), [Kind::Broken]);
}

#[test]
fn an_animation_that_stands_still_is_seen() {
    let gif = |body: &[u8]| reply(200, &[("content-type", "image/gif")], body);
    let moving = sample("gif/animated.gif");
    let still = DecodedImage::thumbnail(&moving, 4096).unwrap();
    assert_eq!(kinds(&gif(&moving), &gif(&still)), [Kind::Frames]);
}

#[test]
fn headers_are_compared_by_what_they_mean() {
    let with = |headers: &[(&str, &str)]| {
        let all = [&[("content-type", "image/jpg; q=1")], headers].concat();
        reply(200, &all, &sample("jpeg/420.jpg"))
    };
    let old = with(&[
        ("cache-control", "max-age=60, public"),
        ("vary", "Accept"),
        ("etag", "\"1\""),
    ]);
    let same = with(&[
        ("cache-control", "Public"),
        ("cache-control", "max-age=60"),
        ("vary", "accept"),
        ("etag", "W/\"2\""),
    ]);
    assert_eq!(kinds(&old, &same), []);
    let compared = compare(&old, &with(&[("cache-control", "max-age=60")]), STRICT, "");
    let told: Vec<String> = compared
        .differences
        .iter()
        .map(|it| format!("{}: {}", it.kind.name(), it.what))
        .collect();
    assert_eq!(
        told,
        [
            "Cache-Control: `max-age=60, public` and `max-age=60`",
            "ETag: `one` and none",
            "Vary: `accept` and none",
        ]
    );
    assert!(!compared.differs(), "headers alone decide nothing");
}

#[test]
fn another_format_that_the_client_names_is_no_difference() {
    let old = image("jpeg/420.jpg");
    let png = reply(
        200,
        &[("content-type", "image/png")],
        &DecodedImage::thumbnail(&sample("jpeg/420.jpg"), 4096).unwrap(),
    );
    for (accept, kind) in [
        ("", Kind::MediaType),
        ("image/webp,*/*;q=0.8", Kind::MediaType),
        ("image/png;q=0,*/*", Kind::MediaType),
        ("image/webp, image/PNG;q=0.9,*/*", Kind::Negotiated),
    ] {
        assert_eq!(
            compare(&old, &png, STRICT, accept).worst(),
            Some(kind),
            "{accept}"
        );
    }
}

#[test]
fn documents_are_compared_by_their_bytes() {
    let json = |body: &[u8]| reply(200, &[("content-type", "application/json")], body);
    assert_eq!(kinds(&json(b"{}"), &json(b"{ }")), [Kind::Content]);
    let html = reply(200, &[("content-type", "text/html")], b"{}");
    assert_eq!(kinds(&json(b"{}"), &html), [Kind::MediaType]);
}

#[test]
fn what_the_new_server_does_not_have_is_a_difference_and_other_notes_are_none() {
    let old = image("jpeg/420.jpg");
    let noted = |note: &str| {
        let headers = [("content-type", "image/jpeg"), ("andon-note", note)];
        kinds(&old, &reply(200, &headers, &sample("jpeg/420.jpg")))
    };
    let missing = "wm: there is neither `wmu` nor an `imgproxy.watermark` in the configuration; it is ignored";
    assert_eq!(noted(missing), [Kind::Missing]);
    assert_eq!(
        noted("ra: images are always scaled with Lanczos 3; it is ignored"),
        []
    );
}

#[test]
fn a_fallback_image_that_the_old_server_did_not_send_is_a_difference() {
    let old = image("jpeg/420.jpg");
    let headers = [
        ("content-type", "image/jpeg"),
        ("andon-fallback", "origin_denied"),
    ];
    let same = reply(200, &headers, &sample("jpeg/420.jpg"));
    assert_eq!(kinds(&old, &same), []);
    let missing = reply(404, &headers, &sample("jpeg/420.jpg"));
    assert_eq!(kinds(&missing, &missing), []);
    let other = reply(200, &headers, &sample("jpeg/gray.jpg"));
    let compared = compare(
        &old,
        &other,
        Tolerance {
            ssim: 0.9,
            ..STRICT
        },
        "",
    );
    let told = compared
        .differences
        .iter()
        .find(|it| it.kind == Kind::Missing)
        .unwrap();
    assert!(told.what.ends_with("because of origin_denied"), "{told:?}");
    assert_eq!(compared.notes, [told.what.as_str()]);
}

#[test]
fn a_redirect_is_told_with_the_site_that_it_leads_to() {
    let location = "https://shop.example:8443/img/a.jpg?w=300";
    let old = reply(301, &[("location", location)], b"");
    let compared = compare(
        &old,
        &image("jpeg/420.jpg"),
        Tolerance {
            ssim: 0.9,
            ..STRICT
        },
        "",
    );
    let what = &compared.differences[0].what;
    assert_eq!(what, "301 (to https://shop.example:8443) and 200");
}
