//! `andon translate`: translates URLs of one dialect to another, and reports what the other cannot express.

use crate::common::andon;

fn translate(words: &[&str]) -> (bool, String) {
    let output = andon(&[&["translate"], words].concat(), &[]);
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[test]
fn a_box_is_said_in_every_dialect_that_has_one() {
    let (done, told) = translate(&[
        "/small_light(dw=250,dh=250,q=80)/trip/a%20b.jpg",
        "--to",
        "all",
    ]);
    assert!(done, "{told}");
    for part in [
        "reads        small_light: small_light(dw=250,dh=250,q=80)\n",
        "small_light  /small_light(dw=250,dh=250,q=80)/trip/a%20b.jpg\n",
        "native       /r/fit:250x250,q:80/trip/a%20b.jpg\n",
        "image_filter /image_filter(resize,250,250,q=80)/trip/a%20b.jpg\n",
        "iiif         /iiif/3/trip%2Fa%20b.jpg/full/!250,250/0/default.jpg\n",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
}

#[test]
fn what_rounds_otherwise_is_told() {
    let (done, told) = translate(&["/small_light(dw=150,q=75)/a.jpg", "--to", "native"]);
    assert!(
        !done && told.contains("native       /r/fit:150x,q:75/a.jpg"),
        "{told}"
    );
    // image_filter truncates fractions, too.
    let (done, told) = translate(&["/image_filter(resize,150,-)/a.jpg", "--to", "small_light"]);
    assert!(told.contains("/small_light(dw=150"), "{told}");
    assert_eq!(done, !told.contains("but "), "{told}");
}

#[test]
fn a_known_size_makes_whole_pixels_of_what_the_other_has_no_rule_for() {
    let url = "/small_light(sx=10,sy=20,sw=100,sh=100,dw=50,dh=50,q=80)/a.jpg";
    let (done, told) = translate(&[url, "--to", "native", "--size", "400x300"]);
    assert!(done, "{told}");
    assert!(
        told.contains("recipe       crop:10:20:100x100,exact:50x50,q:80"),
        "{told}"
    );
    assert!(
        told.contains("/r/crop:10:20:100x100,exact:50x50,q:80/a.jpg"),
        "{told}"
    );
    let (done, told) = translate(&[url, "--to", "image_filter", "--size", "400x300"]);
    assert!(
        !done && told.contains("image_filter no: the nearest is"),
        "{told}"
    );
}

#[test]
fn output_that_cannot_be_said_is_named() {
    let (done, told) = translate(&["/r/fit:150x150,as:webp,q:80/a.jpg", "--to", "image_filter"]);
    assert!(!done && told.contains("but without as:webp"), "{told}");
}

#[test]
fn what_is_no_url_of_a_dialect_is_refused() {
    let (done, told) = translate(&["/a.jpg", "--to", "native", "--from", "small_light"]);
    assert!(
        !done && told.contains("no dialect reads an image from /a.jpg"),
        "{told}"
    );
    let (done, told) = translate(&[
        "/r/fit:wide/a.jpg",
        "--to",
        "small_light",
        "--from",
        "native",
    ]);
    assert!(!done && told.contains("andon: native: `"), "{told}");
    let (done, told) = translate(&["/r/fit:1x/a.jpg", "--to", "gimp"]);
    assert!(
        !done && told.contains("there is no dialect `gimp`"),
        "{told}"
    );
}
