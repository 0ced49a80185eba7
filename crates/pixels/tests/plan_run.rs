//! Runs of plans with fake codecs: copies, interruptions and rejections.

mod fake;

use std::sync::atomic::{AtomicU32, Ordering};

use andon_pixels::frame::{Depth, Frame, Model, Plane};
use andon_pixels::{
    Bound, Engine, Error, Interrupt, Limits, NoOverlays, OverlaySource, Rendered, Result, Run,
};
use andon_recipe::Recipe;

fn engine() -> Engine {
    Engine::new(fake::ALL, Limits::default())
}

fn recipe(text: &str) -> Recipe {
    text.parse().expect("a recipe")
}

/// Creates a gray image of one level.
fn gray(width: u32, height: u32, level: u16) -> Frame {
    let plane = Plane::filled(Depth::U8, width, height, level);
    Frame::new(Model::Gray, width, height, vec![plane], None).unwrap()
}

fn file(width: u32, height: u32) -> Vec<u8> {
    fake::file("png", &gray(width, height, 100), "")
}

fn run_with(bytes: &[u8], text: &str, overlays: &dyn OverlaySource) -> Result<Rendered> {
    let engine = engine();
    let plan = engine.plan(&recipe(text), bytes)?;
    engine.run(
        &plan,
        Run {
            overlays,
            ..Run::of(bytes)
        },
    )
}

#[test]
fn a_copy_has_no_body_of_its_own() {
    let rendered = run_with(&file(40, 30), "same", &NoOverlays).expect("a copy");
    assert_eq!(rendered.body, None);
    assert_eq!((rendered.width, rendered.height), (40, 30));
    assert_eq!(rendered.media_type, "image/png");
}

#[test]
fn a_result_is_of_the_planned_size_and_format() {
    let rendered = run_with(&file(40, 30), "fit:20x20,as:jpeg", &NoOverlays).expect("a result");
    let body = rendered.body.expect("a body");
    assert_eq!(rendered.media_type, "image/jpeg");
    assert_eq!((rendered.width, rendered.height), (20, 15));
    let info = engine().probe(&body).expect("an image");
    assert_eq!((info.format, info.width, info.height), ("jpeg", 20, 15));
    assert!(body.ends_with(&[100; 20 * 15]));
}

#[test]
fn nothing_known_is_no_image() {
    assert_eq!(
        engine().probe(b"nonsense").err(),
        Some(Error::UnknownFormat)
    );
    assert_eq!(engine().probe(b"").err(), Some(Error::UnknownFormat));
}

#[test]
fn a_plan_run_on_other_bytes_is_our_own_bug_and_no_panic() {
    let engine = engine();
    let plan = engine
        .plan(&recipe("fit:20x20"), &file(40, 30))
        .expect("a plan");
    for other in [&b"png 40x30 gray\n"[..], b"", b"png 40x30"] {
        assert!(engine.run(&plan, Run::of(other)).is_err());
    }
}

/// Interrupts the work from the nth check on.
struct After(AtomicU32);

impl Interrupt for After {
    fn interrupted(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            })
            .is_err()
    }
}

#[test]
fn work_that_nobody_wants_stops_before_the_next_step() {
    let (engine, bytes) = (engine(), file(40, 30));
    let plan = engine
        .plan(&recipe("fit:20x20,blur:0x1"), &bytes)
        .expect("a plan");
    let run = |questions| {
        let interrupt = After(AtomicU32::new(questions));
        engine.run(
            &plan,
            Run {
                interrupt: &interrupt,
                ..Run::of(&bytes)
            },
        )
    };
    // The checks before decoding, before each of two stages, and before encoding.
    for questions in 0..4 {
        assert_eq!(
            run(questions).err(),
            Some(Error::Interrupted),
            "{questions}"
        );
    }
    assert!(run(1000).is_ok());
}

/// Returns these bytes as an overlay file of any name.
struct Icon(Vec<u8>);

