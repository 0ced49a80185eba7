use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use crate::{
    Background, BlurFaces, Bounds, Canvas, Chroma, Colour, Cover, Crop, Dpr, Effect, Exact, Fit,
    Flatten, Flip, Focus, FormatName, Goal, Gravity, Kept, Length, Orient, Output, Pad, ParseError,
    Profile, Recipe, Rotate, Shrink, Step, StoredTurn, Trim, Turn, words,
};

fn canonical(text: &str) -> String {
    text.parse::<Recipe>().expect(text).to_string()
}

fn error(text: &str) -> ParseError {
    text.parse::<Recipe>().expect_err(text)
}

#[test]
fn canonical_texts_print_as_they_were_written() {
    for text in [
        "same",
        "original",
        "orient,turn:90,metadata:none",
        "metadata:all,gainmap:drop,as:jpeg",
        "fit:400x300,linear,as:jpeg",
        "profile:ignore,metadata:all",
        "shrink:3",
        "flip:hv,rotate:12.5,rotate:-3:ffffff",
        "crop:10:0:50%x12.5",
        "crop:200x100,crop:200x100:north",
        "fit:200x,fit:x100,fit:50%x20:enlarge",
        "cover:200x100,cover:200x100:southwest:enlarge,cover:1x1:enlarge",
        "exact:200x100",
        "focus:30%:40",
        "trim:10",
        "pad:1:2:3:4,pad:1:2:3:4:ff880080",
        "canvas:100x100:ff8800",
        "canvas:100x100:ff880080:5:-7",
        "flatten:ffffff,dpr:1.5",
        "blur:0x1.5,over:icon.png:-3:4,blur:1x2,profile:p3",
        "over:a%2Cb%3Ac%25%20%C3%A9",
        "background:ff8800,as:jpeg",
        "background:none,as:jpeg",
        "grain",
        "grain:",
        "as:webp,q:80,progressive,chroma:420,effort:7,frame:3",
        "as:jpeg,max:60000",
        "as:jpeg,max:60000:shortest",
        "as:webp,score:75",
        "as:png,lossless,depth:16,with:filter:paeth,with:level:9",
        "with:near-lossless",
    ] {
        assert_eq!(canonical(text), text);
    }
}

#[test]
fn quality_of_itself_is_a_score() {
    assert_eq!(canonical("as:jpeg,q:auto"), "as:jpeg,score:75");
}

#[test]
fn steps_keep_their_order_and_the_output_comes_last() {
    assert_eq!(
        canonical("q:80,sharpen:0x1,as:jpeg,fit:10x10,blur:0x1,crop:0:0:5x5,fit:3x3"),
        "sharpen:0x1,fit:10x10,blur:0x1,crop:0:0:5x5,fit:3x3,as:jpeg,q:80"
    );
}

#[test]
fn one_meaning_has_one_text() {
    assert_eq!(canonical("fit:0200.50x"), "fit:200.5x");
    assert_eq!(canonical("canvas:10x10:FFFFFFFF"), "canvas:10x10:ffffff");
    assert_eq!(canonical("over:%61é"), "over:a%C3%A9");
    assert_eq!(canonical("cover:5x5:centre"), "cover:5x5");
    assert_eq!(
        canonical("pad:1:1:1:1:00000000,trim"),
        "pad:1:1:1:1,trim:10"
    );
    assert_eq!(canonical("metadata:copyright"), "same");
    assert_eq!(canonical("gainmap:keep"), "same");
    assert_eq!(
        canonical("background:FFFFFF80,as:png"),
        "background:ffffff,as:png"
    );
}

#[test]
fn the_empty_text_is_an_error_that_names_the_way_out() {
    assert!(error("").expected.contains("`same`"));
    assert!(error("fit:1x1,").expected.contains("`same`"));
}

