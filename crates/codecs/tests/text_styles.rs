//! What the named arguments of the recipe effect `text` do, and the effect `shadow`.

use crate::support;
use andon_codecs::ALL;
use andon_pixels::{Engine, Limits, Plan, Run};
use andon_recipe::Recipe;

const WIDTH: usize = 200;
const HEIGHT: usize = 120;

/// An image of 200 × 120 px as red, green and blue.
struct Drawn(Vec<[u8; 3]>);

fn planned(source: &[u8], steps: &str) -> Plan {
    let recipe: Recipe = steps.parse().expect("a recipe");
    let plan = Engine::new(ALL, Limits::default()).plan(&recipe, source);
    plan.expect(steps)
}

fn sample() -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/");
    std::fs::read(format!("{folder}jpeg/420.jpg")).expect("a sample")
}

/// Returns the result of these steps of a recipe for a black image.
fn drawn(steps: &str) -> Drawn {
    let source = sample();
    let plan = planned(
        &source,
        &format!("exact:200x120,brightness:-255,{steps},as:png"),
    );
    let engine = Engine::new(ALL, Limits::default());
    let made = engine.run(&plan, Run::of(&source)).expect("an image");
    let image = support::decode(support::codec("png"), made.bytes(&source)).expect("a PNG");
    let pixels = support::rgba(&image.frame);
    Drawn(pixels.chunks(4).map(|it| [it[0], it[1], it[2]]).collect())
}

impl Drawn {
    fn at(&self, x: usize, y: usize) -> [u8; 3] {
        self.0[y * WIDTH + x]
    }

    /// Returns the positions of the pixels that are at least half lit.
    fn lit(&self) -> Vec<(i64, i64)> {
        let lit = |pixel: &[u8; 3]| pixel.iter().any(|level| *level > 127);
        let places = self.0.iter().enumerate().filter(|(_, pixel)| lit(pixel));
        places
            .map(|(at, _)| ((at % WIDTH) as i64, (at / WIDTH) as i64))
            .collect()
    }

    /// Returns the left, top, right and bottom edge of the lit pixels.
    fn ink(&self) -> [i64; 4] {
        let edges = [i64::MAX, i64::MAX, 0, 0];
        self.lit().iter().fold(edges, |[l, t, r, b], (x, y)| {
            [l.min(*x), t.min(*y), r.max(x + 1), b.max(y + 1)]
        })
    }

    /// Returns the total brightness of a channel, in px.
    fn sum(&self, channel: usize) -> f64 {
        let levels = self.0.iter().map(|pixel| f64::from(pixel[channel]));
        levels.sum::<f64>() / 255.0
    }
}

fn assert_near(have: [i64; 4], want: [i64; 4], what: &str) {
    let near = have
        .iter()
        .zip(want)
        .all(|(one, other)| one.abs_diff(other) <= 1);
    assert!(near, "{what}: {have:?} for {want:?}");
}

#[test]
fn an_outline_has_its_colour_and_width_around_the_letters_and_leaves_them_as_they_are() {
    let plain = drawn("text:Hxg:60:ffffff");
    let letters = plain.lit();
    for width in [1_i64, 3, 6] {
        let outlined = drawn(&format!("text:Hxg:60:ffffff:outline={width}xff0000"));
        let (mut inside, mut around, mut outside) = (0, 0, 0);
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let [red, green, _] = outlined.at(x, y);
                if plain.at(x, y) == [255; 3] {
                    // Small differences in level are not visible.
                    assert!(green >= 250, "{width} {x},{y}");
                    inside += 1;
                    continue;
                }
                let far = |(a, b): &(i64, i64)| (a - x as i64).pow(2) + (b - y as i64).pow(2);
                let distance = letters.iter().map(far).min().unwrap_or(i64::MAX);
                // An edge is up to one px from the middle of the last lit pixel.
                let is_near = (distance as f64).sqrt() < width as f64 - 0.9;
                if plain.at(x, y) == [0; 3] && is_near {
                    assert!(red > 200 && green < 5, "{width} {x},{y}: {red} {green}");
                    around += 1;
                }
                if distance > (width + 2).pow(2) {
                    assert_eq!(outlined.at(x, y), [0; 3], "{width} {x},{y}");
                    outside += 1;
                }
            }
        }
        assert!(inside > 500 && outside > 5000, "{inside} {outside}");
        assert!(around > 100 || width == 1, "{around}");
    }
}

#[test]
fn an_outline_may_surround_letters_that_are_not_there() {
    let hollow = drawn("text:H:80:ffffff00:outline=4xff0000");
    assert!(hollow.sum(0) > 500.0);
    assert!(hollow.sum(1) < 1.0);
}