impl OverlaySource for Icon {
    fn load(&self, _: &str) -> Result<Vec<u8>> {
        Ok(self.0.clone())
    }
}

#[test]
fn an_overlay_is_decoded_and_laid_over() {
    let icon = fake::file("png", &gray(4, 3, 200), "");
    let rendered = run_with(&file(40, 30), "over:icon:2:1", &Icon(icon)).expect("a result");
    let body = rendered.body.expect("a body");
    let samples = &body[body.len() - 40 * 30..];
    assert_eq!(samples[40 + 1], 100);
    assert_eq!(samples[40 + 2..40 + 6], [200; 4]);
    assert_eq!(samples[40 + 6], 100);
}

#[test]
fn an_overlay_that_is_missing_or_no_image_is_named() {
    let missing = run_with(&file(40, 30), "over:icon:2:1", &NoOverlays);
    let nonsense = run_with(&file(40, 30), "over:icon:2:1", &Icon(b"text".to_vec()));
    for result in [missing, nonsense] {
        assert!(
            matches!(&result, Err(Error::Recipe { piece, .. }) if piece == "icon"),
            "{result:?}"
        );
    }
}

#[test]
fn an_overlay_obeys_the_limits_of_any_image() {
    let bomb = Icon(b"png 60000x60000 gray\n".to_vec());
    let result = run_with(&file(40, 30), "over:icon:2:1", &bomb);
    assert!(
        matches!(
            result,
            Err(Error::Limit {
                bound: Bound::SIDE,
                ..
            })
        ),
        "{result:?}"
    );
}

#[test]
fn a_huge_image_may_still_be_copied() {
    let bytes = b"png 60000x60000 gray\n";
    let plan = engine().plan(&recipe("original"), bytes).expect("a plan");
    assert!(plan.is_copy());
    assert!(matches!(engine().probe(bytes), Err(Error::Limit { .. })));
}

#[test]
fn what_is_laid_over_counts_in_the_peak() {
    struct Large;
    impl OverlaySource for Large {
        fn load(&self, _: &str) -> Result<Vec<u8>> {
            Ok(file(2000, 1000))
        }
    }
    let recipe = recipe("fit:50x50,over:icon:0:0");
    let source = file(400, 300);
    let alone = engine().plan(&recipe, &source).expect("a plan");
    let plan = engine()
        .plan_with(&recipe, &source, &Large, None, None)
        .expect("a plan");
    // The file, and the frame in it.
    assert!(
        plan.peak_bytes() >= 2 * 2000 * 1000,
        "{}",
        plan.peak_bytes()
    );
    assert!(alone.peak_bytes() < 1 << 20, "{}", alone.peak_bytes());
    let small = Limits {
        memory: 3 << 20,
        ..Limits::default()
    };
    let refused = Engine::new(fake::ALL, small).plan_with(&recipe, &source, &Large, None, None);
    assert!(matches!(
        refused,
        Err(Error::Limit {
            bound: Bound::MEMORY,
            ..
        })
    ));
}

#[test]
fn what_is_laid_over_is_priced_by_its_own_size() {
    /// An overlay file of 1 × 500 px, under any name.
    struct Thin;
    impl OverlaySource for Thin {
        fn load(&self, _: &str) -> Result<Vec<u8>> {
            Ok(file(1, 500))
        }
    }
    let recipe = recipe("fit:50x50,overlay:icon:0:0:100:60");
    let source = file(400, 300);
    let plan = |overlays: &dyn OverlaySource| {
        let plan = engine().plan_with(&recipe, &source, overlays, None, None);
        plan.expect("a plan")
    };
    let (thin, square) = (plan(&Thin), plan(&Icon(file(30, 30))));
    // An overlay with its aspect ratio is scaled to 60 × 30,000 px.
    assert!(thin.peak_bytes() > 60 * 30_000, "{}", thin.peak_bytes());
    assert!(thin.cost().nanos > 10 * square.cost().nanos);
}
