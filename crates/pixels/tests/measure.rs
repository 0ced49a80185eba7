//! Measurements of a source, compared with their definitions pixel by pixel.

mod fake;

use std::sync::Arc;

use andon_pixels::frame::{Depth, Frame, Grid, Model, Plane, Subsampling};
use andon_pixels::{Alone, Bound, Engine, Error, Interrupt, Limits, Never, NoOverlays};
use andon_recipe::{Area, Facts, Measure, Orientation, Output, Recipe, ResolveError, Rules};
use proptest::prelude::*;

fn engine() -> Engine {
    Engine::new(fake::ALL, Limits::default())
}

fn recipe(text: &str) -> Recipe {
    text.parse().expect(text)
}

/// Creates an image from a function of column and row that returns red, green, blue and opacity in levels of 255.
fn image(depth: Depth, alpha: bool, size: (u32, u32), at: impl Fn(u32, u32) -> [u8; 4]) -> Frame {
    let (width, height) = size;
    let plane = |channel: usize| {
        let levels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let levels = levels.map(|(x, y)| at(x, y)[channel]);
        match depth {
            Depth::U8 => Plane::U8(Grid::from_samples(width, height, levels.collect()).unwrap()),
            _ => {
                let levels = levels.map(|level| u16::from(level) * 257);
                Plane::U16(Grid::from_samples(width, height, levels.collect()).unwrap())
            }
        }
    };
    let planes = (0..3).map(plane).collect();
    Frame::new(Model::Rgb, width, height, planes, alpha.then(|| plane(3))).unwrap()
}

/// Returns the recipe that `text` resolves to for a file.
fn resolved(file: &[u8], text: &str) -> String {
    let plan = engine().plan_with(&recipe(text), file, &NoOverlays, None, None);
    plan.expect("a plan").recipe().to_string()
}

fn area(file: &[u8], tolerance: u8) -> Area {
    answer(file, &recipe(&format!("trim:{tolerance}")))
}

/// Rules that need one measurement, without a recipe.
#[derive(Clone, Debug)]
struct Asks(Measure, Output);

impl Rules for Asks {
    fn text(&self) -> String {
        self.0.to_string()
    }

    fn resolve(&self, _: &Facts) -> Result<Recipe, ResolveError> {
        Ok(Recipe::original())
    }

    fn measures(&self, _: Orientation) -> Vec<Measure> {
        vec![self.0]
    }

    fn output(&self) -> &Output {
        &self.1
    }

    fn with_output(&self, output: Output) -> Arc<dyn Rules> {
        Arc::new(Self(self.0, output))
    }
}

/// Returns the result of the only measurement that `rules` need.
fn answer(file: &[u8], rules: &dyn Rules) -> Area {
    let asked = rules.measures(Orientation::default())[0];
    let engine = engine();
    let measurement = engine.measurement(rules, file).expect("a header");
    let measured = engine.measure(&measurement.expect("a question"), file, &Alone, &Never);
    measured
        .expect("a measurement")
        .area(asked)
        .expect("an area")
}

/// Returns the area by the definition: the bounding box of all pixels that differ from the first.
fn expected(size: (u32, u32), tolerance: u8, at: impl Fn(u32, u32) -> [u8; 4]) -> Area {
    let seen = |x, y| {
        let [r, g, b, a] = at(x, y).map(f64::from);
        [r * a / 255.0, g * a / 255.0, b * a / 255.0, a]
    };
    let ground = seen(0, 0);
    but(size, |x, y| {
        let pairs = seen(x, y).into_iter().zip(ground);
        pairs
            .into_iter()
            .any(|(one, other)| (one - other).abs() > f64::from(tolerance))
    })
}

/// Returns the bounding box of all pixels for which `differs` is true.
fn but(size: (u32, u32), differs: impl Fn(u32, u32) -> bool) -> Area {
    let differs = |&(x, y): &(u32, u32)| differs(x, y);
    let pixels = (0..size.1).flat_map(|y| (0..size.0).map(move |x| (x, y)));
    let content: Vec<_> = pixels.filter(differs).collect();
    let columns = content.iter().map(|(x, _)| *x);
    let rows = content.iter().map(|(_, y)| *y);
    match (
        columns.clone().min(),
        columns.max(),
        rows.clone().min(),
        rows.max(),
    ) {
        (Some(left), Some(right), Some(top), Some(bottom)) => Area {
            x: left,
            y: top,
            w: right - left + 1,
            h: bottom - top + 1,
        },
        _ => Area {
            x: 0,
            y: 0,
            w: size.0,
            h: size.1,
        },
    }
}

