//! Writing directions, lines, boxes and columns of texts.

use proptest::prelude::*;

use super::*;

const LATIN: &str = "NotoSans-Regular.ttf";
const ARABIC: &str = "NotoNaskhArabic-Regular.ttf";
const THAI: &str = "NotoSansThai-Regular.ttf";
const CJK: &str = "NotoSansCJK-Regular.ttf";

/// Returns, for each line from top to bottom, its baseline and the positions of its glyphs' origins, in px.
fn lines(glyphs: &[Placed]) -> Vec<(f64, Vec<f64>)> {
    let mut lines: Vec<(f64, Vec<f64>)> = Vec::new();
    for glyph in glyphs {
        match lines.last_mut() {
            Some((y, places)) if (*y - glyph.at.1).abs() < 8.0 => places.push(glyph.at.0),
            _ => lines.push((glyph.at.1, vec![glyph.at.0])),
        }
    }
    lines
}

fn boxed<'a>(content: &'a str, area: (f64, f64)) -> Text<'a> {
    Text {
        area,
        gravity: (Anchor::Start, Anchor::Start),
        align: Align::Left,
        ..text(content)
    }
}

#[test]
fn numbers_and_latin_keep_their_direction_in_a_paragraph_from_right_to_left() {
    let fonts = fonts(&[ARABIC, LATIN]);
    // In logical order: two words of Arabic, `fi`, and a word of Arabic.
    let mixed = "\u{64a}\u{648} \u{644}\u{62f} fi \u{646}\u{627}";
    let layout = lay_out(&boxed(mixed, (0.0, 0.0)), &fonts);
    let ids = |text: &str| -> Vec<u32> {
        let glyphs = lay_out(&boxed(text, (0.0, 0.0)), &fonts).glyphs;
        glyphs.iter().map(|glyph| glyph.id).collect()
    };
    let all: Vec<u32> = layout.glyphs.iter().map(|glyph| glyph.id).collect();
    let (latin, last) = (ids("fi"), ids("\u{646}\u{627}"));
    // The last word is the leftmost. It is followed by a space and the Latin letters, from left to right.
    assert_eq!(all[..last.len()], last);
    assert_eq!(all[last.len() + 1..][..latin.len()], latin);
}

#[test]
fn lines_are_broken_at_words_and_stay_within_their_box() {
    let fonts = fonts(&[LATIN]);
    let words = "Office ffl AVATAR Office ffl AVATAR Office";
    for width in [60.0, 90.0, 150.0] {
        let layout = lay_out(&boxed(words, (width, 0.0)), &fonts);
        let lines = lines(&layout.glyphs);
        assert!(lines.len() > 1, "{width}");
        for (_, places) in &lines {
            assert!(
                places.iter().all(|x| (-1.0..width).contains(x)),
                "{places:?}"
            );
        }
        let pitches: Vec<f64> = lines.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        assert!(
            pitches
                .iter()
                .all(|pitch| (pitch - pitches[0]).abs() < 0.01)
        );
    }
}

#[test]
fn thai_is_broken_between_words_though_it_has_no_spaces() {
    let fonts = fonts(&[THAI]);
    // Three words.
    let text = "\u{e21}\u{e19}\u{e38}\u{e29}\u{e22}\u{e4c}\u{e17}\u{e31}\u{e49}\u{e07}\u{e2b}\u{e25}\u{e32}\u{e22}\u{e40}\u{e01}\u{e34}\u{e14}";
    let whole = lay_out(&boxed(text, (0.0, 0.0)), &fonts).glyphs;
    let width = whole[whole.len() - 1].at.0;
    let layout = lay_out(&boxed(text, (width * 0.9, 0.0)), &fonts);
    let (first, second) = {
        let top = layout.glyphs[0].at.1;
        let is_first = |glyph: &&Placed| glyph.at.1 < top + 12.0;
        let first = layout.glyphs.iter().filter(is_first).count();
        (first, layout.glyphs.len() - first)
    };
    // The last word has four characters with one glyph each.
    assert_eq!((first + second, second), (whole.len(), 4));
}

