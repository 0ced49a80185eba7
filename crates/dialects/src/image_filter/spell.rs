//! Writes wishes as URLs of nginx's image filter, with the usual prefix.

use andon_recipe::{Fit, Wish};

use crate::spelling::{Said, Spelt, Word, all, choice, only, sides, unsharp};

/// The words of a recipe that there are directives for.
pub(super) const WORDS: &[Word] = &[
    ("original", |_| only(true, "test")),
    // Counter-clockwise.
    ("turn", |a| {
        choice(
            "rotate=",
            a,
            &[("90", "270"), ("180", "180"), ("270", "90")],
        )
    }),
    ("unsharp", |a| {
        let (sigma, amount) = unsharp(a, "1")?;
        only(
            sigma == 0.5,
            &format!("sharpen={}", (amount * 42.6028).round()),
        )
    }),
    ("q", |a| all("q=", a, "")),
    ("progressive", |_| only(true, "interlace=on")),
];

/// Returns the URL for a wish.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut said = Said::of(wish, WORDS);
    if let Some(test) = said.take("test") {
        return said.spelt(format!("/image_filter(test{test})/{source}"));
    }
    let [w, h] = sides(wish, "-");
    let word = match wish.fit {
        Fit::Cover => "crop",
        _ => "resize",
    };
    if wish.enlarge || matches!(wish.fit, Fit::Exact | Fit::Pad(_)) {
        said.miss_box(wish);
    }
    let mut options = vec![format!("{word},{w},{h}")];
    options.extend(Some(said.join(",")).filter(|others| !others.is_empty()));
    said.spelt(format!("/image_filter({})/{source}", options.join(",")))
}
