//! Glyphs and their positions, compared with those of HarfBuzz for the same fonts.

use super::*;

/// HarfBuzz's result for a text, as written by tools/fonts/make.py.
struct Answer {
    script: String,
    font: String,
    text: String,
    em: f64,
    /// Glyph, and offset and advance along both axes in units of the font.
    glyphs: Vec<[f64; 5]>,
}

fn answers() -> Vec<Answer> {
    let file = std::fs::read(folder().join("answers.json")).expect("answers");
    let rows: Vec<Value> = serde_json::from_slice(&file).expect("JSON");
    let glyph = |row: &Value| {
        let numbers = row.as_array().expect("numbers");
        let numbers: Vec<f64> = numbers.iter().filter_map(Value::as_f64).collect();
        numbers.try_into().expect("five numbers")
    };
    let answer = |row: &Value| Answer {
        script: row["script"].as_str().expect("a name").to_owned(),
        font: row["font"].as_str().expect("a file").to_owned(),
        text: row["text"].as_str().expect("a text").to_owned(),
        em: row["upem"].as_f64().expect("units"),
        glyphs: row["glyphs"]
            .as_array()
            .expect("glyphs")
            .iter()
            .map(glyph)
            .collect(),
    };
    rows.iter().map(answer).collect()
}

/// Font size in px at which positions are compared.
const SIZE: f64 = 64.0;
/// Maximum difference in px between positions that count as equal.
const TOLERANCE: f64 = 1.0 / 64.0;

#[test]
fn glyphs_of_sixty_scripts_stand_where_harfbuzz_puts_them() {
    let answers = answers();
    assert!(answers.len() > 60);
    let mut wrong = Vec::new();
    for answer in &answers {
        let fonts = fonts(&[&answer.font]);
        let vertical = answer.script == "Vertical";
        let asked = Text {
            size: SIZE,
            gravity: (Anchor::Start, Anchor::Start),
            align: Align::Left,
            writing: match vertical {
                true => Writing::Vertical,
                false => Writing::Horizontal,
            },
            ..text(&answer.text)
        };
        let placed = lay_out(&asked, &fonts).glyphs;
        if let Some(why) = difference(answer, &placed, vertical) {
            wrong.push(format!("{}: {why}", answer.script));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the difference between a layout and HarfBuzz's result for the same text, after moving the first glyphs to
/// the same position. `None` if they agree.
fn difference(answer: &Answer, placed: &[Placed], vertical: bool) -> Option<String> {
    let ids: Vec<u32> = placed.iter().map(|glyph| glyph.id).collect();
    let want: Vec<u32> = answer.glyphs.iter().map(|glyph| glyph[0] as u32).collect();
    if ids != want {
        return Some(format!("{ids:?} for {want:?}"));
    }
    let px = |units: f64| units * SIZE / answer.em;
    let mut pen = (0.0, 0.0);
    let mut first = None;
    for (glyph, have) in answer.glyphs.iter().zip(placed) {
        let [_, x, y, right, up] = glyph;
        let at = (pen.0 + px(*x), pen.1 - px(*y));
        let (from, to) = *first.get_or_insert((at, have.at));
        let want = (at.0 - from.0 + to.0, at.1 - from.1 + to.1);
        let off = (have.at.0 - want.0).abs().max((have.at.1 - want.1).abs());
        if off > TOLERANCE || (vertical && have.is_turned) {
            return Some(format!("glyph {} at {:?} for {want:?}", have.id, have.at));
        }
        pen = (pen.0 + px(*right), pen.1 - px(*up));
    }
    None
}

#[test]
fn every_letter_is_drawn_in_the_first_font_that_has_it() {
    let all = [
        "NotoSans-Regular.ttf",
        "NotoSansDevanagari-Regular.ttf",
        "NotoNaskhArabic-Regular.ttf",
    ];
    let fonts = fonts(&all);
    let mixed = "A \u{938}\u{92d}\u{940} \u{64a}\u{648}\u{644}\u{62f} \u{65e5}";
    let faces: Vec<usize> = lay_out(&text(mixed), &fonts)
        .glyphs
        .iter()
        .map(|it| it.face)
        .collect();
    let mut changes = faces.clone();
    changes.dedup();
    // Faces for Latin, Devanagari with the space after it, and Arabic; none for the letter without a font.
    assert_eq!(changes, [0, 1, 2], "{faces:?}");
    assert_eq!(fonts.missing(mixed), ['\u{65e5}']);
}