proptest! {
    #[test]
    fn a_border_is_what_looks_like_the_first_pixel(
        size in (1_u32..24, 1_u32..24),
        spots in prop::collection::vec((any::<(u32, u32)>(), any::<[u8; 4]>()), 0..4),
        ground in any::<[u8; 4]>(),
        tolerance in any::<u8>(),
        (alpha, deep) in any::<(bool, bool)>(),
    ) {
        let at = |x: u32, y: u32| {
            let spot = spots.iter().find(|((column, row), _)| (column % size.0, row % size.1) == (x, y));
            let [r, g, b, a] = spot.map_or(ground, |(_, colour)| *colour);
            [r, g, b, if alpha { a } else { 255 }]
        };
        let depth = if deep { Depth::U16 } else { Depth::U8 };
        let file = fake::file("png", &image(depth, alpha, size, at), "");
        prop_assert_eq!(area(&file, tolerance), expected(size, tolerance, at));
        // From the lower right corner, by the distance of all four channels.
        let far = at(size.0 - 1, size.1 - 1);
        let distance = but(size, |x, y| {
            let pairs = at(x, y).into_iter().zip(far);
            let squares = pairs.map(|(one, other)| (f64::from(one) - f64::from(other)).powi(2));
            squares.sum::<f64>() > f64::from(tolerance).powi(2)
        });
        let asked = Measure::TrimDistance { tolerance: tolerance.into(), corner: (true, true) };
        prop_assert_eq!(answer(&file, &Asks(asked, Output::default())), distance);
        // From a colour, on magenta.
        let [red, green, blue, _] = ground;
        let colour = [red, green, blue];
        let keyed = but(size, |x, y| {
            let [r, g, b, a] = at(x, y).map(f64::from);
            let shown = [(r, 255.0), (g, 0.0), (b, 255.0)].map(|(level, key)| (level * a + key * (255.0 - a)) / 255.0);
            shown.into_iter().zip(colour).any(|(one, other)| (one - f64::from(other)).abs() > f64::from(tolerance))
        });
        let asked = Measure::TrimColour { tolerance, colour };
        prop_assert_eq!(answer(&file, &Asks(asked, Output::default())), keyed);
    }
}

#[cfg(not(feature = "faces"))]
#[test]
fn builds_that_cannot_look_for_faces_say_so() {
    let file = square(9);
    for text in ["focus:faces,crop:3x3", "blur-faces"] {
        let error = engine().measurement(&recipe(text), &file);
        let error = error.expect_err(text);
        assert_eq!(error.status(), 400, "{text}");
        assert!(
            error.to_string().contains("cargo feature `faces`"),
            "{error}"
        );
    }
}

#[cfg(feature = "faces")]
#[test]
fn looking_for_faces_costs_what_the_reduced_image_has_pixels() {
    let cost = |text, side: u32| {
        let measurement = engine()
            .measurement(&recipe(text), &square(side))
            .expect("a header");
        measurement.expect("a question").cost()
    };
    let faces = |side| {
        let (one, other) = (cost("blur-faces", side), cost("focus:smart,crop:3x3", side));
        (one.nanos - other.nanos, one.scratch - other.scratch)
    };
    assert!(faces(200).0 > 5_000_000 && faces(200).1 > 1 << 20);
    assert_eq!(faces(960), faces(1900));
}

/// Returns a file of a white square with a small black one in it.
fn square(side: u32) -> Vec<u8> {
    let part = Area {
        x: 1,
        y: 1,
        w: 3,
        h: 3,
    };
    fake::file("png", &framed((side, side), part), "")
}

/// Creates a white image with a black part.
fn framed(size: (u32, u32), part: Area) -> Frame {
    image(Depth::U8, false, size, |x, y| {
        let inside =
            (part.x..part.x + part.w).contains(&x) && (part.y..part.y + part.h).contains(&y);
        let level = if inside { 0 } else { 255 };
        [level, level, level, 255]
    })
}