#[test]
fn text_is_made_smaller_until_it_fits_and_no_smaller() {
    let fonts = fonts(&[LATIN]);
    let words = "Office ffl AVATAR Office ffl AVATAR Office";
    let shrunk = |area| {
        let asked = Text {
            size: 40.0,
            overflow: Overflow::Shrink,
            ..boxed(words, area)
        };
        lay_out(&asked, &fonts)
    };
    let (small, large) = (shrunk((120.0, 60.0)), shrunk((2000.0, 400.0)));
    assert_eq!(large.size, 40.0);
    assert!(small.size < 25.0 && small.size > 8.0, "{}", small.size);
    let bottom = small
        .glyphs
        .iter()
        .map(|glyph| glyph.at.1)
        .fold(0.0, f64::max);
    assert!(bottom <= 60.0 && bottom > 40.0, "{bottom}");
    // A word that is too long for its line counts as well.
    let narrow = shrunk((40.0, 400.0));
    assert!(narrow.glyphs.iter().all(|glyph| glyph.at.0 < 40.0));
}

#[test]
fn an_ellipsis_stands_for_what_is_cut_off() {
    let fonts = crate::fonts::installed();
    let cut = |content: &str, area| {
        let asked = Text {
            overflow: Overflow::Ellipsis,
            ..boxed(content, area)
        };
        lay_out(&asked, &fonts).glyphs
    };
    let words = "one two three four five six seven";
    let ellipsis = cut("\u{2026}", (0.0, 0.0))[0].id;
    let one_line = cut(words, (100.0, 0.0));
    assert!(lines(&one_line).len() == 1);
    assert_eq!(one_line.last().map(|glyph| glyph.id), Some(ellipsis));
    let two_lines = cut(words, (100.0, 40.0));
    assert_eq!(lines(&two_lines).len(), 2);
    assert_eq!(two_lines.last().map(|glyph| glyph.id), Some(ellipsis));
    let whole = cut("one", (100.0, 40.0));
    assert!(whole.iter().all(|glyph| glyph.id != ellipsis));
}

#[test]
fn lines_are_aligned_at_either_side_in_the_middle_or_at_both() {
    let fonts = crate::fonts::installed();
    let of = |align| {
        let asked = Text {
            align,
            ..boxed("one two three four five six seven", (120.0, 0.0))
        };
        lines(&lay_out(&asked, &fonts).glyphs)
    };
    let ends = |align| {
        let first = &of(align)[0].1;
        (first[0], first[first.len() - 1])
    };
    let (left, right) = (ends(Align::Left), ends(Align::Right));
    let (middle, both) = (ends(Align::Centre), ends(Align::Justify));
    assert_eq!(left, ends(Align::Start));
    assert_eq!(right, ends(Align::End));
    assert!(left.0 < middle.0 && middle.0 < right.0);
    assert!((both.0 - left.0).abs() < 0.01 && (both.1 - right.1).abs() < 0.01);
    let last = |align| of(align).last().expect("a line").1[0];
    assert_eq!(last(Align::Justify), last(Align::Left));
}

#[test]
fn a_paragraph_from_right_to_left_starts_at_the_right() {
    let fonts = fonts(&[ARABIC]);
    let first = |align| {
        let asked = Text {
            align,
            ..boxed("\u{64a}\u{648}\u{644}\u{62f}", (200.0, 0.0))
        };
        lay_out(&asked, &fonts).glyphs[0].at.0
    };
    assert_eq!(first(Align::Start), first(Align::Right));
    assert_eq!(first(Align::End), first(Align::Left));
    assert!(first(Align::Left) < 20.0 && first(Align::Right) > 150.0);
}

#[test]
fn columns_go_from_right_to_left_with_upright_japanese_and_turned_latin() {
    let fonts = fonts(&[CJK, LATIN]);
    let asked = Text {
        writing: Writing::Vertical,
        gravity: (Anchor::End, Anchor::Start),
        align: Align::Left,
        area: (0.0, 50.0),
        ..text("\u{4eba}\u{9593}\u{3001}fi\u{4eba}")
    };
    let glyphs = lay_out(&asked, &fonts).glyphs;
    let turned: Vec<bool> = glyphs.iter().map(|glyph| glyph.is_turned).collect();
    let latin: Vec<bool> = glyphs.iter().map(|glyph| glyph.face == 1).collect();
    assert_eq!(turned, latin);
    assert!(turned.contains(&true));
    let columns: Vec<f64> = glyphs
        .iter()
        .map(|glyph| (glyph.at.0 / 19.2).round())
        .collect();
    assert!(
        columns.windows(2).all(|pair| pair[1] <= pair[0]),
        "{columns:?}"
    );
    assert!(columns[0] > columns[columns.len() - 1], "{columns:?}");
    assert!(glyphs.iter().all(|glyph| glyph.at.1 < 68.0));
    // The comma is the one for columns, in the upper right of its square.
    let comma = |writing| {
        let asked = Text {
            writing,
            ..text("\u{3001}")
        };
        lay_out(&asked, &fonts).glyphs[0].id
    };
    assert_ne!(comma(Writing::Vertical), comma(Writing::Horizontal));
}

