//! Distances between characters and lines, line breaks, and cutting of texts.

use super::*;

use proptest::prelude::*;

const LATIN: &str = "NotoSans-Regular.ttf";
const ARABIC: &str = "NotoNaskhArabic-Regular.ttf";

/// A text whose lines begin in the upper left corner.
fn left<'a>(content: &'a str) -> Text<'a> {
    Text {
        gravity: (Anchor::Start, Anchor::Start),
        align: Align::Left,
        ..text(content)
    }
}

fn laid(text: &Text<'_>) -> Vec<Placed> {
    lay_out(text, &crate::fonts::installed()).glyphs
}

fn ids(glyphs: &[Placed]) -> Vec<u32> {
    glyphs.iter().map(|glyph| glyph.id).collect()
}

/// The baselines of lines, from top to bottom, in px.
fn baselines(glyphs: &[Placed]) -> Vec<f64> {
    let mut all: Vec<f64> = glyphs.iter().map(|glyph| glyph.at.1).collect();
    all.dedup_by(|one, other| (*one - *other).abs() < 0.01);
    all
}

// Letters without `f`, which the font joins to others.
proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn tracking_widens_a_text_by_as_much_between_any_two_characters(
        content in "[A-Za-eg-z0-9][A-Za-eg-z0-9 ]{0,20}[A-Za-eg-z]",
        tracking in -3.0..20.0_f64,
        shift in 0..3_usize,
    ) {
        let align = [Align::Left, Align::Centre, Align::Right][shift];
        let asked = |tracking| Text {
            area: (4000.0, 0.0),
            align,
            tracking,
            ..left(&content)
        };
        let (plain, wide) = (laid(&asked(0.0)), laid(&asked(tracking)));
        prop_assert_eq!(ids(&plain), ids(&wide));
        let more = tracking * (wide.len() - 1) as f64;
        let start = more * [0.0, 0.5, 1.0][shift];
        for (index, (plain, wide)) in plain.iter().zip(&wide).enumerate() {
            let moved = wide.at.0 - plain.at.0;
            let want = tracking * index as f64 - start;
            prop_assert!((moved - want).abs() < 0.01, "{} {} {}", index, moved, want);
        }
    }

    #[test]
    fn a_line_broken_at_characters_is_as_full_as_can_be(
        content in "[a-z ]{1,60}[a-z]",
        width in 20.0..200.0_f64,
        tracking in -1.0..5.0_f64,
    ) {
        let asked = Text {
            area: (width, 0.0),
            breaks: Breaks::Characters,
            tracking,
            ..left(&content)
        };
        let broken = laid(&asked);
        let whole = laid(&Text { area: (0.0, 0.0), ..asked.clone() });
        let ends: Vec<usize> = (1..broken.len())
            .filter(|at| broken[*at].at.1 > broken[*at - 1].at.1 + 1.0)
            .collect();
        // Breaking between characters: the number of lines follows from the length, without white space at line ends.
        let length = whole[whole.len() - 1].at.0;
        prop_assert!(ends.len() as f64 + 1.0 >= (length / (width + 16.0 + 5.0)).floor());
        prop_assert!(ends.len() as f64 <= length / (width - 17.0).max(1.0) + 1.0);
        for glyph in &broken {
            prop_assert!(glyph.at.0 <= width.max(20.0), "{:?}", glyph);
        }
    }

    #[test]
    fn what_is_left_of_a_text_is_its_beginning_its_end_or_both(
        content in "[a-eg-z]{1,9}( [a-eg-z]{1,9}){3,8}",
        width in 40.0..120.0_f64,
        ellipsis in any::<bool>(),
        tracking in 0.0..3.0_f64,
    ) {
        let mark = laid(&left("\u{2026}"))[0].id;
        let whole = ids(&laid(&left(&content)));
        for cut in [Cut::End, Cut::Start, Cut::Middle] {
            let asked = Text {
                area: (width, 0.0),
                overflow: if ellipsis { Overflow::Ellipsis } else { Overflow::Clip },
                cut,
                tracking,
                ..left(&content)
            };
            let glyphs = laid(&asked);
            let own = ids(&glyphs);
            if own == whole {
                continue;
            }
            prop_assert_eq!(baselines(&glyphs).len(), 1);
            prop_assert!(glyphs.iter().all(|glyph| glyph.at.0 < width));
            let marks: Vec<usize> = (0..own.len()).filter(|at| own[*at] == mark).collect();
            prop_assert_eq!(marks.len(), usize::from(ellipsis));
            let (head, tail) = match (cut, marks.first()) {
                (_, Some(at)) => (&own[..*at], &own[at + 1..]),
                (Cut::End, None) => (&own[..], &own[..0]),
                (Cut::Start, None) => (&own[..0], &own[..]),
                // The boundary between the two parts is not visible in the result.
                (Cut::Middle, None) => continue,
            };
            prop_assert!(whole.starts_with(head) && whole.ends_with(tail), "{:?}", cut);
            prop_assert_eq!(tail.is_empty(), cut == Cut::End);
            if cut == Cut::Start {
                prop_assert!(head.is_empty());
            }
        }
    }
}