#[test]
fn errors_name_the_offending_piece() {
    for (text, piece) in [
        ("metadata:all,metadata:all", "metadata"),
        ("q:1,q:2", "q"),
        ("q:1,max:60000", "max"),
        ("max:60000,score:80", "score"),
        ("max:0", "0"),
        ("score:101", "101"),
        ("lossless,q:80", "lossless"),
        ("lossless:yes", "lossless:yes"),
        ("depth:9", "9"),
        ("with", "with"),
        ("with:", "with:"),
        ("with:Level:6", "with:Level:6"),
        ("with:level:6:7", "with:level:6:7"),
        ("with:level:6,with:level:7", "level"),
        ("with:q:80", "q"),
        ("same,q:80", "same"),
        ("original,q:80", "original"),
        ("metadata:1", "1"),
        ("orient:1", "orient:1"),
        ("turn:45", "45"),
        ("turn", "turn"),
        ("flip", "flip"),
        ("rotate:361", "361"),
        ("fit:x", "fit:x"),
        ("fit:100", "fit:100"),
        ("fit:-1x", "-1"),
        ("fit:1e3x", "1e3"),
        ("fit:infx", "inf"),
        ("fit:.x", "."),
        ("fit:1000001x", "1000001"),
        ("fit:100001%x", "100001%"),
        ("fit:10x10:bigger", "bigger"),
        ("cover:10x", ""),
        ("cover:10x10:up", "up"),
        ("cover:10x10:enlarge:north", "cover:10x10:enlarge:north"),
        ("crop:1:2", "crop:1:2"),
        ("crop:1:2:3x4:5", "crop:1:2:3x4:5"),
        ("canvas:0x10:000000", "0"),
        ("canvas:10x10:fff", "fff"),
        ("canvas:10x10", "canvas:10x10"),
        ("canvas:10x10:ffffff:1", "canvas:10x10:ffffff:1"),
        ("flatten:ffffff80", "flatten:ffffff80"),
        ("shrink:8", "8"),
        ("trim:256", "256"),
        ("dpr:0", "0"),
        ("q:0", "0"),
        ("q:101", "101"),
        ("q:+5", "+5"),
        ("effort:10", "10"),
        ("frame:0", "0"),
        ("chroma:421", "421"),
        ("as:WebP", "WebP"),
        ("as", "as"),
        ("Blur:1", "Blur"),
        ("blur:%2", "%2"),
        ("blur:%FF", "%FF"),
        ("-blur", "-blur"),
    ] {
        assert_eq!(error(text).piece, piece, "in {text}");
    }
    assert_eq!(
        error("q:0").to_string(),
        "`0` is no part of a recipe: expected quality: a whole number from 1 to 100"
    );
    assert_eq!(error("turn").expected, "`turn:90|180|270`, as in `turn:90`");
    assert_eq!(
        error("cover:300x200:centr").expected,
        "gravity: centre, north, east, south, west, northeast, southeast, southwest, northwest; \
         or enlarge: enlarge (did you mean `centre`?)"
    );
    for text in ["cover:300x200:smart", "cover:300x200:smart:enlarge"] {
        let expected = error(text).expected;
        assert!(
            expected.ends_with("; `focus:smart` before it keeps that"),
            "{text}: {expected}"
        );
    }
}

#[test]
fn a_text_that_ends_early_is_told_how_its_characters_are_written() {
    for text in [
        "text:Red, green:24",
        "fit:600x600,text:© Otter, 2026:24:ffffff",
        "text:100% Otter:24",
        "overlay:a, b.png:8:8",
    ] {
        let expected = error(text).expected;
        assert!(expected.contains("%2C"), "{text}: {expected}");
    }
    for text in [
        "text:Otter:24, ",
        "blur:0x1,Red",
        "text:Otter:24,fit:wide",
        "text:Otter:24,q:0",
    ] {
        let expected = error(text).expected;
        assert_eq!(
            expected.contains("%2C"),
            text.ends_with(", "),
            "{text}: {expected}"
        );
    }
}