#[test]
fn a_shadow_lies_where_it_is_cast_behind_the_letters() {
    let plain = drawn("text:Hxg:40:ffffff:northwest");
    for (right, down) in [(5, 3), (-4, 6), (0, -2), (7, 0)] {
        let cast = drawn(&format!(
            "text:Hxg:40:ffffff:northwest:shadow=0+{right}x{down}+ff0000"
        ));
        for y in 0..HEIGHT as i64 {
            for x in 0..WIDTH as i64 {
                let from = (x - right, y - down);
                let inside =
                    (0..WIDTH as i64).contains(&from.0) && (0..HEIGHT as i64).contains(&from.1);
                let shadow = match inside {
                    true => plain.at(from.0 as usize, from.1 as usize)[0],
                    false => 0,
                };
                let letter = plain.at(x as usize, y as usize)[1];
                let [red, green, _] = cast.at(x as usize, y as usize);
                let rest = f64::from(shadow) * (1.0 - f64::from(letter) / 255.0);
                let want = f64::from(letter) + rest;
                assert!(
                    (f64::from(red) - want).abs() <= 3.0,
                    "{x},{y}: {red} {want}"
                );
                assert!(green.abs_diff(letter) <= 2, "{x},{y}: {green} {letter}");
            }
        }
    }
}

#[test]
fn a_blurred_shadow_is_as_much_as_its_letters_and_fades_beyond_them() {
    let plain = drawn("text:Hxg:30:ffffff:north:0x4");
    let letters = plain.sum(0);
    let [left, _, right, bottom] = plain.ink();
    let mut edges = Vec::new();
    for sigma in [1, 2, 4] {
        let cast = drawn(&format!(
            "text:Hxg:30:ffffff:north:0x4:shadow={sigma}+0x60+ff0000"
        ));
        // Green contains only the letters.
        let shadow = cast.sum(0) - cast.sum(1);
        assert!(
            (shadow / letters - 1.0).abs() < 0.03,
            "{sigma}: {shadow} {letters}"
        );
        let lit = |x: usize, y: usize| cast.at(x, y)[0] > cast.at(x, y)[1] + 4;
        let columns = (0..WIDTH).filter(|x| (bottom as usize..HEIGHT).any(|y| lit(*x, y)));
        let columns: Vec<usize> = columns.collect();
        let (first, last) = (columns[0] as i64, columns[columns.len() - 1] as i64);
        let beyond = (left - first).min(last + 1 - right);
        assert!(
            (i64::from(sigma)..=4 * i64::from(sigma)).contains(&beyond),
            "{sigma}: {beyond}"
        );
        edges.push(beyond);
    }
    assert!(edges.windows(2).all(|pair| pair[0] < pair[1]), "{edges:?}");
}

#[test]
fn translucent_shadows_and_letters_are_as_opaque_as_both() {
    let full = drawn("text:H:30:ffffff:north:shadow=0+0x60+ffffff");
    let half = drawn("text:H:30:ffffff:north:shadow=0+0x60+ffffff80");
    let both = drawn("text:H:30:ffffff80:north:shadow=0+0x60+ffffff80");
    for (y, share) in [(0, 1.0), (60, 0.5)] {
        for at in y * WIDTH..(y + 60) * WIDTH {
            let level = |drawn: &Drawn| f64::from(drawn.0[at][0]);
            assert!((level(&half) - share * level(&full)).abs() <= 3.0, "{at}");
            assert!(
                (level(&both) - share * 0.5 * level(&full)).abs() <= 3.0,
                "{at}"
            );
        }
    }
}

/// A line of the built-in font of 40 px is 46.8 px high, so the positions after a quarter turn can be computed.
#[test]
fn turned_text_covers_what_its_lines_cover_turned_and_lies_at_the_same_side() {
    let [l, t, r, b] = drawn("text:Hxg:40:ffffff:northwest:10x6").ink();
    let high = 47;
    let turned = |degrees: i64, gravity: &str| {
        let text = format!("text:Hxg:40:ffffff:{gravity}:10x6:turn={degrees}");
        drawn(&text).ink()
    };
    let quarter = [
        10 + high - (b - 6),
        6 + l - 10,
        10 + high - (t - 6),
        6 + r - 10,
    ];
    for degrees in [90, -270] {
        assert_near(turned(degrees, "northwest"), quarter, "a quarter");
    }
    for degrees in [180, -180] {
        let half = [200 - r, 120 - b, 200 - l, 120 - t];
        assert_near(turned(degrees, "southeast"), half, "a half");
    }
    assert_near(turned(360, "northwest"), [l, t, r, b], "all around");
    let other = [
        10 + t - 6,
        120 - 6 - (r - 10),
        10 + b - 6,
        120 - 6 - (l - 10),
    ];
    assert_near(turned(270, "southwest"), other, "three quarters");
}

