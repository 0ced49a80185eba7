//! Suggestions for misspelt words, for every list of words that users write by hand.

/// Returns the known word that a misspelt word probably stands for, if one is similar.
///
/// ```
/// use andon_recipe::nearest;
/// assert_eq!(nearest("fitt", ["fit", "cover"]), Some("fit"));
/// assert_eq!(nearest("trem", ["INT", "TERM"]), Some("TERM"));
/// assert_eq!(nearest("avif", ["jpeg", "gif"]), None);
/// ```
pub fn nearest<'a>(wrong: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    words
        .into_iter()
        .map(|word| {
            let slips = strsim::damerau_levenshtein(&wrong, &word.to_lowercase());
            (slips, word)
        })
        .filter(|(slips, word)| *slips <= wrong.len().max(word.len()) / LETTERS_PER_SLIP)
        .min()
        .map(|(_, word)| word)
}

/// Returns an error message such as ``unknown key `conections`; did you mean `connections`?``, or one that lists the
/// known words if none is similar.
#[must_use]
pub fn unknown(kind: &str, wrong: &str, words: &[&str]) -> String {
    match nearest(wrong, words.iter().copied()) {
        Some(word) => format!("unknown {kind} `{wrong}`; did you mean `{word}`?"),
        None => format!("unknown {kind} `{wrong}`; known here: {}", words.join(", ")),
    }
}

/// Number of letters of a word for each typing error that is tolerated.
const LETTERS_PER_SLIP: usize = 3;