const PART: Area = Area {
    x: 5,
    y: 3,
    w: 20,
    h: 11,
};

#[test]
fn a_recipe_that_trims_comes_to_a_crop_also_for_a_turned_image() {
    let file = |words| fake::file("png", &framed((40, 30), PART), words);
    assert_eq!(resolved(&file(""), "trim"), "crop:5:3:20x11");
    assert_eq!(
        resolved(&file("turned:6"), "stored,trim"),
        "crop:5:3:20x11,stored"
    );
    assert_eq!(
        resolved(&file("turned:6"), "trim"),
        "orient,crop:16:5:11x20"
    );
    let plan = |text| {
        let file = file("");
        let plan = engine().plan_with(&recipe(text), &file, &NoOverlays, None, None);
        plan.expect("a plan").to_string()
    };
    assert_eq!(plan("trim"), "decode png rgb | crop 5,3 20x11 | encode png");
    assert_eq!(
        plan("trim,exact:10x6"),
        "decode png rgb | resize 10x6 lanczos3 from 5,3 20x11 | encode png"
    );
}

#[test]
fn transparent_pixels_are_border_whatever_colours_they_hide() {
    let frame = image(Depth::U8, true, (9, 9), |x, y| match (x, y) {
        (4, 5) => [200, 100, 0, 255],
        _ => [(17 * x) as u8, (29 * y) as u8, 99, 0],
    });
    let file = fake::file("png", &frame, "");
    assert_eq!(resolved(&file, "trim:0"), "crop:4:5:1x1");
}

#[test]
fn a_image_of_one_colour_stays_as_it_is() {
    let frame = image(Depth::U8, false, (9, 9), |_, _| [1, 2, 3, 255]);
    assert_eq!(resolved(&fake::file("png", &frame, ""), "trim"), "same");
}

#[test]
fn a_large_image_is_measured_on_a_reduced_decode_and_keeps_all_of_its_content() {
    let part = Area {
        x: 1001,
        y: 515,
        w: 1203,
        h: 906,
    };
    let file = fake::file("webp", &framed((4000, 2000), part), "");
    let found = area(&file, 10);
    assert_eq!(
        found,
        Area {
            x: 1000,
            y: 514,
            w: 1204,
            h: 908
        }
    );
    let small = fake::file("webp", &framed((400, 200), PART), "");
    assert_eq!(area(&small, 10), PART);
}

#[test]
fn measuring_tells_what_it_takes_before_and_is_bound_by_the_limits() {
    let rules = recipe("trim");
    let told = |source: &str| {
        let measurement = engine().measurement(&rules, source.as_bytes());
        measurement
            .expect("a header")
            .expect("something to measure")
    };
    let whole = told("png 4000x3000 rgb");
    assert_eq!(
        whole.to_string(),
        "measure png | trim:10 from the upper left"
    );
    assert!(
        whole.peak_bytes() >= 3 * 4000 * 3000,
        "{}",
        whole.peak_bytes()
    );
    let reduced = told("jpeg 4000x3000 ycbcr420");
    assert_eq!(
        reduced.to_string(),
        "measure jpeg 1/2 | trim:10 from the upper left"
    );
    assert!(reduced.peak_bytes() < whole.peak_bytes() / 2);
    assert!(reduced.cost().nanos > 0);

    let none = engine().measurement(&recipe("fit:9x9"), b"no image at all");
    assert!(matches!(none, Ok(None)), "nothing is read for it");
    let small = Limits {
        memory: 1 << 20,
        ..Limits::default()
    };
    let refused = Engine::new(fake::ALL, small).measurement(&rules, b"png 4000x3000 rgb");
    assert!(matches!(
        refused,
        Err(Error::Limit {
            bound: Bound::MEMORY,
            ..
        })
    ));
}