#[test]
fn text_turned_by_any_angle_is_as_much_and_stays_within_its_margins() {
    let straight = drawn("text:Otter:30:ffffff").sum(0);
    for degrees in [10, 33, 45, 77, 120, 200, 301] {
        for (gravity, sides) in [
            ("northwest", [true, true, false, false]),
            ("southeast", [false, false, true, true]),
            ("centre", [false; 4]),
        ] {
            let steps = format!("text:Otter:30:ffffff:{gravity}:8:turn={degrees}");
            let turned = drawn(&steps);
            let sum = turned.sum(0);
            assert!(
                (sum / straight - 1.0).abs() < 0.03,
                "{steps}: {sum} {straight}"
            );
            let [l, t, r, b] = turned.ink();
            for (is_at, room) in sides.into_iter().zip([l, t, 200 - r, 120 - b]) {
                // The corners of the box are empty, because letters are lower than their lines.
                assert!(!is_at || (7..40).contains(&room), "{steps}: {room}");
            }
        }
    }
}

#[test]
fn text_turned_about_its_middle_leaves_it_where_it_is() {
    let straight = drawn("text:Otter:30:ffffff:southeast:40").ink();
    let half = drawn("text:Otter:30:ffffff:southeast:40:turn=180xmiddle").ink();
    let middle = |[l, t, r, b]: [i64; 4]| (l + r, t + b);
    // Letters are not in the middle of their lines, so half a turn moves them by the same distance to the other side.
    assert!((middle(straight).0 - middle(half).0).abs() <= 4);
    let other = drawn("text:Otter:30:ffffff:southeast:40:turn=180").ink();
    assert_near(half, other, "as high and as wide as before");
    let quarter = drawn("text:Otter:30:ffffff:southeast:40:turn=90xmiddle").ink();
    let (line, column) = (middle(straight), middle(quarter));
    assert!((line.0 - column.0).abs() <= 8 && (line.1 - column.1).abs() <= 8);
}

#[test]
fn opacity_is_that_of_letters_outline_and_shadow_together() {
    let style = "text:H:60:ffffff:centre:outline=3xff0000:shadow=1+9x9+0000ff";
    let (full, faded) = (drawn(style), drawn(&format!("{style}:opacity=40")));
    assert!(full.sum(2) > 1.2 * full.sum(1));
    for (full, faded) in full.0.iter().zip(&faded.0) {
        for (full, faded) in full.iter().zip(faded) {
            assert!((f64::from(*full) * 0.4 - f64::from(*faded)).abs() <= 2.0);
        }
    }
}

/// Returns the smallest distances at which an image repeats, across and down.
fn periods(drawn: &Drawn) -> (usize, usize) {
    let across = |by: &usize| {
        (0..HEIGHT).all(|y| (*by..WIDTH).all(|x| drawn.at(x, y) == drawn.at(x - by, y)))
    };
    let down = |by: &usize| {
        (*by..HEIGHT).all(|y| (0..WIDTH).all(|x| drawn.at(x, y) == drawn.at(x, y - by)))
    };
    (
        (1..WIDTH).find(across).expect("it repeats across"),
        (1..HEIGHT).find(down).expect("it repeats down"),
    )
}

#[test]
fn repeated_text_repeats_all_over_the_image_with_the_distance_between_its_copies() {
    let one = drawn("text:Hi:20:ffffff").sum(0);
    let (close, wide) = (
        drawn("text:Hi:20:ffffff:southeast:50:tile=0"),
        drawn("text:Hi:20:ffffff:tile=9x5"),
    );
    let (narrow, far) = (periods(&close), periods(&wide));
    assert_eq!((narrow.0 + 9, narrow.1 + 5), far);
    // A line of 20 px is 23.4 px high.
    assert_eq!(narrow.1, 23);
    for (drawn, (across, down)) in [(&close, narrow), (&wide, far)] {
        let copies = (WIDTH * HEIGHT) as f64 / (across * down) as f64;
        let share = drawn.sum(0) / one / copies;
        assert!((share - 1.0).abs() < 0.15, "{share}");
    }
    // The copy in the upper left is complete, and in the middle of its tile.
    let [left, ..] = wide.ink();
    assert!((4..9).contains(&left), "{left}");
}

#[test]
fn outline_shadow_and_turn_have_room_in_a_tile() {
    let plain = periods(&drawn("text:Hi:20:ffffff:tile=0"));
    let outlined = periods(&drawn("text:Hi:20:ffffff:outline=3xff0000:tile=0"));
    assert_eq!((plain.0 + 6, plain.1 + 6), outlined);
    let cast = drawn("text:Hi:20:ffffff:shadow=0+4x4+ff0000:tile=0");
    assert_eq!((plain.0 + 8, plain.1 + 8), periods(&cast));
    // For each copy, as much of the shadow is visible as with a single text.
    assert!(cast.sum(0) > 1.2 * cast.sum(1));
    let turned = periods(&drawn("text:Hi:20:ffffff:turn=90:tile=0"));
    assert!(turned.0.abs_diff(plain.1) <= 1 && turned.1.abs_diff(plain.0) <= 1);
}

