//! Tests of the arithmetic of sizes, beyond the golden vectors.

use super::{rules, sane, strict};
use crate::small_light::rules::layout::Layout;

fn layout(options: &str, width: u32, height: u32) -> Layout {
    rules(sane(), options)
        .layout(width, height)
        .expect("a layout")
}

#[test]
fn images_do_not_grow_unless_asked() {
    assert_eq!(layout("dw=100,dh=100", 50, 40).scaling, None);
}

#[test]
fn an_absent_width_is_the_whole_side_and_what_hangs_over_is_cut_then_stretched() {
    let scaling = layout("sx=200,dw=100", 400, 300).scaling.unwrap();
    assert_eq!((scaling.width, scaling.height), (100, 75));
    assert_eq!(scaling.from, Some((200, 0, 200, 300)));
}

#[test]
fn a_region_wholly_outside_is_blank() {
    let layout = layout("sx=500,sw=100,sh=100,dw=50,dh=50", 400, 300);
    assert_eq!(layout.scaling.unwrap().from, None);
    assert_eq!((layout.width, layout.height), (50, 50));
}

#[test]
fn a_side_that_truncates_to_nothing_becomes_one_pixel_unless_strict() {
    for (options, width, height, size) in [
        ("dw=100,dh=100", 1920, 10, (100, 1)),
        ("dw=256", 10_000, 39, (256, 1)),
        ("dh=100", 10, 1920, (1, 100)),
        ("dw=0.1p,dh=100p", 400, 300, (1, 1)),
    ] {
        let layout = layout(options, width, height);
        assert_eq!((layout.width, layout.height), size, "{options}");
        let strictly = rules(strict(), options).layout(width, height);
        assert!(strictly.is_err(), "{options}");
    }
}

#[test]
fn less_than_a_pixel_is_refused_where_it_is_asked_for() {
    for (options, why) in [
        ("dw=0", "of 0 px"),
        ("dh=0.9", "of 0.9 px"),
        ("dw=10,dh=0p,da=n", "of 0 px"),
        ("sw=0,sh=0,dw=10,dh=10,ds=s", "without pixels"),
    ] {
        let error = rules(sane(), options).layout(400, 300).unwrap_err();
        assert!(error.why.contains(why), "{error}");
        assert!(error.piece.starts_with("small_light("), "{error}");
    }
}

#[test]
fn canvas_offsets_in_percent_are_of_the_image() {
    let canvas = layout("cw=800,ch=800,dx=50p", 400, 300).canvas.unwrap();
    assert_eq!((canvas.x, canvas.y), (200, 250));
}

#[test]
fn the_original_is_the_answer_when_the_image_is_small_or_large_enough() {
    assert!(!layout("pt=ptss,dw=50,dh=50", 50, 40).original);
    assert!(layout("pt=ptss", 400, 300).original, "no size");
    assert!(!layout("pt=ptls,dw=100,dh=100", 50, 40).original);
    assert!(!layout("pt=ptls", 400, 300).original, "no size");
}

#[test]
fn huge_sizes_saturate_for_a_limit_to_refuse() {
    let layout = layout("dh=1000000,ds=s", 1_000_000, 1);
    assert_eq!((layout.width, layout.height), (u32::MAX, 1_000_000));
}
