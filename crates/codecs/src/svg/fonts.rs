//! The fonts that text is drawn with: one of our own, unless others are given.

use std::sync::{Arc, OnceLock};

use resvg::usvg::fontdb::{Database, Source};

/// Latin, Greek and Cyrillic.
const BUNDLED: &[u8] = include_bytes!("font/DejaVuSans.ttf");

static FONTS: OnceLock<Fonts> = OnceLock::new();

/// Fonts and the families that stand for the generic ones.
#[derive(Debug)]
pub struct Fonts {
    database: Arc<Database>,
    family: String,
}

impl Fonts {
    /// The files, of which each may hold several fonts; the families that stand for sans-serif, serif, monospace,
    /// cursive and fantasy. Text that names no family is drawn in the first.
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

    /// Draws all text with these from now on. False: some text was drawn, or other fonts were given, before.
    pub fn install(self) -> bool {
        FONTS.set(self).is_ok()
    }
}

/// The fonts, and the family of text that names none.
pub(super) fn fonts() -> (Arc<Database>, String) {
    let own = || Fonts::new(vec![BUNDLED.to_vec()], ["DejaVu Sans"; 5]);
    let fonts = FONTS.get_or_init(own);
    (Arc::clone(&fonts.database), fonts.family.clone())
}