#[test]
fn hostile_numbers_draw_something_within_their_plan() {
    for steps in [
        "text:.:1:ffffff:tile=-1000x-1000",
        "text:.:10000:ffffff:tile=10000x10000",
        "text:Otter:10000:ffffff:turn=45:tile=0",
        "text:Otter:40:ffffff:outline=100:shadow=100+1000x-1000",
        "text:Otter:1:ffffff:outline=100:turn=359.99:tracking=-1000",
        "text:a%0Ab%0Ac:40:ffffff:leading=-1000:tracking=1000:turn=-360",
        "text:a%20b%20c:40:ffffff:centre:0:1x1:ellipsis:cut=middle:break=characters",
    ] {
        drawn(steps);
    }
}

#[test]
fn a_plan_states_what_outline_shadow_repetition_and_blending_cost() {
    let source = sample();
    let plan = |style: &str| {
        let steps = format!("exact:4000x3000,text:Otter:200:ffffff{style},as:png");
        planned(&source, &steps)
    };
    let plain = plan("");
    for style in [":shadow=8", ":tile=9", ":blend=multiply"] {
        let other = plan(style);
        assert!(
            other.peak_bytes() > plain.peak_bytes() + 12_000_000,
            "{style}"
        );
        assert!(other.cpu().estimated > plain.cpu().estimated, "{style}");
        assert!(other.to_string().contains(style), "{other}");
    }
    let outlined = plan(":outline=4");
    assert!(outlined.cpu().estimated > plain.cpu().estimated);
}

#[test]
fn a_text_is_blended_with_what_is_below() {
    let ground = "colorize:100:804020";
    let below = drawn(ground);
    let multiplied = drawn(&format!("{ground},text:H:60:ffffff:blend=multiply"));
    assert!(multiplied.0 == below.0);
    let added = drawn(&format!("{ground},text:H:60:204010:blend=add"));
    let normal = drawn(&format!("{ground},text:H:60:204010"));
    let mut seen = 0;
    for at in 0..WIDTH * HEIGHT {
        if normal.0[at] == [0x20, 0x40, 0x10] {
            assert_eq!(added.0[at], [0xa0, 0x80, 0x30]);
            seen += 1;
        }
    }
    assert!(seen > 200, "{seen}");
}

#[test]
fn the_effect_casts_a_shadow_within_the_image_behind_what_is_opaque() {
    let source = sample();
    let made = |steps: &str| {
        let engine = Engine::new(ALL, Limits::default());
        let plan = planned(&source, steps);
        let made = engine.run(&plan, Run::of(&source)).expect("an image");
        let image = support::decode(support::codec("png"), made.bytes(&source)).expect("a PNG");
        support::rgba(&image.frame)
    };
    // A square of 20 px in the middle of 60 × 60.
    let square = "exact:20x20,pad:20:20:20:20";
    let (plain, cast) = (
        made(&format!("{square},as:png")),
        made(&format!("{square},shadow:2+6x4+ff000080,as:png")),
    );
    let at = |pixels: &[u8], x: usize, y: usize| -> [u8; 4] {
        let start = 4 * (y * 60 + x);
        pixels[start..start + 4].try_into().expect("a pixel")
    };
    let mut all = 0.0;
    for y in 0..60 {
        for x in 0..60 {
            let is_square = (20..40).contains(&x) && (20..40).contains(&y);
            let pixel = at(&cast, x, y);
            match is_square {
                true => assert_eq!(pixel, at(&plain, x, y)),
                false if pixel[3] > 20 => assert_eq!(pixel[..3], [255, 0, 0], "{x},{y}"),
                false => {}
            }
            all += f64::from(pixel[3]) * f64::from(u8::from(!is_square));
        }
    }
    // 1.25 standard deviations inside the shadow's right edge: 89.4 % of its opacity.
    let edge = at(&cast, 43, 30)[3];
    assert!((112..=117).contains(&edge), "{edge}");
    assert_eq!(at(&cast, 10, 30)[3], 0);
    // The part of the shadow that the square does not cover, at half opacity.
    let want = (20.0 * 20.0 - 14.0 * 16.0) * 128.0;
    assert!((all / want - 1.0).abs() < 0.08, "{all} {want}");
    assert_eq!(
        made("exact:20x20,shadow:2+6x4,as:png"),
        made("exact:20x20,as:png")
    );
}