#[test]
fn a_recipe_has_only_so_many_steps() {
    let steps = |count| vec!["blur:0x1"; count].join(",");
    assert!(steps(Recipe::MOST_STEPS).parse::<Recipe>().is_ok());
    assert!(
        error(&steps(Recipe::MOST_STEPS + 1))
            .expected
            .contains("64")
    );
}

#[test]
fn every_word_reads_its_example_and_every_argument_its_default() {
    for word in words() {
        let recipe: Recipe = word.example.parse().expect(word.example);
        assert_eq!(recipe.to_string(), word.example);
        assert!(!word.help.is_empty() && !word.help.ends_with('.'), "{word}");
        for arg in word.args {
            assert!(!arg.help.is_empty(), "{word}: {}", arg.name);
            for sample in arg.samples() {
                assert_eq!(arg.check(&sample), Ok(()), "{word}: {sample}");
            }
        }
    }
}

#[test]
fn overlays_are_the_first_arguments_of_over() {
    let recipe: Recipe = "over:a.png:1:2,blur:0x1,over:b.png,over".parse().unwrap();
    assert_eq!(recipe.overlays(), ["a.png", "b.png"]);
}

/// Returns an overlay whose recipe contains an overlay with a recipe, and so on, `levels` deep.
fn nested(levels: usize) -> Effect {
    let mut args = vec!["a.png".to_owned(); 9];
    args[8] = match levels {
        0 => String::new(),
        _ => format!("gray,{}", nested(levels - 1)),
    };
    Effect::new("overlay", args).expect("an effect")
}

#[test]
fn the_recipe_of_an_overlay_reads_back_and_its_overlays_are_known() {
    let recipe = Recipe::from(vec![Step::Effect(nested(2))]);
    let again: Recipe = recipe.to_string().parse().expect("a recipe");
    assert_eq!(again, recipe);
    assert_eq!(again.overlays(), ["a.png"; 3]);
    let colour = "overlay:colour%3Aff0000:0:0:100:0:0:normal:exact:overlay%3Ab.png%3A0%3A0";
    let recipe: Recipe = colour.parse().expect("a recipe");
    assert_eq!(recipe.overlays(), ["b.png"]);
}

#[test]
fn overlays_are_nested_no_deeper_than_said_and_take_steps_alone() {
    let read = |effect: &Effect| effect.recipe().expect("it has one");
    assert!(read(&nested(Effect::DEEPEST)).is_ok());
    let error = read(&nested(Effect::DEEPEST + 1)).expect_err("too deep");
    assert!(error.to_string().contains("3 levels"), "{error}");
    for text in [
        "as:png",
        "trim",
        "focus:smart",
        "focus:faces",
        "blur-faces",
        "original",
        "no, recipe",
    ] {
        let mut effect = nested(0);
        text.clone_into(&mut effect.args[8]);
        assert!(read(&effect).is_err(), "{text}");
    }
}

#[test]
fn steps_of_overlays_count_among_those_of_the_recipe() {
    let mut effect = nested(0);
    effect.args[8] = vec!["gray"; 40].join(",");
    let once = Recipe::from(vec![Step::Effect(effect.clone())]);
    let facts = crate::Facts::new("jpeg", 40, 30);
    assert!(crate::Rules::resolve(&once, &facts).is_ok());
    let twice = Recipe::from(vec![Step::Effect(effect.clone()), Step::Effect(effect)]);
    assert!(crate::Rules::resolve(&twice, &facts).is_err());
}

#[test]
fn values_that_no_text_could_say_cannot_be_made() {
    assert_eq!(Length::px(f64::NAN), None);
    assert_eq!(Length::px(-1.0), None);
    assert_eq!(Length::px(-0.0).unwrap().to_string(), "0");
    assert_eq!(Length::percent(f64::INFINITY), None);
    assert!(FormatName::new("").is_err());
    assert!(Effect::new("crop", Vec::new()).is_err());
}

