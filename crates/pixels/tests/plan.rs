//! Plans as text: what the planner makes of a recipe and a header, reviewable without a pixel.

mod fake;

use andon_pixels::{Engine, Error, Limits, Plan, RULES, Result};
use andon_recipe::Recipe;

fn plan_within(limits: Limits, source: &str, recipe: &str) -> Result<Plan> {
    let recipe: Recipe = recipe.parse().expect("a recipe");
    Engine::new(fake::ALL, limits).plan(&recipe, source.as_bytes())
}

fn plan(source: &str, recipe: &str) -> Plan {
    plan_within(Limits::default(), source, recipe).expect("a plan")
}

fn refusal(source: &str, recipe: &str) -> Error {
    plan_within(Limits::default(), source, recipe).expect_err("no plan")
}

fn limit(limits: Limits, source: &str, recipe: &str) -> &'static str {
    match plan_within(limits, source, recipe) {
        Err(Error::Limit { name, .. }) => name,
        other => panic!("{other:?} instead of a limit"),
    }
}

#[test]
fn every_rule_has_an_example_that_it_acts_on() {
    for rule in RULES {
        let plan = plan(rule.example.source, rule.example.recipe);
        assert_eq!(plan.to_string(), rule.example.plan, "{rule}");
        assert!(plan.rules().contains(rule), "{rule} did not act");
    }
}

/// Source, recipe, plan. One line of reason above each group.
const GOLDEN: &[(&str, &str, &str)] = &[
    // Nothing to do, and things that keep a copy from being one.
    ("jpeg 400x300 ycbcr420 q90", "same", "copy jpeg"),
    ("jpeg 400x300 ycbcr420 q90", "original", "copy jpeg"),
    ("jpeg 400x300 ycbcr420 q90", "as:jpg", "copy jpeg"),
    ("jpeg 400x300 ycbcr420 q90", "strip", "copy jpeg"),
    (
        "jpeg 400x300 ycbcr420 q90 metadata",
        "strip",
        "decode jpeg ycbcr420 | encode jpeg q90",
    ),
    ("jpeg 400x300 ycbcr420 q90", "orient", "copy jpeg"),
    (
        "jpeg 400x300 ycbcr420 q90",
        "q:90",
        "decode jpeg ycbcr420 | encode jpeg q90",
    ),
    (
        "jpeg 400x300 ycbcr420 q90 progressive",
        "same",
        "decode jpeg ycbcr420 | encode jpeg q90",
    ),
    (
        "jpeg 400x300 ycbcr420 q90",
        "progressive",
        "decode jpeg ycbcr420 | encode jpeg q90 progressive",
    ),
    (
        "png 400x300 rgb frames:2",
        "same",
        "decode png rgb | encode png",
    ),
];

#[test]
fn plans_read_as_they_should() {
    let mut wrong = String::new();
    for (source, recipe, expected) in GOLDEN {
        let plan = plan(source, recipe).to_string();
        if plan != *expected {
            wrong += &format!("{source} + {recipe}\n  is  {plan}\n  not {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn too_long_a_file_is_refused_before_its_header_is_read() {
    let limits = Limits {
        source_bytes: 10,
        ..Limits::default()
    };
    assert_eq!(
        limit(limits, "nonsense, but long", "fit:10x10"),
        "source_bytes"
    );
}

#[test]
fn too_large_a_picture_is_refused_by_its_header() {
    let source = "jpeg 60000x60000 ycbcr420";
    assert_eq!(limit(Limits::default(), source, "fit:10x10"), "side");
    let source = "jpeg 20000x20000 ycbcr420";
    assert_eq!(limit(Limits::default(), source, "fit:10x10"), "pixels");
}

#[test]
fn too_large_a_result_is_refused_by_the_recipe() {
    let source = "jpeg 400x300 ycbcr420";
    let limits = Limits::default;
    assert_eq!(
        limit(limits(), source, "fit:20000x20000,enlarge"),
        "result_side"
    );
    assert_eq!(
        limit(limits(), source, "exact:9000x9000,enlarge"),
        "result_pixels"
    );
    assert_eq!(
        limit(limits(), source, "canvas:9000x9000:000000"),
        "result_pixels"
    );
}

#[test]
fn too_hungry_a_plan_is_refused_before_it_runs() {
    let limits = Limits {
        memory: 1_000_000,
        ..Limits::default()
    };
    let source = "png 1000x1000 rgb";
    assert_eq!(limit(limits, source, "fit:10x10"), "memory");
    assert!(plan_within(limits, "png 500x500 rgb", "fit:10x10").is_ok());
}

#[test]
fn peak_bytes_are_those_of_the_hungriest_step() {
    let source = "png 1000x1000 rgb";
    let plan = plan(source, "fit:500x500");
    let least = source.len() as u64 + 3 * (1000 * 1000 + 500 * 500);
    assert!(
        plan.peak_bytes() >= least,
        "{} < {least}",
        plan.peak_bytes()
    );
    assert!(plan.peak_bytes() < 2 * least, "{}", plan.peak_bytes());
}

#[test]
fn an_unknown_effect_names_the_nearest() {
    let Error::Recipe { piece, why } = refusal("jpeg 400x300 ycbcr420", "blurr:0x1") else {
        panic!("another error");
    };
    assert_eq!(piece, "blurr");
    assert!(why.contains("did you mean `blur`?"), "{why}");
}

#[test]
fn an_unknown_format_names_the_nearest() {
    let Error::Recipe { piece, why } = refusal("jpeg 400x300 ycbcr420", "as:pgn") else {
        panic!("another error");
    };
    assert_eq!(piece, "pgn");
    assert!(why.contains("did you mean `png`?"), "{why}");
}

#[test]
fn a_format_that_is_only_read_cannot_be_asked_for() {
    let Error::Recipe { piece, .. } = refusal("jpeg 400x300 ycbcr420", "as:gif") else {
        panic!("another error");
    };
    assert_eq!(piece, "gif");
}

#[test]
fn a_result_without_pixels_is_refused() {
    let error = refusal("jpeg 400x300 ycbcr420", "fit:0x");
    assert!(matches!(error, Error::Recipe { .. }), "{error}");
}

#[test]
fn an_explanation_tells_wish_plan_cost_and_reason() {
    let source = "jpeg 4000x3000 ycbcr420 q90";
    let recipe: Recipe = "fit:400x300".parse().expect("a recipe");
    let plan = plan(source, "fit:400x300");
    let text = plan.explain(&recipe).to_string();
    for piece in [
        "fit:400x300",
        "4000x3000",
        "resize",
        "ms",
        "peak",
        "shrink_on_load: ",
    ] {
        assert!(text.contains(piece), "no {piece} in\n{text}");
    }
}