#[test]
fn a_measurement_that_nobody_wants_any_more_ends() {
    struct Gone;
    impl Interrupt for Gone {
        fn interrupted(&self) -> bool {
            true
        }
    }
    let file = fake::file("png", &framed((40, 30), PART), "");
    let measurement = engine().measurement(&recipe("trim"), &file);
    let measurement = measurement.expect("a header").expect("a measurement");
    let run = |interrupt: &dyn Interrupt| engine().measure(&measurement, &file, &Alone, interrupt);
    assert!(matches!(run(&Gone), Err(Error::Interrupted)));
    assert!(run(&Never).is_ok());
}

/// Returns the file of a gray image with a bright square in it.
fn dotted(size: (u32, u32), (left, top): (u32, u32), words: &str) -> Vec<u8> {
    let frame = image(Depth::U8, false, size, |x, y| {
        let inside = (left..left + 40).contains(&x) && (top..top + 40).contains(&y);
        if inside {
            [250, 200, 40, 255]
        } else {
            [90, 90, 90, 255]
        }
    });
    fake::file("png", &frame, words)
}

/// Returns the left and top edge of the crop at the end of the resolved recipe.
fn kept(file: &[u8], text: &str) -> (i64, i64) {
    let resolved = resolved(file, text);
    let crop = resolved.rsplit_once("crop:").expect("a crop").1;
    let mut numbers = crop.split(':').map(|number| number.parse().expect("px"));
    (numbers.next().unwrap(), numbers.next().unwrap())
}

#[test]
fn smart_crops_keep_what_draws_the_eye_also_in_turned_cropped_and_scaled_images() {
    let near = |(x, y): (i64, i64), (left, top): (i64, i64)| {
        assert!(
            (x - left).abs() <= 15 && (y - top).abs() <= 15,
            "{x},{y} for {left},{top}"
        );
    };
    let file = dotted((400, 300), (300, 60), "");
    // The square's middle lies at 320,80.
    near(kept(&file, "focus:smart,crop:100x100"), (270, 30));
    near(
        kept(&file, "crop:50:20:350x280,focus:smart,crop:100x100"),
        (270, 30),
    );
    near(
        kept(&file, "exact:800x600,focus:smart,crop:200x200"),
        (540, 60),
    );
    near(kept(&file, "turn:90,focus:smart,crop:100x100"), (170, 270));
    near(kept(&file, "flip:h,focus:smart,cover:150x300"), (5, 0));
    let turned = dotted((400, 300), (300, 60), "turned:6");
    near(kept(&turned, "orient,focus:smart,crop:100x100"), (170, 270));
    // A gravity takes precedence over the focus.
    assert_eq!(kept(&file, "focus:smart,crop:100x100:southwest"), (0, 200));
}

#[test]
fn a_image_in_which_nothing_draws_the_eye_is_cropped_to_its_middle() {
    let frame = image(Depth::U8, false, (90, 60), |_, _| [80, 80, 80, 255]);
    let file = fake::file("png", &frame, "");
    assert_eq!(kept(&file, "focus:smart,crop:30x20"), (30, 20));
}

#[test]
fn what_draws_the_eye_is_looked_for_on_a_small_decode() {
    let measured = |text: &str| {
        let measurement = engine().measurement(&recipe(text), b"jpeg 4000x3000 ycbcr420");
        measurement
            .expect("a header")
            .expect("a question")
            .to_string()
    };
    assert_eq!(
        measured("focus:smart,cover:99x99"),
        "measure jpeg 1/8 | salient"
    );
    assert_eq!(
        measured("trim,focus:smart,cover:99x99"),
        "measure jpeg 1/2 | salient | trim:10 from the upper left"
    );
}

#[test]
fn chroma_counts_too() {
    let gray = |value| Plane::filled(Depth::U8, 40, 30, value);
    let mut red = Grid::filled(20, 15, 128);
    red.row_mut(7)[9] = 250;
    let chroma = vec![
        gray(100),
        Plane::U8(Grid::filled(20, 15, 128)),
        Plane::U8(red),
    ];
    let frame = Frame::new(Model::ycbcr(Subsampling::C420), 40, 30, chroma, None).unwrap();
    let found = area(&fake::file("png", &frame, ""), 10);
    // The feature's own two columns and rows, and the px that interpolation adds to them.
    assert!(
        found.x <= 18 && found.x + found.w >= 20 && found.w <= 6,
        "{found:?}"
    );
}