#[test]
fn a_text_without_its_middle_has_about_as_much_of_both_ends() {
    let content = "abcdefghijklmnopqrstuvwxyz".repeat(3);
    let asked = Text {
        area: (200.0, 0.0),
        overflow: Overflow::Ellipsis,
        cut: Cut::Middle,
        ..left(&content)
    };
    let glyphs = laid(&asked);
    let mark = laid(&left("\u{2026}"))[0].id;
    let at = glyphs
        .iter()
        .find(|glyph| glyph.id == mark)
        .map(|it| it.at.0);
    assert!((80.0..100.0).contains(&at.unwrap_or_default()), "{at:?}");
}

#[test]
fn of_lines_that_have_no_room_the_first_the_last_or_both_stay() {
    let content = "aa\nbb\ncc\ndd\nee";
    let shown = |cut, overflow| {
        let asked = Text {
            // Three lines.
            area: (300.0, 60.0),
            overflow,
            cut,
            ..left(content)
        };
        ids(&laid(&asked))
    };
    let of = |text: &str| ids(&laid(&left(text)));
    for (cut, with, without) in [
        (Cut::End, "aa\nbb\ncc\u{2026}", "aa\nbb\ncc"),
        (Cut::Start, "\u{2026}cc\ndd\nee", "cc\ndd\nee"),
        (Cut::Middle, "aa\nbb\u{2026}\nee", "aa\nbb\nee"),
    ] {
        assert_eq!(shown(cut, Overflow::Ellipsis), of(with), "{cut:?}");
        assert_eq!(shown(cut, Overflow::Clip), of(without), "{cut:?}");
    }
}

#[test]
fn tracking_takes_ligatures_apart_and_leaves_joined_scripts_alone() {
    let fonts = fonts(&[LATIN, ARABIC]);
    let laid = |content: &str, tracking| {
        let asked = Text {
            tracking,
            ..left(content)
        };
        lay_out(&asked, &fonts).glyphs
    };
    let (ligature, apart) = (laid("ffi", 0.0), laid("ffi", 2.0));
    assert_eq!((ligature.len(), apart.len()), (1, 3));
    let word = "\u{64a}\u{648}\u{644}\u{62f}";
    let places =
        |glyphs: &[Placed]| -> Vec<(f64, f64)> { glyphs.iter().map(|glyph| glyph.at).collect() };
    let (plain, wide) = (laid(word, 0.0), laid(word, 9.0));
    assert_eq!(ids(&plain), ids(&wide));
    assert_eq!(places(&plain), places(&wide));
}

#[test]
fn leading_moves_lines_apart_and_counts_in_a_box() {
    let lines = |leading, area, overflow| {
        let asked = Text {
            leading,
            area,
            overflow,
            ..left("a\nb\nc\nd")
        };
        baselines(&laid(&asked))
    };
    let pitch = |lines: &[f64]| lines[1] - lines[0];
    let plain = lines(0.0, (0.0, 0.0), Overflow::Wrap);
    for leading in [-5.0, 3.0, 12.5] {
        let moved = lines(leading, (0.0, 0.0), Overflow::Wrap);
        assert!((pitch(&moved) - pitch(&plain) - leading).abs() < 0.01);
        assert!((moved[0] - plain[0]).abs() < 0.01);
    }
    // A line is 19.2 px high, and nothing follows the last one.
    for (height, most) in [(29.0, 1), (49.0, 1), (50.0, 2), (79.0, 2), (80.0, 3)] {
        let shown = lines(10.8, (100.0, height), Overflow::Ellipsis);
        assert_eq!(shown.len(), most, "{height}");
    }
    // However small the spacing, each line is below the one before.
    let close = lines(-900.0, (0.0, 0.0), Overflow::Wrap);
    assert!(pitch(&close) > 1.0);
}

#[test]
fn distances_become_smaller_with_the_letters() {
    let asked = |tracking| Text {
        area: (100.0, 40.0),
        size: 100.0,
        overflow: Overflow::Shrink,
        tracking,
        ..left("Otters")
    };
    let layout = |tracking| lay_out(&asked(tracking), &crate::fonts::installed());
    let (plain, wide) = (layout(0.0), layout(20.0));
    assert!(wide.size < plain.size);
    let last = |layout: &Layout| layout.glyphs[layout.glyphs.len() - 1].at.0;
    assert!(last(&wide) < 100.0 && last(&plain) < 100.0);
}

#[test]
fn a_column_is_tracked_and_turned_as_a_line_is() {
    let fonts = fonts(&["NotoSansCJK-Regular.ttf"]);
    let asked = |tracking, turn| Text {
        writing: Writing::Vertical,
        tracking,
        turn,
        ..left("\u{4eba}\u{9593}\u{4eba}")
    };
    let layout = |tracking, turn| lay_out(&asked(tracking, turn), &fonts);
    let (plain, wide) = (layout(0.0, 0.0), layout(5.0, 0.0));
    let ends = |layout: &Layout| layout.glyphs[2].at.1 - layout.glyphs[0].at.1;
    assert!((ends(&wide) - ends(&plain) - 10.0).abs() < 0.01);
    assert_eq!(plain.canvas.turn, None);
    let turn = layout(0.0, 90.0).canvas.turn.expect("a turn");
    // Three characters of 16 px: what was 19.2 px wide and 48 px high is at the same corner.
    let middle = (turn.about.0 + turn.by.0, turn.about.1 + turn.by.1);
    assert!(
        (middle.0 - 24.0).abs() < 0.1 && (middle.1 - 9.6).abs() < 0.1,
        "{turn:?}"
    );
}
