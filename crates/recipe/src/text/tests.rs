use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use crate::{
    Canvas, Chroma, Colour, Effect, Fit, Flatten, FormatName, Length, Original, Output, ParseError,
    Recipe, Region, Size, Turn,
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
        "original:smaller",
        "original:larger,fit:10x10",
        "hint:100x50",
        "strip,orient,turn:90",
        "crop:10:_:50%x12.5",
        "fit:200x",
        "fit:x100",
        "cover:200x100,enlarge",
        "enlarge",
        "canvas:100x100:ff8800",
        "canvas:100x100:ff880080:5:_",
        "flatten:ff8800",
        "flatten:none,as:jpeg",
        "srgb,blur:0x1.5,over:icon.png:-3:4,blur:1x2",
        "over:a%2Cb%3Ac%25%20%C3%A9",
        "grey",
        "grey:",
        "as:webp,q:80,progressive,chroma:420,effort:7,frame:3",
    ] {
        assert_eq!(canonical(text), text);
    }
}

#[test]
fn stages_may_stand_in_any_order_but_effects_keep_theirs() {
    assert_eq!(
        canonical("q:80,sharpen:0x1,as:jpeg,blur:0x1,fit:10x10"),
        "fit:10x10,sharpen:0x1,blur:0x1,as:jpeg,q:80"
    );
}

#[test]
fn one_meaning_has_one_text() {
    assert_eq!(canonical("cover:200x"), "fit:200x");
    assert_eq!(canonical("fit:0200.50x"), "fit:200.5x");
    assert_eq!(
        canonical("canvas:10x10:FFFFFFFF:_:_"),
        "canvas:10x10:ffffff"
    );
    assert_eq!(canonical("flatten:FF880080"), "flatten:ff8800");
    assert_eq!(canonical("over:%61é"), "over:a%C3%A9");
}

#[test]
fn the_empty_text_is_an_error_that_names_the_way_out() {
    assert!(error("").expected.contains("`same`"));
    assert!(error("fit:1x1,").expected.contains("`same`"));
}

#[test]
fn errors_name_the_offending_piece() {
    for (text, piece) in [
        ("strip,strip", "strip"),
        ("fit:10x10,cover:5x5", "cover:5x5"),
        ("same,q:80", "same"),
        ("strip:1", "strip:1"),
        ("turn:45", "turn:45"),
        ("original:never", "original:never"),
        ("fit:x", "fit:x"),
        ("fit:100", "fit:100"),
        ("fit:-1x", "-1"),
        ("fit:1e3x", "1e3"),
        ("fit:infx", "inf"),
        ("fit:.x", "."),
        ("fit:1000001x", "1000001"),
        ("fit:100001%x", "100001%"),
        ("crop:_:_:_x_", "crop:_:_:_x_"),
        ("crop:1:2", "crop:1:2"),
        ("crop:1:2:3x4:5", "crop:1:2:3x4:5"),
        ("canvas:0x10:000000", "0"),
        ("canvas:10x10:fff", "fff"),
        ("canvas:10x10", "canvas:10x10"),
        ("hint:10", "hint:10"),
        ("hint:+1x10", "+1"),
        ("q:0", "0"),
        ("q:1001", "1001"),
        ("effort:10", "10"),
        ("frame:0", "0"),
        ("chroma:421", "chroma:421"),
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
        "`0` is no part of a recipe: expected a quality from 1 to 1000"
    );
}

#[test]
fn materials_are_the_first_arguments_of_over() {
    let recipe: Recipe = "over:a.png:1:2,blur:0x1,over:b.png,over".parse().unwrap();
    assert_eq!(recipe.materials().collect::<Vec<_>>(), ["a.png", "b.png"]);
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
    let word = prop_oneof![
        select(super::STAGES).prop_map(str::to_owned),
        "[a-z-]{1,4}".prop_map(|word: String| word),
    ];
    let arg = prop_oneof![
        "[0-9.]{1,6}x[0-9.]{1,6}%?",
        "[0-9]{1,4}",
        "[0-9a-fA-F]{6,8}",
        Just("_".to_owned()),
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
        (0..=1_000_000u32).prop_map(|px| Length::Px(f64::from(px))),
        (0.0..=Length::MAX_PX).prop_map(Length::Px),
        (0.0..=Length::MAX_PERCENT).prop_map(Length::Percent),
        Just(Length::Px(f64::MIN_POSITIVE)),
    ]
}

fn any_size() -> impl Strategy<Value = Size> {
    let fit = select(vec![Fit::Inside, Fit::Cover, Fit::Exact]);
    (of(any_length()), of(any_length()), fit, any::<bool>()).prop_map(|(w, h, fit, enlarge)| Size {
        w,
        h,
        fit: if w.and(h).is_some() { fit } else { Fit::Inside },
        enlarge,
    })
}

fn any_canvas() -> impl Strategy<Value = Canvas> {
    let side = || 1..=1_000_000u32;
    let colour = any::<(u8, u8, u8, u8)>().prop_map(|(r, g, b, a)| Colour { r, g, b, a });
    (side(), side(), of(any_length()), of(any_length()), colour)
        .prop_map(|(w, h, x, y, colour)| Canvas { w, h, x, y, colour })
}

fn any_effect() -> impl Strategy<Value = Effect> {
    ("[a-z][a-z0-9-]{0,8}", vec(any::<String>(), 0..3))
        .prop_filter_map("a stage's word", |(name, args)| {
            Effect::new(&name, args).ok()
        })
}

fn any_output() -> impl Strategy<Value = Output> {
    let chroma = select(vec![
        Chroma::C444,
        Chroma::C422,
        Chroma::C420,
        Chroma::C440,
        Chroma::C411,
    ]);
    (
        of("[a-z0-9]{1,8}"),
        of(1..=1000u16),
        any::<bool>(),
        of(chroma),
        of(0..=9u8),
        of(1..=1_000_000u32),
    )
        .prop_map(
            |(format, quality, progressive, chroma, effort, frame)| Output {
                format: format.map(|name| FormatName::new(&name).expect("a name")),
                quality,
                progressive,
                chroma,
                effort,
                frame,
            },
        )
}

prop_compose! {
    fn any_recipe()(
        original in select(vec![
            Original::Never,
            Original::Always,
            Original::IfSmaller,
            Original::IfLarger,
        ]),
        hint in of((1..=1_000_000u32, 1..=1_000_000u32)),
        (strip, orient, srgb) in any::<(bool, bool, bool)>(),
        turn in select(vec![Turn::R0, Turn::R90, Turn::R180, Turn::R270]),
        (x, y, w, h) in (of(any_length()), of(any_length()), of(any_length()), of(any_length())),
        size in any_size(),
        canvas in of(any_canvas()),
        flatten in prop_oneof![
            select(vec![Flatten::IfNeeded, Flatten::Drop]),
            any::<[u8; 3]>().prop_map(|[r, g, b]| Flatten::Over(Colour { r, g, b, a: 255 })),
        ],
        effects in vec(any_effect(), 0..4),
        output in any_output(),
    ) -> Recipe {
        Recipe {
            original,
            hint,
            strip,
            orient,
            turn,
            region: Region { x, y, w, h },
            size,
            canvas,
            flatten,
            srgb,
            effects,
            output,
        }
    }
}
