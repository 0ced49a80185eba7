//! The recipe effect `text`, drawn with the bundled font.

use crate::support;
use andon_codecs::ALL;
use andon_pixels::{Engine, Limits, Run};
use andon_recipe::Recipe;

const WIDTH: usize = 200;

/// Returns what a text adds to a black image of 200 × 120 px, in levels of white.
fn written(text: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/");
    let source = std::fs::read(format!("{folder}jpeg/420.jpg")).expect("a sample");
    let engine = Engine::new(ALL, Limits::default());
    let recipe = format!("exact:200x120,brightness:-255,{text},as:png");
    let recipe: Recipe = recipe.parse().expect("a recipe");
    let plan = engine.plan(&recipe, &source).expect("a plan");
    let made = engine.run(&plan, Run::of(&source)).expect("an image");
    let image = support::decode(support::codec("png"), made.bytes(&source)).expect("a PNG");
    let pixels = support::rgba(&image.frame);
    pixels.chunks(4).map(|pixel| pixel[0]).collect()
}

/// Returns the left, top, right and bottom edge of the pixels brighter than half, and the total brightness in px.
fn seen(levels: &[u8]) -> ([usize; 4], f64) {
    let lit = levels.iter().enumerate().filter(|(_, level)| **level > 127);
    let edges = lit.fold([usize::MAX, usize::MAX, 0, 0], |[l, t, r, b], (at, _)| {
        let (x, y) = (at % WIDTH, at / WIDTH);
        [l.min(x), t.min(y), r.max(x + 1), b.max(y + 1)]
    });
    let sum: f64 = levels.iter().map(|level| f64::from(*level)).sum();
    (edges, sum / 255.0)
}

/// Compares with Pillow's FreeType, for the same letters of the same font at the same point: edges to 1 px, areas to 5
/// %.
#[test]
fn letters_stand_where_gravity_says_and_look_as_another_rasterizer_draws_them() {
    for (text, edges, area) in [
        ("text:Hxg:40:ffffff:northwest:10", [14, 17, 86, 56], 741.3),
        (
            "text:Hxg:40:ffffff:southeast:10",
            [115, 70, 187, 109],
            741.3,
        ),
        ("text:Hxg:40:ffffff", [64, 45, 136, 84], 741.3),
    ] {
        let (found, lit) = seen(&written(text));
        let near = found
            .iter()
            .zip(edges)
            .all(|(one, other)| one.abs_diff(other) <= 1);
        assert!(near, "{text}: {found:?} for {edges:?}");
        assert!((lit / area - 1.0).abs() < 0.05, "{text}: {lit} for {area}");
    }
}

/// A margin moves the same letters by this number of px, but only from a side at which they are.
#[test]
fn margins_move_letters_by_whole_px_from_the_sides_where_they_lie() {
    let at =
        |gravity: &str, margins: &str| written(&format!("text:Hxg:40:ffffff:{gravity}:{margins}"));
    for (gravity, moved) in [
        ("northwest", (15, 30)),
        ("northeast", (-15, 30)),
        ("southwest", (15, -30)),
        ("southeast", (-15, -30)),
        ("north", (0, 30)),
        ("south", (0, -30)),
        ("west", (15, 0)),
        ("east", (-15, 0)),
        ("centre", (0, 0)),
    ] {
        let (plain, away) = (at(gravity, "10x5"), at(gravity, "25x35"));
        let shifted = |x: i64, y: i64| {
            let inside = (0..200).contains(&x) && (0..120).contains(&y);
            inside.then(|| plain[(y * 200 + x) as usize])
        };
        let mut lit = 0.0;
        for (place, level) in (0..).zip(&away) {
            let (x, y) = (place % 200, place / 200);
            let want = shifted(x - moved.0, y - moved.1).unwrap_or(0);
            assert!(
                level.abs_diff(want) <= 2,
                "{gravity} {x},{y}: {level} {want}"
            );
            lit += f64::from(*level) / 255.0;
        }
        assert!(lit > 600.0, "{gravity}: {lit}");
    }
}

/// With a negative margin, letters extend beyond the side and are cut off.
#[test]
fn letters_that_hang_over_a_side_are_cut_off_there() {
    let whole = written("text:Hxg:40:ffffff:northwest:0x10");
    let cut = written("text:Hxg:40:ffffff:northwest:-20x10");
    for y in 0..120 {
        for x in 0..180 {
            let (have, want) = (cut[y * 200 + x], whole[y * 200 + x + 20]);
            assert!(have.abs_diff(want) <= 2, "{x},{y}: {have} {want}");
        }
    }
    let (_, lit) = seen(&cut);
    let (_, all) = seen(&whole);
    assert!(lit > 0.0 && lit < all);
}

#[test]
fn lines_signs_of_markup_and_opacity_are_kept() {
    let (one, _) = seen(&written("text:HH:20:ffffff:north"));
    let ([left, top, right, bottom], _) = seen(&written("text:HH%0AHH:20:ffffff:north"));
    assert_eq!([left, top, right], one[..3]);
    assert_eq!(bottom, one[3] + 24);
    // Two letters each, including those that need escaping in XML.
    let (_, signs) = seen(&written("text:%3C%26:30:ffffff"));
    assert!(signs > 150.0, "{signs}");
    let full = written("text:HH:40:ffffff");
    let half = written("text:HH:40:ffffff80");
    for (full, half) in full.iter().zip(half) {
        assert!(
            (f64::from(*full) / 2.0 - f64::from(half)).abs() <= 2.0,
            "{full} {half}"
        );
    }
    // Cyrillic and Greek.
    let (_, other) = seen(&written("text:%D0%96%20%CE%A9:30:ffffff"));
    assert!(other > 150.0, "{other}");
}
