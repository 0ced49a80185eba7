//! The fonts for drawing text: a bundled one, unless others are installed.

use std::sync::{Arc, OnceLock};

use resvg::usvg::fontdb::{Database, ID, Source};
use skrifa::{FontRef, MetadataProvider};

/// The bundled font, which covers Latin, Greek and Cyrillic.
const BUNDLED: &[u8] = include_bytes!("font/DejaVuSans.ttf");

static FONTS: OnceLock<Fonts> = OnceLock::new();

/// Fonts, and the families that stand for the generic ones.
#[derive(Debug)]
pub struct Fonts {
    database: Arc<Database>,
    family: String,
}

impl Fonts {
    /// Loads font files, each of which may contain several fonts. The families stand for sans-serif, serif, monospace,
    /// cursive and fantasy. Text that names no family is drawn in the first of them.
    #[must_use]
    pub fn new(files: Vec<Vec<u8>>, [sans, serif, mono, cursive, fantasy]: [&str; 5]) -> Self {
        let mut database = Database::new();
        for file in files {
            database.load_font_source(Source::Binary(Arc::new(file)));
        }
        database.set_sans_serif_family(sans);
        database.set_serif_family(serif);
        database.set_monospace_family(mono);
        database.set_cursive_family(cursive);
        database.set_fantasy_family(fantasy);
        Self {
            database: Arc::new(database),
            family: sans.to_owned(),
        }
    }

    /// Makes these the fonts for all text from now on. Returns false if text was drawn or other fonts were installed
    /// before.
    pub fn install(self) -> bool {
        FONTS.set(self).is_ok()
    }
}

/// Returns the characters of a text for which no font has a glyph, each once. Invisible characters need no glyph.
pub(super) fn missing(text: &str) -> Vec<char> {
    let (database, _) = fonts();
    let mut missing: Vec<char> = Vec::new();
    for letter in text.chars().filter(|letter| !is_invisible(*letter)) {
        if !missing.contains(&letter)
            && !database.faces().any(|face| has(&database, face.id, letter))
        {
            missing.push(letter);
        }
    }
    missing
}

fn has(database: &Database, face: ID, letter: char) -> bool {
    let glyph = database.with_face_data(face, |data, index| {
        let font = FontRef::from_index(data, index).ok()?;
        font.charmap().map(letter)
    });
    glyph.flatten().is_some()
}

/// Whether a character is white space, a control, or a mark that only affects how others are drawn.
fn is_invisible(letter: char) -> bool {
    letter.is_whitespace()
        || letter.is_control()
        || matches!(
            letter,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        )
}

/// Returns the fonts, and the family for text that names none.
pub(super) fn fonts() -> (Arc<Database>, String) {
    let own = || Fonts::new(vec![BUNDLED.to_vec()], ["DejaVu Sans"; 5]);
    let fonts = FONTS.get_or_init(own);
    (Arc::clone(&fonts.database), fonts.family.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_no_font_has_are_told_once() {
        assert_eq!(missing("Zo\u{eb} \u{3a9}\u{416}\u{200d}\n"), []);
        assert_eq!(
            missing("a\u{65e5}\u{672c}\u{65e5}"),
            ['\u{65e5}', '\u{672c}']
        );
    }
}
