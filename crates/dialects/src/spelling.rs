//! How dialects write wishes: box and gravity each in their own way, and everything else from a table of words.

use andon_recipe::{Fit, Keep, Recipe, Step, Wish};

use crate::effects::number;

/// A word of recipes, and how a dialect says it. The function takes the word's arguments, and returns the dialect's
/// option; an empty one if the dialect does this anyway; `None` if it cannot say it with these arguments.
pub type Word = (&'static str, fn(&[&str]) -> Option<String>);

/// A wish as a URL of a dialect.
#[derive(Debug)]
pub struct Spelt {
    /// Path and query, with the dialect's usual prefix.
    pub(crate) url: String,
    /// What the dialect has no word for, as words of a recipe.
    pub(crate) missing: Vec<String>,
}

/// The options of a URL that is being written.
#[derive(Debug, Default)]
pub(crate) struct Said {
    options: Vec<String>,
    missing: Vec<String>,
}

impl Said {
    /// Says everything of a wish but its box. The part of the image that is kept in a box has the word `keep`.
    pub(crate) fn of(wish: &Wish, words: &[Word]) -> Self {
        let mut said = Self::default();
        let steps = wish.others().map(Step::to_string);
        let keep =
            Some(wish.keep).filter(|keep| wish.fit == Fit::Cover && *keep != Keep::default());
        for text in steps.chain(keep.map(|keep| format!("keep:{keep}"))) {
            match option(words, &text) {
                Some(option) => said.put(option),
                None => said.missing.push(text),
            }
        }
        // What is lost of the output is told by those who compare the results.
        for word in Recipe::from(wish.output.clone()).to_string().split(',') {
            said.add(option(words, word));
        }
        said
    }

    /// Adds an option, unless it is empty.
    pub(crate) fn put(&mut self, option: impl Into<String>) {
        let option = option.into();
        self.options.extend((!option.is_empty()).then_some(option));
    }

    /// Adds an option, if there is one.
    pub(crate) fn add(&mut self, option: Option<String>) {
        self.put(option.unwrap_or_default());
    }

    /// Notes that the box of the wish is not said as it is meant.
    pub(crate) fn miss_box(&mut self, wish: &Wish) {
        self.missing.push(wish.bounds());
    }

    /// Takes the option out that begins with `start`, and returns what follows.
    pub(crate) fn take(&mut self, start: &str) -> Option<String> {
        let place = self
            .options
            .iter()
            .position(|option| option.starts_with(start))?;
        Some(self.options.remove(place)[start.len()..].to_owned())
    }

    /// Returns the options with `between` between them.
    pub(crate) fn join(&self, between: &str) -> String {
        self.options.join(between)
    }

    /// Returns the URL with what is missing in it.
    pub(crate) fn spelt(self, url: String) -> Spelt {
        Spelt {
            url,
            missing: self.missing,
        }
    }
}

/// Returns a word of a recipe as a dialect says it; `None` if the dialect cannot.
pub(crate) fn option(words: &[Word], text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split(':').collect();
    let (name, args) = parts.split_first()?;
    let mut named = words.iter().filter(|(word, _)| word == name);
    named.find_map(|(_, say)| say(args))
}

/// Returns a side of a box in whole px behind `before`, if it is given.
pub(crate) fn side(before: &str, side: Option<f64>) -> Option<String> {
    side.map(|side| format!("{before}{}", side.round()))
}

/// Returns width and height of a box in whole px, with `open` in place of a side that is not given.
pub(crate) fn sides(wish: &Wish, open: &str) -> [String; 2] {
    [wish.w, wish.h].map(|length| side("", length).unwrap_or(open.to_owned()))
}

/// Returns a number among the arguments of a word.
pub(crate) fn at(args: &[&str], place: usize) -> Option<f64> {
    args.get(place)?.parse().ok()
}

/// Returns the only argument of a word, a number, behind `before` and as another scale has it.
pub(crate) fn scaled(before: &str, args: &[&str], scale: impl Fn(f64) -> f64) -> Option<String> {
    let value = at(args, 0).filter(|_| args.len() == 1)?;
    Some(format!("{before}{}", number(scale(value))))
}

/// Returns the sigma of a blur of any radius, `0xSIGMA`.
pub(crate) fn sigma(args: &[&str]) -> Option<f64> {
    args.first()?.strip_prefix("0x")?.parse().ok()
}

/// Returns sigma and amount of an unsharp mask without a threshold, `RADIUSxSIGMA+AMOUNT+0`, of this radius.
pub(crate) fn unsharp(args: &[&str], radius: &str) -> Option<(f64, f64)> {
    let (size, amount) = args.first()?.strip_suffix("+0")?.split_once('+')?;
    let sigma = size.strip_prefix(radius)?.strip_prefix('x')?;
    Some((sigma.parse().ok()?, amount.parse().ok()?))
}

/// Returns `before` and what stands beside the only argument of a word in a list.
pub(crate) fn choice(before: &str, args: &[&str], list: &[(&str, &str)]) -> Option<String> {
    let &[word] = args else { return None };
    let (_, value) = list.iter().find(|(own, _)| *own == word)?;
    Some(format!("{before}{value}"))
}

/// Returns `before` and the arguments of a word with `between` between them.
pub(crate) fn all(before: &str, args: &[&str], between: &str) -> Option<String> {
    Some(format!("{before}{}", args.join(between)))
}

/// Returns `option` if it `is` what a word with its arguments means.
pub(crate) fn only(is: bool, option: &str) -> Option<String> {
    is.then(|| option.to_owned())
}

/// Returns left, top, width and height of a crop, in px, as they are written.
pub(crate) fn rectangle<'a>(args: &[&'a str]) -> Option<[&'a str; 4]> {
    let &[x, y, size] = args else { return None };
    let (w, h) = size.split_once('x')?;
    let is_px = |side: &&str| side.bytes().all(|byte| byte.is_ascii_digit());
    [x, y, w, h].iter().all(is_px).then_some([x, y, w, h])
}
