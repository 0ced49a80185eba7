#![no_main]
//! Any text as a recipe: what parses, prints a text that parses to the same, and lays out without a panic.

use andon_recipe::Recipe;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(recipe) = text.parse::<Recipe>() else {
        return;
    };
    let canonical = recipe.to_string();
    let again: Recipe = canonical.parse().expect(&canonical);
    assert_eq!(again, recipe, "{canonical}");
    assert_eq!(again.to_string(), canonical, "the canonical text is one");
    for (width, height) in [(1, 1), (400, 300), (32_768, 3), (u32::MAX, u32::MAX)] {
        // Whether it has a layout is the recipe's affair.
        let _ = recipe.layout(width, height);
    }
});
