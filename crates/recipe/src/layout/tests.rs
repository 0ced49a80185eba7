use super::{CanvasLayout, Rect};
use crate::{Layout, Recipe};

fn layout(recipe: &str, width: u32, height: u32) -> Layout {
    let recipe: Recipe = recipe.parse().expect(recipe);
    recipe.layout(width, height).expect("a layout")
}

fn size(recipe: &str, width: u32, height: u32) -> (u32, u32) {
    let layout = layout(recipe, width, height);
    (layout.width, layout.height)
}

fn canvas(recipe: &str, width: u32, height: u32) -> CanvasLayout {
    layout(recipe, width, height).canvas.expect("a canvas")
}

#[test]
fn sides_are_truncated_never_rounded() {
    assert_eq!(size("fit:200x200", 400, 300), (200, 150));
    assert_eq!(size("cover:200x200", 400, 300), (266, 200));
    assert_eq!(size("exact:200x200", 400, 300), (200, 200));
    assert_eq!(size("fit:x100", 400, 300), (133, 100));
    assert_eq!(size("fit:133x", 400, 300), (133, 99));
    assert_eq!(size("fit:50%x", 400, 300), (200, 150));
    assert_eq!(size("exact:50%x50%", 400, 300), (200, 150));
}

#[test]
fn pictures_do_not_grow_unless_asked() {
    assert_eq!(size("fit:100x100", 50, 40), (50, 40));
    assert_eq!(layout("fit:100x100", 50, 40).scaling, None);
    assert_eq!(size("fit:100x100,enlarge", 50, 40), (100, 80));
}

#[test]
fn one_axis_may_grow_while_the_other_shrinks() {
    assert_eq!(size("exact:50x500", 400, 300), (50, 500));
}

#[test]
fn a_region_acts_only_together_with_scaling() {
    assert_eq!(size("crop:10:10:100x100", 400, 300), (400, 300));
    assert_eq!(size("crop:10:10:100x100,enlarge", 400, 300), (100, 100));
    assert_eq!(
        size("crop:_:_:100x100,fit:100x100", 400, 300),
        (400, 300),
        "a crop to its own size is no scaling"
    );
    assert_eq!(
        size("crop:25%:25%:50%x50%,fit:100x100", 400, 300),
        (400, 300)
    );
}

#[test]
fn an_absent_width_is_the_whole_side_and_what_hangs_over_is_cut_then_stretched() {
    let scaling = layout("crop:200:_:_x_,fit:100x", 400, 300).scaling.unwrap();
    assert_eq!((scaling.width, scaling.height), (100, 75));
    assert_eq!(
        scaling.from,
        Some(Rect {
            x: 200,
            y: 0,
            w: 200,
            h: 300
        })
    );
}

#[test]
fn a_region_wholly_outside_is_blank() {
    let layout = layout("crop:500:_:100x100,fit:50x50", 400, 300);
    assert_eq!(layout.scaling.unwrap().from, None);
    assert_eq!((layout.width, layout.height), (50, 50));
}

#[test]
fn a_side_that_truncates_to_nothing_becomes_one_pixel() {
    for (recipe, width, height, size) in [
        ("fit:100x100", 1920, 10, (100, 1)),
        ("fit:256x", 10_000, 39, (256, 1)),
        ("fit:x100", 10, 1920, (1, 100)),
        ("fit:100x100", 10, 1920, (1, 100)),
        ("fit:0.1%x", 400, 300, (1, 1)),
    ] {
        let layout = layout(recipe, width, height);
        assert_eq!((layout.width, layout.height), size, "{recipe}");
        assert!(layout.clamped, "{recipe}");
    }
    assert!(!layout("fit:100x100", 1920, 20).clamped);
}

#[test]
fn less_than_a_pixel_is_refused_where_it_is_asked_for() {
    let refusal = |recipe: &str| {
        let recipe: Recipe = recipe.parse().unwrap();
        recipe.layout(400, 300).unwrap_err().to_string()
    };
    for (recipe, length) in [
        ("fit:0x", "of 0 px"),
        ("fit:x0.999", "of 0.999 px"),
        ("exact:10x0%", "of 0 px"),
    ] {
        assert!(refusal(recipe).contains(length), "{}", refusal(recipe));
    }
    assert!(refusal("crop:_:_:0x0,fit:10x10,enlarge").contains("without pixels"));
}

#[test]
fn the_canvas_is_centred_by_the_asked_size_even_without_scaling() {
    let at = |recipe: &str, w, h| {
        let canvas = canvas(recipe, w, h);
        (canvas.x, canvas.y)
    };
    assert_eq!(at("canvas:100x100:000000", 400, 300), (-150, -100));
    assert_eq!(at("fit:200x200,canvas:200x200:000000", 400, 300), (0, 25));
    assert_eq!(
        at("cover:200x200,canvas:200x200:000000", 400, 300),
        (-33, 0)
    );
    assert_eq!(at("fit:100x100,canvas:100x100:000000", 50, 40), (0, 10));
    assert_eq!(
        at("fit:100x100,enlarge,canvas:100x100:000000", 50, 40),
        (0, 10)
    );
}

#[test]
fn canvas_offsets_in_percent_are_of_the_picture() {
    let canvas = canvas("canvas:800x800:000000:50%:_", 400, 300);
    assert_eq!((canvas.x, canvas.y), (200, 250));
}

#[test]
fn the_original_is_the_answer_when_the_picture_is_small_enough() {
    assert!(layout("original:smaller,fit:100x100", 50, 40).original);
    assert!(!layout("original:smaller,fit:50x50", 50, 40).original);
    assert!(layout("original:smaller", 400, 300).original, "no size");
    assert!(layout("original:larger,fit:100x", 400, 300).original);
    assert!(!layout("original:larger,fit:100x100", 50, 40).original);
    assert!(!layout("original:larger", 400, 300).original, "no size");
    assert!(layout("original", 400, 300).original);
}

#[test]
fn huge_sizes_saturate_for_a_limit_to_refuse() {
    assert_eq!(
        size("fit:x1000000,enlarge", 1_000_000, 1),
        (u32::MAX, 1_000_000)
    );
}
