//! How dialects write wishes (requests in the terms that all dialects share). Each dialect has its own code to write
//! the box and the gravity, and a table of words for everything else.

use andon_recipe::{Colour, Fitting, Keep, Recipe, Step, Wish};

use crate::effects::number;

/// A word of recipes (a step or an output setting with its arguments), and the option by which a dialect expresses it.
/// The option is empty if the dialect always does this. In the word, `_` stands for any argument, and numbers that are
/// joined by `x` or `+` are separate arguments. In the option, `{0}` stands for the first of these `_`. Operations on
/// the number may follow in the braces: `*`, `/`, `+` and `-` with another number, `l` for its binary logarithm, `i`
/// for its inverse, `r` for its square root and `~` for rounding. `{0#}` is a colour with its alpha first.
pub type Word = (&'static str, &'static str);

/// A request (a wish), written as a URL of a dialect.
#[derive(Debug)]
pub struct Spelt {
    /// Path and query, with the dialect's usual prefix.
    pub(crate) url: String,
    /// The parts of the wish that the dialect cannot express, as words of a recipe.
    pub(crate) missing: Vec<String>,
}

/// The options of a URL that is being written.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    options: Vec<String>,
    missing: Vec<String>,
}

impl Draft {
    /// Translates the steps and the output settings of a wish, but not its box. If an image is cropped to the box and a
    /// part other than the middle is kept, the part is translated as the word `keep`.
    pub(crate) fn of(wish: &Wish, words: &[Word]) -> Self {
        let mut draft = Self::default();
        let steps = wish.others().map(Step::to_string);
        let keep =
            Some(wish.keep).filter(|keep| wish.fit == Fitting::Cover && *keep != Keep::default());
        for text in steps.chain(keep.map(|keep| format!("keep:{keep}"))) {
            match option(words, &text) {
                Some(option) => draft.put(option),
                None => draft.missing.push(text),
            }
        }
        // Missing output settings are not recorded: callers compare the results of both requests.
        for word in Recipe::from(wish.output.clone()).to_string().split(',') {
            draft.add(option(words, word));
        }
        draft
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

    /// Records that the box of the wish cannot be expressed.
    pub(crate) fn miss_box(&mut self, wish: &Wish) {
        self.missing.push(wish.bounds());
    }

    /// Removes the option that begins with `start`, and returns the rest of its text.
    pub(crate) fn take(&mut self, start: &str) -> Option<String> {
        let place = self
            .options
            .iter()
            .position(|option| option.starts_with(start))?;
        Some(self.options.remove(place)[start.len()..].to_owned())
    }

    /// Returns the options, separated by `between`.
    pub(crate) fn join(&self, between: &str) -> String {
        self.options.join(between)
    }

    /// Returns a finished URL, with the words that could not be expressed.
    pub(crate) fn finish(self, url: String) -> Spelt {
        Spelt {
            url,
            missing: self.missing,
        }
    }
}

/// Translates a word of a recipe to an option of a dialect; `None` if the dialect cannot express it.
pub(crate) fn option(words: &[Word], text: &str) -> Option<String> {
    let is_size = |arg: &str| {
        arg.bytes()
            .all(|byte| byte.is_ascii_digit() || b"x+.-".contains(&byte))
    };
    let split = |arg| str::split(arg, move |letter| is_size(arg) && "x+".contains(letter));
    let parts: Vec<&str> = text.split(':').flat_map(split).collect();
    words.iter().find_map(|(word, option)| {
        let pattern: Vec<&str> = word.split(':').collect();
        let mut pairs = pattern.iter().zip(&parts);
        let is_it = pattern.len() == parts.len()
            && pairs.all(|(pattern, part)| *pattern == "_" || pattern == part);
        let any = pattern
            .iter()
            .zip(&parts)
            .filter(|(pattern, _)| **pattern == "_");
        is_it.then(|| fill_in(option, &any.map(|(_, part)| *part).collect::<Vec<_>>()))?
    })
}

/// Replaces the placeholders of an option by these arguments; `None` if an argument should be a number and is not.
fn fill_in(option: &str, args: &[&str]) -> Option<String> {
    let mut pieces = option.split('{');
    let mut text = pieces.next()?.to_owned();
    for piece in pieces {
        let (place, rest) = piece.split_once('}')?;
        let (index, scale) = place.split_at(1);
        let arg = *args.get(index.parse::<usize>().ok()?)?;
        text.push_str(&match (scale, arg.split_at_checked(6)) {
            ("#", Some((rgb, alpha))) => format!("{alpha}{rgb}"),
            ("" | "#", _) => arg.to_owned(),
            _ => number(apply_scale(arg.parse().ok()?, scale)?),
        });
        text.push_str(rest);
    }
    Some(text)
}

/// Applies the operations `scale` to a number, from left to right; `None` if they are not well formed.
fn apply_scale(mut value: f64, mut scale: &str) -> Option<f64> {
    while let Some(act) = scale.chars().next() {
        let rest = &scale[1..];
        let end = rest.find(|letter: char| "*/+lir~".contains(letter));
        let end = end
            .or_else(|| Some(1 + rest.get(1..)?.find('-')?))
            .unwrap_or(rest.len());
        let operand = rest[..end].parse::<f64>();
        value = match act {
            '*' => value * operand.ok()?,
            '/' => value / operand.ok()?,
            '+' => value + operand.ok()?,
            '-' => value - operand.ok()?,
            'l' => value.log2(),
            'i' => value.recip(),
            'r' => value.sqrt(),
            '~' => value.round(),
            _ => return None,
        };
        scale = &rest[end..];
    }
    Some(value)
}

/// Returns a side of a box in whole px, with `before` in front of it; `None` if `side` is.
pub(crate) fn side(before: &str, side: Option<f64>) -> Option<String> {
    side.map(|side| format!("{before}{}", side.round()))
}

/// Returns width and height of a box in whole px. `open` is the text for a side that the wish does not limit.
pub(crate) fn sides(wish: &Wish, open: &str) -> [String; 2] {
    [wish.w, wish.h].map(|length| side("", length).unwrap_or(open.to_owned()))
}

/// Formats a colour as hex digits. An alpha other than 255 comes first.
pub(crate) fn argb(colour: Colour) -> String {
    fill_in("{0#}", &[&colour.to_string()]).unwrap_or_default()
}
