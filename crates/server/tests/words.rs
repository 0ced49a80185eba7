//! Text that dialects write on images: where it lies, how it is broken into lines, and what is told of letters that no
//! font has.

use andon_pixels::Encode;

use crate::common::images::{rgb, written};
use crate::common::{House, Reply, figure};

const LANGUAGES: &str = "[imgproxy]\nprefix = \"/imgproxy\"\n[imagor]\nprefix = \"/imagor\"\nallow_unsafe = true\n\
                         [imgix]\nprefix = \"/imgix\"\n";

/// A server with a white image of 300x200 px.
fn house() -> House {
    let house = House::with(LANGUAGES);
    let white = rgb(300, 200, |_, _| 255);
    house.put("white.png", written("png", &white, &Encode::default()));
    house
}

/// The edges of what is not white: left, top, right and bottom in px.
fn ink(reply: &Reply) -> [u32; 4] {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let (width, pixels) = reply.pixels();
    let mut edges = [u32::MAX, u32::MAX, 0, 0];
    for (at, pixel) in pixels.iter().enumerate() {
        if pixel[..3].iter().any(|level| *level < 128) {
            let (x, y) = (at as u32 % width, at as u32 / width);
            edges = [
                edges[0].min(x),
                edges[1].min(y),
                edges[2].max(x),
                edges[3].max(y),
            ];
        }
    }
    assert!(edges[0] < width, "nothing is written");
    edges
}

/// Request targets that write a text of four words, for each dialect: on one line, broken into lines of at most 100 px,
/// and made smaller to fit into 100 px; empty if the dialect cannot do that.
const TEXTS: &[(&str, &str, &str)] = &[
    (
        "/imagor/unsafe/filters:text(Otters+and+other+animals,0,0,sans-20)/white.png",
        "/imagor/unsafe/filters:text(Otters+and+other+animals,0,0,sans-20,black,0,,100)/white.png",
        "",
    ),
    (
        "/imgix/white.png?txt=Otters+and+other+animals&txt-size=20&txt-align=top,left&txt-pad=0",
        "/imgix/white.png?txt=Otters+and+other+animals&txt-size=20&txt-align=top,left&txt-pad=0&txt-fit=wrap&txt-width=100",
        "/imgix/white.png?txt=Otters+and+other+animals&txt-size=20&txt-align=top,left&txt-pad=0&txt-fit=max&txt-width=100",
    ),
    (
        "/imgproxy/x/wm:1:nowe/wmt:T3R0ZXJzIGFuZCBvdGhlciBhbmltYWxz/plain/local:///white.png",
        "",
        "/imgproxy/x/wm:1:nowe/wms:100/wmt:T3R0ZXJzIGFuZCBvdGhlciBhbmltYWxz/plain/local:///white.png",
    ),
];

#[test]
fn a_text_is_broken_into_lines_or_made_smaller_where_its_box_is_too_narrow() {
    let house = house();
    for (plain, wrapped, shrunk) in TEXTS {
        let [left, _, right, bottom] = ink(&house.get(plain));
        assert!(
            left < 10 && right > 150 && bottom < 30,
            "{plain}: to {right},{bottom}"
        );
        if !wrapped.is_empty() {
            let [left, _, right, lower] = ink(&house.get(wrapped));
            assert!(
                left < 10 && right <= 100 && lower > 45,
                "{wrapped}: to {right},{lower}"
            );
        }
        if !shrunk.is_empty() {
            let [_, top, right, lower] = ink(&house.get(shrunk));
            assert!((80..=101).contains(&right), "{shrunk}: to {right}");
            assert!(lower - top < bottom, "{shrunk}: {top} to {lower}");
        }
    }
}

#[test]
fn a_text_lies_in_the_corner_that_its_url_names() {
    let house = house();
    for target in [
        "/imagor/unsafe/filters:text(Otter,-10,-10,sans-20)/white.png",
        "/imagor/unsafe/filters:label(Otter,-10,-10,20)/white.png",
        "/imgix/white.png?txt=Otter&txt-size=20",
        "/imgproxy/x/wm:1:soea:10:10/wmt:T3R0ZXI/plain/local:///white.png",
    ] {
        let [left, top, right, bottom] = ink(&house.get(target));
        assert!(left > 200 && top > 150, "{target}: from {left},{top}");
        assert!(
            (280..=290).contains(&right) && (170..=190).contains(&bottom),
            "{target}: to {right},{bottom}"
        );
    }
}

#[test]
fn letters_that_no_font_has_are_told_in_every_dialect() {
    let house = house();
    let targets = [
        "/r/text:%E6%97%A5a:20/white.png",
        "/imagor/unsafe/filters:text(b64:5pelYQ,0,0,sans-20)/white.png",
        "/imagor/unsafe/filters:label(%E6%97%A5a,0,0,20)/white.png",
        "/imgix/white.png?txt=%E6%97%A5a",
        "/imgproxy/x/wm:1/wmt:5pelYQ/plain/local:///white.png",
    ];
    // Of the whole process, and so of other tests, too; equal results are made once.
    let before = figure(&house, "andon_results_lacking_letters_total");
    for target in targets {
        let reply = house.get(target);
        assert_eq!(reply.status, 200, "{target}: {}", reply.text());
        let notes: Vec<&str> = reply
            .headers
            .iter()
            .filter(|(name, _)| name == "andon-note")
            .map(|(_, value)| value.as_str())
            .collect();
        assert!(
            notes.iter().any(|note| note.contains("U+65E5")),
            "{target}: {notes:?}"
        );
    }
    let counted = figure(&house, "andon_results_lacking_letters_total");
    assert!(counted > before, "{before} and {counted}");
}
