#![no_main]
//! Fuzzes recipes with any text. A recipe that parses must print as a text that parses to the same recipe, and must
//! resolve without a panic to one that resolves to itself.

use andon_recipe::{Facts, Recipe, Rules};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(recipe) = text.parse::<Recipe>() else {
        return;
    };
    let canonical = recipe.to_string();
    let again: Recipe = canonical.parse().expect(&canonical);
    assert_eq!(again, recipe, "{canonical}");
    assert_eq!(again.to_string(), canonical, "the canonical text is one");
    for (width, height) in [(1, 1), (400, 300), (32_768, 3), (u32::MAX, u32::MAX)] {
        // The recipe need not be one that can be applied to the image.
        let facts = Facts::new("jpeg", width, height);
        if let Ok(resolved) = recipe.resolve(&facts) {
            let text = resolved.to_string();
            assert_eq!(text.parse(), Ok(resolved.clone()), "{text}");
            assert_eq!(resolved.resolve(&facts), Ok(resolved), "{text}");
        }
    }
});