#[test]
fn as_many_columns_fit_into_a_box_as_stand_in_it() {
    let fonts = fonts(&[CJK, LATIN]);
    for most in 1..4_u32 {
        let width = 19.2 * f64::from(most) + 1.0;
        let asked = Text {
            writing: Writing::Vertical,
            overflow: Overflow::Ellipsis,
            gravity: (Anchor::Start, Anchor::Start),
            area: (width, 40.0),
            ..text(
                "\u{4eba}\u{9593}\u{4eba}\u{9593}\u{4eba}\u{9593}\u{4eba}\u{9593}\u{4eba}\u{9593}",
            )
        };
        let layout = lay_out(&asked, &fonts);
        let column = |glyph: &Placed| (glyph.at.0 / 19.2).floor() as i64;
        let columns: std::collections::BTreeSet<i64> = layout.glyphs.iter().map(column).collect();
        assert_eq!(columns.len(), most as usize, "{columns:?}");
        assert!(
            layout
                .glyphs
                .iter()
                .all(|glyph| (0.0..width).contains(&glyph.at.0))
        );
    }
}

/// Difficult texts: bidirectional controls, joiners, marks, and letters of many scripts.
fn hostile() -> impl Strategy<Value = String> {
    let letter = prop_oneof![
        Just('\u{202e}'),
        Just('\u{2067}'),
        Just('\u{2069}'),
        Just('\u{202a}'),
        Just('\u{200d}'),
        Just('\u{fe0f}'),
        Just('\n'),
        Just(' '),
        Just('\u{301}'),
        Just('\u{64b}'),
        Just('\u{94d}'),
        proptest::char::range('\u{600}', '\u{6ff}'),
        proptest::char::range('\u{900}', '\u{97f}'),
        proptest::char::range('\u{e00}', '\u{e7f}'),
        proptest::char::range('a', 'z'),
        any::<char>(),
    ];
    proptest::collection::vec(letter, 0..120).prop_map(|letters| letters.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_is_laid_out_with_finite_places(
        content in hostile(),
        width in prop_oneof![Just(0.0), 1.0..300.0],
        height in prop_oneof![Just(0.0), 1.0..100.0],
        way in 0..6_usize,
    ) {
        let fonts = fonts(&[LATIN, ARABIC, THAI, CJK, "NotoSansDevanagari-Regular.ttf"]);
        let overflow = [Overflow::Wrap, Overflow::Shrink, Overflow::Ellipsis][way % 3];
        let writing = [Writing::Horizontal, Writing::Vertical][way / 3];
        let asked = Text {
            overflow,
            writing,
            align: Align::Justify,
            ..boxed(&content, (width, height))
        };
        let layout = lay_out(&asked, &fonts);
        prop_assert!(layout.size > 0.0 && layout.size <= 16.0);
        for glyph in &layout.glyphs {
            prop_assert!(glyph.at.0.is_finite() && glyph.at.1.is_finite());
        }
    }
}

#[test]
fn a_thousand_marks_and_controls_are_laid_out_at_once() {
    let fonts = fonts(&[LATIN, ARABIC]);
    for content in [
        format!("a{}", "\u{301}".repeat(1000)),
        "\u{202e}\u{2067}".repeat(500),
        "\u{64a}a".repeat(500),
        "a ".repeat(500),
        "a\n".repeat(500),
        "a".repeat(1024),
    ] {
        let began = std::time::Instant::now();
        for overflow in [Overflow::Wrap, Overflow::Shrink, Overflow::Ellipsis] {
            let asked = Text {
                overflow,
                ..boxed(&content, (50.0, 40.0))
            };
            lay_out(&asked, &fonts);
        }
        // Layout takes milliseconds, so that a second means a fault even on a busy machine.
        let start: String = content.chars().take(4).collect();
        assert!(
            began.elapsed().as_secs() < 20,
            "{start:?}: {:?}",
            began.elapsed()
        );
    }
}
