//! Font lookup of `usvg`: in the fonts of this crate, and by the number of a face in documents that this crate creates.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use resvg::usvg::fontdb::{Database, ID};
use resvg::usvg::{Font, FontFamily, FontResolver};

use crate::fonts::Fonts;

/// Prefix of family names that identify one face.
const FACE: &str = "andon-face-";

/// Maximum number of fallback fonts in a document. `usvg` shapes a whole text again for each.
const MOST_FALLBACKS: usize = 100;

/// Returns the family name that identifies one face of the installed fonts.
pub(super) fn family(face: usize) -> String {
    format!("{FACE}{face}")
}

/// Returns the resolver through which `usvg` looks up fonts.
pub(super) fn resolver(fonts: Arc<Fonts>) -> FontResolver<'static> {
    let usual = FontResolver::default_font_selector();
    let named = fonts.clone();
    let tries = AtomicUsize::new(0);
    FontResolver {
        select_font: Box::new(move |font: &Font, database: &mut Arc<Database>| {
            face(font, &named).or_else(|| usual(font, database))
        }),
        select_fallback: Box::new(move |letter: char, used: &[ID], _: &mut Arc<Database>| {
            let is_allowed = tries.fetch_add(1, Ordering::Relaxed) < MOST_FALLBACKS;
            is_allowed.then(|| fonts.fallback(letter, used)).flatten()
        }),
    }
}

/// Returns the installed face whose number is in the first family name of `font`, such as face 2 for `andon-face-2`.
/// `None` if that is not a name that [`family`] returns, or if there is no face with this number.
fn face(font: &Font, fonts: &Fonts) -> Option<ID> {
    let FontFamily::Named(name) = font.families().first()? else {
        return None;
    };
    let face = name.strip_prefix(FACE)?.parse().ok()?;
    (face < fonts.count()).then(|| fonts.face(face).id)
}
