//! Other spellings of the words of recipes, and the equivalent words of other programs.

/// Returns a word in the spelling of recipes, if it is a British or American variant of one; otherwise returns it
/// unchanged.
pub(crate) fn usual(word: &str) -> &str {
    match word {
        "center" => "centre",
        "grey" => "gray",
        "colorise" | "colourise" | "colourize" => "colorize",
        word => word,
    }
}

/// Returns a recipe's equivalent of a word that other programs use for a step.
///
/// ```
/// assert_eq!(andon_recipe::instead_of("thumbnail"), Some("cover:150x150"));
/// assert_eq!(andon_recipe::instead_of("frobnicate"), None);
/// ```
#[must_use]
pub fn instead_of(word: &str) -> Option<&'static str> {
    let place = FOREIGN.binary_search_by_key(&word, |(foreign, _)| foreign);
    Some(FOREIGN[place.ok()?].1)
}

/// Words of other programs, sorted, each with an example of the equivalent step.
const FOREIGN: &[(&str, &str)] = &[
    ("autorotate", "orient"),
    ("bg", "background:ffffff"),
    ("bw", "gray"),
    ("colour", "background:ffffff"),
    ("compress", "q:80"),
    ("contain", "fit:250x250"),
    ("convert", "as:webp"),
    ("embed", "canvas:250x250:ffffff"),
    ("ext", "as:webp"),
    ("extend", "canvas:250x250:ffffff"),
    ("extent", "canvas:250x250:ffffff"),
    ("f", "as:webp"),
    ("fill", "cover:250x250"),
    ("flop", "flip:h"),
    ("fm", "as:webp"),
    ("format", "as:webp"),
    ("grayscale", "gray"),
    ("greyscale", "gray"),
    ("h", "fit:x250"),
    ("height", "fit:x250"),
    ("interlace", "progressive"),
    ("mirror", "flip:h"),
    ("monochrome", "gray"),
    ("negate", "invert"),
    ("output", "as:webp"),
    ("quality", "q:80"),
    ("resize", "fit:250x250"),
    ("rs", "fit:250x250"),
    ("s", "fit:250x250"),
    ("scale", "fit:50%x50%"),
    ("size", "fit:250x250"),
    ("smart", "focus:smart,cover:250x250"),
    ("strip", "metadata:none"),
    ("thumb", "cover:150x150"),
    ("thumbnail", "cover:150x150"),
    ("type", "as:webp"),
    ("w", "fit:250x"),
    ("watermark", "overlay:logo.png:100p-8:100p-8"),
    ("width", "fit:250x"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Recipe, words};

    #[test]
    fn words_of_other_programs_are_sorted_and_none_of_ours() {
        assert!(FOREIGN.is_sorted());
        for (foreign, _) in FOREIGN {
            assert!(words().all(|word| word.name != *foreign), "{foreign}");
        }
    }

    #[test]
    fn what_stands_in_their_place_is_a_recipe() {
        for (foreign, ours) in FOREIGN {
            assert!(ours.parse::<Recipe>().is_ok(), "{foreign}: {ours}");
        }
    }

    #[test]
    fn british_and_american_spellings_are_the_same_recipe() {
        for (one, other) in [
            ("cover:300x200:center", "cover:300x200"),
            ("grey", "gray"),
            ("canvas:9x9:White", "canvas:9x9:ffffff"),
            ("canvas:9x9:transparent", "canvas:9x9:00000000"),
            ("background:red", "background:ff0000"),
        ] {
            let read = |text: &str| text.parse::<Recipe>().expect(text).to_string();
            assert_eq!(read(one), read(other), "{one}");
        }
    }
}