proptest! {
    #[test]
    fn a_recipe_is_its_text(recipe in any_recipe()) {
        let text = recipe.to_string();
        prop_assert_eq!(text.parse::<Recipe>(), Ok(recipe), "{}", text);
    }

    #[test]
    fn whatever_parses_prints_canonically(pieces in vec(any_piece(), 1..6)) {
        let text = pieces.join(",");
        if let Ok(recipe) = text.parse::<Recipe>() {
            let printed = recipe.to_string();
            let again: Recipe = printed.parse().expect("a printed recipe");
            prop_assert_eq!(&again, &recipe);
            prop_assert_eq!(again.to_string(), printed);
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = text.parse::<Recipe>();
    }
}

fn any_piece() -> impl Strategy<Value = String> {
    let names: Vec<&str> = words().map(|word| word.name).collect();
    let word = prop_oneof![
        select(names).prop_map(str::to_owned),
        "[a-z-]{1,4}".prop_map(|word: String| word),
    ];
    let arg = prop_oneof![
        "[0-9.]{1,6}x[0-9.]{1,6}%?",
        "-?[0-9]{1,4}",
        "[0-9a-fA-F]{6,8}",
        select(Gravity::CHOICES.words).prop_map(str::to_owned),
        "[a-z%_x0-9é -]{0,6}",
    ];
    (word, vec(arg, 0..4)).prop_map(|(word, args)| {
        let mut piece = word;
        for arg in args {
            piece.push(':');
            piece.push_str(&arg);
        }
        piece
    })
}

fn any_length() -> impl Strategy<Value = Length> {
    prop_oneof![
        4 => (0..=5000u32).prop_map(|px| Length::Px(f64::from(px))),
        1 => (0..=1_000_000u32).prop_map(|px| Length::Px(f64::from(px))),
        1 => (0.0..=Length::MAX_PX).prop_map(Length::Px),
        2 => (0.0..=200.0).prop_map(Length::Percent),
        1 => (0.0..=Length::MAX_PERCENT).prop_map(Length::Percent),
        1 => Just(Length::Px(f64::MIN_POSITIVE)),
    ]
}

fn any_colour() -> impl Strategy<Value = Colour> {
    prop_oneof![
        any::<(u8, u8, u8, u8)>().prop_map(|(r, g, b, a)| Colour { r, g, b, a }),
        Just(Colour::CLEAR),
    ]
}

fn any_gravity() -> impl Strategy<Value = Gravity> {
    select(Gravity::CHOICES.values)
}

fn any_effect() -> impl Strategy<Value = Effect> {
    ("[a-z][a-z0-9-]{0,8}", vec(any::<String>(), 0..3))
        .prop_filter_map("a step's word", |(name, args)| {
            Effect::new(&name, args).ok()
        })
}

fn any_step() -> impl Strategy<Value = Step> {
    let length = any_length;
    let side = || prop_oneof![0..=300u32, 0..=1_000_000u32];
    let place = || prop_oneof![-300..=300i32, -1_000_000..=1_000_000i32];
    let bounds = (length(), length(), 0..3).prop_map(|(w, h, which)| match which {
        0 => Bounds::Width(w),
        1 => Bounds::Height(h),
        _ => Bounds::Both(w, h),
    });
    let rect = (length(), length(), length(), length());
    prop_oneof![
        Just(Step::Orient(Orient)),
        (1..8u8).prop_map(|eighths| Step::Shrink(Shrink(eighths))),
        select(Turn::CHOICES.values).prop_map(Step::Turn),
        select(Flip::CHOICES.values).prop_map(Step::Flip),
        (-360.0..=360.0, any_colour())
            .prop_map(|(degrees, colour)| Step::Rotate(Rotate { degrees, colour })),
        any::<u8>().prop_map(|tolerance| Step::Trim(Trim(tolerance))),
        rect.prop_map(|(x, y, w, h)| Step::Crop(Crop::At { x, y, w, h })),
        (length(), length(), any_gravity()).prop_map(|(w, h, gravity)| Step::Crop(Crop::Towards {
            w,
            h,
            gravity
        })),
        (bounds, any::<bool>()).prop_map(|(inside, enlarge)| Step::Fit(Fit { inside, enlarge })),
        (length(), length(), any_gravity(), any::<bool>()).prop_map(|(w, h, gravity, enlarge)| {
            Step::Cover(Cover {
                w,
                h,
                gravity,
                enlarge,
            })
        }),
        (length(), length()).prop_map(|(w, h)| Step::Exact(Exact { w, h })),
        (side(), side(), side(), side(), any_colour()).prop_map(
            |(top, right, bottom, left, colour)| Step::Pad(Pad {
                top,
                right,
                bottom,
                left,
                colour
            })
        ),
        (side(), side(), any_colour(), of((place(), place()))).prop_map(|(w, h, colour, at)| {
            Step::Canvas(Canvas {
                w: w.max(1),
                h: h.max(1),
                colour,
                at,
            })
        }),
        any_colour().prop_map(|colour| Step::Flatten(Flatten(Colour { a: 255, ..colour }))),
        (length(), length()).prop_map(|(x, y)| Step::Focus(Focus::At { x, y })),
        Just(Step::Focus(Focus::Salient)),
        Just(Step::Focus(Focus::Faces)),
        of(0.05..=1000.0).prop_map(|sigma| Step::BlurFaces(BlurFaces(sigma))),
        (0.1..=10.0).prop_map(|ratio| Step::Dpr(Dpr(ratio))),
        any_effect().prop_map(Step::Effect),
    ]
}

fn any_output() -> impl Strategy<Value = Output> {
    let chroma = select(Chroma::CHOICES.values);
    let background = prop_oneof![
        Just(Background::default()),
        Just(Background::Dropped),
        any_colour().prop_map(|colour| Background::Colour(Colour { a: 255, ..colour })),
    ];
    let goal = prop_oneof![
        (1..=100u8).prop_map(Goal::Quality),
        (1..=1u64 << 32).prop_map(Goal::Bytes),
        (1..=1u64 << 32).prop_map(Goal::BytesOrShortest),
        (1..=100u8).prop_map(Goal::Score),
    ];
    let options = btree_map("with-[a-z0-9]{1,8}", "[a-z0-9._-]{0,4}", 0..3);
    (
        (
            background,
            of("[a-z0-9]{1,8}"),
            of("[a-z0-9]{1,8}"),
            of(goal),
            any::<bool>(),
        ),
        (
            of(select(StoredTurn::CHOICES.values)),
            select(Profile::CHOICES.values),
            select(Kept::CHOICES.values),
            any::<bool>(),
            any::<bool>(),
        ),
        of(select(vec![8, 10, 12, 16])),
        any::<bool>(),
        of(chroma),
        of(0..=9u8),
        options,
        (of(1..=1_000_000u32), of(1..=1_000_000u32)),
    )
        .prop_map(
            |(
                (background, format, moving, goal, lossless),
                (stored_turn, profile, metadata, drops_gain_map, linear),
                depth,
                progressive,
                chroma,
                effort,
                options,
                (frame, most_frames),
            )| {
                Output {
                    stored_turn: stored_turn.unwrap_or_default(),
                    background,
                    profile,
                    metadata,
                    drops_gain_map,
                    linear,
                    format: format.map(|name| FormatName::new(&name).expect("a name")),
                    moving: moving.map(|name| FormatName::new(&name).expect("a name")),
                    goal: goal.filter(|_| !lossless),
                    lossless,
                    depth,
                    progressive,
                    chroma,
                    effort,
                    options,
                    frame,
                    most_frames,
                }
            },
        )
}

/// Generates any recipe except `original`.
pub(crate) fn any_recipe() -> impl Strategy<Value = Recipe> {
    (vec(any_step(), 0..6), any_output()).prop_map(|(steps, mut output)| {
        if steps.contains(&Step::Orient(Orient)) {
            output.stored_turn = StoredTurn::Applied;
        }
        Recipe { steps, output }
    })
}
